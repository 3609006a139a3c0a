"""Properties that are made once, also where several threads ask at the same time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

__all__ = ["once"]

T = TypeVar("T")


class _Once(cached_property[T]):
    """Python's own has had no lock since 3.12: two threads got two values."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__(function)
        self._turn = RLock()

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        with self._turn:
            return super().__get__(instance, owner)


def once(function: Callable[[Any], T]) -> cached_property[T]:
    """A property that is kept in the object; who asks while it is made waits for it."""
    return _Once(function)
