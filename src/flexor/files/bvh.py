"""A Biovision BVH file as a scene: a skeleton and one clip, no mesh.

The format, as far as it has one: `HIERARCHY`, then for each `ROOT` a tree of `{ OFFSET
x y z  CHANNELS n names...  JOINT or End Site ... }`; then `MOTION`, `Frames: n`, `Frame
Time: seconds` and one line for each frame, with a number for each channel in the order
of the CHANNELS above (M. Meredith and S. Maddock, "Motion Capture File Formats
Explained", Sheffield 2001).

Approaches tried for the numbers of cmu_49_06 (482 frames of 96): float() of every word
18 ms, numpy.loadtxt 9 ms but with comments and quotes that BVH does not know, one
numpy.array of words for each line 12 ms (this one).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.errors import AssetError, ShapeError
from flexor.maths import exact
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet, Scene

__all__ = ["read_bvh"]


MAX_DEPTH = 1000  # joints in one another
MAX_NODES = 1 << 16
LARGEST = float(np.finfo(np.float32).max)
HUMAN = (0.5, 3.0)  # metres: a rest pose outside of this is worth a remark

CHANNELS = {
    f"{axis}{kind}".encode(): (kind, row)
    for kind in ("position", "rotation")
    for row, axis in enumerate("xyz")
}

IN_JOINT = ("offset", "channels", "joint", "end", "}")
IN_END = ("offset", "}")
WORD = re.compile(rb"\s*([{}]|[^\s{}]+)")
NAME = re.compile(rb"[^\S\n]*([^\s{}](?:[^\n{}]*[^\s{}])?)")
FRAMES = re.compile(rb"\s*frames\s*:", re.IGNORECASE)
FRAME_TIME = re.compile(rb"\s*frame\s*time\s*:", re.IGNORECASE)

# q times i, j or k, for q in (x, y, z, w): where its numbers go, and their signs.
TIMES_AXIS = (
    ([3, 2, 1, 0], np.array([1.0, 1.0, -1.0, -1.0])),
    ([2, 3, 0, 1], np.array([-1.0, 1.0, 1.0, -1.0])),
    ([1, 0, 3, 2], np.array([1.0, -1.0, 1.0, -1.0])),
)


def read_bvh(path: Path) -> Scene:
    """Read a .bvh file; AssetError with the line where that cannot be done.

    Nodes are in file order under their names in the file; an End Site is a leaf called
    "<parent> end". OFFSETs are the rest translations, the rest rotations are identity.
    The clip is called after the file (its stem). It has a rotation track for every
    joint with rotation channels and a translation track for every joint with position
    channels, with a key for every frame, the first at 0 s.

    Rotations compose in the order of the channels, the first one outermost. A position
    channel replaces its component of the OFFSET; axes without a channel keep the
    OFFSET's. Some files mean positions below the roots as differences to the OFFSET:
    where they are nearer to 0 than to it, they are added (finding "bvh-positions").

    BVH has no units: numbers stay as they are, and the finding "bvh-units" says so
    where they can hardly be metres.

    A frame is one line, and there must be as many as announced.
    """
    text = _Text(path, _read_file(path))
    try:
        return _read_scene(text)
    except ShapeError as error:
        # The checks of the scene types are a second net under those of the reader.
        raise AssetError(path, "", str(error)) from None


def _read_file(path: Path) -> bytes:
    """The file with line breaks as LF and without a byte order mark."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        reason = getattr(error, "strerror", None) or error
        raise AssetError(path, "", f"cannot be read: {reason}") from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class _Text:
    """A place in the file that moves from word to word. start: of the last word."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self.raw = raw
        self.at = 0
        self.start = 0

    def line(self) -> int:
        """The number of the line of the last word, from 1."""
        return self.raw.count(b"\n", 0, self.start) + 1

    def error(self, text: str) -> AssetError:
        """An error at the last word."""
        return AssetError(self.path, f"line {self.line()}", text)

    def error_at_end(self, text: str) -> AssetError:
        """An error at the last line with anything in it."""
        self.start = len(self.raw.rstrip())
        return self.error(text)

    def word(self, wanted: str) -> bytes:
        """The next word or brace; at the end of the file an error."""
        found = WORD.match(self.raw, self.at)
        if found is None:
            raise self.error_at_end(f"the file ends here, expected {wanted}")
        self.start, self.at = found.span(1)
        return found[1]

    def keyword(self, *wanted: str) -> str:
        """The next word, in lower case: one of `wanted`."""
        choice = " or ".join(w.upper() for w in wanted)
        word = self.word(choice)
        lower = word.lower().decode("latin-1")
        if lower not in wanted:
            raise self.error(f"{_shown(word)}, expected {choice}")
        return lower

    def name(self) -> str:
        """The rest of the line, up to a brace if there is one: UTF-8 or Latin-1."""
        found = NAME.match(self.raw, self.at)
        if found is None:
            raise self.error("a name is missing")
        self.at = found.end()
        try:
            return found[1].decode("utf-8")
        except UnicodeDecodeError:
            return found[1].decode("latin-1")

    def label(self, pattern: re.Pattern[bytes], wanted: str) -> None:
        """Step over words with a colon."""
        found = pattern.match(self.raw, self.at)
        if found is None:
            raise self.error(f"{_shown(self.word(wanted))}, expected {wanted}")
        self.at = found.end()

    def number(self) -> float:
        """The next word as a number."""
        word = self.word("a number")
        if (value := _parse(word)) is None:
            raise self.error(_not_a_number(word))
        return value

    def count(self, what: str) -> int:
        """The next word as a count."""
        word = self.word(f"the number of {what}")
        if not word.isdigit() or len(word) > 18:
            raise self.error(f"{_shown(word)}, expected the number of {what}")
        return int(word)


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _not_a_number(word: bytes) -> str:
    return f"{_shown(word)} is not a finite number of float32 size"


def _parse(word: bytes) -> float | None:
    """The number in a word, or None; Python's "1_000" is no number."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if b"_" not in word and abs(value) <= LARGEST else None


@dataclass(slots=True)
class _Joint:
    """A node as read. columns: for each of its channels, in the order of the file,
    the kind, the axis and the column in the motion.
    """

    name: str
    parent: int
    is_end: bool
    offset: tuple[float, float, float] | None = None
    columns: list[tuple[str, int, int]] | None = None

    def axes(self, kind: str) -> list[tuple[int, int]]:
        """Axis and column of the channels of one kind, in the order of the file."""
        return [(axis, at) for have, axis, at in self.columns or () if have == kind]


def _read_scene(text: _Text) -> Scene:
    joints = _read_hierarchy(text)
    skeleton = _make_skeleton(joints)
    findings = _check_size(skeleton)
    width = sum(len(joint.columns or ()) for joint in joints)
    times, values = _read_motion(text, width, findings)
    clips = {}
    if values.size:
        tracks = _make_tracks(joints, times, values, findings)
        clips[text.path.stem] = Clip(text.path.stem, tracks)
    roots = tuple(row for row, joint in enumerate(joints) if joint.parent < 0)
    return Scene(
        skeleton=skeleton,
        node_mesh=np.full(len(joints), -1, np.int32),
        node_skin=np.full(len(joints), -1, np.int32),
        clips=clips,
        root_sets=(RootSet("", roots),),
        default_set=0,
        findings=tuple(findings),
    )


def _read_hierarchy(text: _Text) -> list[_Joint]:
    """Every node, parents first; the place is behind MOTION then."""
    try:
        text.keyword("hierarchy")
    except AssetError as error:
        raise text.error(f"not a BVH file: {error.text}") from None
    joints: list[_Joint] = []
    width = 0
    text.keyword("root")
    while True:
        width = _read_tree(text, joints, width)
        if text.keyword("root", "motion") == "motion":
            return joints


def _read_tree(text: _Text, joints: list[_Joint], width: int) -> int:
    """One root with all below it, from its name to its last brace.

    Takes and returns how many channels there are before and after it.
    """
    above = [_open_joint(text, joints, -1, False)]
    while above:
        joint = joints[above[-1]]
        match text.keyword(*(IN_END if joint.is_end else IN_JOINT)):
            case "offset":
                if joint.offset is not None:
                    raise text.error(f"a second OFFSET of {joint.name!r}")
                joint.offset = (text.number(), text.number(), text.number())
            case "channels":
                width = _read_channels(text, joint, width)
            case "}":
                if joint.offset is None:
                    raise text.error(f"{joint.name!r} has no OFFSET")
                above.pop()
            case word:
                if len(above) == MAX_DEPTH:
                    raise text.error(f"more than {MAX_DEPTH} joints in one another")
                above.append(_open_joint(text, joints, above[-1], word == "end"))
    return width


def _open_joint(text: _Text, joints: list[_Joint], parent: int, is_end: bool) -> int:
    """A new node from its name to its first brace; its row."""
    if len(joints) == MAX_NODES:
        raise text.error(f"more than {MAX_NODES} joints")
    if is_end:
        text.keyword("site")
        name = f"{joints[parent].name} end"
    else:
        name = text.name()
    text.keyword("{")
    joints.append(_Joint(name, parent, is_end))
    return len(joints) - 1


def _read_channels(text: _Text, joint: _Joint, width: int) -> int:
    """The channels of a joint; `width` of them are before, the new width comes back."""
    if joint.columns is not None:
        raise text.error(f"a second CHANNELS of {joint.name!r}")
    joint.columns = []
    count = text.count("channels")
    if count > len(CHANNELS):
        raise text.error(f"{count} channels, at most {len(CHANNELS)} are possible")
    for column in range(width, width + count):
        word = text.word("the name of a channel")
        if word.lower() not in CHANNELS:
            known = ", ".join(name.decode().capitalize() for name in CHANNELS)
            raise text.error(f"unknown channel {_shown(word)}, expected one of {known}")
        kind, axis = CHANNELS[word.lower()]
        if any(have[:2] == (kind, axis) for have in joint.columns):
            raise text.error(f"the channel {_shown(word)} comes twice")
        joint.columns.append((kind, axis, column))
    return width + count


def _read_motion(
    text: _Text, width: int, findings: list[Finding]
) -> tuple[Floats, Doubles]:
    """What follows MOTION: times float32 (T,), and values float64 (T, width)."""
    text.label(FRAMES, "'Frames:'")
    announced = text.count("frames")
    place = f"line {text.line()}"
    text.label(FRAME_TIME, "'Frame Time:'")
    seconds = text.number()
    if seconds < 0 or (seconds == 0 and announced > 1):
        raise text.error(f"the frame time is {seconds:g}, expected more than 0 seconds")
    if not announced:
        remark = "the motion has no frames, so there is no clip"
        findings.append(Finding("info", "bvh-no-frames", place, remark))
    elif not width:
        remark = "no joint has a channel, so there is no clip"
        findings.append(Finding("info", "bvh-no-channels", place, remark))
    values = _read_frames(text, announced if width else 0, width)
    exact = np.arange(len(values)) * seconds
    if len(values) and exact[-1] > LARGEST:
        raise text.error(f"{len(values)} frames of {seconds:g} s are too long")
    times: Floats = exact.astype(np.float32)
    if (np.diff(times) <= 0).any():
        raise text.error(f"{len(values)} frames of {seconds:g} s are too short")
    return times, values


def _read_frames(text: _Text, announced: int, width: int) -> Doubles:
    """The numbers from here to the end of the file: float64 (T, width)."""
    lines = text.raw[text.at :].split(b"\n")
    if rest := lines[0].strip():
        raise text.error(f"{_shown(rest)} after the frame time, expected a line break")
    rows: list[Doubles] = []
    for number, line in enumerate(lines, text.line()):
        words = line.split(None, width)  # those that can be right, and a rest
        if not words:
            continue
        if len(rows) == announced:
            wrong = f"{_shown(words[0])} follows, after all of {announced} frames"
        elif len(words) != width:
            have = str(len(words)) if len(words) < width else f"more than {width}"
            wrong = f"{have} numbers in frame {len(rows)}, expected {width}"
        elif (row := _read_row(words, line)) is None:
            wrong = _not_a_number(next(w for w in words if _parse(w) is None))
        else:
            rows.append(row)
            continue
        raise AssetError(text.path, f"line {number}", wrong)
    if len(rows) < announced:
        wrong = f"the file ends after {len(rows)} of {announced} frames"
        raise text.error_at_end(wrong)
    return np.array(rows, np.float64).reshape(len(rows), width)


def _read_row(words: list[bytes], line: bytes) -> Doubles | None:
    """The numbers of a line, or None if `_parse` takes one of its words for none."""
    try:
        row = np.array(words, np.float64)
    except ValueError:
        return None
    return row if b"_" not in line and bool((np.abs(row) <= LARGEST).all()) else None


def _make_skeleton(joints: list[_Joint]) -> Skeleton:
    count = len(joints)
    return Skeleton(
        tuple(joint.name for joint in joints),
        np.array([joint.parent for joint in joints], np.int32),
        np.array([joint.offset for joint in joints], np.float32),
        np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
        np.ones((count, 3), np.float32),
    )


def _check_size(skeleton: Skeleton) -> list[Finding]:
    """A remark where the rest pose can hardly be a human in metres.

    The longest side of the box around it counts: some files have z up.
    """
    places = skeleton.translations.astype(np.float64)
    for node, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            places[node] += places[parent]
    size = float(np.ptp(places, axis=0).max())
    if size == 0 or HUMAN[0] <= size <= HUMAN[1]:
        return []
    text = (
        f"the skeleton is {size:.3g} large at rest, hardly metres; BVH has no units, "
        "the numbers are kept as they are"
    )
    return [Finding("info", "bvh-units", "HIERARCHY", text)]


def _make_tracks(
    joints: list[_Joint], times: Floats, values: Doubles, findings: list[Finding]
) -> tuple[Track, ...]:
    """The tracks in the order of the nodes, a node's translation first."""
    rotations = _rotations(joints, values)
    has_differences = _are_differences(joints, values)
    if has_differences:
        text = (
            "positions of joints below a root are nearer to 0 than to the OFFSET, so "
            "they are added to it"
        )
        findings.append(Finding("info", "bvh-positions", "MOTION", text))
    tracks = []
    for node, joint in enumerate(joints):
        if moved := joint.axes("position"):
            offset = np.array(joint.offset, np.float64)
            places = np.tile(offset, (len(times), 1))
            adds = has_differences and joint.parent >= 0
            for axis, column in moved:
                places[:, axis] = values[:, column] + (offset[axis] if adds else 0)
            keys = places.astype(np.float32)
            tracks.append(Track(node, "translation", times, keys))
        if node in rotations:
            tracks.append(Track(node, "rotation", times, rotations[node]))
    return tuple(tracks)


def _are_differences(joints: list[_Joint], values: Doubles) -> bool:
    """Whether positions below the roots are meant to be added to the OFFSETs.

    Bones keep their length, so the values of such a joint are near its OFFSET, or, if
    the file means differences to it, near 0.
    """
    near_offset = near_zero = 0.0
    for joint in joints:
        moved = joint.axes("position")
        if moved and joint.parent >= 0:
            places = values[:, [column for _, column in moved]]
            offset = np.array(joint.offset)[[axis for axis, _ in moved]]
            near_zero += float(np.linalg.norm(places, axis=1).mean())
            near_offset += float(np.linalg.norm(places - offset, axis=1).mean())
    return near_zero < near_offset


def _rotations(joints: list[_Joint], values: Doubles) -> dict[int, Floats]:
    """Quaternions float32 (T, 4) by node; joints of the same axes are done at once."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for node, joint in enumerate(joints):
        axes = tuple(axis for axis, _ in joint.axes("rotation"))
        if axes:
            alike.setdefault(axes, []).append(node)
    found: dict[int, Floats] = {}
    for axes, nodes in alike.items():
        columns = [[at for _, at in joints[n].axes("rotation")] for n in nodes]
        turned = _turn(axes, values[:, np.array(columns)])
        for row, node in enumerate(nodes):
            found[node] = np.ascontiguousarray(turned[:, row])
    return found


def _turn(axes: tuple[int, ...], degrees: Doubles) -> Floats:
    """Compose turns about `axes`, the first outermost: (T, G, A) to float32 (T, G, 4).

    Of the two quaternions for a rotation the one nearer to the key before is taken, of
    the first key the one with w >= 0.
    """
    # Whole turns of a quaternion (720 degrees) go first: exact, unlike sines of them.
    half = np.fmod(degrees, 720.0) * (math.pi / 360)
    sine, cosine = exact.sin_each(half), exact.cos_each(half)
    q = np.zeros((*degrees.shape[:2], 4))
    q[..., 3] = 1
    for step, axis in enumerate(axes):
        places, signs = TIMES_AXIS[axis]
        turned = q[..., places] * signs
        q = cosine[..., step, None] * q + sine[..., step, None] * turned
    single: Floats = q.astype(np.float32)
    # In the final precision, so that rounding cannot bring a wrong side back.
    wide = single.astype(np.float64)
    sides = np.ones(degrees.shape[:2], np.float32)
    sides[0][wide[0, :, 3] < 0] = -1
    sides[1:][(wide[1:] * wide[:-1]).sum(-1) < 0] = -1
    return single * np.cumprod(sides, axis=0)[..., None]
