"""The goal: what a frame costs, and what becomes of a hundred thousand shots."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from flexor.bench.goal_shots import count_wrong, random_shots
from flexor.bench.peers.mujoco import VARIANTS, NetPeer
from flexor.bench.timing import Result, best_seconds, use_threads
from flexor.errors import BackendMissing
from flexor.maths import threads
from flexor.stage.goal.energy import kinetic_energy, total_energy
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    pushes,
    shoot,
    step_balls,
    step_netting,
)

__all__ = ["run"]

FRAMES = 60
SHOT = (0.4, 0.6, 2.5), (1.0, 3.0, -25.0)  # place and velocity: at the net in 0.2 s
MANY = 100
SHOTS = 100_000
WATCHED, CALM = 60, 5  # shots whose nets are watched, and seconds until they are calm


def _second(
    state: NettingState, step: Callable[[NettingState], None]
) -> Callable[[], None]:
    """A call that plays a second of a shot, from the start each time."""
    shoot(state, *SHOT)
    start = [array.copy() for array in _arrays(state)]

    def play() -> None:
        for array, own in zip(_arrays(state), start, strict=True):
            array[...] = own
        for _ in range(FRAMES):
            step(state)

    return play


def _arrays(state: NettingState) -> tuple[np.ndarray, ...]:
    return state.bodies, state.sides, state.events, state.nodes, state.speeds


def _costs(goal: Netting, rounds: int) -> Iterator[Result]:
    """A frame of one goal and of many, beside a general solver."""
    one, balls = init_netting(goal), init_netting(goal)
    none, many = init_netting(goal, 1, 0), init_netting(goal, MANY)
    steps = goal.ball_steps * goal.net_steps
    calls = [
        _second(one, step_netting),
        _second(balls, lambda state: step_balls(state, steps)),
        _second(none, step_netting),
        _second(many, step_netting),
    ]
    with use_threads(1):
        whole, ball, net, batch = (
            seconds / FRAMES * 1e6 for seconds in best_seconds(*calls, rounds=rounds)
        )
    shared = best_seconds(calls[3], rounds=rounds)[0] / FRAMES * 1e6
    nodes, strings = len(goal.hang), len(goal.sheet.strings)
    note = f"{nodes} nodes, {strings} strings; the first second of a shot"
    yield Result("goal/frame", whole, "us", f"4 ball and 2 net steps; {note}")
    yield Result("goal/frame/balls", ball, "us", "4 ball steps alone, one call")
    yield Result("goal/frame/net", net, "us", "2 net steps alone, one call")
    yield Result(f"goal/frame/{MANY}", batch / MANY, "us", "a goal, one thread")
    count = threads.thread_count()
    yield Result(
        f"goal/frame/{MANY}/threads", shared / MANY, "us", f"a goal, {count} threads"
    )
    for variant in VARIANTS:
        try:
            peer = NetPeer(nodes, goal.net.mass, variant)
        except BackendMissing:
            return
        theirs = peer.seconds() * 1e6
        yield Result(f"goal/mujoco/{variant}", theirs, "us", f"a frame; {peer.note}")
        yield Result(
            f"goal/mujoco/{variant}/ratio", theirs / whole, "x", "to goal/frame"
        )


def _shots(goal: Netting, count: int) -> Iterator[Result]:
    """Shots that went wrong."""
    shots = random_shots(np.random.default_rng(1), count, goal)
    found = count_wrong(goal, shots)
    note = (
        f"of {found.shots}: {found.not_finite} not finite, {found.past} past a face, "
        f"{found.confused} on another side than they went, {found.lost} never at rest; "
        f"{found.entered} were in the goal"
    )
    yield Result("goal/shots_wrong", found.wrong, "", note)
    yield Result(
        "goal/shots/deepest", found.deepest, "m", "beyond where a face hangs, any ball"
    )


def _nets(goal: Netting, count: int) -> Iterator[Result]:
    """What is left in nets after balls are gone, and whether a rerun differs."""
    shots = random_shots(np.random.default_rng(2), count, goal)
    runs = []
    for _ in range(2):
        state = init_netting(goal, count)
        shoot(
            state,
            shots.places[:, None],
            shots.velocities[:, None],
            shots.spins[:, None],
        )
        kinetic, total, gone = [], [], np.zeros(count, int)
        for frame in range((CALM + 4) * 60):
            step_netting(state)
            for _, _, who in pushes(state):
                gone[who[:, 0]] = frame + 1
            kinetic.append(kinetic_energy(state))
            total.append(total_energy(state))
        runs.append([array.copy() for array in _arrays(state)])
    motion, whole = np.array(kinetic), np.array(total)
    left, rise = [0.0], [0.0]
    for row in np.flatnonzero((gone > 0) & (gone + CALM * 60 < len(motion))):
        after = whole[gone[row] :, row]
        most = (after - np.minimum.accumulate(after)).max()
        rise.append(float(most / whole[:, row].max()))
        calm = motion[gone[row] + CALM * 60, row]
        left.append(float(calm / motion[:, row].max()))
    note = f"largest of {len(left) - 1} nets that were hit, after the ball was gone"
    yield Result("goal/energy/rise", max(rise) * 100, "%", f"of the peak; {note}")
    yield Result(
        "goal/energy/left", max(left) * 100, "%", f"of motion, {CALM} s later; {note}"
    )
    differ = sum(int((a != b).sum()) for a, b in zip(*runs, strict=True))
    yield Result("goal/rerun_differs", differ, "", "numbers that a rerun has otherwise")


def run(
    rounds: int = 20, shots: int = SHOTS, watched: int = WATCHED
) -> Iterator[Result]:
    """All of it, from fixed seeds."""
    goal = make_goal()
    yield from _costs(goal, rounds)
    yield from _shots(goal, shots)
    yield from _nets(goal, watched)
