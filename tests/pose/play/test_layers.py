"""Masks by patterns of names, and the settings of layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.pose.play.layers import Layer, layer_mask, mask_nodes
from flexor.scene.character.skeleton import Skeleton

NAMES = ("hips", "spine0", "spine1", "head", "l-arm", "l-hand", "r-arm", "l-leg")
PARENTS = (-1, 0, 1, 2, 2, 4, 2, 0)


@pytest.fixture
def skeleton() -> Skeleton:
    count = len(NAMES)
    return Skeleton(
        NAMES,
        np.array(PARENTS),
        np.zeros((count, 3)),
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)),
    )


def named(mask: Any) -> dict[str, float]:
    return {n: float(w) for n, w in zip(NAMES, mask, strict=True) if w}


@pytest.mark.parametrize(
    ("patterns", "below", "wanted"),
    [
        (("head",), True, {"head": 1}),
        (("spine1",), True, dict.fromkeys(NAMES[2:7], 1)),
        (("spine*",), False, {"spine0": 1, "spine1": 1}),
        (("l-*",), True, {"l-arm": 1, "l-hand": 1, "l-leg": 1}),
        (("?-arm", "head"), False, {"l-arm": 1, "r-arm": 1, "head": 1}),
        (({"l-arm": 0.5, "l-hand": 0.25},), True, {"l-arm": 0.5, "l-hand": 0.25}),
        (("spine1", {"l-arm": 0}), True, {"spine1": 1, "head": 1, "r-arm": 1}),
        (("*",), False, dict.fromkeys(NAMES, 1)),
    ],
)
def test_patterns(
    patterns: Any, below: bool, wanted: dict[str, float], skeleton: Skeleton
) -> None:
    mask = mask_nodes(skeleton, *patterns, below=below)
    assert mask.dtype == np.float32
    assert named(mask) == wanted


def test_nothing_that_fits(skeleton: Skeleton) -> None:
    with pytest.raises(
        SettingError, match=r"no node fits 'Spine\*'; there are: 'hips'"
    ):
        mask_nodes(skeleton, "head", "Spine*")
    with pytest.raises(SettingError, match="no pattern"):
        mask_nodes(skeleton)
    with pytest.raises(SettingError, match="expected a pattern"):
        mask_nodes(skeleton, 3)  # type: ignore[arg-type]
    for weight in (-0.1, 1.5, np.nan, "all"):
        with pytest.raises(SettingError, match="mask 'head'"):
            mask_nodes(skeleton, {"head": weight})  # type: ignore[dict-item]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30))
def test_masks_partition(weights: list[float]) -> None:
    """A mask and one minus it have a sum of 1, to the bit."""
    mask = np.array(weights, np.float32)
    np.testing.assert_array_equal(mask + (1 - mask), np.float32(1))


@pytest.mark.parametrize(
    ("mask", "wanted"),
    [
        (None, dict.fromkeys(NAMES, 1)),
        ("l-arm", {"l-arm": 1, "l-hand": 1}),
        (["l-arm", "head"], {"l-arm": 1, "l-hand": 1, "head": 1}),
        ({"l-arm": 0.5, "l-hand": 0}, {"l-arm": 0.5}),
        (np.eye(8)[3], {"head": 1}),
        ([0, 0, 0, 1, 0, 0, 0, 0], {"head": 1}),
    ],
)
def test_masks_of_layers(mask: Any, wanted: Any, skeleton: Skeleton) -> None:
    assert named(layer_mask(Layer("a", mask=mask), skeleton)) == wanted


def test_bad_masks_of_layers(skeleton: Skeleton) -> None:
    with pytest.raises(ShapeError, match=r"layer 'a': mask: shape \(3,\)"):
        layer_mask(Layer("a", mask=np.ones(3, np.float32)), skeleton)
    for bad in (np.full(8, 1.1), np.full(8, np.nan), np.full(8, -1)):
        with pytest.raises(SettingError, match="from 0 to 1"):
            layer_mask(Layer("a", mask=bad), skeleton)
    with pytest.raises(SettingError, match="expected patterns"):
        layer_mask(Layer("a", mask=object()), skeleton)  # type: ignore[arg-type]


def test_patterns_are_texts(skeleton: Skeleton) -> None:
    for bad in ({3: 1}, {None: 1}):
        with pytest.raises(SettingError, match="expected a pattern of names"):
            layer_mask(Layer("a", mask=bad), skeleton)  # type: ignore[arg-type]
    for weight in ("x", None, np.nan, 10**400):
        with pytest.raises(SettingError, match=r"mask '\*'"):
            layer_mask(Layer("a", mask={"*": weight}), skeleton)  # type: ignore
    for other in ([[0], [0, 1]], [10**400] * len(skeleton)):
        with pytest.raises(SettingError, match="expected patterns of names or numbers"):
            layer_mask(Layer("a", mask=other), skeleton)  # type: ignore[arg-type]


def test_bad_layers() -> None:
    for additive in ("no", 1, None, np.ones(2)):
        with pytest.raises(SettingError, match="expected True or False"):
            Layer("a", additive=additive)  # type: ignore[arg-type]
    for reference in (None, np.zeros(2)):
        with pytest.raises(SettingError, match="reference"):
            Layer("a", reference=reference)  # type: ignore[arg-type]
    for weight in (-1, 2, np.nan, "x", 10**400, None):
        with pytest.raises(SettingError, match="layer 'a': weight"):
            Layer("a", weight=weight)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="name"):
        Layer("")
    with pytest.raises(SettingError, match="reference 'last'"):
        Layer("a", reference="last")  # type: ignore[arg-type]
