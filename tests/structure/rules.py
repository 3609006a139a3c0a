"""The rules of the source tree: each takes one source file and gives its offences."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDS = ("errors", "arrays", "maths")
LIBRARY = ("scene", "files", "convert", "pose", "deform", "stage", "draw", "output")
# What each folder may import, beside itself; "draw.drawlist" allows that module alone.
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
    "draw": (*WORDS, "scene"),
    "output": (*WORDS, "scene", "draw.drawlist", "files"),
    "samples": (*WORDS, "api"),
    "api": (*WORDS, *LIBRARY, "samples"),
    "games": (*WORDS, *LIBRARY, "api", "samples"),
    "bench": (*WORDS, *LIBRARY, "api", "samples", "games"),
    "cli": (*WORDS, *LIBRARY, "api", "samples", "games", "bench"),
    "moved": (),
    "__main__": ("cli",),
}
USERS = ("games", "bench", "cli")  # may also import the package as users do
VAGUE = {"utils", "util", "helpers", "common", "core", "manager", "misc"}
MOST_LINES, MOST_FUNCTION_LINES, MOST_KERNEL_LINES = 500, 80, 120
MOST_PARAMETERS = 10
# What becomes state is made of what is the same everywhere: `flexor.maths.exact`. These
# rooms make it, and these modules below other rooms.
STATE = (
    "flexor.pose.",
    "flexor.stage.",
    "flexor.deform.",
    "flexor.games.",
    "flexor.maths.",
    "flexor.scene.",
    "flexor.files.bvh",
    "flexor.files.text.limits",
    "flexor.convert.shape.body",
    "flexor.convert.shape.bones",
    "flexor.convert.shape.hit_volumes",
    "flexor.convert.shape.sections",
    "flexor.api.reaching",
    "flexor.api.solving",
    "flexor.api.stage_cast",
)
# What is seen or heard and nothing else.
NO_STATE = {
    "flexor.stage.effects.endless": "pictures of water",
    "flexor.stage.effects.shadows": "shadows are drawn, no rule asks for them",
    "flexor.games.sounds": "sounds",
    "flexor.games.goal.hud": "what is written over the picture",
    "flexor.games.goal.pitch": "the lines and who sits around",
    "flexor.games.goal.screen": "where the camera is",
    "flexor.games.goal.keeper.drawing": "how the goalkeeper is drawn",
    "flexor.maths.colour": "colours",
    "flexor.scene.stage.camera_rule": "refuses cameras that look at themselves",
}
FREE = {
    f"{room}.{name}"
    for room, names in {
        "math": "sin cos tan asin acos atan atan2 exp exp2 expm1 log log2 log10 log1p "
        "pow sinh cosh tanh asinh acosh atanh cbrt hypot dist fma sumprod gamma erf",
        "np": "sin cos tan arcsin arccos arctan arctan2 exp exp2 expm1 log log2 log10 "
        "log1p power float_power sinh cosh tanh arcsinh arccosh arctanh cbrt hypot "
        "sinc logaddexp logspace geomspace dot vdot inner matmul einsum tensordot "
        "polyfit convolve correlate angle",
    }.items()
    for name in names.split()
}
DRAWN = {"normal", "standard_normal", "exponential", "standard_exponential", "gamma"}
# The public face says all its words; what it calls takes records.
MANY_WORDS = {"flexor.api.pictures.drawing": {"contact_sheet"}}


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _walked(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_parsed(text)))


@dataclass(frozen=True)
class Source:
    """One file: its dotted name, its text, and every module of the package."""

    module: str
    text: str
    modules: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.text)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All there is in the tree."""
        return _walked(self.text)

    @property
    def folder(self) -> str:
        """The part of the package it belongs to; "" for flexor/__init__.py."""
        return self.module.partition(".")[2].partition(".")[0]

    @property
    def is_kernel(self) -> bool:
        return ".kernels." in self.module


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
    for node in source.nodes:
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
    found = []
    allowed = (source.folder, *MAY_IMPORT.get(source.folder, ()))
    if not source.folder:
        return []  # the table of names; test_layers checks what it loads
    if source.folder not in MAY_IMPORT:
        return [f"{source.module}: folder {source.folder!r} is not in the design"]
    for module, name in imports(source):
        if not _is_ours(module) or (module, name) == ("flexor", "__version__"):
            continue
        if (module, name) == ("flexor", None) and source.folder in USERS:
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


def compiler_in_its_room(source: Source) -> list[str]:
    """Numba only where machine code is made, which no program loads; LLVM beside it."""
    room = "flexor.maths.machine."
    makers = tuple(f"{room}{name}" for name in ("build", "entry", "llvm."))
    allowed = {"numba": makers, "llvmlite": (room,)}
    return [
        f"{source.module}: imports {module}"
        for module, _ in imports(source)
        if not source.module.startswith(allowed.get(module.split(".")[0], "flexor"))
    ]


def kernels_stand_alone(source: Source) -> list[str]:
    """Kernels take and give arrays: of ours they know kernels alone, those of maths and
    of their own part of the package, layouts, which are numbers and records, also those
    of scene, and the names of arrays. Those of maths know how they are compiled.
    """
    if not source.is_kernel:
        return []
    if source.module.startswith("flexor.maths.kernels."):
        below_all: tuple[str, ...] = ("flexor.maths.machine.",)
    else:
        below_all = ()
    own, below = f"flexor.{source.folder}.", ("flexor.maths.", "flexor.scene.")
    return [
        f"{source.module}: a kernel may not import {module}"
        for module, _ in imports(source)
        if _is_ours(module)
        and module not in ("flexor.arrays", "flexor.maths.records")
        and not module.startswith(below_all)
        and not (
            (".kernels" in module and module.startswith((own, "flexor.maths.")))
            or (module.endswith(".layout") and module.startswith((own, *below)))
        )
    ]


def no_loose_flags(source: Source) -> list[str]:
    """No fastmath=True (it breaks isnan), no threads but those of the library."""
    found = []
    for node in source.nodes:
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
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > most:
                found.append(f"{source.module}: {node.name} has {lines} lines")
    return found


def few_parameters(source: Source) -> list[str]:
    """At most 10 parameters, outside of kernels and commands."""
    if source.is_kernel or source.folder == "cli":
        return []
    found = []
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            names = [
                one.arg
                for one in (
                    *arguments.posonlyargs,
                    *arguments.args,
                    *arguments.kwonlyargs,
                    *filter(None, (arguments.vararg, arguments.kwarg)),
                )
                if one.arg not in ("self", "cls")
            ]
            is_face = node.name in MANY_WORDS.get(source.module, ())
            if len(names) > MOST_PARAMETERS and not is_face:
                found.append(
                    f"{source.module}: {node.name} has {len(names)} parameters"
                )
    return found


def one_set_of_array_names(source: Source) -> list[str]:
    """Arrays have the names of `flexor.arrays`; nobody makes others."""
    if source.module == "flexor.arrays":
        return []
    return [
        f"{source.module}: {ast.unparse(node)}: take a name of flexor.arrays"
        for node in source.tree.body
        if isinstance(node, ast.Assign)
        and re.fullmatch(r"NDArray\[np\.\w+\]", ast.unparse(node.value))
    ]


def layouts_are_numbers(source: Source) -> list[str]:
    """A layout is what a kernel and its caller share: it loads no compiler."""
    if source.module.rpartition(".")[2] != "layout":
        return []
    return [
        f"{source.module}: a layout may not import {module}"
        for module, _ in imports(source)
        if ".kernels" in module and not module.endswith(".layout")
    ]


def _is_power_of_two(node: ast.expr) -> bool:
    """A literal whose powers are exact: 2, 2.0, 0.5."""
    return isinstance(node, ast.Constant) and node.value in (2, 0.5)


def _differs(node: ast.AST) -> str | None:
    """What of an expression has other bits on other machines."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        left = node.left if isinstance(node, ast.BinOp) else node.target
        if isinstance(node.op, ast.MatMult):
            return "@"
        if isinstance(node.op, ast.Pow) and not _is_power_of_two(left):
            return "**"
    if isinstance(node, ast.Attribute):
        name = ast.unparse(node)
        if name in FREE or name.startswith("np.fft."):
            return name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, words = ast.unparse(node.func), {word.arg for word in node.keywords}
        is_length = name == "np.linalg.norm" and "axis" in words and "ord" not in words
        if re.fullmatch(r"np\.linalg\.(?!LinAlgError)\w+", name) and not is_length:
            return name
        if node.func.attr == "argsort" and "kind" not in words:
            return f"{name} without a kind"
        if node.func.attr in DRAWN and not name.startswith("exact."):
            return name
    return None


def same_everywhere(source: Source) -> list[str]:
    """State is made without what differs from one machine to the next: functions of the
    C library and of NumPy, BLAS and LAPACK, sorting that may swap what is equal.
    """
    is_state = f"{source.module}.".startswith(
        tuple(f"{one.rstrip('.')}." for one in STATE)
    )
    if not is_state or source.is_kernel or source.module in NO_STATE:
        return []
    if source.module.startswith(("flexor.maths.machine.", "flexor.maths.exact")):
        return []
    found = [
        f"{source.module}:{getattr(node, 'lineno', 0)}: {what}: take flexor.maths.exact"
        for node in source.nodes
        if (what := _differs(node)) is not None
    ]
    found += [
        f"{source.module}: from {module} import {name}: write {module}.{name}"
        for module, name in imports(source)
        if module in ("math", "numpy", "numpy.linalg") and name is not None
    ]
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
        for node in source.nodes
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
    compiler_in_its_room,
    kernels_stand_alone,
    no_loose_flags,
    short_files,
    short_functions,
    few_parameters,
    one_set_of_array_names,
    layouts_are_numbers,
    same_everywhere,
    telling_names,
    has_docstring,
    all_names_exist,
)
