"""Fixtures that several files share."""

from __future__ import annotations

import pytest

from flexor.stage.goal.netting import Netting
from flexor.stage.goal.sheet import Sheet
from flexor.stage.goal.soccer import make_goal


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


@pytest.fixture(scope="module")
def sheet(goal: Netting) -> Sheet:
    return goal.sheet
