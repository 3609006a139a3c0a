"""Arrays that a picture needs while it is drawn; kept for the next one."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats
from flexor.draw.raster import layout as at
from flexor.draw.raster.layout import CUT_ROOM, LINE_PIECES
from flexor.draw.raster.tables import Tables

__all__ = ["Room"]


class Room:
    """What the kernels write to, beside the picture: see `kernels.frame`.

    Each chunk has room for so many refs, places in lists, and pieces. It is guessed at
    first; if it is too little, the kernels say so, and all is drawn again.
    """

    def __init__(self) -> None:
        self.team = np.zeros(at.TEAM_INTS, np.int64)
        self.screen = self.lit = self.pieces = np.zeros(0, np.float32)
        self.sources = np.zeros(0, np.int32)
        self.refs = self.lists = self.starts = np.zeros((0, 0), np.int32)
        self.found = np.zeros((0, at.FOUND_INTS), np.int64)
        self.cuts = np.zeros(0)
        self.floats = np.zeros((0, at.SCRATCH_FLOATS), np.float32)
        self.ints = np.zeros((0, at.SCRATCH_INTS), np.int32)
        self._refs = self._places = self._pieces = 64

    def fit(self, tables: Tables, team: int) -> None:
        """Make room for a picture that `team` threads draw."""
        largest, frame = tables.chunk_size, tables.frame
        self._refs = max(self._refs, largest + 64)
        self._places = max(self._places, 2 * largest + 256)
        if tables.has_lines:
            self._pieces = max(self._pieces, 2 * largest + LINE_PIECES)
        self.screen = _grown(self.screen, 4 * tables.vertex_count)
        self.lit = _grown(self.lit, 4 * tables.lit_rows)
        chunks = len(tables.chunks)
        tiles = int(frame[at.TILES_X] * frame[at.TILES_Y]) + 1
        if self.refs.shape[0] < chunks or self.refs.shape[1] < 2 * self._refs:
            self.refs = np.empty((chunks, 2 * self._refs), np.int32)
        if self.lists.shape[0] < chunks or self.lists.shape[1] < self._places:
            self.lists = np.empty((chunks, self._places), np.int32)
        if self.starts.shape[0] < chunks or self.starts.shape[1] < tiles:
            self.starts = np.empty((chunks, tiles), np.int32)
        if len(self.found) < chunks:
            self.found = np.zeros((chunks, at.FOUND_INTS), np.int64)
            self.cuts = np.zeros(chunks * CUT_ROOM)
        if len(self.sources) < chunks * self._pieces:
            self.sources = np.empty(chunks * self._pieces, np.int32)
            self.pieces = np.empty(len(self.sources) * at.PIECE_FLOATS, np.float32)
        if len(self.floats) < team:
            self.floats = np.empty((team, at.SCRATCH_FLOATS), np.float32)
            self.ints = np.zeros((team, at.SCRATCH_INTS), np.int32)
        frame[at.REF_ROOM], frame[at.LIST_ROOM] = self._refs, self._places
        frame[at.PIECE_ROOM] = self._pieces
        self.team[:] = 0

    def grow(self, tables: Tables, team: int) -> None:
        """Make as much room as the kernels have found to be needed, and some more."""
        most = self.found[: len(tables.chunks)].max(0).tolist()
        self._refs = max(self._refs, most[at.FOUND_REFS] * 5 // 4)
        self._places = max(self._places, most[at.FOUND_LIST] * 5 // 4)
        self._pieces = max(self._pieces, most[at.FOUND_PIECES] * 5 // 4)
        self.fit(tables, team)

    def arrays(self) -> at.Space:
        """Its arrays, as the kernels take them."""
        return at.Space(
            self.team,
            self.screen,
            self.lit,
            self.pieces,
            self.sources,
            self.refs,
            self.starts,
            self.lists,
            self.found,
            self.cuts,
            self.floats,
            self.ints,
        )

    def skipped(self, tables: Tables) -> int:
        """How many elements were left out because a point was not finite."""
        return int(self.found[: len(tables.chunks), at.FOUND_SKIPPED].sum())


def _grown(array: Floats, length: int) -> Floats:
    return array if len(array) >= length else np.empty(length, np.float32)
