"""The shape of the house: rooms, no circles of imports, the tree shown as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.structure import rooms
from tests.structure.rules import Source, read_sources
from tools.tree import FILE, tree_text

PACKAGE = ROOT / "src" / "flexor"


def test_rooms_are_small() -> None:
    assert rooms.full_rooms(PACKAGE) + rooms.full_rooms(ROOT / "tools") == []


def test_no_room_is_missing() -> None:
    assert rooms.missing_rooms(PACKAGE) == []


def test_tests_stand_where_their_rooms_do() -> None:
    assert rooms.lost_tests(ROOT / "tests", PACKAGE) == []


def test_files_of_tests_are_short() -> None:
    assert rooms.long_tests(ROOT / "tests") == []


def test_nobody_imports_in_circles() -> None:
    graph = rooms.import_graph(read_sources(PACKAGE))
    assert len(graph) > 400
    assert rooms.import_circles(graph) == []


def test_the_tree_is_shown_as_it_is() -> None:
    assert FILE.read_text("utf-8") == tree_text(PACKAGE), "run: python -m tools.tree"


# What each rule is there for.


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name in ("goal", "goal/kernels"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'"""What {name} is."""\n')
    return tmp_path


def test_a_full_room_is_caught(house: Path) -> None:
    for number in range(rooms.MOST_FILES - 1):
        (house / "goal" / f"x{number}.py").touch()
    assert rooms.full_rooms(house) == []
    (house / "goal" / "one_more.py").touch()
    assert rooms.full_rooms(house) == [f"{house / 'goal'}: 31 files"]


def test_a_missing_room_is_caught(house: Path) -> None:
    for name in ("keeper", "keeper_body", "keep"):
        (house / "goal" / f"{name}.py").touch()
    assert rooms.missing_rooms(house) == []
    (house / "goal" / "keeper_mind.py").touch()
    named = house / "goal" / "extensions"
    named.mkdir()
    for name in ("khr_a", "khr_b", "khr_c"):
        (named / f"{name}.py").touch()
    assert rooms.missing_rooms(house) == [
        f"{house / 'goal'}: 3 files begin with 'keeper'"
    ]


def test_lost_and_long_tests_are_caught(house: Path) -> None:
    tests = house / "tests"
    for name in ("goal", "gaol", "oracle"):
        (tests / name).mkdir(parents=True)
        (tests / name / "test_x.py").write_text("\n" * 500)
    (lost,) = rooms.lost_tests(tests, house)
    assert lost.startswith(f"{tests / 'gaol'}: ")
    assert rooms.long_tests(tests) == []
    (tests / "goal" / "test_x.py").write_text("\n" * 501)
    assert rooms.long_tests(tests) == [f"{tests / 'goal' / 'test_x.py'}: 501 lines"]


@pytest.mark.parametrize(
    "text",
    [
        "import flexor.b",
        "from flexor import b",
        "def f():\n    from flexor.b import x",
        "if TYPE_CHECKING:\n    from flexor.b import X",
    ],
)
def test_a_circle_is_caught(text: str) -> None:
    names = frozenset({"flexor", "flexor.a", "flexor.b", "flexor.c"})
    packages = frozenset({"flexor"})
    sources = [
        Source("flexor.a", text, names, packages),
        Source("flexor.b", "import flexor.c", names, packages),
        Source("flexor.c", "", names, packages),
    ]
    assert rooms.import_circles(rooms.import_graph(sources)) == []
    sources[2] = Source("flexor.c", "from flexor.a import x", names, packages)
    assert rooms.import_circles(rooms.import_graph(sources)) == [
        ["flexor.a", "flexor.b", "flexor.c"]
    ]


def test_the_tree_names_every_file(house: Path) -> None:
    (house / "__init__.py").write_text('"""The house."""\n')
    (house / "goal" / "net.py").write_text('"""Nets: nodes\nand strings."""\n')
    (house / "goal" / "kernels" / "ball.py").write_text('"""Balls."""\n')
    text = tree_text(house)
    for part in (
        "goal/",
        "What goal is.",
        "net.py",
        "Nets: nodes",
        "ball.py",
        "Balls.",
    ):
        assert part in text
