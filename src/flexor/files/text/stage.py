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
    corners = [[5, 3], [7, 3], [7, 5], [5, 5]]
    fit = "circumscribed"           # its circle: inscribed, or around the corners

    [[character]]                   # in the order of their pads
    name = "red"
    file = "mannequin"              # the built-in one, or a file beside this one
    place = [-1.5, 0]               # x and z
    heading = 90                    # degrees, 0 looks along +z, 90 along +x
    colour = "#d05040"              # multiplies its own
    opponent = "blue"               # a name, "nearest" or "none"
    control = "opponent"            # what its pad does: opponent, free or none
    clips = { walk = "Walk" }       # by role, or by the clip that a move names

    [[character]]
    name = "blue"
    place = [1.5, 0]
    heading = -90
    colour = [0.2, 0.3, 0.8]        # linear red, green, blue
    opponent = "red"

    [camera]
    rule = "side"                   # fixed, side or behind
    of = "red"                      # whom it follows
    distance = 5                    # metres, at least
    fov = 40                        # degrees

    [look]
    background = "#96b2cd"

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

Each of [camera], [walking], [friction], [fight], [parry], [pads], [view] and [look] has
the words of its class, see SETTINGS; [leaves], [snow], [churn] (of sand and water),
[water], [wind] (that feet make), [gusts] and [afterimages] have those of theirs, see
`flexor.files.text.effects`; what is left out is as there. Angles are degrees;
colours "#rrggbb", sRGB, or three numbers, linear; files are named from the folder that
this one is in. In place of a file of moves, its tables may stand here: [buttons],
[move.punch], [[combination]], as in `flexor.files.text.moves`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from flexor.errors import AssetError, SettingError, ShapeError
from flexor.files.text import moves as moves_read
from flexor.files.text.effects import EFFECTS, read_effects
from flexor.files.text.toml_make import make_of, words_of
from flexor.files.text.toml_text import (
    Angle,
    Colour,
    Keys,
    Points,
    Tables,
    TomlFile,
    Words,
    find_line,
    open_toml,
    say_known,
    say_value,
)
from flexor.maths.colour import srgb_from_linear
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.layout import FARTHEST, ROLES
from flexor.scene.stage.moves import MoveTable
from flexor.scene.stage.plan import (
    MOST_ACTORS,
    MOST_STRUCTURES,
    MOST_ZONES,
    NEAREST,
    NOBODY,
    Actor,
    CameraRule,
    StagePlan,
    settings_kinds,
)
from flexor.scene.stage.settings import (
    FightSettings,
    ParrySettings,
)
from flexor.scene.stage.structure import Structure, circle_of
from flexor.scene.stage.zone import Zone

__all__ = ["StageFile", "open_stage", "read_stage"]


MOVES = moves_read.TOP
# Of settings, by their table, the words whose kind is not that of their default.
OTHER_KINDS: Mapping[str, Mapping[str, type]] = {
    "camera": {"fov": Angle},
    "walking": {"turn": Angle},
    "parry": {"angle": Angle},
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
GROUND: Words = {
    "size": (tuple, "size"),
    "step": (float, "step"),
    "rough": (float, "rough"),
    "patch": (Tables, "patches"),
}
PATCH = words_of(Patch, area=tuple, middle=tuple, radius=float, height=float)
ZONE = words_of(Zone, corners=Points)
STRUCTURE = words_of(
    Structure,
    name=str,
    middle=tuple,
    radius=float,
    ends=Points,
    thickness=float,
    corners=Points,
    fit=str,
    colour=Colour,
)
CHARACTER = words_of(
    Actor, name=str, heading=Angle, colour=Colour, radius=float, clips=dict, speeds=dict
)
# Degrees, from the least to the most.
ANGLES = {
    "heading": (-3600.0, 3600.0),
    "fov": (1.0, 170.0),
    "turn": (0.0, 5700.0),
    "angle": (0.1, 180.0),
}
MANNEQUIN = "mannequin"
# What takes long is bounded for all of a file: pairs of corners of zones, which are
# compared, and the work of searching circles in footprints: 1,000 take about a second.
MOST_PAIRS = 40_000_000
MOST_WORK = 10_000
THINNEST = 35.0  # how much longer at most; 1 for a circle


@dataclass(frozen=True, slots=True, eq=False)
class StageFile:
    """A file that was read, for faults that are found later.

    path: of the file; plan: what it says; text: of the file; moves: the file that it
    names for its moves, None: they are in this one.
    """

    path: Path
    plan: StagePlan
    text: str
    moves: TomlFile | None = None

    def refuse(self, keys: Keys, fault: str) -> AssetError:
        """The error that names file, line and key of what is wrong.

        keys: as the file has them, rows from 0, such as ("character", 1, "clips",
        "walk"), or ("move", "punch", "clip"), which may be in the file of moves; of
        what the file leaves out, the line of what would hold it is named.
        """
        file = self.moves if keys and keys[0] in MOVES else None
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
        own["ground"] = _read_ground(file, top["ground"], seed)
    own["effects"] = read_effects(file, top)
    own["zones"] = _read_zones(file, top.get("zone", ()))
    own["structures"] = _read_structures(file, top.get("structure", ()))
    own["moves"], other = _read_moves(file, top)
    own["cast"] = _read_cast(file, top.get("character", ()), own["moves"])
    if "camera" in own:
        _check_followed(file, own["camera"], own["cast"])
    return StageFile(
        file.path, make_of(file, (), StagePlan, own, TOP), file.text, other
    )


def _check_angles(**words: Any) -> None:
    """Refuse angles, here in radians, that are of no use."""
    for word, value in words.items():
        if word in ANGLES:
            least, most = ANGLES[word]
            if not math.radians(least) <= value <= math.radians(most):
                wanted = f"{least:g} to {most:g} degrees"
                raise SettingError(f"{word}: {value}, expected {wanted}")


def _rows(
    file: TomlFile, tables: Sequence[Mapping[str, Any]], word: str, most: int
) -> list[tuple[Keys, Mapping[str, Any]]]:
    """Several tables and the keys of each."""
    if len(tables) > most:
        fault = f"there are {len(tables):,}, expected {most:,} or less"
        raise file.refuse((word, most), fault)
    return [((word, row), table) for row, table in enumerate(tables)]


class _Names:
    """Names that are there once."""

    def __init__(self, file: TomlFile) -> None:
        self.file = file
        self.rows: dict[str, Keys] = {}

    def add(self, name: str, keys: Keys) -> None:
        if name in self.rows:
            word, row = self.rows[name]
            first = f"{word} {int(row) + 1}"
            fault = f"{say_value(name)} is that of {first}, expected another"
            raise self.file.refuse((*keys, "name"), fault)
        self.rows[name] = keys


def _read_settings(
    file: TomlFile, table: Mapping[str, Any], word: str, kind: Any, known: Words
) -> Any:
    own = file.table(table, known, (word,), _check_angles)
    if "background" in own:
        if not all(0 <= part <= 1 for part in own["background"]):
            fault = f"{say_value(table['background'])}, expected three numbers 0 to 1"
            raise file.refuse((word, "background"), fault)
        levels = srgb_from_linear(own["background"]).round().astype(int).tolist()
        own["background"] = tuple(levels)
    return make_of(file, (word,), kind, own, known)


def _read_ground(file: TomlFile, table: Mapping[str, Any], seed: int) -> Ground:
    own = file.table(table, GROUND, ("ground",))
    patches = []
    for row, one in enumerate(own.get("patches", ())):
        keys = ("ground", "patch", row)
        patches.append(make_of(file, keys, Patch, file.table(one, PATCH, keys), PATCH))
    own |= {"patches": patches, "seed": seed}
    ground: Ground = make_of(file, ("ground",), shape_ground, own, GROUND)
    return ground


def _read_zones(
    file: TomlFile, tables: Sequence[Mapping[str, Any]]
) -> tuple[Zone, ...]:
    zones: list[Zone] = []
    names, pairs = _Names(file), 0
    for keys, table in _rows(file, tables, "zone", MOST_ZONES):
        own = file.table(table, ZONE, keys)
        file.needs(own, ("corners",), keys)
        corners = own["corners"]
        pairs += min(len(corners), 2000) ** 2  # of more, the zone refuses all
        if pairs > MOST_PAIRS:
            fault = f"{len(corners)} corners, expected fewer: zones up to here have "
            raise file.refuse((*keys, "corners"), f"{fault}too many corners together")
        if own.get("name"):
            names.add(own["name"], keys)
        own["corners"] = np.array(corners, np.float64).reshape(-1, 2)
        try:
            zones.append(Zone(**own))
        except (SettingError, ShapeError) as error:
            prefix = f"zone {own.get('name')!r}: "
            raise _zone_fault(file, keys, str(error).removeprefix(prefix)) from None
    return tuple(zones)


def _zone_fault(file: TomlFile, keys: Keys, fault: str) -> AssetError:
    """The error of a zone: sides and corners are counted from 1, as all in a file."""
    if fault.startswith("keeps: "):
        return file.refuse((*keys, "keeps"), fault.removeprefix("keeps: "))
    found = re.match(r"(?:sides?|corner) ([0-9]+)", fault)
    place = (*keys, "corners", int(found[1])) if found else (*keys, "corners")
    fault = re.sub(
        r"\b(sides|side|corner) ([0-9]+)(?: and ([0-9]+))?",
        lambda m: f"{m[1]} {int(m[2]) + 1}" + (f" and {int(m[3]) + 1}" if m[3] else ""),
        fault,
    )
    return file.refuse(place, fault)


def _read_structures(
    file: TomlFile, tables: Sequence[Mapping[str, Any]]
) -> tuple[Structure, ...]:
    structures = []
    names, work = _Names(file), 0.0
    for keys, table in _rows(file, tables, "structure", MOST_STRUCTURES):
        own = file.table(table, STRUCTURE, keys)
        file.needs(own, ("name",), keys)
        if "corners" in own:
            work += _find_work(own["corners"], own.get("fit"))
            if work > MOST_WORK:
                fault = "too many corners of structures up to here, or these too thin,"
                fault += " expected fewer; or middle and radius, or ends and thickness"
                raise file.refuse((*keys, "corners"), fault)
            _put_circle(file, own, keys)
        elif "fit" in own:
            fault = "stands alone, expected corners that it is for"
            raise file.refuse((*keys, "fit"), fault)
        prefix = f"structure {own['name']!r}: "
        structures.append(make_of(file, keys, Structure, own, STRUCTURE, prefix))
        names.add(own["name"], keys)
    return tuple(structures)


def _find_work(corners: Sequence[tuple[float, float]], fit: str | None) -> float:
    """How long a circle is searched: by corners, longer in what is thin."""
    points = np.array(corners).reshape(-1, 2)
    if fit == "circumscribed" or not (np.abs(points) <= FARTHEST).all():
        return float(len(points))
    after = np.roll(points, -1, 0)
    around = float(np.hypot(*(after - points).T).sum())
    area = abs(float((points[:, 0] * after[:, 1] - points[:, 1] * after[:, 0]).sum()))
    thin = around**2 / (2 * math.pi * area) if area > around**2 / 1000 else THINNEST
    return len(points) * min(thin, THINNEST)


def _put_circle(file: TomlFile, own: dict[str, Any], keys: Keys) -> None:
    """Put middle and radius in place of corners."""
    for word in ("middle", "radius", "ends", "thickness"):
        if word in own:
            fault = f"stands beside corners, expected corners or {word}"
            raise file.refuse((*keys, word), fault)
    points = own.pop("corners")
    fit = {"fit": own.pop("fit")} if "fit" in own else {}
    try:
        own["middle"], own["radius"] = circle_of(np.array(points).reshape(-1, 2), **fit)
        Structure(name="one", middle=own["middle"], radius=own["radius"])
    except (SettingError, ShapeError) as error:
        fault = str(error).removeprefix("structure 'one': ")
        if fault.startswith("fit: "):
            raise file.refuse((*keys, "fit"), fault.removeprefix("fit: ")) from None
        fault = fault.removeprefix("points: ").replace("radius: ", "a circle of ")
        raise file.refuse((*keys, "corners"), fault) from None


def _find_file(file: TomlFile, name: str, keys: Keys) -> Path:
    """A file that is named from the folder of another."""
    if not name or "\0" in name:
        raise file.refuse(keys, f"{say_value(name)}, expected the name of a file")
    return file.path.parent.absolute() / name


def _read_moves(
    file: TomlFile, top: Mapping[str, Any]
) -> tuple[MoveTable, TomlFile | None]:
    """The moves, and the file they are in if it is another."""
    if "moves" not in top:
        return moves_read.take_moves(file, top), None
    for word in MOVES:
        if word in top:
            fault = f"moves are in {say_value(top['moves'])}, expected all there or all"
            raise file.refuse((word,), f"{fault} here")
    path = _find_file(file, top["moves"], ("moves",))
    try:
        other = open_toml(path)
        table = moves_read.take_moves(other, other.table(other.given, MOVES, ()))
    except AssetError as error:
        if error.pointer:
            raise
        place = find_line(file.text, ("moves",))
        text = f"{error.text} (named by moves in {file.path}, {place})"
        raise AssetError(error.path, "", text) from None
    return table, other


def _read_cast(
    file: TomlFile, tables: Sequence[Mapping[str, Any]], moves: MoveTable
) -> tuple[Actor, ...]:
    cast: list[Actor] = []
    names = _Names(file)
    roles = dict.fromkeys([*ROLES, *(move.clip for move in moves.moves)])
    for keys, table in _rows(file, tables, "character", MOST_ACTORS):
        own = file.table(table, CHARACTER, keys, _check_angles)
        file.needs(own, ("name",), keys)
        for role, clip in own.get("clips", {}).items():
            place = (*keys, "clips", role)
            if not isinstance(clip, str) or not clip:
                fault = f"{say_value(clip)}, expected the name of a clip"
                raise file.refuse(place, fault)
            if role not in roles:
                fault = f"no role, and no move's clip; {say_known(role, roles)}"
                raise file.refuse(place, fault)
        if own.get("file", MANNEQUIN) != MANNEQUIN:
            own["file"] = str(_find_file(file, own["file"], (*keys, "file")))
        cast.append(make_of(file, keys, Actor, own, CHARACTER))
        names.add(own["name"], keys)
    for row, actor in enumerate(cast):
        other = actor.opponent
        if other not in names.rows and other not in (NEAREST, NOBODY):
            there = say_known(other, (n for n in names.rows if n != actor.name))
            fault = f"nobody is called {say_value(other)}; {there}; or nearest, or none"
            raise file.refuse(("character", row, "opponent"), fault)
    return tuple(cast)


def _check_followed(file: TomlFile, camera: CameraRule, cast: Sequence[Actor]) -> None:
    names = dict.fromkeys(actor.name for actor in cast)
    if camera.of and camera.of not in names:
        there = say_known(camera.of, names)
        fault = f"nobody is called {say_value(camera.of)}; {there}"
        raise file.refuse(("camera", "of"), fault)
