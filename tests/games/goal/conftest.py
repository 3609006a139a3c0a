"""Fixtures that several files share."""

from __future__ import annotations

import pytest

from flexor.games.goal.game import GoalGame
from flexor.games.goal.keeper.body import KeeperBody, load_keeper


@pytest.fixture(scope="module")
def body() -> KeeperBody:
    return KeeperBody(load_keeper(None))


@pytest.fixture
def game(body: KeeperBody) -> GoalGame:
    return GoalGame(body)
