"""Numbers that NumPy code and kernels share: no compiler is loaded."""

from __future__ import annotations

# Of two products of sines and cosines of half angles: below this they are rounding
# errors of float32 rotations, and say nothing about an angle.
TINY = 1e-6
ROUNDED = 1e-5  # radians that the float32 of half a circle may be beyond it
