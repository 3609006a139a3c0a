"""The figures of matches that are played: how often attacks meet, feet slide, the
camera fails, and limbs go into what they should not.
"""

from __future__ import annotations

from collections.abc import Iterator

from flexor.api.character import Character
from flexor.bench.played.faults import Found
from flexor.bench.played.mashing import BUTTONS, play_mashing
from flexor.bench.played.matches import arena_stage, play_match
from flexor.bench.played.parries import play_parries
from flexor.bench.timing import Result

__all__ = ["figures", "run_matches"]

SEEDS, SECONDS, MASHED = 4, 20.0, 10


def run_matches(
    hero: Character, seeds: int = SEEDS, seconds: float = SECONDS, mashed: int = MASHED
) -> Iterator[Result]:
    """Matches of the arena of some seeds, parries by a script, and matches of one who
    mashes a button.
    """
    found = Found()
    for seed in range(seeds):
        found.add(play_match(hero, seed, seconds))
    note = f"two computer opponents in the arena, {seeds} seeds of {seconds:g} s"
    yield from figures(found, note)
    parries = play_parries(arena_stage(hero))
    yield Result(
        "stage/play/parries_met",
        100 * parries.met / max(parries.tried, 1),
        "%",
        f"of {parries.tried} parries that were pressed in time, those whose hands met",
    )
    yield Result(
        "stage/play/parries_answered",
        100 * parries.answered / max(parries.met, 1),
        "%",
        f"of {parries.met} parries, the quickest attack, pressed as soon as the parry "
        "is over, lands before the attacker can act again",
    )
    own = play_mashing(hero, mashed)
    yield Result(
        "stage/play/masher_wins",
        100 * own.won / max(own.played, 1),
        "%",
        f"of {own.played} matches against the middle opponent, of one who goes at it "
        f"and mashes {', '.join(BUTTONS)} in turn",
    )


def figures(found: Found, note: str) -> Iterator[Result]:
    """What was found, in parts of a hundred, centimetres and counts."""
    ticks, stood = max(found.ticks, 1), max(found.stood, 1)
    attacks = max(found.attacks, 1)

    def one(name: str, value: float, unit: str, text: str) -> Result:
        return Result(f"stage/play/{name}", value, unit, f"{text}; {note}")

    yield one(
        "contacts",
        100 * found.contacts / attacks,
        "%",
        f"of {found.attacks} attacks, those that met somebody",
    )
    yield one(
        "foot_slide",
        100 * found.slides / stood,
        "%",
        "of ticks on the ground in which the slower planted foot moves more than 0.15 "
        f"m/s; at most {found.fastest_slide:.2f} m/s",
    )
    yield one(
        "camera_near",
        100 * found.near / ticks,
        "%",
        "of ticks with the eye within 1.2 m of a structure",
    )
    yield one(
        "camera_outside",
        100 * found.outside / ticks,
        "%",
        "of ticks with a head or a chest outside of the picture, 4:3",
    )
    yield one(
        "camera_hidden",
        100 * found.hidden / ticks,
        "%",
        "of ticks with a head or a chest behind a structure that is drawn",
    )
    yield one(
        "limb_depth",
        100 * found.deepest_limb,
        "cm",
        "the deepest that a limb was in another's trunk, by capsules; more than 3 cm "
        f"in {found.deep_limbs} ticks",
    )
    yield one(
        "trunk_depth",
        100 * found.deepest_trunk,
        "cm",
        "the deepest that a trunk was in another's, by capsules; more than 3 cm in "
        f"{found.deep_trunks} ticks",
    )
    yield one(
        "foot_depth",
        100 * found.deepest_foot,
        "cm",
        "the deepest that a foot was under the ground; more than 2 cm in "
        f"{found.deep_feet} ticks",
    )
    yield one("outside", found.strayed, "", "times that somebody was outside of walls")
    yield one("broken", found.broken, "", "ticks with a number that is not finite")
