"""The rules of rooms: folders of the package, and who imports whom in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.structure.rules import Source, imports

# Rooms whose files have the names that others gave to what is in them.
NAMED_ELSEWHERE = {"extensions"}
MOST_FILES, MOST_OF_A_NAME, MOST_TEST_LINES = 30, 2, 500
# Folders of tests that mirror no room.
OTHER_TESTS = {
    *("conformance", "data", "examples", "golden", "oracle", "structure", "tools"),
}


def rooms(root: Path) -> Iterator[Path]:
    """Every folder below `root` that holds code, and `root`."""
    for folder in (root, *sorted(root.rglob("*"))):
        if folder.is_dir() and any(folder.glob("*.py")):
            yield folder


def full_rooms(root: Path) -> list[str]:
    """Rooms with more files than one can look over."""
    counts = ((room, len(list(room.glob("*.py")))) for room in rooms(root))
    return [f"{room}: {count} files" for room, count in counts if count > MOST_FILES]


def missing_rooms(root: Path) -> list[str]:
    """First words that several files of a room share: they want a room of their own."""
    found = []
    for room in rooms(root):
        if room.name in NAMED_ELSEWHERE:
            continue
        names = sorted(file.stem for file in room.glob("*.py") if file.stem[0] != "_")
        first = Counter(name.partition("_")[0] for name in names)
        found += [
            f"{room}: {count} files begin with {word!r}"
            for word, count in first.items()
            if count > MOST_OF_A_NAME
        ]
    return found


def lost_tests(tests: Path, package: Path) -> list[str]:
    """Folders of tests that mirror no room of the package."""
    return [
        f"{folder}: there is no room {package / inner}"
        for folder in rooms(tests)
        if (inner := folder.relative_to(tests)).parts
        and inner.parts[0] not in OTHER_TESTS
        and not (package / inner).is_dir()
    ]


def long_tests(tests: Path) -> list[str]:
    """Test files over 500 lines."""
    counts = (
        (file, file.read_text("utf-8").count("\n")) for file in tests.rglob("*.py")
    )
    return [f"{file}: {n} lines" for file, n in sorted(counts) if n > MOST_TEST_LINES]


def import_graph(sources: Sequence[Source]) -> dict[str, set[str]]:
    """Who imports whom, also late and for types alone; modules of the package."""
    there = {source.module for source in sources}
    return {
        source.module: {
            module
            for module, _ in imports(source)
            if module in there and module != source.module
        }
        for source in sources
        if source.module != "flexor"  # the table of names loads what it is asked for
    }


def import_circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = [start]
        while left:
            for other in graph.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    below = {module: reached(module) for module in graph}
    circles: list[list[str]] = []
    for module in sorted(graph):
        if module in below[module] and not any(module in one for one in circles):
            circles.append(sorted(m for m in below[module] if module in below[m]))
    return circles
