"""Tables of moves laid out as rows of numbers: commands, chords, and what is typed.

Sequences are a tree: each node is what has been typed so far, and its edges are the
buttons that go on from there. Where none does, what was typed last may still begin
another sequence: `fall` leads to the longest end of it that does (Aho and Corasick,
Efficient string matching, 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import MoveTable, button_mask

__all__ = ["NODE", "Rows", "lay_out_rows"]

# Columns of nodes: the one before, 0 for none; the command that begins here, and its
# buttons; whether a sequence ends here, and whether one may with the next button; first
# edge and behind the last one; where to go on if no edge fits.
NODE = ("parent", "does", "buttons", "ends", "opens", "first", "last", "fall")


@dataclass(slots=True)
class Rows:
    """Rows of tables that are laid out: see `MoveTables`."""

    first_moves: list[int] = field(default_factory=lambda: [0])
    firsts: list[int] = field(default_factory=lambda: [0])
    commands: list[tuple[int, int]] = field(default_factory=list)
    singles: list[list[int]] = field(default_factory=list)
    chord_rows: list[int] = field(default_factory=lambda: [0])
    chords: list[tuple[int, int]] = field(default_factory=list)
    bound: list[int] = field(default_factory=list)
    nodes: list[list[int]] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Node:
    """What has been typed; children: rows of nodes, by buttons."""

    parent: int = 0
    buttons: int = 0
    does: int = -1
    ends: bool = False
    fall: int = 0
    children: dict[int, int] = field(default_factory=dict)


def lay_out_rows(tables: Sequence[MoveTable]) -> Rows:
    """Rows of tables, one behind the other."""
    rows = Rows()
    nodes = [_Node() for _ in tables]
    count = sum(len(table.moves) for table in tables)
    for number, table in enumerate(tables):
        doing = _add_table(rows, table, count)
        _add_sequences(nodes, number, table, doing, rows.first_moves[number])
    for node in nodes:
        first = len(rows.edges)
        rows.edges += node.children.items()
        opens = any(nodes[child].ends for child in node.children.values())
        own = [node.parent, node.does, node.buttons]
        own += [int(node.ends), int(opens), first, len(rows.edges), node.fall]
        rows.nodes.append(own)
    return rows


def _add_table(rows: Rows, table: MoveTable, move_count: int) -> dict[int, int]:
    """Lay a table out behind others: gives commands by masks of buttons.

    move_count: moves of all tables, behind which the numbers of combinations begin.
    """
    first, first_combination = rows.first_moves[-1], len(rows.firsts) - 1
    numbers = {move.name: first + row for row, move in enumerate(table.moves)}
    rows.first_moves.append(first + len(table.moves))
    for one in table.combinations:
        for command in one.commands:
            move = table.command_move(command)
            ticks = move.until_back if command.ticks is None else command.ticks
            rows.commands.append((numbers[move.name], ticks))
        rows.firsts.append(len(rows.commands))
    doing = {
        button_mask(text): numbers[name]
        for text, name in (*table.singles.items(), *table.chords.items())
    }
    # Combinations stand before the moves of their buttons.
    for row, one in enumerate(table.combinations):
        doing[button_mask(one.button)] = move_count + first_combination + row
    rows.singles.append([doing.get(1 << bit, -1) for bit in range(len(BUTTONS))])
    chords = [(mask, does) for mask, does in doing.items() if mask.bit_count() > 1]
    chords.sort(key=lambda chord: -chord[0].bit_count())
    rows.chords += chords
    rows.chord_rows.append(len(rows.chords))
    bound = 0
    for mask in doing:
        bound |= mask
    for text in table.sequences:
        for step in text.split():
            bound |= button_mask(step)
    rows.bound.append(bound)
    return doing


def _add_sequences(
    nodes: list[_Node],
    root: int,
    table: MoveTable,
    doing: dict[int, int],
    first_move: int,
) -> None:
    """Add what is typed for the moves of a table; root: the row of its first node."""
    nodes[root].fall = root
    made = []
    for text, name in table.sequences.items():
        row = root
        for step in text.split():
            mask, children = button_mask(step), nodes[row].children
            if mask not in children:
                children[mask] = len(nodes)
                parent = 0 if row == root else row
                made.append(_Node(parent, mask, doing.get(mask, -1), fall=root))
                nodes.append(made[-1])
            row = children[mask]
        nodes[row].does, nodes[row].ends = first_move + table.index(name), True
    # Shorter ones first: where a node falls to is shorter than it is.
    level = list(nodes[root].children.values())
    while level:
        following = []
        for row in level:
            for mask, child in nodes[row].children.items():
                fall = nodes[row].fall
                while fall != root and mask not in nodes[fall].children:
                    fall = nodes[fall].fall
                nodes[child].fall = fall = nodes[fall].children.get(mask, root)
                if nodes[fall].ends and not nodes[child].ends:
                    nodes[child].does, nodes[child].ends = nodes[fall].does, True
                following.append(child)
        level = following
    for node in made:
        if node.ends:  # what is done begins no other
            node.fall = root
