"""Which fields of a state belong to the hash of its stage: each says so where it is.

    @dataclass(slots=True, eq=False)
    class Standing:
        grounded: Hashed[Bools]  # a later tick depends on it
        drawn: Unhashed[Floats]  # none does, or it is made of what is hashed

A field that says neither is refused. Frozen settings in a hashed field count whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_type_hints

__all__ = ["Hashed", "Unhashed", "hashed_paths", "hashed_values"]


class Mark(Enum):
    """What a field says of itself."""

    HASHED = "hashed"
    UNHASHED = "unhashed"


T = TypeVar("T")
Hashed = Annotated[T, Mark.HASHED]
Unhashed = Annotated[T, Mark.UNHASHED]


@cache
def hashed_paths(kind: type) -> tuple[str, ...]:
    """What of a class of states belongs to the hash, in its order: names of fields.

    They stand in the order of the fields, unless the class has a `hash_order`: that may
    also take parts of states that know no hash, such as "player.local".
    """
    names = [own.name for own in fields(kind)]
    if kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return tuple(names)
    hints = get_type_hints(kind, include_extras=True)
    hashed = []
    for name in names:
        said = [mark for mark in Mark if mark in _marks(hints[name])]
        if len(said) != 1:
            raise TypeError(
                f"{kind.__name__}.{name}: does not say whether it belongs to the hash, "
                "expected Hashed[...] or Unhashed[...]"
            )
        if said == [Mark.HASHED]:
            hashed.append(name)
    order: tuple[str, ...] = getattr(kind, "hash_order", tuple(hashed))
    if {path.partition(".")[0] for path in order} != set(hashed):
        raise TypeError(
            f"{kind.__name__}.hash_order: {order}, expected all of {hashed}"
        )
    return order


def _marks(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__metadata__", ())


def hashed_values(state: Any) -> Iterator[Any]:
    """Every array and number of a state that belongs to its hash, in its order, through
    the states in it.
    """
    kind: Any = type(state)
    for path in hashed_paths(kind):
        value = attrgetter(path)(state)
        if is_dataclass(value):
            yield from hashed_values(value)
        elif isinstance(value, tuple) and all(is_dataclass(own) for own in value):
            for own in value:
                yield from hashed_values(own)
        else:
            yield value
