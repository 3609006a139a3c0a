"""Which nets are stable: the bound against matrices, and nets that are kicked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.stage.goal.layout import FIXED, FREE, SPRUNG
from flexor.stage.goal.netting import make_netting
from flexor.stage.goal.plan import BallSettings, NetSettings, Push, SheetPlan
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.stability import (
    SAFE,
    check_push,
    check_stable,
    fastest_swing,
    strain,
    suit_net,
)
from tests.stage.goal.test_net import make_net, net_of_sheet, random_sheet, swing

Rng = np.random.Generator
AT_MOST = re.compile(r"(k\w+)(?: and k2b)? at most ([\d.e+-]+)")


def make_sheet(holds: Any, strings: Any = (), lengths: Any = ()) -> Sheet:
    """Nodes anywhere, held and joined as said."""
    count = len(holds)
    return Sheet(
        np.zeros((count, 3)),
        np.array(strings, np.int32).reshape(-1, 2),
        np.array(lengths, np.float64),
        np.array(holds, np.int32),
        np.zeros((count, 3)),
        np.ones(count, np.int32),
        np.zeros((1, count, 2), np.float32),
        np.zeros((0, 6), np.int32),
        np.zeros(0, np.int32),
    )


def taut_sheet(weave: Any = "squares", pitch: float = 0.25) -> Sheet:
    """Strings shorter than the way they go, fixed all around."""
    sides = ("left", "right", "bottom", "top")
    edges: dict[str, Any] = dict.fromkeys(sides, "fixed")
    plan = SheetPlan(
        lower=((-1, 0, 0), (1, 0, 0)),
        upper=((-1, 2, 0), (1, 2, 0)),
        pitch=pitch,
        weave=weave,
        slack=0.8,
        **edges,
    )
    return weave_sheets([plan])


def refusal(sheet: Sheet, settings: NetSettings) -> str:
    with pytest.raises(SettingError) as caught:
        check_stable(sheet, settings)
    return str(caught.value)


def advice(text: str) -> dict[str, float]:
    """The largest stable values that a message names."""
    return {name: float(value) for name, value in AT_MOST.findall(text)}


def step_matrix(settings: NetSettings) -> Any:
    """What one step of the kernel makes of place and velocity of one sprung node; its
    speed is beyond the fastest, so that all is linear.
    """
    net = make_net(1, holds=[SPRUNG])
    net.settings = settings
    columns = []
    for place, speed in ((1.0, 0.0), (0.0, 1.0)):
        nodes, speeds = swing(net, [[place, 0, 0]], [[speed, 0, 0]])
        columns.append([nodes[0, 0], speeds[0, 0]])
    return np.array(columns).T


def test_a_node_is_stable_if_and_only_if_its_strain_is_below_four(rng: Rng) -> None:
    """By the eigenvalues of what the kernel does to it; and it turns by less than a
    radian a step.
    """
    sheet = make_sheet([SPRUNG])
    rate, found, swift = 60, {True: 0, False: 0}, 0
    for _ in range(500):
        mass = rng.uniform(0.1, 3)
        fastest = rng.uniform(0.1, 1)
        settings = NetSettings(
            k11=0,
            k12=rng.choice([rng.uniform(0, 1), rng.uniform(0, 5)]) * mass * rate**2,
            k13=rng.choice([0, rng.uniform(0, 2.5) * mass * rate / fastest]),
            k14=rng.choice([0, rng.uniform(0, 1)]),
            mass=mass,
            gravity=0,
            fastest=fastest,
            rate=rate,
        )
        radius = np.abs(np.linalg.eigvals(step_matrix(settings))).max()
        have = strain(sheet, settings)
        is_slow = settings.k12 < mass * rate**2
        if abs(have - 4) > 1e-4:
            assert (have < 4) == (radius <= 1 + 1e-9 and is_slow)
            found[bool(have < 4)] += 1
            swift += int(not is_slow)
    assert min(found.values()) > 100
    assert swift > 100


def test_the_matrix_of_a_step_is_as_the_module_says() -> None:
    """Trace 2 - (1 + k14) h^2 - c t, determinant 1 - c t - k14 h^2."""
    settings = NetSettings(
        k12=3, k13=2, k14=0.3, mass=0.5, gravity=0, fastest=0.5, rate=10
    )
    h2, ct = 3 / 0.5 * 0.01, 2 * 0.5 / 0.5 * 0.1
    matrix = step_matrix(settings)
    assert np.trace(matrix) == pytest.approx(2 - 1.3 * h2 - ct)
    assert np.linalg.det(matrix) == pytest.approx(1 - ct - 0.3 * h2)
    assert strain(make_sheet([SPRUNG]), settings) == pytest.approx(1.6 * h2 + 2 * ct)


def test_what_is_just_at_the_bound_is_refused() -> None:
    """In numbers that are exact in binary: air that turns a node round, and a swing of
    a radian a step.
    """
    sheet = make_sheet([SPRUNG])
    thick = NetSettings(k12=0, k13=8, k14=0, mass=1, fastest=16, rate=64)
    swift = NetSettings(k12=2.0**12, k13=0, k14=0, mass=1, rate=64)
    for settings in (thick, swift):
        assert strain(sheet, settings) == 4
        refusal(sheet, settings)
    push = Push(k1=2.0**13, k2a=0, k2b=0, k3=0)
    with pytest.raises(SettingError, match="it: unstable"):
        check_push("it", push, 1.0, 64)
    check_push("it", replace(push, k1=2.0**13 - 1), 1.0, 64)


def dense(sheet: Sheet, settings: NetSettings) -> Any:
    """Stiffness of nodes that move, along one axis: newtons a metre."""
    count = len(sheet.holds)
    matrix = np.zeros((count, count))
    for (i, j), length in zip(sheet.strings, sheet.lengths, strict=True):
        stiff = settings.k11 / length
        matrix[i, i] += stiff
        matrix[j, j] += stiff
        matrix[i, j] -= stiff
        matrix[j, i] -= stiff
    for i, hold in enumerate(sheet.holds):
        if hold == SPRUNG:
            matrix[i, i] += settings.k12
    free = sheet.holds != FIXED
    return matrix[free][:, free]


@pytest.mark.parametrize("seed", range(15))
def test_the_fastest_swing_is_the_largest_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sheet = random_sheet(rng)
    settings = NetSettings(
        k11=float(rng.uniform(1, 50)),
        k12=float(rng.choice([0, 30, 3000])),
        mass=float(rng.uniform(0.01, 2)),
    )
    matrix = dense(sheet, settings)
    wanted = np.linalg.eigvalsh(matrix)[-1] / settings.mass if len(matrix) else 0.0
    assert fastest_swing(sheet, settings) == pytest.approx(wanted, rel=1e-5)


def test_small_nets_have_a_fastest_swing() -> None:
    settings = NetSettings(k11=10, k12=4, mass=0.5)
    for holds, strings, wanted in (
        ([], (), 0.0),
        ([FIXED, FIXED], (), 0.0),
        ([FREE], (), 0.0),
        ([SPRUNG], (), 4.0),
        ([FREE] * 7, (), 0.0),
        ([SPRUNG] * 7, (), 4.0),
        ([FIXED, FREE], [[0, 1]], 5.0),
        ([FREE, FREE], [[0, 1]], 10.0),
        ([FREE, FREE], [[1, 0]], 10.0),
        # Eigenvalues of ((5, -5), (-5, 14)): two strings and an anchor.
        ([FREE, SPRUNG, FIXED], [[0, 1], [1, 2]], (19 + np.sqrt(181)) / 2),
    ):
        sheet = make_sheet(holds, strings, [2.0] * len(strings))
        found = fastest_swing(sheet, settings)
        assert found == pytest.approx(wanted / 0.5, abs=1e-9)
    still = replace(settings, k11=0, k12=0)
    assert fastest_swing(taut_sheet(), still) == 0


@pytest.mark.parametrize("seed", range(6))
def test_no_net_is_stiffer_than_the_bound(seed: int) -> None:
    """However it is stretched: strings are stiff along, less so across, or slack."""
    rng = np.random.default_rng(seed)
    sheet = random_sheet(rng)
    settings = NetSettings()
    nodes = sheet.places + rng.normal(0, rng.choice([0.02, 0.3]), sheet.places.shape)
    count = len(nodes)
    stiff = np.zeros((count, 3, count, 3))
    for (i, j), length in zip(sheet.strings, sheet.lengths, strict=True):
        way = nodes[j] - nodes[i]
        size = np.linalg.norm(way)
        if size <= length:
            continue
        along = np.outer(way, way) / size**2
        across = (np.eye(3) - along) * (1 - length / size)
        own = settings.k11 / length * (along + across)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            stiff[a, :, b] += sign * own
    for i in np.flatnonzero(sheet.holds == SPRUNG):
        stiff[i, :, i] += settings.k12 * np.eye(3)
    free = np.flatnonzero(sheet.holds != FIXED)
    matrix = stiff[free][:, :, free].reshape(3 * len(free), 3 * len(free))
    largest = max(np.linalg.eigvalsh(matrix), default=0) / settings.mass
    assert largest <= fastest_swing(sheet, settings) * (1 + 1e-6)
    assert (largest > 0) == (len(free) > 0)


# Nets that are kicked.


def kick(sheet: Sheet, settings: NetSettings, rng: Rng) -> Any:
    """How fast the fastest node is (8,), every 500 steps after a violent kick."""
    net = net_of_sheet(sheet, settings, ground=-1e3)
    nodes, speeds = sheet.places, rng.normal(0, 10, sheet.places.shape)
    speeds[sheet.holds == FIXED] = 0
    found = [np.linalg.norm(speeds, axis=1).max()]
    for _ in range(8):
        nodes, speeds = swing(net, nodes, speeds, 500)
        with np.errstate(all="ignore"):
            found.append(np.linalg.norm(speeds, axis=1).max())
    return np.array(found)


@pytest.mark.parametrize("weave", ["squares", "hexagons"])
@pytest.mark.parametrize(
    ("k13", "k14"), [(0.2, 0.1), (0.01, 0.1), (0.0, 0.1), (0.01, 0.0), (0.0, 0.0)]
)
def test_a_net_with_the_largest_stable_k11_does_not_fly_apart(
    weave: Any, k13: float, k14: float, rng: Rng
) -> None:
    """It calms down; if nothing slows it, it does not, but swings no wilder either."""
    sheet = taut_sheet(weave)
    settings = NetSettings(k11=1e4, k13=k13, k14=k14, gravity=0)
    largest = advice(refusal(sheet, settings))["k11"]
    speeds = kick(sheet, replace(settings, k11=largest), rng)
    assert speeds[0] > 20
    is_slowed = k13 + k14 > 0
    assert (speeds[1:] < (0.4 if is_slowed else 1.5) * speeds[0]).all()
    assert (speeds[-1] < 1) == is_slowed


@pytest.mark.parametrize("weave", ["squares", "hexagons"])
@pytest.mark.parametrize(("k13", "k14", "times"), [(0, 0.1, 8.0), (0, 0, 4.4)])
def test_a_net_with_much_more_flies_apart(
    weave: Any, k13: float, k14: float, times: float, rng: Rng
) -> None:
    """So it is right to refuse it; the kernel alone does not ask."""
    sheet = taut_sheet(weave)
    settings = NetSettings(k11=1e4, k13=k13, k14=k14, gravity=0)
    largest = advice(refusal(sheet, settings))["k11"]
    settings = replace(settings, k11=times * largest)
    speeds = kick(sheet, settings, rng)
    assert not speeds[-1] < 1e6
    refusal(sheet, settings)


def test_air_that_is_too_thick_throws_nodes_about() -> None:
    """One free node, at the fastest: with c t = 2 a step would turn it round."""
    sheet = make_sheet([FREE])
    settings = NetSettings(k11=0, k12=0, k13=1e3, gravity=0, k14=0)
    largest = advice(refusal(sheet, settings))
    assert largest.keys() == {"k13"}
    assert largest["k13"] == pytest.approx(2 * 120 * 0.03 / 20, rel=0.003)
    for times, is_calm in ((1.0, True), (1.1, False)):
        net = make_net(1)
        net.settings = replace(settings, k13=times * largest["k13"])
        _, speeds = swing(net, [[0, 0, 0]], [[30.0, 0, 0]], 2000)
        assert (abs(speeds[0, 0]) < 30) == is_calm


# What is refused, and what is named instead.


@pytest.mark.parametrize("seed", range(40))
def test_values_that_are_named_are_accepted(seed: int) -> None:
    """Of whatever net, to the digits that are printed; one percent more is not."""
    rng = np.random.default_rng(seed)
    sheet = random_sheet(rng)
    if (sheet.holds == FIXED).all():
        sheet = taut_sheet()
    settings = NetSettings(
        k11=float(rng.uniform(0, 300)),
        k12=float(rng.uniform(0, 3000)),
        k13=float(rng.uniform(0, 0.8)),
        k14=float(rng.uniform(0, 0.4)),
    )
    if strain(sheet, settings) < 4:
        check_stable(sheet, settings)
        settings = replace(settings, k11=1e5, k12=1e6, k13=2.0)
    text = refusal(sheet, settings)
    assert "unstable at 120 steps a second" in text
    assert f"k11 = {settings.k11:g}, k12 = {settings.k12:g}" in text
    named = advice(text)
    for name in ("k11", "k12", "k13"):
        value = named.get(name)

        def with_value(number: float, name: str = name) -> NetSettings:
            changes: dict[str, Any] = {name: number}
            return replace(settings, **changes)

        assert (value is not None) == (strain(sheet, with_value(0.0)) < 4)
        if value is not None:
            check_stable(sheet, with_value(value))
            refusal(sheet, with_value(1.01 * value))


def test_each_coefficient_is_named_where_it_helps() -> None:
    sheet = taut_sheet()
    only_k11 = NetSettings(k11=1e3, k12=0, k13=0.1)
    assert advice(refusal(sheet, only_k11)).keys() == {"k11"}
    only_k13 = NetSettings(k11=5, k13=100)
    assert advice(refusal(sheet, only_k13)).keys() == {"k13"}
    either = NetSettings(k11=11, k13=0.3)
    assert advice(refusal(sheet, either)).keys() == {"k11", "k13"}
    plan = SheetPlan(
        lower=((-1, 0, 0), (1, 0, 0)),
        upper=((-1, 2, 0), (1, 2, 0)),
        pitch=0.5,
        middle="sprung",
    )
    sprung = weave_sheets([plan])
    all_three = NetSettings(k11=20, k12=100, k13=0.3)
    assert advice(refusal(sprung, all_three)).keys() == {"k11", "k12", "k13"}
    nothing = refusal(sheet, NetSettings(k11=1e3, k13=10))
    assert not advice(nothing)
    assert "no one coefficient is enough: try a higher rate or more mass" in nothing


def test_a_netting_is_refused_with_the_largest_value_that_is_stable() -> None:
    with pytest.raises(SettingError, match="net: unstable") as caught:
        make_goal(net=NetSettings(k11=200))
    largest = advice(str(caught.value))["k11"]
    assert make_goal(net=NetSettings(k11=largest)).net.k11 == largest
    # Slower steps make it worse, more mass makes it better.
    with pytest.raises(SettingError, match="unstable at 60 steps a second"):
        make_goal(net=NetSettings(rate=60))
    make_goal(net=NetSettings(rate=60, mass=0.15))
    make_goal(net=NetSettings(rate=240, k11=60), ball=BallSettings(rate=240))


def test_the_usual_goal_has_the_usual_net() -> None:
    """These are stable there, as the specification asks for."""
    assert strain(make_goal().sheet, NetSettings()) < 4
    assert make_goal(net=NetSettings()).net == NetSettings()


def test_the_usual_net_is_chosen_for_the_usual_goal() -> None:
    assert make_goal().net == NetSettings()


@pytest.mark.parametrize("pitch", [0.08, 0.12, 0.2])
def test_fine_nets_get_strings_that_are_stable(pitch: float, rng: Rng) -> None:
    """Weaker ones, and no weaker than is needed."""
    sheet = taut_sheet("hexagons", pitch)
    found = suit_net(sheet)
    assert found == replace(NetSettings(), k11=found.k11)
    assert 0 < found.k11 < NetSettings().k11
    assert strain(sheet, found) <= SAFE
    assert strain(sheet, replace(found, k11=1.01 * found.k11)) > SAFE
    assert suit_net(taut_sheet(pitch=1.0)) == NetSettings()
    if pitch > 0.08:
        speeds = kick(sheet, found, rng)
        assert speeds[-1] < 1


def test_a_fine_goal_is_made_with_such_strings() -> None:
    goal = make_goal(GoalSettings(pitch=0.12))
    assert len(goal.hang) > 1500
    assert goal.net.k11 < NetSettings().k11
    assert strain(goal.sheet, goal.net) <= SAFE


# Balls in sheets.

DEPTH, RATE = 1.25, 240
ZERO = Push(k1=0, k2a=0, k2b=0, k3=0, k4=0, k5=0, limit=DEPTH)


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (("k1",), 2 * RATE**2 / DEPTH),
        (("k2a",), 2 * RATE / DEPTH**2),
        (("k2b",), 2 * RATE / DEPTH**2),
        (("k2a", "k2b"), 2 * RATE / DEPTH**2),
        (("k3",), RATE / DEPTH**2),  # two faces slow it beside the third
    ],
)
def test_pushes_of_one_kind_have_a_largest_value(names: Any, most: float) -> None:
    below, above = (
        replace(ZERO, **dict.fromkeys(names, share * most)) for share in (0.999, 1.001)
    )
    check_push("it", below, DEPTH, RATE)
    with pytest.raises(
        SettingError, match=r"^it: unstable at 240 steps a second and a"
    ):
        check_push("it", above, DEPTH, RATE)
    check_push("it", above, DEPTH, 2 * RATE)
    check_push("it", above, DEPTH / 2, RATE)


def test_small_values_are_named_too() -> None:
    most = 2 * RATE / DEPTH**2
    with pytest.raises(SettingError) as caught:
        check_push("it", replace(ZERO, k2b=most - 1, k3=5.0), DEPTH, RATE)
    assert advice(str(caught.value))["k3"] == pytest.approx(0.5, rel=0.003)


@pytest.mark.parametrize("seed", range(20))
def test_values_that_are_named_for_pushes_are_accepted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0, 1.2, 3)
    push = replace(
        ZERO,
        k1=shares[0] * 2 * RATE**2 / DEPTH,
        k2a=shares[1] * 2 * RATE / DEPTH**2,
        k2b=rng.uniform(0, 1) * shares[1] * 2 * RATE / DEPTH**2,
        k3=shares[2] * RATE / DEPTH**2,
    )
    total = shares.sum()
    if total < 1:
        check_push("it", push, DEPTH, RATE)
        return
    with pytest.raises(SettingError) as caught:
        check_push("it", push, DEPTH, RATE)
    named = advice(str(caught.value))
    for name, share in zip(("k1", "k2a", "k3"), shares, strict=True):
        assert (name in named) == (total - share < 1)
    if not named:
        assert "try a higher rate or a smaller limit" in str(caught.value)
    for name, value in named.items():
        keys = ("k2a", "k2b") if name == "k2a" else (name,)
        for times, is_right in ((1.0, True), (1.01, False)):
            other = replace(push, **dict.fromkeys(keys, times * value))
            if is_right:
                check_push("it", other, DEPTH, RATE)
            else:
                with pytest.raises(SettingError):
                    check_push("it", other, DEPTH, RATE)


def test_a_netting_with_an_unstable_push_is_refused() -> None:
    plan = SheetPlan(
        lower=((-1, 0, 0), (1, 0, 0)),
        upper=((-1, 1, 0), (1, 1, 0)),
        names=("sheet",),
        push=Push(k2b=1e4),
    )
    with pytest.raises(SettingError, match=r"push of sheet: unstable at 240 .*k2b at"):
        make_netting(plan)
    with pytest.raises(SettingError, match=r"edge of sheet: unstable at 240 .*k1 at"):
        make_netting(replace(plan, push=Push(), edge=Push(k1=1e6, limit=0.4)))
