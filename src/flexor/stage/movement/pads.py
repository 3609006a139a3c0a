"""Pads: directions as the camera sees them, made ways to go."""

from __future__ import annotations

from flexor.scene.stage.plan import WalkSettings
from flexor.stage.movement.layout import PadRows, Speeds

__all__ = ["read_pads", "walk_speeds"]


def walk_speeds(settings: WalkSettings) -> Speeds:
    """How fast characters go by their pads."""
    return Speeds(
        float(settings.walk),
        float(settings.run),
        float(settings.back),
        float(settings.side),
        float(settings.turn),
    )


def read_pads(
    rows: PadRows, view: tuple[float, float], dt: float, speeds: Speeds
) -> None:
    """Turn N characters by their pads, and say what they ask for, in place.

    view: x and z of where the camera looks, unit; dt: seconds.

    Who faces its opponent goes toward it, away or around it, whichever of them the
    pad's way is nearest to, or slantwise between. Others turn where they go.
    """
    from flexor.stage.movement.kernels import pads as kernel_pads

    kernel_pads.read_pads(*view, dt, speeds, rows)
