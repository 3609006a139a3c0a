"""The shape of the source tree: who imports whom, how long, what is exported."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import flexor
from tests.structure import rules
from tests.structure.rules import RULES, Source

ROOT = Path(__file__).parent.parent.parent
PACKAGE = Path(flexor.__file__).parent
SOURCES = rules.read_sources(PACKAGE)

MODULES = frozenset(
    f"flexor.{name}"
    for name in (
        "errors arrays maths maths.kernels maths.kernels.jit maths.quaternions scene "
        "scene.character scene.character.mesh files files.replace pose pose.kernels "
        "pose.kernels.sample pose.sample deform convert stage stage.frame stage.state "
        "draw draw.drawlist draw.cull output api api.character samples"
    ).split()
) | {"flexor"}
PACKAGES = frozenset(m for m in MODULES if any(o.startswith(f"{m}.") for o in MODULES))


def planted(module: str, text: str) -> Source:
    return Source(module, text, MODULES | {module}, PACKAGES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_source_tree(rule: Callable[[Source], list[str]]) -> None:
    offences = [text for source in SOURCES for text in rule(source)]
    assert not offences, "\n".join(offences)


def test_sources_are_found() -> None:
    names = {source.module for source in SOURCES}
    assert {
        "flexor",
        "flexor.errors",
        "flexor.pose.kernels.sample",
        "flexor.scene",
    } <= names


def test_every_kernel_is_tested() -> None:
    @cache
    def texts(folder: str) -> str:
        paths = (ROOT / "tests" / folder).rglob("*.py")
        return "".join(path.read_text("utf-8") for path in paths)

    kernels = 0
    for source in SOURCES:
        if names := rules.kernel_names(source):
            kernels += len(names)
            text = texts("oracle") + texts(source.folder)
            assert not rules.untested_kernels(source, text)
    assert kernels >= 60


# Each rule catches what it is there for: (rule, module, text of the file).
BAD = [
    *(
        (rules.same_everywhere, module, text)
        for module in ("flexor.pose.sample", "flexor.stage.frame")
        for text in (
            "x = math.sin(y)",
            "x = np.arctan2(y, z)",
            "x = map(math.exp, y)",
            "x = y ** 2",
            "x **= 0.5",
            "x = y @ z",
            "x @= z",
            "x = np.einsum('ij,j', y, z)",
            "x = np.linalg.inv(y)",
            "x = np.linalg.norm(y)",
            "x = np.linalg.norm(y, ord=2, axis=(1, 2))",
            "x = math.hypot(y, z)",
            "x = np.argsort(y)",
            "x = chance.normal(0, 1, 3)",
            "x = np.fft.rfft(y)",
            "from math import sin",
            "from numpy.linalg import inv",
        )
    ),
    (rules.same_everywhere, "flexor.files.bvh", "x = np.sin(y)"),
    (rules.layers, "flexor.errors", "import flexor.arrays"),
    (rules.layers, "flexor.arrays", "from flexor.maths import quaternions"),
    (
        rules.layers,
        "flexor.maths.curves",
        "from flexor.scene.character.mesh import Mesh",
    ),
    (rules.layers, "flexor.scene.character.mesh", "from flexor.files.replace import x"),
    (rules.layers, "flexor.scene.character.mesh", "from flexor import pose"),
    (rules.layers, "flexor.files.replace", "from flexor.pose.sample import sample"),
    (rules.layers, "flexor.pose.sample", "import flexor.deform"),
    (rules.layers, "flexor.deform", "def f():\n    from flexor.pose import sample"),
    (rules.layers, "flexor.deform", "if TYPE_CHECKING:\n    import flexor.pose.sample"),
    (rules.layers, "flexor.convert.x", "from flexor.files.replace import x"),
    (rules.layers, "flexor.stage.state", "from flexor.draw.cull import x"),
    (rules.layers, "flexor.draw.cull", "from flexor.stage.state import x"),
    (rules.layers, "flexor.draw.cull", "from flexor.pose.sample import x"),
    (rules.layers, "flexor.output.image", "from flexor.draw.cull import x"),
    (rules.layers, "flexor.output.image", "from flexor.stage import state"),
    (
        rules.layers,
        "flexor.scene.character.mesh",
        "from flexor.api.character import Character",
    ),
    (rules.layers, "flexor.samples.x", "from flexor.deform import x"),
    (rules.layers, "flexor.pose.sample", "import flexor"),
    (rules.layers, "flexor.pose.sample", "from flexor import load"),
    (rules.layers, "flexor.pose.sample", "from ..deform import bind"),
    (rules.layers, "flexor.pose", "from ..deform import bind"),
    (rules.layers, "flexor.physics.x", ""),
    (rules.layers, "flexor.draw.cull", "from flexor.stage.frame import Frame"),
    (rules.layers, "flexor.output.x", "from flexor.stage.frame import Frame"),
    (rules.layers, "flexor.api.x", "from flexor.cli.main import main"),
    (rules.layers, "flexor.api.x", "import flexor"),
    (rules.layers, "flexor.games.x", "from flexor.cli import main"),
    (rules.layers, "flexor.samples.x", "from flexor.files.replace import x"),
    (
        rules.no_import_through_init,
        "flexor.pose.sample",
        "from flexor.scene import Mesh",
    ),
    (rules.no_import_through_init, "flexor.api.x", "from flexor import load"),
    (rules.no_import_through_init, "flexor.scene.character.mesh", "from . import Mesh"),
    (rules.no_import_through_init, "flexor.scene", "from . import Mesh"),
    (rules.compiler_in_its_room, "flexor.pose.sample", "import numba"),
    (rules.compiler_in_its_room, "flexor.maths.x", "from llvmlite import ir"),
    (rules.compiler_in_its_room, "flexor.pose.kernels.x", "from numba import types"),
    (rules.compiler_in_its_room, "flexor.maths.kernels.x", "from llvmlite import ir"),
    (rules.compiler_in_its_room, "flexor.maths.machine.load", "import numba.core"),
    (
        rules.kernels_stand_alone,
        "flexor.pose.kernels.sample",
        "from flexor.errors import ShapeError",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.maths.kernels.x",
        "import flexor.maths.threads",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.draw.kernels.x",
        "from flexor.pose.kernels import sample",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.draw.kernels.x",
        "from flexor.pose.play.layout import FREE",
    ),
    (
        rules.no_loose_flags,
        "flexor.pose.kernels.sample",
        "@jit(fastmath=True)\ndef f(): ...",
    ),
    (rules.no_loose_flags, "flexor.pose.kernels.sample", "njit(parallel=True)(f)"),
    (
        rules.no_loose_flags,
        "flexor.pose.kernels.sample",
        "for i in numba.prange(3): ...",
    ),
    (rules.no_loose_flags, "flexor.pose.kernels.sample", "for i in prange(3): ..."),
    (rules.short_files, "flexor.x", "\n" * 501),
    (rules.short_functions, "flexor.x", "def f():\n" + "    x = 1\n" * 80),
    (rules.short_functions, "flexor.x", "class A:\n def f():\n" + "  x = 1\n" * 80),
    (rules.short_functions, "flexor.x.kernels.y", "def f():\n" + "    x = 1\n" * 120),
    (rules.few_parameters, "flexor.x", "def f(a, b, c, d, e, f, g, h, i, j, k): ..."),
    (
        rules.few_parameters,
        "flexor.x",
        "def f(a, b, c, d, e, *f, g, h, i, j, **k): ...",
    ),
    (rules.one_set_of_array_names, "flexor.x", "Lengths = NDArray[np.float64]"),
    (rules.layouts_are_numbers, "flexor.x.layout", "from flexor.pose.kernels import a"),
    (rules.telling_names, "flexor.scene.utils", ""),
    (rules.telling_names, "flexor.core.mesh", ""),
    (rules.telling_names, "flexor.helpers", ""),
    (rules.has_docstring, "flexor.x", "import ast\n'late'"),
    (rules.all_names_exist, "flexor.x", "__all__ = ['a', 'b']\ndef a():\n    b = 1"),
]
GOOD = [
    *(
        (rules.same_everywhere, module, text)
        for module, text in (
            ("flexor.pose.sample", "x = exact.sin(y) + math.sqrt(2.0**-3)"),
            ("flexor.pose.sample", "x = np.linalg.norm(y, axis=1).sum()"),
            ("flexor.pose.sample", "x = y.argsort(kind='stable')"),
            ("flexor.pose.sample", "x = exact.normal(chance, 1.0, 3)"),
            ("flexor.pose.sample", "raise np.linalg.LinAlgError('flat')"),
            ("flexor.pose.kernels.sample", "x = a @ b"),
            ("flexor.games.sounds", "x = np.sin(y) ** 1.5"),
            ("flexor.draw.cull", "x = np.tan(y)"),
        )
    ),
    (rules.layers, "flexor.api.x", "from flexor.deform import x\nimport flexor.draw"),
    (rules.layers, "flexor.output.x", "from flexor.draw.drawlist import DrawList"),
    (
        rules.layers,
        "flexor.samples.x.y",
        "from .z import a\nfrom flexor.api import character",
    ),
    (
        rules.layers,
        "flexor.pose.sample",
        "from . import kernels\nimport numpy\nimport flexors",
    ),
    (rules.layers, "flexor.files.x", "from flexor import __version__"),
    (
        rules.no_import_through_init,
        "flexor.pose.sample",
        "from flexor.pose.kernels import sample",
    ),
    (rules.no_import_through_init, "flexor.x", "from flexor.errors import ShapeError"),
    (rules.no_import_through_init, "flexor.api.x", "from flexor import __version__"),
    (
        rules.compiler_in_its_room,
        "flexor.maths.machine.llvm.lanes",
        "from llvmlite import ir",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.pose.kernels.sample",
        "from flexor.maths.kernels.jit import jit",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.pose.kernels.sample",
        "from flexor.scene.stage.layout import ROLES",
    ),
    (
        rules.kernels_stand_alone,
        "flexor.pose.kernels.sample",
        "from flexor.pose.play.layout import FREE",
    ),
    (
        rules.no_loose_flags,
        "flexor.maths.kernels.jit",
        "njit(fastmath=FAST, cache=True)(f)",
    ),
    (rules.short_files, "flexor.x", "\n" * 500),
    (rules.short_functions, "flexor.x", "def f():\n" + "    x = 1\n" * 79),
    (rules.short_functions, "flexor.x.kernels.y", "def f():\n" + "    x = 1\n" * 119),
    (
        rules.few_parameters,
        "flexor.x",
        "class A:\n    def f(self, a, b, c, d, e, f, g, h, i, j): ...",
    ),
    (
        rules.few_parameters,
        "flexor.pose.kernels.sample",
        "def f(a, b, c, d, e, f, g, h, i, j, k): ...",
    ),
    (rules.one_set_of_array_names, "flexor.arrays", "Floats = NDArray[np.float32]"),
    (rules.layouts_are_numbers, "flexor.x.layout", "import numpy"),
    (rules.layers, "flexor.cli.x", "import flexor"),
    (rules.telling_names, "flexor.scene.commonplace", ""),
    (
        rules.all_names_exist,
        "flexor.x",
        "__all__ = ['a']\nif 1:\n    from b import c as a",
    ),
    (rules.all_names_exist, "flexor.x", "__all__ = ['a', 'b']\na, b = f()"),
]


@pytest.mark.parametrize(("rule", "module", "text"), BAD)
def test_rule_catches(
    rule: Callable[[Source], list[str]], module: str, text: str
) -> None:
    assert rule(planted(module, text))


@pytest.mark.parametrize(("rule", "module", "text"), GOOD)
def test_rule_lets_pass(
    rule: Callable[[Source], list[str]], module: str, text: str
) -> None:
    assert not rule(planted(module, text))


def test_untested_kernel_is_caught() -> None:
    text = (
        "@jit('void()')\ndef skin(): ...\n@inline\ndef c(): ...\n@x.njit\ndef b(): ..."
    )
    source = planted("flexor.pose.kernels.sample", text)
    assert rules.kernel_names(source) == ["skin", "b"]
    assert len(rules.untested_kernels(source, "def test_skinning(): b()")) == 1
    assert not rules.untested_kernels(source, "kernel.skin(); b()")


def test_exports_are_made_where_the_table_says() -> None:
    sources = {source.module: source for source in SOURCES}
    for name, home in flexor._HOMES.items():
        if home == f"flexor.{name}":
            assert (PACKAGE / name).is_dir()
        else:
            assert name in rules.listed_names(sources[home].tree), name
    assert sorted(flexor.__all__) == sorted([*flexor._HOMES, "__version__"])
    assert dir(flexor) == sorted(flexor.__all__)


@pytest.mark.parametrize("name", sorted(flexor._HOMES))
def test_export_resolves(name: str) -> None:
    value = getattr(flexor, name)
    home = import_module(flexor._HOMES[name])
    assert value is (home if name == "samples" else getattr(home, name))


def test_types_see_the_same_exports() -> None:
    """The imports under TYPE_CHECKING are those of the table."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module if alias.name != "samples" else f"{node.module}.samples"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == flexor._HOMES


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = flexor.nonsense


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == flexor.__version__


def test_import_is_light() -> None:
    script = (
        "import sys; before = set(sys.modules); import flexor; "
        "print(*sorted(set(sys.modules) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    loaded = out.stdout.split()
    heavy = {"numba", "llvmlite", "scipy", "PIL", "numpy", "rich", "typer", "wgpu"}
    assert not heavy & {name.partition(".")[0] for name in loaded}
    assert [name for name in loaded if name.startswith("flexor")] == ["flexor"]
    assert len(loaded) < 45, loaded  # typing and its kin are 30


def test_nothing_loads_the_compiler() -> None:
    """But the processes that compile: programs run what stands on disk."""
    makers = ("flexor.maths.machine.build", "flexor.maths.machine.entry")
    names = [
        source.module
        for source in SOURCES
        if not source.module.startswith((*makers, "flexor.maths.machine.llvm"))
        and not source.module.endswith("__main__")
    ]
    script = f"import sys, {', '.join(names)}; print('numba' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert out.stdout.strip() == "False"
