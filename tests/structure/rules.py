"""The rules of the source tree: each takes one source file and gives its offences."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDS = ("errors", "arrays", "maths")
# What each folder may import, beside itself; "stage.frame" allows that module alone.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "arrays": ("errors",),
    "maths": ("errors", "arrays"),
    "scene": WORDS,
    "files": (*WORDS, "scene"),
    "convert": (*WORDS, "scene", "pose", "deform"),
    "pose": (*WORDS, "scene"),
    "deform": (*WORDS, "scene"),
    "stage": (*WORDS, "scene", "pose", "deform"),
    "draw": (*WORDS, "scene", "stage.frame"),
    "output": (*WORDS, "scene", "draw.drawlist", "stage.frame", "files"),
    "samples": (*WORDS, "scene", "files", "api"),
}
# May import everything.
FACES = ("api", "cli", "games", "bench", "__main__")
VAGUE = {"utils", "util", "helpers", "common", "core", "manager", "misc"}
MOST_LINES, MOST_FUNCTION_LINES, MOST_KERNEL_LINES = 500, 80, 120


@dataclass(frozen=True)
class Source:
    """One file: its dotted name, its text, and every module of the package."""

    module: str
    text: str
    modules: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    @property
    def tree(self) -> ast.Module:
        return _tree(self.text)

    @property
    def folder(self) -> str:
        """The part of the package it belongs to; "" for flexor/__init__.py."""
        return self.module.partition(".")[2].partition(".")[0]

    @property
    def is_kernel(self) -> bool:
        return ".kernels." in self.module


@cache
def _tree(text: str) -> ast.Module:
    """A text that many rules look at is read once."""
    return ast.parse(text)


def read_sources(root: Path) -> list[Source]:
    """Every module below `root`, the folder of the package itself."""
    names: dict[str, Path] = {}
    packages = set()
    for path in sorted(root.rglob("*.py")):
        parts = list(path.relative_to(root.parent).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        names[".".join(parts)] = path
        packages.update(".".join(parts[:n]) for n in range(1, len(parts)))
        if path.name == "__init__.py":
            packages.add(".".join(parts))
    everything = frozenset(names) | packages
    return [
        Source(name, path.read_text("utf-8"), everything, frozenset(packages))
        for name, path in names.items()
    ]


def imports(source: Source) -> Iterator[tuple[str, str | None]]:
    """Every import as (module, name in it); the name is None for whole modules."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = source.module.split(".")
                drop = node.level - (source.module in source.packages)
                kept = up[: len(up) - drop]
                base = ".".join([*kept, base] if base else kept)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield (whole, None) if whole in source.modules else (base, alias.name)


def _is_ours(module: str) -> bool:
    return module == "flexor" or module.startswith("flexor.")


def layers(source: Source) -> list[str]:
    """The import table of the design."""
    if source.folder in FACES:
        return []
    found = []
    allowed = (source.folder, *MAY_IMPORT.get(source.folder, ()))
    if not source.folder:
        return []  # the table of names; test_layers checks what it loads
    if source.folder not in MAY_IMPORT:
        return [f"{source.module}: folder {source.folder!r} is not in the design"]
    for module, name in imports(source):
        if not _is_ours(module) or (module, name) == ("flexor", "__version__"):
            continue
        inner = module.partition(".")[2]
        if not any(inner == may or inner.startswith(f"{may}.") for may in allowed):
            found.append(f"{source.module}: may not import {module}")
    return found


def no_import_through_init(source: Source) -> list[str]:
    """Names come from the module that makes them, never through a package."""
    return [
        f"{source.module}: imports {name} through the package {module}"
        for module, name in imports(source)
        if _is_ours(module)
        and name is not None
        and module in source.packages
        and (module, name) != ("flexor", "__version__")
    ]


def compiler_in_kernels(source: Source) -> list[str]:
    """Numba and LLVM only in kernel files."""
    return [
        f"{source.module}: imports {module}"
        for module, _ in imports(source)
        if module.split(".")[0] in ("numba", "llvmlite") and not source.is_kernel
    ]


def kernels_stand_alone(source: Source) -> list[str]:
    """Kernels take and give arrays: of ours they know kernels alone, those of maths and
    of their own part of the package, and layouts, which are numbers.
    """
    if not source.is_kernel:
        return []
    return [
        f"{source.module}: a kernel may not import {module}"
        for module, _ in imports(source)
        if _is_ours(module)
        and not (
            module.startswith(("flexor.maths.kernels", f"flexor.{source.folder}."))
            and (".kernels" in module or module.endswith(".layout"))
        )
    ]


def no_loose_flags(source: Source) -> list[str]:
    """No fastmath=True (it breaks isnan), no threads but those of the library."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.keyword) and node.arg in ("fastmath", "parallel"):
            if isinstance(node.value, ast.Constant) and node.value.value is True:
                found.append(f"{source.module}: {node.arg}=True")
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name == "prange":
                found.append(f"{source.module}: prange")
    return found


def short_files(source: Source) -> list[str]:
    """A file of 100 to 400 lines; stop at 500."""
    lines = source.text.count("\n")
    return [f"{source.module}: {lines} lines"] if lines > MOST_LINES else []


def short_functions(source: Source) -> list[str]:
    """At most 80 lines a function, 120 in kernels."""
    most = MOST_KERNEL_LINES if source.is_kernel else MOST_FUNCTION_LINES
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > most:
                found.append(f"{source.module}: {node.name} has {lines} lines")
    return found


def telling_names(source: Source) -> list[str]:
    """No module or folder named for nothing in particular."""
    bad = VAGUE & set(source.module.split("."))
    return [f"{source.module}: a module named {name}" for name in sorted(bad)]


def has_docstring(source: Source) -> list[str]:
    """Every module says what it is."""
    return [] if ast.get_docstring(source.tree) else [f"{source.module}: no docstring"]


def top_names(tree: ast.Module) -> set[str]:
    """Names that a module's top level binds, also inside `if`, `for` and `try`."""
    names: set[str] = set()
    left: list[ast.AST] = [tree]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names.update((a.asname or a.name).partition(".")[0] for a in node.names)
            left.append(node)
    return names


def listed_names(tree: ast.Module) -> list[str]:
    """The texts of `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__":
                names: list[str] = ast.literal_eval(node.value)
                return names
    return []


def all_names_exist(source: Source) -> list[str]:
    """Names in `__all__` are made in the module; lazy tables are imported by a test."""
    there = top_names(source.tree)
    if "__getattr__" in there:
        return []
    return [
        f"{source.module}: __all__ names {name}, which is not there"
        for name in listed_names(source.tree)
        if name not in there
    ]


def kernel_names(source: Source) -> list[str]:
    """Functions decorated with `jit`."""

    def name(decorator: ast.expr) -> str:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        return target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)

    return [
        node.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef)
        and source.is_kernel
        and any(name(decorator) in ("jit", "njit") for decorator in node.decorator_list)
    ]


def untested_kernels(source: Source, tests: str) -> list[str]:
    """Kernels that `tests`, the text of the tests of their folder, does not name."""
    return [
        f"{source.module}: no test names the kernel {name}"
        for name in kernel_names(source)
        if not re.search(rf"\b{name}\b", tests)
    ]


RULES: tuple[Callable[[Source], list[str]], ...] = (
    layers,
    no_import_through_init,
    compiler_in_kernels,
    kernels_stand_alone,
    no_loose_flags,
    short_files,
    short_functions,
    telling_names,
    has_docstring,
    all_names_exist,
)
