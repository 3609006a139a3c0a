"""MuJoCo's net: as many nodes as asked for, which stop the ball."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from flexor.bench.peers.mujoco import VARIANTS, NetPeer, grid_of
from flexor.errors import BackendError, BackendMissing, SettingError

NODES = 340


@pytest.fixture
def mujoco() -> None:
    pytest.importorskip("mujoco", reason="needs mujoco-core")


def test_grid_is_near_and_no_strip() -> None:
    assert grid_of(340) == (17, 20)
    assert grid_of(9) == (3, 3)
    for nodes in range(40, 1500):
        rows, columns = grid_of(nodes)
        assert abs(rows * columns - nodes) <= 0.05 * nodes
        assert rows <= columns <= 3 * rows


def test_refuses_settings() -> None:
    with pytest.raises(SettingError, match="nodes must be at least 9, not 8"):
        NetPeer(8)
    with pytest.raises(SettingError, match="mass must be more than 0"):
        NetPeer(NODES, 0)
    with pytest.raises(SettingError, match="variant must be one of coarse"):
        NetPeer(NODES, variant="fine")


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(BackendMissing, match=r"mujoco: .*pip install mujoco-core"):
        NetPeer(NODES)


@pytest.mark.usefixtures("mujoco")
@pytest.mark.parametrize("variant", VARIANTS)
def test_net_stops_the_ball(variant: str) -> None:
    peer = NetPeer(NODES, variant=variant)
    shot = peer.shoot()
    assert shot.net.shape == (60, peer.rows * peer.columns, 3)
    assert abs(shot.net.shape[1] - NODES) <= 0.05 * NODES
    assert np.isfinite(shot.net).all()
    assert np.isfinite(shot.ball).all()
    assert shot.is_held
    assert shot.touched.any()
    assert shot.net[:, :, 2].min() < -0.3  # the ball pushed it
    assert shot.ball[-1, 2] > 0  # and was thrown back
    assert shot.seconds > 0
    assert f"{peer.rows} x {peer.columns} nodes of which 270 move" in peer.note


@pytest.mark.usefixtures("mujoco")
def test_border_stays() -> None:
    peer = NetPeer(NODES)
    net = peer.shoot(20).net.reshape(20, peer.columns, peer.rows, 3)
    moved = np.ptp(net, axis=0).max(-1)
    border = np.ones_like(moved, bool)
    border[1:-1, 1:-1] = False
    np.testing.assert_array_equal(moved[border], 0)
    assert (moved[~border] > 0).all()


@pytest.mark.usefixtures("mujoco")
def test_seconds() -> None:
    assert 0 < NetPeer(60).seconds(1, 2) < 1


@pytest.mark.usefixtures("mujoco")
def test_no_figure_for_a_net_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BackendError, match="the ball went through the net"):
        NetPeer(NODES, 0.001).seconds()
    monkeypatch.setattr("flexor.bench.peers.mujoco.YOUNG", 1e8)
    with pytest.raises(BackendError, match="the simulation blew up"):
        NetPeer(NODES, variant="springs").seconds()
    assert not list(tmp_path.iterdir())  # no log
