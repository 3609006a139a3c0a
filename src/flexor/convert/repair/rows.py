"""What a row of the table of repair passes says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import Any, Literal

from flexor.errors import SettingError

__all__ = ["Bounds", "Option", "Pass", "Setting", "Stage", "Values"]

# When a pass is done. weights: on each body, one after another, where joints may be
# changed; links: on the scene; limits: on the weights of all bodies as they are then;
# surfaces: on the scene, after all that the report compares.
Stage = Literal["weights", "links", "limits", "surfaces"]
Values = Mapping[str, Any]  # of all settings, by name


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which numbers are good: from low to high; is_open: but not these themselves.

    words: the same for people, after "expected".
    """

    low: float
    high: float
    words: str
    is_open: bool = False

    def hold(self, value: float) -> bool:
        """Whether a number is good."""
        if self.is_open:
            return self.low < value < self.high
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is said on the command line.

    spelling: such as "--prune"; low, high: the bounds there, if any; metavar: what
    stands for the value in the help; text: the help, "" for that of the setting; after:
    the option that it stands behind in the help, "" for the one of the row before;
    is_bare: whether it may stand without a value, for the usual one.
    """

    spelling: str
    low: float | None = None
    high: float | None = None
    metavar: str | None = None
    text: str = ""
    after: str = ""
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a repair.

    kind: bool, int, float, str (one of `choices`), list (of texts), or dict for what
    the settings file alone can say; default: what holds when nothing is said; text:
    what it does; unit: of a number, in words; bounds: which numbers are good; least:
    the least that a program may ask for; usual: the number that True stands for, and
    that holds when the settings file has the table of `word` but not the word itself;
    option: None where the command has none; word: where it stands in the settings file,
    such as "smooth.width"; name: in Python, "" in a row, which is called by its
    keyword.
    """

    kind: type
    default: Any
    text: str
    unit: str = ""
    bounds: Bounds | None = None
    least: int = 0
    choices: tuple[str, ...] = ()
    usual: int | None = None
    option: Option | None = None
    word: str = ""
    name: str = ""

    def check(self, value: Any) -> None:
        """Refuse a number out of bounds, and what is none of the choices."""
        if value is self.default:  # None and False are no numbers, but may be right
            return
        if self.choices and value not in self.choices:
            wanted = " or ".join(self.choices)
            raise SettingError(f"{self.name}: {value!r}, expected {wanted}")
        if self.bounds is not None:
            is_number = isinstance(value, int | float)
            if not is_number or not self.bounds.hold(value):
                wanted = self.bounds.words
                raise SettingError(f"{self.name}: {value!r}, expected {wanted}")

    def take(self, value: Any) -> Any:
        """A value that a program gives, as it is kept; SettingError for no good one."""
        if self.kind is bool:
            return bool(value)
        if self.kind is list:
            return self._take_texts(value)
        if self.kind is int and value is not self.default:
            value = self._take_whole(value)
        self.check(value)
        return value

    def _take_whole(self, value: Any) -> int:
        """A whole number of any kind that is one; True: the usual one, if there is."""
        if value is True and self.default is False and self.usual is not None:
            return self.usual
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < self.least:
            wanted = f"a whole number from {self.least}"
            raise SettingError(f"{self.name}: {value!r}, expected {wanted}")
        return int(value)

    def _take_texts(self, value: Any) -> tuple[str, ...]:
        """Texts; a single one is a list of one."""
        if isinstance(value, str):
            return (value,)
        try:
            texts = tuple(value)
        except TypeError:
            wanted = "a list of texts"
            raise SettingError(f"{self.name}: {value!r}, expected {wanted}") from None
        if not all(isinstance(text, str) for text in texts):
            raise SettingError(f"{self.name}: {texts!r}, expected texts")
        return texts


@dataclass(frozen=True, slots=True)
class Pass:
    """What is done with a setting.

    name: in reports; stage: when, beside the order of rows; run: module and function,
    such as "flexor.convert.weights.mend_rogues:rogues_pass", which takes a BodyTask and
    gives Mended (weights, limits) or takes a SceneTask and gives SceneFacts and
    findings (links, surfaces); its other parameters are settings of the table, by name;
    more: settings that the settings file alone can say; is_on: whether it is asked for,
    None for: if its setting is anything but None, False or 0; is_usual: whether it is
    also done when it is not asked for; told: how it was set, for the page of a repair,
    with names of settings in braces.
    """

    name: str
    stage: Stage
    run: str
    more: tuple[Setting, ...] = ()
    is_on: Callable[[Values], bool] | None = None
    is_usual: bool = False
    told: str = ""

    def load(self) -> Callable[..., Any]:
        """The function; only now, as many passes load the compiler."""
        module, _, name = self.run.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function
