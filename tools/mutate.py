"""Changes stage files and files of moves at random, and plays what is left of them.

`python -m tools.mutate --count 1000 --seconds 10 [FILE.toml ...]`

Each changed file must be refused with an `AssetError`, or be a stage that runs. All
else is shown with the seed that makes it again, and ends with exit code 1. A stage that
takes too long, or too much memory, is a fault too.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import flexor
from flexor import samples
from flexor.errors import AssetError
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import RATE

LONGEST = 60  # seconds that one file may take
MEMORY = 4 << 30  # bytes of addresses beyond what is taken at the start
VALUES = (
    *("0", "-1", "1", "1e9", "-1e9", "1e308", "1e-308", "nan", "inf", "-inf", "0.5"),
    *("2147483647", "9223372036854775807", "99999999999999999999", "true", "false"),
    *('""', '"x"', '"nearest"', '"none"', '"\\u0000"', '"' + "a" * 300 + '"', "[]"),
    *("{}", "[0, 0]", "[[0, 0]]", "[1, 2, 3]", "1979-05-27", '"../x"', '"/dev/null"'),
)

FACTORS = (0.0, -1.0, 0.01, 0.1, 0.5, 0.9, 1.1, 1.5, 2.0, 3.0, 10.0, 100.0, 1e4, 1e12)


def mutate(text: str, chance: np.random.Generator) -> str:
    """A text with one to three changes: mostly of numbers, or it would seldom be read
    to its end; else of other values, lines, words or letters.
    """
    lines = text.split("\n")
    for _ in range(int(chance.integers(1, 4))):
        row = int(chance.integers(len(lines)))
        other = int(chance.integers(len(lines)))
        kind = chance.random()
        if kind < 0.85:
            told = [at for at, line in enumerate(lines) if "=" in line]
            row = told[int(chance.integers(len(told)))] if told else row
            lines[row] = _other_value(lines[row], chance)
        elif kind < 0.88:
            lines[row] = ""
        elif kind < 0.91:
            lines.insert(other, lines[row])
        elif kind < 0.94:
            lines[row], lines[other] = lines[other], lines[row]
        elif kind < 0.97:
            keys = [line.split("=")[0] for line in lines if "=" in line]
            if "=" in lines[row] and keys:
                key = keys[int(chance.integers(len(keys)))]
                lines[row] = key + "=" + lines[row].split("=", 1)[1]
        elif lines[row]:
            at = int(chance.integers(len(lines[row])))
            letter = chr(int(chance.integers(32, 127)))
            lines[row] = lines[row][:at] + letter + lines[row][at + 1 :]
    return "\n".join(lines)


def _other_value(line: str, chance: np.random.Generator) -> str:
    """A line whose value, or a number of it, is another."""
    if "=" not in line:
        return line
    key, value = line.split("=", 1)
    numbers = [
        at for at, letter in enumerate(value)
        if letter.isdigit() and (at == 0 or not value[at - 1].isalnum())
    ]  # fmt: skip
    if (numbers and chance.random() < 0.9) or chance.random() < 0.5:
        if not numbers:
            return line
        at = numbers[int(chance.integers(len(numbers)))]
        end = at
        while end < len(value) and (value[end].isdigit() or value[end] == "."):
            end += 1
        factor = float(chance.choice(FACTORS))
        number = float(value[at:end].rstrip(".") or 0) * factor
        is_whole = "." not in value[at:end] and chance.random() < 0.9
        shown = str(round(number)) if is_whole else repr(number)
        return f"{key}={value[:at]}{shown}{value[end:]}"
    return f"{key}= {VALUES[int(chance.integers(len(VALUES)))]}"


def play(path: Path, seconds: float, chance: np.random.Generator) -> str:
    """Open a stage and play it with random presses: what came of it."""
    try:
        stage = flexor.Stage(path)
    except AssetError:
        return "refused"
    masks = np.zeros(len(stage), np.uint32)
    for tick in range(round(seconds * RATE)):
        if tick % 10 == 0:
            masks[:] = 1 << chance.integers(0, len(BUTTONS), len(masks))
        stage.step(masks)
    places: Any = stage.places
    if not np.isfinite(places).all():
        raise ValueError("places that are no numbers")
    return "played"


def _stop(*_: object) -> None:
    raise TimeoutError(f"more than {LONGEST} s")


def run(files: Sequence[Path], seeds: range, seconds: float) -> Counter[str]:
    """Try as many changed files as there are seeds; shows what is wrong."""
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _stop)
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            chance = np.random.default_rng(seed)
            source = files[seed % len(files)]
            place = Path(folder) / str(seed)
            shutil.copytree(source.parent, place, ignore=_not_text)
            texts = sorted(place.glob("*.toml"))
            changed = texts[int(chance.integers(len(texts)))]
            changed.write_text(mutate(changed.read_text("utf-8"), chance), "utf-8")
            signal.alarm(LONGEST)
            try:
                counts[play(place / source.name, seconds, chance)] += 1
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                counts["wrong"] += 1
                print(f"seed {seed}: {source.name}, {changed.name}")  # noqa: T201
                traceback.print_exc(limit=-6)
            finally:
                signal.alarm(0)
            shutil.rmtree(place)
    return counts


def _not_text(_: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".toml")]


def main(words: list[str] | None = None) -> int:
    """Try files, and say how many were refused and played; 1 if any did neither."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args(words)
    files = given.files or [samples.arena()]
    warnings.simplefilter("error", RuntimeWarning)
    play(files[0], 0.1, np.random.default_rng(0))  # what is compiled first takes time
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    taken = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, -1))
    counts = run(files, range(given.first, given.first + given.count), given.seconds)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))  # noqa: T201
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
