"""Sounds made by code: noise and tones under envelopes, the same bytes every time.

Nothing is loaded from files. A sound is a float64 line (n,) between about -1 and 1
until `_finish` puts it into a room and makes 16 bits of it. Times are in seconds,
pitches in Hz.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Shorts
from flexor.errors import SettingError
from flexor.games.game import RATE

__all__ = ["NAMES", "SOUND_RATE", "make_sound", "mix_track"]

SOUND_RATE = 44100  # samples a second
FULL = 32767
FADE_IN, FADE_OUT = 0.0015, 0.012  # so that no sound begins or ends with a click
LOUDEST = 0.95  # of a track of several sounds


@dataclass(slots=True)
class _Tape:
    """An empty line to make a sound on: its length, its rate, its dice."""

    seconds: float
    rate: int
    dice: np.random.Generator

    @property
    def count(self) -> int:
        return round(self.seconds * self.rate)

    @property
    def time(self) -> Doubles:
        return np.arange(self.count) / self.rate

    def noise(self, low: float, high: float) -> Doubles:
        """Noise between two pitches, of a loudness of about 1."""
        made = _band(self.dice.standard_normal(self.count), low, high, self.rate)
        return made / float(np.sqrt(np.mean(made * made)))

    def decay(self, time: float, attack: float = 0.002, at: float = 0.0) -> Doubles:
        """Silent before `at`, up within `attack`, then a fall to 1/e in `time`."""
        since = np.maximum(self.time - at, 0.0)
        return np.minimum(since / attack, 1.0) * np.exp(-since / time)

    def hump(self, middle: float, width: float) -> Doubles:
        """Up and down again, as a bell."""
        return np.exp(-(((self.time - middle) / width) ** 2))

    def tone(self, pitch: float | Doubles) -> Doubles:
        """A sine; pitch: one, or (n,), how it goes."""
        turns = np.cumsum(np.broadcast_to(pitch, self.count)) / self.rate
        return np.sin(2 * np.pi * turns)

    def glide(self, first: float, last: float, time: float) -> Doubles:
        """A pitch that goes from one to another, most of the way in `time`."""
        return last + (first - last) * np.exp(-self.time / time)

    def wobble(self, speed: float) -> Doubles:
        """Chance between 0 and 1 that changes about `speed` times a second."""
        knots = self.dice.random(max(int(self.seconds * speed), 2) + 2)
        place = np.linspace(0, len(knots) - 1, self.count)
        return np.interp(place, np.arange(len(knots)), knots)

    def ring(self, modes: Sequence[tuple[float, float, float]]) -> Doubles:
        """A struck thing; modes: pitch, loudness and time of its fall, of each."""
        made = np.zeros(self.count)
        for pitch, loud, time in modes:
            made += loud * self.tone(pitch) * self.decay(time, 0.001)
        return made


def _band(line: Doubles, low: float, high: float, rate: int) -> Doubles:
    """Let pass what is between two pitches; the edges are soft, as a filter's are."""
    room = 2 * len(line)  # what rings beyond the end does not come back at the start
    pitch = np.fft.rfftfreq(room, 1 / rate)
    # A pitch that the rate cannot hold would only be noise elsewhere.
    gain = 1 / np.sqrt(1 + (pitch / min(high, 0.48 * rate)) ** 6)
    gain *= pitch**3 / np.sqrt(pitch**6 + low**6)
    return np.fft.irfft(np.fft.rfft(line, room) * gain, room)[: len(line)]


def _bubbles(tape: _Tape, count: int, low: float, high: float, last: float) -> Doubles:
    """Drops: short tones that rise, as air in water does, at chance times."""
    made = np.zeros(tape.count)
    for _ in range(count):
        at = last * tape.dice.random() ** 1.5
        pitch = low * (high / low) ** tape.dice.random()
        since = np.maximum(tape.time - at, 0.0)
        rising = pitch * (1 + 6 * np.minimum(since, 0.08))
        loud = 0.3 + 0.7 * tape.dice.random()
        made += loud * tape.tone(rising) * tape.decay(0.02, 0.004, at)
    return made


def _note(tape: _Tape, pitch: float, at: float, time: float) -> Doubles:
    """A soft horn: fewer high partials the longer it sounds."""
    made = np.zeros(tape.count)
    for part in range(1, 7):
        fall = tape.decay(time / part**0.6, 0.012, at)
        made += tape.tone(pitch * part * (1 + 0.0004 * part)) * fall / part**1.3
    return made


def _step_plain(tape: _Tape) -> Doubles:
    heel = tape.tone(tape.glide(130, 70, 0.02)) * tape.decay(0.028)
    sole = tape.noise(250, 1800) * tape.decay(0.014)
    toe = tape.noise(700, 3200) * tape.decay(0.010, 0.003, 0.035)
    return heel + 0.35 * sole + 0.16 * toe


def _step_sand(tape: _Tape) -> Doubles:
    grains = tape.noise(900, 5200) * (0.25 + tape.wobble(260) ** 2)
    give = tape.tone(tape.glide(95, 65, 0.03)) * tape.decay(0.03, 0.006)
    return grains * tape.decay(0.042, 0.016) + 0.35 * give


def _step_water(tape: _Tape) -> Doubles:
    slap = tape.noise(350, 2600) * tape.decay(0.05, 0.008)
    return 0.5 * slap + 0.5 * _bubbles(tape, 6, 420, 1100, 0.16)


def _hit(tape: _Tape) -> Doubles:
    thump = tape.tone(tape.glide(170, 52, 0.03)) * tape.decay(0.075)
    flesh = tape.noise(180, 1600) * tape.decay(0.024)
    crack = tape.noise(2000, 6500) * tape.decay(0.006, 0.001)
    return np.tanh(1.7 * thump + 0.55 * flesh + 0.25 * crack)


def _guard(tape: _Tape) -> Doubles:
    wood = tape.ring([(235, 1.0, 0.045), (402, 0.6, 0.032), (688, 0.35, 0.02)])
    return wood + 0.3 * tape.noise(260, 1400) * tape.decay(0.016)


def _parry(tape: _Tape) -> Doubles:
    # Pairs of pitches that are nearly the same beat against each other: steel.
    modes = []
    for ratio, loud, time in (
        (1.0, 1.0, 0.22),
        (1.51, 0.7, 0.18),
        (2.03, 0.5, 0.13),
        (2.74, 0.35, 0.1),
        (3.39, 0.2, 0.07),
    ):
        modes += [(1180 * ratio, loud, time), (1187 * ratio, 0.7 * loud, time)]
    strike = tape.noise(2600, 9000) * tape.decay(0.007, 0.001)
    return 0.4 * tape.ring(modes) + 0.45 * strike


def _splash(tape: _Tape) -> Doubles:
    burst = tape.noise(350, 2600) * tape.decay(0.12, 0.012)
    spray = tape.noise(1800, 6500) * tape.decay(0.2, 0.05) * (0.4 + tape.wobble(60))
    return 0.6 * burst + 0.22 * spray + 0.3 * _bubbles(tape, 26, 380, 1500, 0.6)


def _swing(tape: _Tape) -> Doubles:
    air = tape.noise(350, 900) * tape.hump(0.06, 0.04)
    air += tape.noise(700, 1900) * tape.hump(0.10, 0.035)
    return air + 0.6 * tape.noise(450, 1100) * tape.hump(0.145, 0.03)


def _jump(tape: _Tape) -> Doubles:
    push = tape.tone(tape.glide(90, 190, 0.09)) * tape.decay(0.06, 0.012)
    return push + 0.35 * tape.noise(400, 1500) * tape.hump(0.07, 0.04)


def _land(tape: _Tape) -> Doubles:
    thump = tape.tone(tape.glide(120, 48, 0.025)) * tape.decay(0.06)
    return thump + 0.35 * tape.noise(150, 900) * tape.decay(0.032)


def _ball(tape: _Tape) -> Doubles:
    air = tape.tone(tape.glide(260, 105, 0.02)) * tape.decay(0.055)
    slap = tape.noise(700, 3200) * tape.decay(0.009, 0.001)
    return np.tanh(1.4 * air + 0.5 * slap)


def _post(tape: _Tape) -> Doubles:
    # The ratios of a free bar, which a goal's tube nearly is.
    bar = tape.ring(
        [
            (428, 1.0, 0.32),
            (431, 0.6, 0.3),
            (1181, 0.7, 0.22),
            (2312, 0.4, 0.13),
            (3822, 0.2, 0.07),
        ]
    )
    return 0.5 * bar + 0.4 * tape.noise(500, 2600) * tape.decay(0.008, 0.001)


def _net(tape: _Tape) -> Doubles:
    cords = tape.noise(1400, 6000) * (0.3 + tape.wobble(90) ** 2)
    sweep = tape.hump(0.1, 0.07) + 0.5 * tape.hump(0.25, 0.09)
    bulge = tape.noise(250, 900) * tape.hump(0.08, 0.05)
    return np.tanh(0.8 * cords * sweep) + 0.25 * bulge  # no cord is heard alone


def _whistle(tape: _Tape) -> Doubles:
    # The ball inside opens and shuts the hole: pitch and loudness tremble together.
    tremble = np.sin(2 * np.pi * 38 * tape.time)
    blow = np.minimum(tape.time / 0.03, 1.0)
    pitch = 2450 + 160 * blow + 70 * tremble
    air = 1 - 0.35 * (0.5 + 0.5 * tremble)
    made = tape.tone(pitch) + 0.16 * tape.tone(2 * pitch) + 0.04 * tape.tone(3 * pitch)
    made += 0.06 * tape.noise(2000, 5200)
    stop = np.clip((tape.seconds - 0.08 - tape.time) / 0.06, 0.0, 1.0)
    return made * air * blow * stop


def _goal(tape: _Tape) -> Doubles:
    swell = np.minimum(tape.time / 0.28, 1.0) * np.clip(
        (tape.seconds - tape.time) / 0.7, 0.0, 1.0
    )
    crowd = np.zeros(tape.count)
    for low, high, loud in ((380, 820, 1.0), (950, 1500, 0.6), (2300, 3300, 0.18)):
        crowd += loud * tape.noise(low, high) * (0.55 + 0.45 * tape.wobble(11))
    voices = np.zeros(tape.count)
    for _ in range(30):
        rise = 1 + 0.18 * np.minimum(tape.time / 0.5, 1.0)
        pitch = 170 * 2 ** (1.3 * tape.dice.random()) * rise
        pitch *= 1 + 0.02 * (tape.wobble(7) - 0.5)
        turn = np.cumsum(pitch) / tape.rate + tape.dice.random()
        voices += (2 * (turn % 1) - 1) * (0.3 + 0.7 * tape.wobble(5))
    vowel = _band(voices, 450, 1300, tape.rate)
    return swell * (crowd + 0.35 * vowel)


def _win(tape: _Tape) -> Doubles:
    made = np.zeros(tape.count)
    for pitch, at, time in (
        (523.25, 0.0, 0.16),
        (659.26, 0.13, 0.16),
        (783.99, 0.26, 0.18),
        (1046.5, 0.42, 0.3),
        (523.25, 0.42, 0.34),
    ):
        made += _note(tape, pitch, at, time)
    return made


def _start(tape: _Tape) -> Doubles:
    made = _note(tape, 440.0, 0.0, 0.12) + _note(tape, 659.26, 0.16, 0.2)
    return made + 0.05 * tape.noise(900, 3000) * tape.hump(0.14, 0.06)


def _coin(tape: _Tape) -> Doubles:
    # It falls through a slot, and rings on metal twice.
    rim = [(2093, 1.0, 0.12), (3136, 0.7, 0.16), (5274, 0.35, 0.1)]
    first = tape.ring(rim) * np.clip(1 - tape.time / 0.09, 0, 1)
    late = np.roll(tape.ring(rim), round(0.08 * tape.rate))
    late[: round(0.08 * tape.rate)] = 0
    return 0.6 * first + late + 0.1 * tape.noise(3000, 9000) * tape.decay(0.01)


def _count(tape: _Tape) -> Doubles:
    return _note(tape, 330.0, 0.0, 0.09) + 0.3 * _note(tape, 660.0, 0.0, 0.05)


def _throw(tape: _Tape) -> Doubles:
    grip = tape.noise(500, 2200) * tape.hump(0.04, 0.02)
    air = tape.noise(200, 700) * tape.hump(0.22, 0.09)
    return 0.5 * grip + air + 0.5 * tape.noise(500, 1300) * tape.hump(0.26, 0.07)


def _fall(tape: _Tape) -> Doubles:
    # A body meets the ground in two places, the second a little later.
    thump = tape.tone(tape.glide(95, 38, 0.04)) * tape.decay(0.11)
    again = tape.tone(tape.glide(120, 50, 0.03)) * tape.decay(0.07, 0.003, 0.11)
    cloth = tape.noise(200, 1500) * (tape.decay(0.04) + 0.6 * tape.decay(0.05, at=0.11))
    return np.tanh(1.5 * thump + 0.8 * again + 0.4 * cloth)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a sound is made; seconds: its length; peak: its loudest sample, of 1; room:
    how much of it comes back from walls.
    """

    make: Callable[[_Tape], Doubles]
    seconds: float
    peak: float
    room: float = 0.1


_RECIPES: dict[str, _Recipe] = {
    "step_plain": _Recipe(_step_plain, 0.14, 0.3),
    "step_sand": _Recipe(_step_sand, 0.2, 0.26),
    "step_water": _Recipe(_step_water, 0.32, 0.32),
    "hit": _Recipe(_hit, 0.34, 0.75),
    "guard": _Recipe(_guard, 0.24, 0.5),
    "parry": _Recipe(_parry, 0.85, 0.5, 0.2),
    "splash": _Recipe(_splash, 0.95, 0.55),
    "swing": _Recipe(_swing, 0.24, 0.24, 0.05),
    "jump": _Recipe(_jump, 0.26, 0.3),
    "land": _Recipe(_land, 0.28, 0.45),
    "ball": _Recipe(_ball, 0.26, 0.65),
    "post": _Recipe(_post, 1.2, 0.55, 0.2),
    "net": _Recipe(_net, 0.5, 0.4),
    "whistle": _Recipe(_whistle, 0.75, 0.4, 0.15),
    "goal": _Recipe(_goal, 1.5, 0.55, 0.25),
    "win": _Recipe(_win, 1.4, 0.5, 0.25),
    "start": _Recipe(_start, 0.7, 0.45, 0.2),
    "coin": _Recipe(_coin, 0.5, 0.4, 0.15),
    "count": _Recipe(_count, 0.3, 0.4, 0.15),
    "throw": _Recipe(_throw, 0.45, 0.35, 0.05),
    "fall": _Recipe(_fall, 0.5, 0.6),
}
NAMES: tuple[str, ...] = tuple(_RECIPES)


def make_sound(name: str, rate: int = SOUND_RATE) -> Shorts:
    """The samples of a sound: int16 (n, 2), left and right; rate: samples a second."""
    recipe = _RECIPES.get(name)
    if recipe is None:
        raise SettingError(f"no sound {name!r}; there are: {', '.join(NAMES)}")
    if not 8000 <= rate <= 192000:
        raise SettingError(f"rate: {rate}, expected 8000 to 192000 samples a second")
    dice = np.random.default_rng(NAMES.index(name))
    tape = _Tape(recipe.seconds, rate, dice)
    return _finish(tape, recipe.make(tape), recipe)


def _finish(tape: _Tape, line: Doubles, recipe: _Recipe) -> Shorts:
    """A line in a room, left and right, with soft ends, at its loudness."""
    sides = []
    for _ in range(2):
        # Each ear hears other walls; that is all that makes it wide.
        walls = tape.noise(200, 5000) * tape.decay(0.07, 0.01)
        walls[: round(0.004 * tape.rate)] = 0
        walls *= recipe.room / np.sqrt(np.sum(walls * walls))
        size = 2 * tape.count
        heard = np.fft.rfft(line, size) * (1 + np.fft.rfft(walls, size))
        sides.append(np.fft.irfft(heard, size)[: tape.count])
    both = np.stack([_band(side, 25, 16000, tape.rate) for side in sides], 1)
    end = tape.time[-1] - tape.time
    fade = np.clip(tape.time / FADE_IN, 0, 1) * np.clip(end / FADE_OUT, 0, 1)
    both *= fade[:, None]
    # The fades bring back a little of what never swings; it goes the same way.
    both -= fade[:, None] * both.sum(0) / fade.sum()
    # To a whole number: what lies between two of them would be rounded by its last bit.
    both *= round(recipe.peak * FULL) / np.abs(both).max()
    return np.round(both).astype(np.int16)


def mix_track(
    events: Iterable[tuple[int, str]], ticks: int, rate: int = SOUND_RATE
) -> Shorts:
    """All that is heard in so many ticks: int16 (n, 2).

    events: tick and name of each sound. What would still be heard after the last tick
    is cut off, softly; where many sounds meet, all of the track is made quieter.
    """
    if ticks < 0:
        raise SettingError(f"ticks: {ticks}, expected 0 or more")
    count = round(ticks / RATE * rate)
    track = np.zeros((count, 2), np.float32)
    made: dict[str, Shorts] = {}
    for tick, name in events:
        if name not in made:
            made[name] = make_sound(name, rate)
        first = round(tick / RATE * rate)
        if not 0 <= first < count:
            continue
        part = made[name][: count - first]
        track[first : first + len(part)] += part
    fade = min(round(FADE_OUT * rate), count)
    if fade:
        track[count - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)[:, None]
    loud = float(np.abs(track).max()) if count else 0.0
    if loud > LOUDEST * FULL:
        track *= LOUDEST * FULL / loud
    return np.round(track).astype(np.int16)
