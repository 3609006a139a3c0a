"""Zones of many shapes, for tests."""

from __future__ import annotations

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
