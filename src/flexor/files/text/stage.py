"""Stages in a text file (TOML): ground, zones, structures, who plays, the camera.

    seed = 7                        # of everything that is left to chance
    light = [0.4, -1.0, -0.5]       # the way it travels
    moves = "moves.toml"            # a file of moves, beside this one

    [ground]                        # left out: flat, 40 m each way
    size = [24, 18]                 # metres along x and z, around the origin
    step = 0.5                      # metres of a cell
    rough = 0.03                    # metres that bumps are high

    [[ground.patch]]                # laid on it in order
    middle = [3, 2]                 # x and z of a circle
    radius = 2.5
    rise = 0.3                      # metres that are added
    edge = 1.0                      # metres around it over which it runs out
    surface = "sand"                # plain, sand or water

    [[ground.patch]]
    area = [-9, -7, -5, -4]         # x and z of two opposite corners
    height = 0.5                    # metres that it is set to
    tilt = [0.1, 0]                 # metres higher a metre along x and z

    [[zone]]
    name = "ring"
    keeps = "in"                    # or "out"
    corners = [[-8, -6], [8, -6], [8, 6], [-8, 6]]

    [[structure]]
    name = "pillar"
    middle = [2, 1]                 # a round one
    radius = 0.4
    high = 3.0
    mode = "fade"                   # hide, mesh, lines or fade while it is in the way
    colour = "#8a8378"

    [[structure]]
    name = "wall"
    ends = [[-4, -5], [4, -5]]      # a long one
    thickness = 0.3

    [[structure]]
    name = "hut"
    corners = [[5, 3], [8, 3], [8, 4], [5, 4]]    # its walls, in order
    fit = "segment"                 # what stands for it where it may be in the way: a
                                    # circle, inscribed or circumscribed, or a segment

    [[character]]                   # in the order of their pads
    name = "red"
    file = "mannequin"              # the built-in one, or a file beside this one
    place = [-1.5, 0]               # x and z
    heading = 90                    # degrees, 0 looks along +z, 90 along +x
    outfit = "gi"                   # of the mannequin: none, gi, shorts or armour
    colour = "#d05040"              # multiplies its own, or that of its outfit
    opponent = "blue"               # a name, "nearest" or "none"
    team = "reds"                   # who has the same does not hit it
    control = "opponent"            # what its pad does: opponent, free or none
    clips = { walk = "Walk" }       # by role, or by the clip that a move names
    player = 1                      # of a game: 1, 2 or "computer"
    skill = "middle"                # of the computer: low, middle or high

    [[character]]
    name = "blue"
    place = [1.5, 0]
    heading = -90
    colour = [0.2, 0.3, 0.8]        # linear red, green, blue
    opponent = "red"
    moves = "blue moves.toml"       # of its own; left out: those of all

    [camera]
    rule = "side"                   # fixed, side or behind
    of = "red"                      # whom it follows
    distance = 5                    # metres, at least
    fov = 40                        # degrees

    [look]
    background = "#96b2cd"          # of the sky
    backdrop = "hills"              # or city, none, or a picture beside this file

    [game]                          # as `flexor play` has it
    title = "Dunes"
    rounds = 2                      # that one has to win
    seconds = 45                    # of a round, 0: without end
    coins = false                   # whether who plays puts in coins first
    countdown = 10                  # seconds in which one can go on with a coin
    spectators = 0

    [water]
    level = -0.05                   # metres: its surface, where the ground is water

    [leaves]
    count = 5000
    area = [-6, -6, 6, 6]           # left out: all of the ground

    [snow]
    count = 8000
    falls = true                    # from the start

    [gusts]                         # of wind, for snow
    speed = 0.03                    # metres a tick
    heading = 90                    # degrees

    [afterimages]                   # of parts that moves name
    style = "transparent"           # mesh or lines

Each of [camera], [walking], [friction], [fight], [parry], [pads], [view], [look] and
[game] has the words of its class, see SETTINGS; [leaves], [snow], [churn] (of sand and
water), [water], [wind] (that feet make), [gusts] and [afterimages] have those of
theirs, see `flexor.files.text.effects`; what is left out is as there. Angles are
degrees;
colours "#rrggbb", sRGB, or three numbers, linear; files are named from the folder that
this one is in. In place of a file of moves, its tables may stand here: [buttons],
[move.punch], [[combination]], as in `flexor.files.text.moves`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flexor.errors import AssetError
from flexor.files.text import moves as moves_read
from flexor.files.text.effects import EFFECTS, read_effects
from flexor.files.text.parts.cast import MoveFiles, check_followed, read_cast
from flexor.files.text.parts.ground import read_ground
from flexor.files.text.parts.rows import check_angles, find_file
from flexor.files.text.parts.structures import read_structures
from flexor.files.text.parts.zones import read_zones
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import (
    Angle,
    Colour,
    Keys,
    Tables,
    TomlFile,
    Words,
    open_toml,
    say_value,
)
from flexor.maths.colour import srgb_from_linear
from flexor.scene.stage.moves import MoveTable
from flexor.scene.stage.plan import (
    BACKDROPS,
    StagePlan,
    settings_kinds,
)
from flexor.scene.stage.settings import (
    FightSettings,
    ParrySettings,
)

__all__ = ["StageFile", "open_stage", "read_stage"]


MOVES = moves_read.TOP
# Of settings, by their table, the words whose kind is not that of their default.
OTHER_KINDS: Mapping[str, Mapping[str, type]] = {
    "camera": {"fov": Angle},
    "walking": {"turn": Angle},
    "parry": dict.fromkeys(("angle", "trunk", "head", "arms"), Angle),
    "look": {"smooth": list, "background": Colour},
}
# Tables of settings: those of the plan, where effects have files and tables of their
# own, and a part of [fight].
SETTINGS: Mapping[str, tuple[Any, Words]] = {
    word: (kind, words_of(kind, **OTHER_KINDS.get(word, {})))
    for word, kind in (*settings_kinds().items(), ("parry", ParrySettings))
    if word != "effects"
}
TOP: Words = {
    "seed": (int, "seed"),
    "light": (tuple, "light"),
    "moves": (str, "moves"),
    **{word: (Tables, word) for word in ("zone", "structure", "character")},
    **{word: (dict, word) for word in ("ground", *SETTINGS, *EFFECTS)},
    **MOVES,
}


@dataclass(frozen=True, slots=True, eq=False)
class StageFile:
    """A file that was read, for faults that are found later.

    path: of the file; plan: what it says; text: of the file; moves: the file that it
    names for its moves, None: they are in this one; own_moves: those of characters
    that have one of their own, by row.
    """

    path: Path
    plan: StagePlan
    text: str
    moves: moves_read.MoveFile | None = None
    own_moves: Mapping[int, moves_read.MoveFile] = field(default_factory=dict)

    def refuse(self, keys: Keys, fault: str) -> AssetError:
        """The error that names file, line and key of what is wrong.

        keys: as the file has them, rows from 0, such as ("character", 1, "clips",
        "walk"), or ("move", "punch", "clip"), which may be in the file of moves, or
        ("character", 1, "moves", "move", "punch", "clip"), in that of a character; of
        what the file leaves out, the line of what would hold it is named.
        """
        file = self.moves if keys and keys[0] in MOVES else None
        if keys[0:1] + keys[2:3] == ("character", "moves") and len(keys) > 3:
            file, keys = self.own_moves[int(keys[1])], keys[3:]
        return (file or TomlFile(self.path, self.text, {})).refuse(keys, fault)


def read_stage(path: str | Path) -> StagePlan:
    """The stage that a text file describes.

    AssetError with file, line and key where it, or the file of its moves, is wrong.
    Characters are not loaded: `Actor.file` is "mannequin" or a whole path.
    """
    return open_stage(path).plan


def open_stage(path: str | Path) -> StageFile:
    """The same as `read_stage`, with what it takes to refuse it later."""
    file = open_toml(path)
    top = file.table(file.given, TOP, ())
    own: dict[str, Any] = {key: top[key] for key in ("seed", "light") if key in top}
    seed = make_of(file, (), StagePlan, own, TOP).seed
    for word, (kind, known) in SETTINGS.items():
        if word in top:
            own[word] = _read_settings(file, top[word], word, kind, known)
    if "parry" in own:
        own["fight"] = replace(
            own.get("fight", FightSettings()), parry=own.pop("parry")
        )
    if "ground" in top:
        own["ground"] = read_ground(file, top["ground"], seed)
    own["effects"] = read_effects(file, top)
    own["zones"] = read_zones(file, top.get("zone", ()))
    own["structures"] = read_structures(file, top.get("structure", ()))
    others = MoveFiles(file)
    own["moves"], other = _read_moves(file, top, others)
    tables = top.get("character", ())
    own["cast"], own_files = read_cast(file, tables, own["moves"], others)
    if "camera" in own:
        check_followed(file, own["camera"], own["cast"])
    return StageFile(
        file.path, make_of(file, (), StagePlan, own, TOP), file.text, other, own_files
    )


def _read_settings(
    file: TomlFile, table: Mapping[str, Any], word: str, kind: Any, known: Words
) -> Any:
    own = file.table(table, known, (word,), check_angles)
    if "background" in own:
        if not all(0 <= part <= 1 for part in own["background"]):
            fault = f"{say_value(table['background'])}, expected three numbers 0 to 1"
            raise file.refuse((word, "background"), fault)
        levels = srgb_from_linear(own["background"]).round().astype(int).tolist()
        own["background"] = tuple(levels)
    if own.get("backdrop", "") not in ("", *BACKDROPS):
        path = find_file(file, own["backdrop"], (word, "backdrop"))
        if not path.is_file():
            fault = f"{say_value(table['backdrop'])}, expected {', '.join(BACKDROPS)}"
            raise file.refuse((word, "backdrop"), f"{fault}, or a picture's file")
        own["backdrop"] = str(path)
    return make_of(file, (word,), kind, own, known)


def _read_moves(
    file: TomlFile, top: Mapping[str, Any], others: MoveFiles
) -> tuple[MoveTable, moves_read.MoveFile | None]:
    """The moves of all, and the file they are in if it is another."""
    if "moves" not in top:
        return moves_read.take_moves(file, top), None
    for word in MOVES:
        if word in top:
            fault = f"moves are in {say_value(top['moves'])}, expected all there or all"
            raise file.refuse((word,), f"{fault} here")
    other = others.read(top["moves"], ("moves",))
    return other.table, other
