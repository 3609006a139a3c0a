"""Functions whose keywords are the rows of a table, for help, editors and notebooks."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from flexor.convert.repair.passes import TABLE
from flexor.convert.repair.rows import Setting

__all__ = ["with_keywords"]

Function = TypeVar("Function", bound=Callable[..., Any])
MARK = "{settings}"
WIDTH = 84


def with_keywords(function: Function) -> Function:
    """The function, shown with the keywords of the repair table in place of `**`.

    They stand before its other keywords, and their texts in place of "{settings}" in
    its docstring.
    """
    plain = inspect.signature(function, eval_str=False)
    kinds = inspect.Parameter
    parts = list(plain.parameters.values())
    rows = [
        kinds(
            name,
            kinds.KEYWORD_ONLY,
            default=TABLE.settings[name].default,
            annotation=kind,
        )
        for name, kind in TABLE.types.items()
    ]
    first = [one for one in parts if one.kind is kinds.POSITIONAL_OR_KEYWORD]
    own = [one for one in parts if one.kind is kinds.KEYWORD_ONLY]
    shown = plain.replace(parameters=[*first, *rows, *own])
    setattr(function, "__signature__", shown)  # noqa: B010
    told = "\n".join(_tell(TABLE.settings[name]) for name in TABLE.types)
    function.__doc__ = (function.__doc__ or "").replace(f"    {MARK}", told)
    return function


def _tell(setting: Setting) -> str:
    """A setting in words, as lines of a docstring."""
    unit = f" ({setting.unit})" if setting.unit else ""
    text = f"{setting.name}{unit}: {setting.text}"
    first, more = "    ", "        "
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=more)
