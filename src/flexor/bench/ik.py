"""Inverse kinematics: time a solve, and how many goals are reached; beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.bench.peers.ikpy import solve_ikpy
from flexor.bench.peers.three_ik import solve_three
from flexor.bench.timing import Result, best_seconds
from flexor.pose.ik.aim import Aim, init_aim, solve_aim
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.ik.two_bone import Limb, init_two_bone, solve_two_bone
from flexor.pose.layout import Layout, make_layout
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene

__all__ = ["make_task", "run"]

BATCH = 1000
TARGETS = 10_000
BONES = range(3, 9)
NEAR = 1e-3  # metres, of chains of one metre


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Chains of ball joints along X, and where they are to reach.

    lengths: (B,), metres, 1 together; starts: (N, B, 4), local rotations; targets:
    (N, 3), metres, all of them in reach.
    """

    lengths: Doubles
    starts: Doubles
    targets: Doubles


def _layout(task: Chains) -> Layout:
    """The chain as a skeleton: a node a bone, and its end."""
    count = len(task.lengths)
    places = np.zeros((count + 1, 3), np.float32)
    places[1:, 0] = task.lengths
    skeleton = Skeleton(
        tuple(f"b{row}" for row in range(count + 1)),
        np.arange(-1, count, dtype=np.int32),
        places,
        np.tile(np.array([0, 0, 0, 1], np.float32), (count + 1, 1)),
        np.ones((count + 1, 3), np.float32),
    )
    nothing = np.full(count + 1, -1, np.int32)
    return make_layout(Scene(skeleton, nothing, nothing))


def make_task(
    rng: np.random.Generator, bones: int, count: int, *, are_even: bool = False
) -> Chains:
    """Chains of one metre that start anyhow, targets evenly spread over their reach."""
    lengths = np.ones(bones) if are_even else rng.uniform(0.3, 1, bones)
    lengths /= lengths.sum()
    starts = rng.normal(size=(count, bones, 4))
    starts /= np.linalg.norm(starts, axis=2, keepdims=True)
    ways = rng.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    least = max(0.0, 2 * lengths.max() - 1)
    far = np.cbrt(rng.uniform(least**3, 1, count))
    return Chains(lengths, starts, ways * far[:, None])


def _posed(task: Chains, layout: Layout) -> tuple[Floats, WorldState]:
    """Local rows (N, 10 L) at the start, and their world."""
    count, bones = task.starts.shape[:2]
    local = np.tile(layout.rest, (count, 1))
    rows = local.reshape(count, 10, -1)
    rows[:, 3:7, :bones] = np.swapaxes(task.starts, 1, 2)
    return local, world_from_local(init_world(layout, count), local)


def _reacher(
    task: Chains, settings: CcdSettings, limits: Limits | None = None
) -> tuple[Callable[[], None], Callable[[], tuple[Floats, float]]]:
    """A call that solves all chains from their starts, and one that says how it went:
    metres left (N,), and passes on average.
    """
    layout = _layout(task)
    start, world = _posed(task, layout)
    tip = f"b{len(task.lengths)}"
    reach = make_reach(layout, [Effector(tip, "b0")], limits=limits)
    state = init_ccd(reach, len(start))
    local = start.copy()
    targets = task.targets.astype(np.float32)[:, None]

    def solve() -> None:
        local[:] = start
        solve_ccd(state, local, world, targets, settings)

    def outcome() -> tuple[Floats, float]:
        return state.off[:, 0], float(state.passes.mean())

    return solve, outcome


def _limited(count: int) -> Limits:
    """Limits of 120, 80 and 60 degrees either way."""
    most = np.tile(np.radians([120, 80, 60]), (count, 1)).astype(np.float32)
    upright = np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1))
    return Limits(upright, -most, most.copy(), np.full(count, np.inf, np.float32))


def _chain_results(rng: np.random.Generator) -> Iterator[Result]:
    """Chains of four bones to a millimetre, one and a thousand."""
    settings = CcdSettings(tolerance=NEAR)
    many = make_task(rng, 4, BATCH, are_even=True)
    one = Chains(many.lengths, many.starts[:1], many.targets[:1])
    solve, outcome = _reacher(many, settings)
    solve_one, outcome_one = _reacher(one, settings)
    solve_limited, outcome_limited = _reacher(many, settings, _limited(5))
    each = list(best_seconds(solve, solve_one, solve_limited))
    off, passes = outcome()
    note = f"4 bones, 1 m, {np.median(off) * 1e3:.2g} mm left at the median, one thread"
    yield Result("ik/ccd4/batch1000", each[0] / BATCH * 1e6, "us", note)
    yield Result(
        "ik/ccd4/batch1000/pass",
        each[0] / BATCH / passes * 1e9,
        "ns",
        f"a pass over the chain; {passes:.2f} passes a solve",
    )
    yield Result("ik/ccd4/single", each[1] * 1e6, "us", "one solve a call")
    made = max(outcome_one()[1], 1.0)
    yield Result("ik/ccd4/single/pass", each[1] / made * 1e9, "ns", "with the call")
    off, passes = outcome_limited()
    reached = (off <= NEAR).mean() * 100
    yield Result(
        "ik/ccd4/limits/batch1000",
        each[2] / BATCH * 1e6,
        "us",
        f"every joint limited; {reached:.0f} % reached, {passes:.1f} passes",
    )


def _limb_results(rng: np.random.Generator) -> Iterator[Result]:
    """Two bones in closed form, and a look, one and a thousand."""
    task = make_task(rng, 2, BATCH, are_even=True)
    layout = _layout(task)
    start, world = _posed(task, layout)
    _, world_one = _posed(Chains(task.lengths, task.starts[:1], task.targets), layout)
    targets = task.targets.astype(np.float32)
    poles = rng.normal(size=(BATCH, 1, 3)).astype(np.float32)
    limbs = [Limb("b0", "b1", "b2")]
    many, one = init_two_bone(layout, limbs, BATCH), init_two_bone(layout, limbs, 1)
    aims = init_aim(layout, Aim(["b2"]), BATCH)
    local, local_one = start.copy(), start[:1].copy()
    goals, goal = targets[:, None], targets[:1, None]
    batch, poled, single, look = best_seconds(
        lambda: solve_two_bone(many, local, world, goals),
        lambda: solve_two_bone(many, local, world, goals, poles=poles),
        lambda: solve_two_bone(one, local_one, world_one, goal),
        lambda: solve_aim(aims, local, world, targets),
    )
    note = "world matrices given, one thread"
    yield Result("ik/two_bone/batch1000", batch / BATCH * 1e9, "ns", note)
    yield Result("ik/two_bone/pole/batch1000", poled / BATCH * 1e9, "ns", note)
    yield Result("ik/two_bone/single", single * 1e9, "ns", "one solve a call")
    yield Result("ik/aim/batch1000", look / BATCH * 1e9, "ns", note)


def _reached(rng: np.random.Generator) -> Iterator[Result]:
    """Of random targets within reach, how many are reached; beside three.js."""
    each = TARGETS // len(BONES)
    tasks = [make_task(rng, bones, each) for bones in BONES]
    note = f"of {each * len(BONES)} targets, chains of 3 to 8 bones, 1 mm"
    for passes in (30, 200):
        ours, theirs = [], []
        for task in tasks:
            solve, outcome = _reacher(task, CcdSettings(passes, NEAR))
            solve()
            ours.append(outcome()[0] <= NEAR)
            other = solve_three(task.lengths, task.starts, task.targets, passes)
            if other is not None:
                theirs.append(other[0] <= NEAR)
        share = np.concatenate(ours).mean() * 100
        yield Result(f"ik/reached/{passes}", share, "%", f"{note}, {passes} passes")
        if theirs:
            share = np.concatenate(theirs).mean() * 100
            yield Result(f"ik/reached/{passes}/three", share, "%", "the same")


def _peers(rng: np.random.Generator) -> Iterator[Result]:
    """The same four bones by others, where they are installed."""
    task = make_task(rng, 4, 200, are_even=True)
    for passes in (10, 20):
        three = solve_three(task.lengths, task.starts, task.targets, passes)
        if three is not None:
            note = f"CCDIKSolver of three.js, {passes} iterations"
            yield _peer_result(f"three/{passes}", three, note)
    ikpy = solve_ikpy(task.lengths, task.starts[:10], task.targets[:10])
    if ikpy is not None:
        yield _peer_result("ikpy", ikpy, "ikpy, its own settings")


def _peer_result(name: str, solved: tuple[Doubles, float], note: str) -> Result:
    off = np.median(solved[0]) * 1e3
    note = f"{note}; {off:.2g} mm left at the median"
    return Result(f"ik/ccd4/{name}", solved[1] * 1e6, "us", note)


def run() -> Iterator[Result]:
    """All of it, from one seed."""
    rng = np.random.default_rng(7)
    yield from _chain_results(rng)
    yield from _limb_results(rng)
    yield from _reached(rng)
    yield from _peers(rng)
