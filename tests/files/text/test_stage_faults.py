"""Texts about stages that are wrong: faults by file, line and key."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files.text import toml_text
from flexor.files.text.parts import zones as zones_part
from flexor.files.text.stage import open_stage, read_stage
from tests.files.text.stage_text import FULL, write

RED = "[[character]]\nname = 'red'\n"  # 2 lines

HUT = "[[structure]]\nname = 'hut'\n"  # 2 lines

ZONE = "[[zone]]\nname = 'ring'\ncorners = [[0, 0], [4, 0], [4, 4], [0, 4]]\n"

SQUARE = "corners = [[0, 0], [4, 0], [4, 4], [0, 4]]\n"

HUGE = "0x" + "f" * 9999

FAULTS = [
    # What is not there.
    ("[charcter]\nname = 'a'", "line 1", "charcter: not known; there are: seed,"),
    ("[charcter]\nname = 'a'", "line 1", "perhaps character is meant"),
    ("sed = 1", "line 1", "sed: not known; "),
    ("[camera]\nfow = 3", "line 2", "camera.fow: not known; there are: rule, eye"),
    ("[camera]\nfow = 3", "line 2", "perhaps fov is meant"),
    (f"{RED}plce = [0, 0]", "line 3", "character 1.plce: not known; there are: name"),
    ("[ground]\nheights = 'a.png'", "line 2", "ground.heights: not known"),
    ("[[ground.patch]]\nrais = 1", "line 2", "ground.patch 1.rais: not known"),
    ("[[zone]]\nsides = 4", "line 2", "zone 1.sides: not known"),
    ("[fight.parry]\nticks = 3", "line 1", "fight.parry: not known; there are: energy"),
    ("[fight]\nparry.ticks = 3", "line 2", "fight.parry: not known"),
    # What is of another kind.
    ("seed = 1.5", "line 1", "seed: 1.5, expected a whole number"),
    ("seed = '1'", "line 1", "seed: '1', expected a whole number"),
    (f"seed = {HUGE}", "line 1", "seed: is too large, expected a whole number"),
    ("light = 'up'", "line 1", "light: 'up', expected a list of numbers"),
    (
        "[character]\nname = 'a'",
        "line 1",
        "expected tables, each under its word in dou",
    ),
    ("zone = 3", "line 1", "zone: 3, expected tables"),
    ("[zone.ring]\nkeeps = 'in'", "line 1", "zone: {'ring': {'keeps': 'in'}}, expecte"),
    ("[[camera]]\nfov = 3", "line 1", "camera: [{'fov': 3}], expected a table"),
    ("ground = 'flat'", "line 1", "ground: 'flat', expected a table"),
    (f"{RED}place = 3", "line 3", "character 1.place: 3, expected a list of numbers"),
    (f"{RED}heading = 'N'", "line 3", "heading: 'N', expected a number of degrees"),
    (f"{RED}colour = 'red'", "line 3", "colour: 'red', expected a colour such as '#d"),
    (f"{RED}colour = '#d0504'", "line 3", "colour: '#d0504', expected a colour"),
    (f"{RED}colour = [1, 0]", "line 3", "colour: [1, 0], expected a colour"),
    (f"{RED}clips = ['a']", "line 3", "character 1.clips: ['a'], expected a table"),
    (f"{RED}clips.walk = 3", "line 3", "clips.walk: 3, expected the name of a clip"),
    (f"{RED}[character.clips]\nhit = ''", "line 4", "clips.hit: '', expected the name"),
    (f"{HUT}solid = 1", "line 3", "structure 1.solid: 1, expected true or false"),
    ("[look]\nsmooth = 'head'", "line 2", "look.smooth: 'head', expected a list of t"),
    ("[pads]\nlate_ticks = 1.0", "line 2", "late_ticks: 1.0, expected a whole number"),
    # What has another value.
    ("seed = -1", "line 1", "seed: -1, expected a whole number from 0"),
    ("light = [0, 0, 0]", "line 1", "expected the way it travels"),
    ("light = [0, nan, 1]", "line 1", "light: [0.0, nan, 1.0], expected three finite"),
    ("light = [1, 2]", "line 1", "light: [1.0, 2.0], expected three finite numbers"),
    (f"light = [1, 2, {HUGE}]", "line 1", "light: [1.0, 2.0, inf], expected three"),
    ("light = [1, 2, 1e300]", "line 1", "expected numbers up to 1e+06"),
    ("[ground]\nsize = [0, 4]", "line 2", "size: 0 by 8 cells of 0.5 m, expected 1 to"),
    ("[ground]\nsize = [1e9, 4]", "line 2", "size: 1000000000.0, expected -100000 to"),
    ("[ground]\nsize = [9]", "line 2", "ground.size: [9.0], expected 2 numbers"),
    ("[ground]\nstep = 0", "line 2", "ground.step: 0.0, expected 0.001 to"),
    ("[ground]\nrough = nan", "line 2", "ground.rough: nan, expected 0 to 1000"),
    ("[[ground.patch]]\nradius = 1", "line 1", "patch 1.area: missing, expected area"),
    (
        "[[ground.patch]]\narea = [0, 0, 1, 1]\nradius = 1",
        "line 2",
        "ground.patch 1.area: expected area, or middle and radius, alone",
    ),
    (
        "[[ground.patch]]\narea = [0, 0, 0, 1]",
        "line 2",
        "expected corners apart",
    ),
    (
        "[[ground.patch]]\narea = [0, 0, 1, 1]\n[[ground.patch]]\nmiddle = [0, 0]\n"
        "radius = 1\nsurface = 'mud'",
        "line 6",
        "ground.patch 2.surface: 'mud', expected one of plain, sand, water",
    ),
    (
        "[ground]\n[[ground.patch]]\narea = [-20, -20, 20, 20]\ntilt = [100, 0]\n"
        + "[[ground.patch]]\narea = [-20, -20, 20, 20]\ntilt = [100, 0]\n" * 99,
        "line 1",
        "ground: heights: expected metres of at most 100000",
    ),
    (f"{RED}place = [1, 2, 3]", "line 3", "place: [1.0, 2.0, 3.0], expected x and z"),
    (f"{RED}place = [1, inf]", "line 3", "character 1.place: inf, expected -100000 to"),
    (f"{RED}heading = 1e5", "line 3", "heading: 100000.0, expected -3600 to 3600 degr"),
    (f"{RED}heading = nan", "line 3", "heading: nan, expected -3600 to 3600 degrees"),
    (f"{RED}heading = {HUGE}", "line 3", "heading: is too large, expected a number of"),
    (f"{RED}colour = [99, 0, 0]", "line 3", "character 1.colour: 99.0, expected 0 to"),
    (f"{RED}radius = 0", "line 3", "character 1.radius: 0.0, expected 0.01 to 100"),
    (f"{RED}control = 'me'", "line 3", "control: 'me', expected one of opponent, free"),
    (f"{RED}control = '{'m' * 9999}'", "line 3", "expected one of opponent, free, non"),
    (f"{RED}file = ''", "line 3", "character 1.file: '', expected the name of a file"),
    (f'{RED}file = "a\\u0000"', "line 3", "expected the name of a file"),
    (f"{RED}clips.wlak = 'a'", "line 3", "clips.wlak: no role, and no move's clip; th"),
    (f"{RED}clips.wlak = 'a'", "line 3", "there are: 'walk'"),
    ("[[character]]\nname = ''", "line 2", "character 1.name: '', expected one of its"),
    ("[[character]]\nname = 'none'", "line 2", "name: 'none', expected one of its own"),
    ("[[character]]\nplace = [0, 0]", "line 1", "character 1: no name, expected name"),
    ("[camera]\nrule = 'top'", "line 2", "rule: 'top', expected one of fixed, side"),
    ("[camera]\nfov = 0", "line 2", "camera.fov: 0, expected 1 to 170 degrees"),
    ("[camera]\nfov = 180", "line 2", "camera.fov: 180, expected 1 to 170 degrees"),
    ("[camera]\neye = [0, 1, 0]", "line 2", "expected another place than target"),
    ("[camera]\neye = [0, 1, 1e9]", "line 2", "camera.eye: [0.0, 1.0, 1000000000.0],"),
    ("[camera]\ndistance = inf", "line 2", "camera.distance: inf, expected 0.1 to"),
    ("[walking]\nturn = -1", "line 2", "walking.turn: -1, expected 0 to 5700 degrees"),
    ("[walking]\nrun = 1e9", "line 2", "walking.run: 1000000000.0, expected 0 to 100"),
    ("[friction]\nstill = 0.1", "line 2", "still: 0.1, expected at least moving, 0.4"),
    ("[friction]\nmoving = 0.9", "line 1", "friction.still: 0.6, expected at least mo"),
    ("[friction]\npaces = [1]", "line 2", "paces: (1.0,), expected one each for plain"),
    ("[fight]\nstun = -1", "line 2", "fight.stun: -1, expected 0 to 10000"),
    ("[parry]\nangle = 181", "line 2", "parry.angle: 181, expected 0.1 to 180 degrees"),
    ("[parry]\nspeed = 0", "line 2", "parry.speed: 0.0, expected above 0 to 1"),
    ("[pads]\nchord_ticks = 99", "line 2", "chord_ticks: 99, expected 0 to 30 ticks"),
    ("[view]\nfade = -1", "line 2", "view.fade: -1.0, expected 0 to 60"),
    ("[look]\nbackdrop = 'sea'", "line 2", "look.backdrop: 'sea', expected hills, ci"),
    ("[look]\nbackdrop = ''", "line 2", "look.backdrop: '', expected hills, city"),
    ("[look]\nbackdrop = 3", "line 2", "look.backdrop: 3, expected a text"),
    ("[look]\nplain = 'mud'", "line 2", "look.plain: 'mud', expected one of grass, st"),
    ("[look]\nbackground = [150, 178, 205]", "line 2", "expected three numbers 0 to 1"),
    ("[look]\nbackground = [nan, 0, 0]", "line 2", "expected three numbers 0 to 1"),
    # Zones.
    ("[[zone]]\nname = 'a'", "line 1", "zone 1: no corners, expected corners"),
    (f"{ZONE}keeps = 'on'", "line 4", "zone 1.keeps: 'on', expected 'in' or 'out'"),
    ("[[zone]]\nkeeps = 'on'\n" + SQUARE, "line 2", "zone 1.keeps: 'on', expected"),
    ("[[zone]]\ncorners = 'a'", "line 2", "corners: 'a', expected a list of places"),
    ("[[zone]]\ncorners = []", "line 2", "zone 1.corners: 0 corners, expected 3 to"),
    (
        "[[zone]]\ncorners = [\n[0, 0],\n[4, 0],\n['4', 4],\n]",
        "line 5",
        "zone 1.corners 3: ['4', 4], expected two numbers, x and z",
    ),
    ("[[zone]]\ncorners = [[0, 0], [1]]", "line 2", "corners 2: [1], expected two num"),
    ("[[zone]]\ncorners = [0, 0, 1, 1]", "line 2", "corners 1: 0, expected two numbe"),
    (
        "[[zone]]\ncorners = [\n[0, 0],\n[4, 0],\n[4, inf],\n]",
        "line 5",
        "zone 1.corners 3: corner 3: [4.0, inf], expected numbers of at most 10000 m",
    ),
    (
        f"{ZONE}[[zone]]\nname = 'x'\ncorners = [\n[0, 0],\n[4, 4],\n[4, 0],\n[0, 4],]",
        "line 7",
        "zone 2.corners 1: sides 1 and 3 cross, expected none to",
    ),
    (
        "[[zone]]\ncorners = [\n[0, 0],\n[4, 4],\n[4, 4],\n[0, 4],]",
        "line 4",
        "zone 1.corners 2: side 2 is 0 m long, expected more",
    ),
    (
        "[[zone]]\ncorners = [[0, 0], [4, 0], [4, 4], [0, 0]]",
        "line 2",
        "side 4 is 0 m long, expected more: the last corner is not the first one",
    ),
    ("[[zone]]\ncorners=[[0,0],[1,0],[2,0]]", "line 2", "corners: no area, expected"),
    (ZONE + ZONE, "line 5", "zone 2.name: 'ring' is that of zone 1, expected another"),
    # Structures.
    ("[[structure]]\nradius = 1", "line 1", "structure 1: no name, expected name"),
    ("[[structure]]\nname = ''", "line 2", "structure 1.name: '', expected a text"),
    (HUT, "line 1", "structure 1: nothing, expected middle and radius, or ends and"),
    (f"{HUT}radius = 1", "line 1", "structure 1: radius, expected middle and radius"),
    (
        f"{HUT}middle = [0, 0]\nradius = 1\nends = [[0, 0], [1, 1]]\nthickness = 1",
        "line 1",
        "middle, radius, ends, thickness, expected middle and radius, or ends and thi",
    ),
    (f"{HUT}{SQUARE}radius = 1", "line 4", "structure 1.radius: stands beside corners"),
    (
        f"{HUT}fit = 'inscribed'",
        "line 3",
        "structure 1.fit: stands alone, expected cor",
    ),
    (f"{HUT}{SQUARE}fit = 'tight'", "line 4", "structure 1.fit: 'tight', expected one"),
    (f"{HUT}corners = [[0, 0], [1, 1]]", "line 3", "corners: 2, expected 3 to 200"),
    (f"{HUT}corners=[[0,0],[1,0],[2,0]]", "line 3", "corners: an area of 0 m^2, expec"),
    (f"{HUT}corners=[[0,0],[1,0],[2,nan]]", "line 3", "expected numbers within 100000"),
    (
        f"{HUT}corners=[[-1e5,-1e5],[1e5,-1e5],[1e5,1e5],[-1e5,1e5]]",
        "line 3",
        "structure 1.corners: a circle of 100000.0, expected 0.001 to 10000",
    ),
    (f"{HUT}ends = [[0, 0]]\nthickness = 1", "line 3", "expected two places (x, z)"),
    (f"{HUT}ends = [[0,0],[0,0]]\nthickness=1", "line 3", "ends: [(0.0, 0.0), (0.0,"),
    (f"{HUT}middle = [0, 0]\nradius = 0", "line 4", "structure 1.radius: 0.0, expecte"),
    (f"{HUT}{SQUARE}low = 5", "line 1", "structure 1.high: 2, expected more than low"),
    (f"{HUT}{SQUARE}mode = 'x'", "line 4", "structure 1.mode: 'x', expected one of"),
    (f"{HUT}{SQUARE}" * 2, "line 5", "structure 2.name: 'hut' is that of structure 1"),
    # Who is not there, or twice.
    (RED + RED, "line 4", "character 2.name: 'red' is that of character 1, expected"),
    (f"{RED}opponent = 'red'", "line 3", "opponent: 'red', expected another's name"),
    (
        f"{RED}opponent = 'bleu'\n[[character]]\nname = 'blue'",
        "line 3",
        "character 1.opponent: nobody is called 'bleu'; there are: 'blue'; or nearest",
    ),
    (f"{RED}opponent = 'b'", "line 3", "nobody is called 'b'; there are none; or nea"),
    (
        f"{RED}[camera]\nof = 'rad'",
        "line 4",
        "camera.of: nobody is called 'rad'; there",
    ),
    ("[camera]\nof = 'red'", "line 2", "nobody is called 'red'; there are none"),
    # Moves that stand here.
    ("[move.a]\nstart = 601", "line 2", "move.a.start: 601, expected 0 to 600 whole"),
    ("[move.a]\nstart = 1\nhit = 1", "line 1", "move.a: no back, expected start, hit"),
    ("moves = ''", "line 1", "moves: '', expected the name of a file"),
    ("moves = 'a.toml'\n[move.a]", "line 2", "move: moves are in 'a.toml', expected"),
    ("moves = 'a.toml'\n[buttons]", "line 2", "buttons: moves are in 'a.toml'"),
    # No TOML.
    ("seed = 1\nseed = 2\n", "line 2", "is no TOML: Cannot overwrite a value"),
    ("seed = 1\nseed = 2\n", "line 2", "seed is said twice in its table"),
    ("seed = 1\n[ground", "", "is no TOML: "),
    ("[snow]\nfalls = True", "line 2", "perhaps true is meant"),
    ("[ground]\nstep = 0,25", "line 2", "perhaps 0.25 is meant"),
    ("[[ground.patch]]\nsurface = sand # x", "line 2", "; texts are in quotes"),
    ("[zone]\na = 1\n[[zone]]", "line 3", "is in double brackets each time"),
    ("[zone]\na = 1\n[zone]", "line 3", "is in double brackets each time"),
    ("seed = \n", "line 1", "is no TOML: Invalid value (at line 1, column 8)"),
    ("[zone]\na = 1", "line 1", "each under its word in double brackets: [[zone]]"),
    ("[[camera]]\nfov = 3", "line 1", "under its word in single brackets, once"),
]


@pytest.mark.parametrize(("text", "place", "words"), FAULTS)
def test_faults_name_file_line_and_key(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(AssetError) as caught:
        read_stage(file)
    assert words in str(caught.value)
    assert caught.value.pointer == place
    assert caught.value.path == file
    assert len(caught.value.text) < 600


def test_a_file_of_moves_that_is_wrong(tmp_path: Path) -> None:
    file = write(tmp_path, "seed = 1\nmoves = 'moves.toml'")
    with pytest.raises(AssetError, match="No such file") as caught:
        read_stage(file)
    assert caught.value.path == tmp_path / "moves.toml"
    assert f"named by moves in {file}, line 2" in str(caught.value)
    for text, place, words in (
        ("[move.a]\nstrt = 1", "line 2", "move.a.strt: not known"),
        ("seed = 1", "line 1", "seed: not known; there are: base, buttons, move, comb"),
        ("\n\n[move\n", "line 3", "is no TOML"),
    ):
        other = write(tmp_path, text, "moves.toml")
        with pytest.raises(AssetError, match=words) as caught:
            read_stage(file)
        assert caught.value.path == other
        assert caught.value.pointer == place
    write(tmp_path, "moves = '.'")
    with pytest.raises(AssetError, match="is a directory"):
        read_stage(file)
    write(tmp_path, f"moves = '{'m' * 5000}'")
    with pytest.raises(AssetError, match="too long"):
        read_stage(file)


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_stage(tmp_path / "none.toml")
    with pytest.raises(AssetError, match="is a directory"):
        read_stage(tmp_path)
    file = write(tmp_path, "")
    file.write_bytes(b"seed = 1\n# \xff")
    with pytest.raises(AssetError, match="is no TOML") as caught:
        read_stage(file)
    assert caught.value.pointer == "line 2"
    monkeypatch.setattr(toml_text, "MOST_BYTES", 10)
    with pytest.raises(AssetError, match="is larger than 10 bytes"):
        read_stage(write(tmp_path, "seed = 1\n# more"))


def test_faults_that_are_found_later(tmp_path: Path) -> None:
    file = open_stage(write(tmp_path, FULL))
    assert file.plan.seed == 7
    for keys, line in (
        (("character", 0, "clips", "walk"), "clips = {"),
        (("character", 1, "file"), "file = 'people"),
        (("character", 1, "clips", "run"), '[[character]]\nname = "blue"'),
        (("move", "punch", "clip"), 'clip = "Punch"'),
        (("move", "punch", "height"), "[move.punch]"),
        (("look", "style"), 'style = "bones"'),
        (("structure", 1), '[[structure]]\nname = "wall"'),
    ):
        error = file.refuse(keys, "that is it")
        before = FULL.replace("'", '"').partition(line.replace("'", '"'))[0]
        assert error.pointer == f"line {before.count(chr(10)) + 1}", keys
        assert error.path == file.path
        assert "that is it" in str(error)
    assert "character 2.file: that" in str(
        file.refuse(("character", 1, "file"), "that")
    )
    assert file.refuse((), "nothing there").text == "nothing there"


def test_later_faults_of_moves_name_their_file(tmp_path: Path) -> None:
    move = "[move.a]\nkind = 'other'\nstart = 1\nhit = 1\nback = 1"
    write(tmp_path, f"# moves\n{move}", "moves.toml")
    file = open_stage(write(tmp_path, "moves = 'moves.toml'"))
    error = file.refuse(("move", "a", "clip"), "no such clip")
    assert error.path == tmp_path / "moves.toml"
    assert error.pointer == "line 2"
    assert file.refuse(("seed",), "no").path == tmp_path / "stage.toml"


def many(count: int, last: str = "") -> str:
    """As many zones, structures and characters, each fighting the next."""
    zone = "[[zone]]\nname = 'z{}'\ncorners = [[0, 0], [1, 0], [0, 1]]\n"
    round_one = "[[structure]]\nname = 's{}'\nmiddle = [0, 0]\nradius = 1\n"
    actor = "[[character]]\nname = 'c{}'\nopponent = 'c{}'\n"
    rows = range(count)
    return (
        "".join(zone.format(row) for row in rows)
        + "".join(round_one.format(row) for row in rows)
        + "".join(actor.format(row, (row + 1) % count) for row in rows)
        + last
    )


def test_the_text_is_looked_at_where_something_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading takes time by the length of the text: no key is looked for in it."""
    looks = []
    real = toml_text.find_line

    def find_line(text: str, keys: toml_text.Keys) -> str:
        looks.append(keys)
        return real(text, keys)

    monkeypatch.setattr(toml_text, "find_line", find_line)
    plan = read_stage(write(tmp_path, many(1000)))
    assert len(plan.cast) == len(plan.zones) == len(plan.structures) == 1000
    assert not looks
    with pytest.raises(AssetError, match=r"character 1000.control") as caught:
        read_stage(write(tmp_path, many(1000, "control = 3")))
    assert looks == [("character", 999, "control")]
    assert caught.value.pointer == "line 10001"  # 3, 4 and 3 lines each, and one more


def test_moves_are_read_without_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(toml_text, "find_line")
    move = "kind='jump'\nstart=1\nhit=1\nback=1"
    text = "".join(f"[move.m{n}]\n{move}\n" for n in range(1000))
    assert len(read_stage(write(tmp_path, text)).moves.moves) == 1000


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("[[zone]]\ncorners = []\n" * 10_001, "line 20001", "zone 10001: there are 10"),
        ("[[structure]]\n" * 10_001, "line 10001", "10,001, expected 10,000 or less"),
        ("[[character]]\n" * 10_001, "line 10001", "10,001, expected 10,000 or less"),
        (
            "[ground]\nsize = [4096, 4096]\nstep = 1\n"
            + "[[ground.patch]]\nmiddle = [0, 0]\nradius = 9e4\n" * 99,
            "line 1",
            "in 6 patches, expected 100,000,000 or less",
        ),
        ("[ground]\nstep = 0.001", "line 1", "40000 by 40000 cells of 0.001 m"),
        (
            "".join(
                f"[[structure]]\nname = '{n}'\ncorners=[[0,0],[9,0],[9,0.1],[0,0.1]]\n"
                for n in range(100)
            ),
            "line 258",
            "structure 86.corners: too many corners of structures up to here, or these",
        ),
        ("a." * 70 + "a = 1", "line 1", "a key of more than 64 parts"),
        ("# .\n[" + "'a' . " * 70 + "a]", "line 2", "a key of more than 64 parts"),
        ("\na = { " + "a." * 70 + "a = 1}", "line 2", "a key of more than 64 parts"),
        ("a." * 480_000 + "a = 1", "line 1", "a key of more than 64 parts"),
        ("zone = " + "[" * 900_000, "", "is no TOML"),
        ("seed = [" + "[1]," * 200_000 + "]", "line 1", "seed: [[1], [1], [1], [1],"),
        ("seed = " + "{a=" * 90 + "1" + "}" * 90, "line 1", "expected a whole number"),
        ("'" + "k" * 900_000 + "' = 1", "line 1", "not known; there are: seed"),
        ("'a\\nb' = 1\n\"c\\nd\" = 1", "line 1", "a\\nb: not known"),
        ('seed = 1\n"c\\nd" = 1', "line 2", "'c\\nd': not known"),
    ],
    ids=range(16),
)
def test_more_than_a_stage_may_hold(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        read_stage(write(tmp_path, text))
    assert words in str(caught.value)
    assert caught.value.pointer == place
    assert len(caught.value.text) < 600


def test_zones_of_very_many_corners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zones_part, "MOST_PAIRS", 40)
    with pytest.raises(AssetError, match="too many corners together") as caught:
        read_stage(write(tmp_path, ZONE + ZONE.replace("ring", "x") + ZONE))
    assert caught.value.pointer == "line 9"


def test_long_texts_are_no_long_keys(tmp_path: Path) -> None:
    dots = "." * 100
    angles = [math.tau * n / 40 for n in range(40)]
    numbers = [[math.cos(angle), math.sin(angle)] for angle in angles]
    text = f"# {dots}\n{RED}clips.walk = '''{dots}'''\nclips.run = \"{dots}\"\n"
    text += f"[[zone]]\ncorners = {numbers}"
    assert read_stage(write(tmp_path, text)).cast[0].clips["walk"] == dots
