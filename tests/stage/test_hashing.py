"""What belongs to the hash of a stage: each field says so, or is refused."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.arrays import Doubles
from flexor.samples import mannequin
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.scene.stage.structure import Structure
from flexor.stage.hashing import Hashed, Unhashed, hashed_paths, hashed_values
from flexor.stage.state import StageState, hash_state


@dataclass(slots=True)
class Inner:
    """A state in a state."""

    number: Hashed[int]
    drawn: Unhashed[int]


@dataclass(frozen=True)
class Rule:
    """Settings: they say nothing and count whole."""

    height: float
    name: str


@dataclass(slots=True)
class Outer:
    """States and settings in their order."""

    places: Hashed[Doubles]
    rule: Hashed[Rule]
    inner: Hashed[Inner]
    many: Hashed[tuple[Inner, ...]]
    none: Hashed[Inner | None]
    plan: Unhashed[Rule]


@dataclass(slots=True)
class Silent:
    """One field does not say what it is."""

    places: Hashed[Doubles]
    count: int


@dataclass(slots=True)
class Twice:
    """One field says both."""

    count: Hashed[Unhashed[int]]


@dataclass(slots=True)
class Ordered:
    """Another order, and parts of what knows no hash."""

    one: Hashed[int]
    two: Hashed[Silent]
    hash_order: ClassVar[tuple[str, ...]] = ("two.count", "one", "two.places")


@dataclass(slots=True)
class Forgetful:
    """Its order lacks a field that is hashed."""

    one: Hashed[int]
    two: Hashed[int]
    hash_order: ClassVar[tuple[str, ...]] = ("two",)


def test_what_is_hashed_comes_in_the_order_of_its_fields() -> None:
    places, rule = np.ones(3), Rule(2.0, "side")
    inner = Inner(1, 9)
    state = Outer(places, rule, inner, (Inner(2, 9), Inner(3, 9)), None, rule)
    first, *rest = hashed_values(state)
    assert first is places
    assert rest == [2.0, "side", 1, 2, 3, None]
    assert hashed_paths(Inner) == ("number",)


def test_a_class_may_have_an_order_of_its_own() -> None:
    places = np.ones(2)
    assert list(hashed_values(Ordered(7, Silent(places, 5)))) == [5, 7, places]
    with pytest.raises(TypeError, match=r"Forgetful.hash_order: .*expected .*'one'"):
        hashed_paths(Forgetful)


def test_a_field_that_does_not_say_is_refused() -> None:
    for kind, field in ((Silent, "count"), (Twice, "count")):
        text = rf"{kind.__name__}\.{field}: does not say whether it belongs to the hash"
        with pytest.raises(TypeError, match=text):
            hashed_paths(kind)
    with pytest.raises(TypeError, match=r"Silent\.count"):
        list(hashed_values(Silent(np.ones(1), 2)))


def play() -> StageState:
    """A stage that has everything."""
    plan = StagePlan(
        cast=(Actor(name="red", place=(-1, 0)), Actor(name="blue", place=(1, 0))),
        ground=shape_ground(
            (8, 8), 0.5, [Patch(middle=(0, 0), radius=1, height=0.2, surface="sand")]
        ),
        structures=(Structure(name="pillar", middle=(0, 3), radius=0.3),),
        moves=MoveTable(
            (
                Move(
                    "kick", 24, 7, 38, parts=("rightFoot",), afterimages=("rightFoot",)
                ),
            ),
            singles={"C": "kick"},
        ),
        effects=EffectPlan(leaves=50, snow=50),
    )
    stage = Stage(plan, characters={"mannequin": mannequin()})
    for _ in range(3):
        stage.step(["right", "C"])
    return stage.state


def states_in(state: Any) -> list[Any]:
    """A state and all states in it, also those that are not hashed."""
    found = [state]
    for own in fields(state):
        value = getattr(state, own.name)
        for one in value if isinstance(value, tuple) else (value,):
            is_state = is_dataclass(one) and type(one).__module__.startswith(
                "flexor.stage"
            )
            if is_state and not type(one).__dataclass_params__.frozen:  # type: ignore[union-attr]
                found += states_in(one)
    return found


@pytest.mark.slow
def test_the_hash_is_of_all_that_is_hashed_and_of_nothing_else() -> None:
    state = play()
    usual = hash_state(state)
    kinds = set()
    for own in states_in(state):
        kind = type(own)
        if kind.__name__ in ("Hits", "InputRecorder", "Afterimages", "Shadows"):
            continue  # states in fields that are not hashed need not say
        paths = hashed_paths(kind)
        kinds.add(kind.__name__)
        names = [one.name for one in fields(kind)]
        for path in {*names, *paths}:
            value = attrgetter(path)(own)
            if not isinstance(value, np.ndarray) or not value.size:
                continue
            flat = value.view(np.uint8).reshape(-1)
            flat[0] ^= 1
            assert (hash_state(state) != usual) == (path in paths), (kind, path)
            flat[0] ^= 1
    assert kinds >= {"StageState", "Body", "Leaves", "Snow", "Churn", "CameraState"}
    assert hash_state(state) == usual
