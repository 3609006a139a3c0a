"""Columns of the tables that a frame is described by, and sizes the kernels share.

Everything that a draw list holds becomes rows of numbers; arrays are named by their
address (`floats_at`), so that one call draws any number of things.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles, Floats, Ints, Longs, Masks

# Screen positions are whole numbers of 1/256 pixel. A triangle that reaches further
# than GUARD from the corner of the picture is cut, so that edges fit 32 bits inside a
# tile: 2^23 per pixel, times 64 + 8 + 32 pixels, is less than half of 2^31.
SUB = 256
GUARD = 1 << 22
TILE_BITS = 6
TILE_W, TILE_H = 1 << TILE_BITS, 32
STRIDE = TILE_W + 8  # rows of a tile are written eight pixels at a time
PLANE = STRIDE * TILE_H
EDGE_BOUND = 1 << 30

# Third number of a row of `screen`, in place of 1/distance, which is above zero. The
# first is then what the vertex is beyond, a sum of: the camera's near plane, and each
# edge of the picture by more than ASIDE, in 1/256 pixel.
NEEDS_CUT = -1.0
TOO_NEAR, TOO_LEFT, TOO_RIGHT, TOO_HIGH, TOO_LOW = 1, 2, 4, 8, 16
ASIDE = 16 * SUB

# Where the four samples of a pixel lie from its centre, and how far at most.
SAMPLES_AT = ((-32, -96), (96, -32), (-96, 32), (32, 96))
SPREAD = 96

# --- frame: float64 ---
# The first 12 numbers are camera_from_world; its third row gives the distance.
SCALE, CENTRE_X, CENTRE_Y, NEAR = 12, 13, 14, 15  # in 1/256 pixel; near in metres
EYE = 16  # where the camera is, or which way it looks back if it has no perspective
# Strokes are pulled forward by so many metres (so much of the distance, with
# perspective) for each pixel of their width, and by not more than that.
PULL, MOST_PULL = 19, 20
# Of the backdrop: tangent of its upper edge's elevation, rows for each 1 of tangent.
BACKDROP_HIGH, BACKDROP_FINE = 21, 22
FRAME_SIZE = 23

# --- frame: int64 ---
IS_FLAT_VIEW, WIDTH, HEIGHT, TILES_X, TILES_Y, SAMPLES, IS_SORTED = range(7)
VERTEX_COUNT, TRIANGLE_COUNT, EDGE_COUNT, VERTEX_CHUNKS = range(7, 11)
REF_ROOM, LIST_ROOM, PIECE_ROOM, BACKGROUND, HAS_BUFFERS = range(11, 16)
# Where the backdrop's pixels are (0: there is none), its width (a power of two) and
# height.
BACKDROP, BACKDROP_W, BACKDROP_H = range(16, 19)
FRAME_INTS = 19

# --- items: int64 ---
(
    POSITIONS,
    NORMALS,
    TRIANGLES,
    TEXCOORDS,
    COLOURS,
    SMOOTH,
    TINTS,
    HEAT,
    EDGES,
    VERTICES,
    INSTANCES,
    FACES,
    FIRST_VERTEX,
    FIRST_TRIANGLE,
    FIRST_LIT,
    EDGES_EACH,
    FIRST_EDGE,
    SHADING,
    IS_TWO_SIDED,
    ALPHA,
    TEXTURE,
    GLOW_TEXTURE,
    PATTERN,
    PART,
    STROKE_KINDS,
) = range(25)
ITEM_INTS = 25
UNLIT, BY_VERTEX, BY_PIXEL, BY_FACE, CEL = range(5)
OPAQUE, MASK, BLEND = range(3)
AT_SILHOUETTE, AT_BORDER, AT_CREASE, AT_ALL = 1, 2, 4, 8

# --- items: float32 ---
COLOUR, TRANSFORM, CUTOFF, GLOW, BANDS = 0, 4, 10, 11, 14
STROKE_COLOUR, STROKE_WIDTH, CREASE = 15, 19, 20
ITEM_FLOATS = 21

# --- lines: int64 and float32 ---
LINE_POINTS, LINE_COLOURS, LINE_STEP, LINES, FIRST_LINE, LINE_PART = range(6)
LINE_INTS = 6  # LINE_STEP: 4 if each line has its colour, 0 if all have one

# --- textures: int64 ---
TEXELS, TEXEL_COUNT, LEVELS, WRAP_S, WRAP_T, IS_NEAREST = range(6)
LEVEL_ROWS = 6  # then, for each level: where it begins, its width, its height
MOST_LEVELS = 14
TEXTURE_INTS = LEVEL_ROWS + 3 * MOST_LEVELS
REPEAT, MIRROR, CLAMP = range(3)

# --- lights: float32 ---
LIGHT_KIND, LIGHT_COLOUR, LIGHT_PLACE, LIGHT_REACH, LIGHT_GROUND = 0, 1, 4, 7, 8
LIGHT_FLOATS = 11
AMBIENT, DIRECTIONAL, POINT = range(3)

# --- stream segments and chunks: int64 ---
# The stream is everything to be drawn, in order. A segment stands for elements that
# follow each other, from SEGMENT_BASE on, or from row SEGMENT_ORDER of `order`.
SEGMENT_FIRST, SEGMENT_BASE, SEGMENT_ORDER = range(3)
SEGMENT_INTS = 3
CHUNK_FIRST, CHUNK_LAST, CHUNK_QUEUE = range(3)
CHUNK_INTS = 3
# Opaque and blended elements of layer 0, then of layer 1.
QUEUES = 4

# --- pieces: triangles made while drawing, float32 ---
# Three corners of x, y, 1/distance, depth; then for each corner how much of the second
# and third corner of the triangle it was cut from; of lines, how far corners are.
PIECE_SHARES = 12
PIECE_FLOATS = 18

# --- cutting ---
# A triangle cut by five planes has at most eight corners. Each is a row of: across,
# down and distance from the camera, and the shares of the second and third corner.
MOST_CORNERS, CORNER = 8, 5
CUT_ROOM = 2 * (MOST_CORNERS + 1) * CORNER
LINE_PIECES = 6  # that a line is made of, at most

# --- team: int64 counters ---
NEXT_VERTEX, DONE_VERTEX, NEXT_CHUNK, DONE_CHUNK, NEXT_TILE, NEXT_THREAD = range(6)
TEAM_STEP = 8  # a cache line each, so that threads do not wait for each other
TEAM_INTS = 6 * TEAM_STEP
# What each chunk found, rows of `found`: how many of each it would have needed.
FOUND_REFS, FOUND_LIST, FOUND_PIECES, FOUND_SKIPPED = range(4)
FOUND_INTS = 4

# --- scratch of a thread, for one tile ---
# Eight pixels at work: numbers of each, rows of eight.
ONE, TWO, DISTANCE, MOVE_X, MOVE_Y, RED, GREEN, BLUE, PARTS = range(0, 72, 8)
WORK_FLOATS = PARTS + 32
COPY = 4 * TILE_W * TILE_H  # colours of a tile; of split pixels there are four copies
SCRATCH_FLOATS = 4 * PLANE + 4 * COPY + WORK_FLOATS  # depths, colours, work
LISTED = TILE_W * TILE_H + 8  # pixels of a triangle
PLACES = 64  # where texels are
# Marks, bits, hits, rows, split pixels, listed pixels, places.
SCRATCH_INTS = 6 * PLANE + 2 * TILE_H + TILE_W * TILE_H + LISTED + PLACES


class Scene(NamedTuple):
    """What a picture is of: the tables above, flat but for chunks."""

    camera: Annotated[Doubles, "[::1]"]  # the numbers of the frame
    frame: Annotated[Longs, "[::1]"]
    items: Annotated[Longs, "[::1]"]
    looks: Annotated[Floats, "[::1]"]  # of items
    lines: Annotated[Longs, "[::1]"]
    widths: Annotated[Floats, "[::1]"]  # of lines, pixels
    textures: Annotated[Longs, "[::1]"]
    lights: Annotated[Floats, "[::1]"]
    segments: Annotated[Longs, "[::1]"]
    chunks: Annotated[Longs, "[:, ::1]"]
    order: Annotated[Ints, "[::1]"]  # elements of sorted segments
    patterns: Annotated[Ints, "[::1]"]  # which pixels are left out
    ranks: Annotated[Floats, "[::1]"]  # of elements, from far to near
    behind: Annotated[Floats, "[::1]"]  # (4,), colour
    to_srgb: Annotated[Bytes, "[::1]"]


class Space(NamedTuple):
    """What is written to while a picture is drawn, beside itself: see `room.Room`."""

    team: Annotated[Longs, "out [::1]"]
    screen: Annotated[Floats, "out [::1]"]  # four numbers a vertex
    lit: Annotated[Floats, "out [::1]"]  # light at vertices, four numbers each
    pieces: Annotated[Floats, "out [::1]"]
    sources: Annotated[Ints, "out [::1]"]  # the element that each piece is of
    refs: Annotated[Ints, "out [:, ::1]"]  # of each chunk: ref and tiles
    starts: Annotated[Ints, "out [:, ::1]"]  # of each chunk: where tiles begin in lists
    lists: Annotated[Ints, "out [:, ::1]"]  # of each chunk: refs by tile
    found: Annotated[Longs, "out [:, ::1]"]
    cuts: Annotated[Doubles, "out [::1]"]  # corners of polygons that are cut
    floats: Annotated[Floats, "out [:, ::1]"]  # of each thread: scratch
    ints: Annotated[Ints, "out [:, ::1]"]


class Picture(NamedTuple):
    """What is drawn: H * W pixels and, where they have a length, buffers."""

    pixels: Annotated[Masks, "out [::1]"]
    depth: Annotated[Floats, "out [::1]"]
    normal: Annotated[Floats, "out [::1]"]
    part: Annotated[Ints, "out [::1]"]
    heat: Annotated[Floats, "out [::1]"]


class Scratch(NamedTuple):
    """A thread's room for one tile."""

    depths: Floats  # of samples, four planes
    colours: Floats  # linear, times alpha; of split pixels four copies
    work: Floats  # eight pixels at work
    marks: Ints  # refs of samples, four planes
    bits: Ints  # a plane of zeros, but while a triangle is looked at
    hits: Ints  # a plane of anything
    rows: Ints  # of each row the first column drawn and the one after the last
    split: Ints  # which pixels are four
    listed: Ints  # pixels of a triangle
    places: Ints  # where texels are
