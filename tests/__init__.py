"""Tests; a mirror of `src/flexor`."""

from __future__ import annotations

import os

# Before NumPy is imported, here and in processes that tests start: its threads for
# products of matrices would wait for each other, busily, where all cores are taken.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
