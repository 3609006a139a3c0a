"""Moves, and characters that do them, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flexor.scene.stage.moves import (
    Combination,
    Move,
    MoveTable,
    button_mask,
    read_commands,
)
from flexor.scene.stage.settings import MoveSettings
from flexor.stage.movement.buttons import (
    find_pressed,
)
from flexor.stage.movement.moves import (
    MoveTables,
    init_moves,
    lay_out_moves,
    step_moves,
)

PUNCH = Move("punch", 3, 2, 5)


KICK = Move("kick", 4, 3, 6)


THROW = Move("throw", 5, 5, 5, kind="other")


GUARD = Move("guard", 1, 3, 2, kind="guard")


HOP = Move("hop", 2, 0, 3, kind="jump")


NUDGE = Move("nudge", 0, 1, 0)


BURST = Move("burst", 2, 2, 2)


def table_of(*combinations: tuple[str, str], **changes: Any) -> MoveTable:
    """B punches, C kicks, A guards, up hops, L nudges; combinations: by button."""
    values: dict[str, Any] = {
        "moves": (PUNCH, KICK, THROW, GUARD, HOP, NUDGE, BURST),
        "combinations": tuple(
            Combination(f"combination {button}", button, read_commands(text))
            for button, text in combinations
        ),
        "singles": {
            "A": "guard",
            "B": "punch",
            "C": "kick",
            "up": "hop",
            "L": "nudge",
        },
    }
    return MoveTable(**values | changes)


class Ring:
    """One character, by names."""

    def __init__(self, table: MoveTable, **options: int) -> None:
        self.table = table
        self.tables = lay_out_moves(table, MoveSettings(**options))
        self.state = init_moves(1)
        self.out = np.empty(1, np.int32)

    def tick(
        self, pressed: str = "", held: str = "", clock: float = 1.0, act: bool = True
    ) -> str:
        """The move that began, "" for none."""
        masks = [button_mask(text) if text else 0 for text in (pressed, held)]
        step_moves(
            self.tables,
            self.state,
            np.array(masks[:1], np.uint32),
            np.array([masks[0] | masks[1]], np.uint32),
            np.array([clock]),
            np.array([act]),
            out=self.out,
        )
        return self.table.moves[self.out[0]].name if self.out[0] >= 0 else ""

    def run(
        self, inputs: Mapping[int, str], ticks: int = 60, clock: float = 1.0
    ) -> list[tuple[int, str]]:
        """When which moves began."""
        began = [(t, self.tick(inputs.get(t, ""), clock=clock)) for t in range(ticks)]
        return [(t, name) for t, name in began if name]

    @property
    def now(self) -> str:
        row = int(self.state.move[0])
        return self.table.moves[row].name if row >= 0 else ""


def _random_buttons(rng: np.random.Generator, ticks: int, count: int) -> np.ndarray:
    masks = [0, 0, *(button_mask(text) for text in ("A", "B", "C", "X", "B+C"))]
    chosen = rng.choice(np.array(masks, np.uint32), (ticks, count))
    for tick in range(1, ticks):
        stays = rng.random(count) < 0.6
        chosen[tick, stays] = chosen[tick - 1, stays]
    return np.ascontiguousarray(chosen)


def _run(
    tables: MoveTables,
    held: np.ndarray,
    clock: np.ndarray,
    can_act: np.ndarray,
    table: np.ndarray | None = None,
) -> list[np.ndarray]:
    """What began, and where everyone was, of all ticks; table: whose moves each has."""
    count = held.shape[1]
    own_table = None if table is None else table.tolist()
    state, out = init_moves(count, own_table), np.empty(count, np.int32)
    before, pressed = np.zeros(count, np.uint32), np.empty(count, np.uint32)
    rows: list[list[np.ndarray]] = [[], [], [], []]
    for now, acts in zip(np.ascontiguousarray(held), can_act, strict=True):
        now, acts = np.ascontiguousarray(now), np.ascontiguousarray(acts)
        find_pressed(now, before, out=pressed)
        before[:] = now
        own = np.ascontiguousarray(clock)
        step_moves(tables, state, pressed, now, own, acts, out=out)
        for row, values in zip(
            rows, (out, state.move, state.at, state.phase), strict=True
        ):
            row.append(values.copy())
    return [np.array(row) for row in rows]
