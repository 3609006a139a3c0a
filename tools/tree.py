"""`python -m tools.tree`: write docs/internals/tree.md, the house as it is."""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["FILE", "tree_text"]

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "internals" / "tree.md"
HEAD = """\
# The house

Every room and every file of the package, with the first line of what it says of itself.
Made from the folders by `make tree`; a test holds it true. [design.md](design.md) says
what may import what, and where a new thing goes.
"""


def _first_line(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _room(folder: Path, root: Path) -> list[str]:
    depth = len(folder.relative_to(root).parts)
    init = folder / "__init__.py"
    name = f"{folder.relative_to(root.parent).as_posix()}/"
    said = _first_line(init) if init.exists() else ""
    lines = [f"\n{'#' * min(2 + depth, 4)} {name}\n", said, ""]
    files = sorted(f for f in folder.glob("*.py") if f.name != "__init__.py")
    lines += [f"- `{file.name}`: {_first_line(file)}" for file in files]
    data = sorted(
        f for f in folder.iterdir() if f.is_file() and f.suffix not in (".py", ".pyc")
    )
    lines += [f"- `{file.name}`" for file in data]
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.name != "__pycache__":
            lines += _room(inner, root)
    return lines


def tree_text(package: Path) -> str:
    """The rooms of a package and their files, as a page."""
    lines = "\n".join(_room(package, package))
    while "\n\n\n" in lines:
        lines = lines.replace("\n\n\n", "\n\n")
    return f"{HEAD}{lines}\n"


if __name__ == "__main__":
    FILE.write_text(tree_text(ROOT / "src" / "flexor"), "utf-8")
