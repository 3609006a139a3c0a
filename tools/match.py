"""Plays matches of the arena and shows what was found in them, seed by seed.

`python -m tools.match --seeds 20 --seconds 60`; `--mash 100` also plays so many matches
of one who mashes a button against each skill.
"""

from __future__ import annotations

import argparse

from flexor import samples
from flexor.bench.played.faults import Found
from flexor.bench.played.figures import figures
from flexor.bench.played.mashing import play_mashing
from flexor.bench.played.matches import arena_stage, play_match
from flexor.bench.played.parries import play_parries

COLUMNS = (
    *("attacks", "contacts", "parries", "throws", "falls", "slides", "near"),
    *("outside", "hidden", "deep_limbs", "deep_feet", "strayed", "broken"),
)


def main(words: list[str] | None = None) -> int:
    """Play, and show; 1 if there was a fault that must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--mash", type=int, default=0, metavar="MATCHES")
    given = parser.parse_args(words)
    hero, found = samples.fighter(), Found()
    print("seed " + " ".join(f"{name:>10}" for name in COLUMNS))  # noqa: T201
    for seed in range(given.first, given.first + given.seeds):
        own = play_match(hero, seed, given.seconds)
        found.add(own)
        row = " ".join(f"{getattr(own, name):10d}" for name in COLUMNS)
        print(f"{seed:4d} {row}", flush=True)  # noqa: T201
    for one in figures(found, "all"):
        text = one.note.removesuffix("; all")
        print(f"{one.name:28} {one.value:8.2f} {one.unit:3} {text}")  # noqa: T201
    tried, met, answered = play_parries(arena_stage(hero))
    print(f"parries answered: {answered} of {met}, of {tried} tried")  # noqa: T201
    for skill in ("low", "middle", "high") if given.mash else ():
        own = play_mashing(hero, given.mash, skill)
        print(f"{skill}: who mashes won {own.won} of {own.played}")  # noqa: T201
    is_wrong = found.strayed or found.broken
    is_deep = found.deepest_limb > 0.03 or found.deepest_foot > 0.02
    return int(bool(is_wrong or is_deep))


if __name__ == "__main__":
    raise SystemExit(main())
