"""Which links go again: joints that look no better, and those that spoil others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flexor.convert.links import choose_links as choosing
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import JointScore, TrialScore
from tests.convert.shape.tubes import forearm_scene

# A trunk (0) with two chains of three: 1 2 3 and 4 5 6; 7 hangs on 3.
PARENTS = np.array([-1, 0, 1, 2, 0, 4, 5, 3], np.int32)
ROWS = range(len(PARENTS))
OWN: Any = SimpleNamespace(body=SimpleNamespace(parents=PARENTS))
LINKS, OTHER = LinkSettings(), LinkSettings(count=2)


def score(row: int, tried: float, seen: float = 0.0, spike: float = 0.0) -> JointScore:
    trials = (TrialScore(1, 1.0, spike),)
    return JointScore(row, row, f"j{row}", tried, seen, 0, 0, 0, None, trials)


def scores(tried: float = 0.5, **others: JointScore) -> dict[int, JointScore]:
    """Of all joints `tried`, but for others by name (`j2=...`)."""
    plain = {row: score(row, tried) for row in ROWS}
    return plain | {int(name[1:]): one for name, one in others.items()}


def spoilt(
    after: dict[int, JointScore],
    chosen: Sequence[int],
    *,
    first: Any = None,
    plain: Any = None,
) -> set[int]:
    wanted = dict.fromkeys(chosen, LINKS)
    before = (first or scores(), plain or scores())
    return choosing._spoilt(OWN, wanted, before, after)


def test_links_that_gain_nothing_go() -> None:
    after = scores(j2=score(2, 0.5), j5=score(5, 0.4))
    assert spoilt(after, [2, 5]) == {2}
    # No links, nothing to go.
    assert spoilt(after, [5]) == set()


def test_a_joint_that_is_worse_takes_away_links_next_to_it() -> None:
    """Above, below and beside it; not those further off."""
    for row, near in ((2, {1, 3}), (1, {2, 4}), (7, {3})):
        after = scores(0.4, **{f"j{row}": score(row, 0.6)})
        chosen = [one for one in ROWS if one != row]
        assert spoilt(after, chosen) == near | ({0} if row == 1 else set())


def test_those_further_off_go_if_there_is_none_next_to_it() -> None:
    after = scores(0.4, j6=score(6, 0.6))
    assert spoilt(after, [3]) == {3}
    assert spoilt(after, []) == set()


def test_worse_is_what_links_made_worse_than_the_file_was() -> None:
    worse = scores(0.4, j2=score(2, 0.6))
    # It was so before the links: they have mended some of it.
    assert spoilt(worse, [3], plain=scores(j2=score(2, 0.7))) == set()
    # It was worse in the file as it came.
    assert spoilt(worse, [3], first=scores(j2=score(2, 0.9))) == set()


def test_a_trial_that_is_spoilt_counts_though_the_score_falls() -> None:
    after = scores(0.4, j2=score(2, 0.3, spike=0.5))
    assert spoilt(after, [3]) == {3}
    # Not if it was so without the links.
    before = scores(j2=score(2, 0.4, spike=0.5))
    assert spoilt(after, [3], plain=before) == set()


def test_what_is_seen_in_clips_has_a_border_of_its_own() -> None:
    for seen, expected in ((0.0019, set()), (0.0021, {3})):
        after = scores(0.4, j2=score(2, 0.3, seen=seen))
        assert spoilt(after, [3]) == expected


def test_links_behind_skin_that_goes_astray() -> None:
    wanted = dict.fromkeys([1, 2, 5], LINKS)
    assert choosing._behind(OWN, wanted, {2}) == {2}
    assert choosing._behind(OWN, wanted, {7}) == {2}
    assert choosing._behind(OWN, wanted, {3, 5}) == {2, 5}
    assert choosing._behind(OWN, wanted, set()) == set()


class Trial:
    """Scores by which joints have other links, of one body."""

    def __init__(self, judge: Any, twins: Any = None, astray: Any = None) -> None:
        self.facts = SimpleNamespace(bodies=[OWN])
        self.twins = [np.array(list(ROWS) if twins is None else twins, np.int32)]
        self.first = [scores()]
        self.judge, self.far = judge, astray
        self.tried: list[dict[int, LinkSettings]] = []

    def scores(self, settings: Any) -> Any:
        self.tried.append(dict(settings[0]))
        return [self.judge(settings[0])]

    def astray(self, settings: Any) -> Any:
        return [set() if self.far is None else self.far(settings[0])]


def settle(trial: Any, plain: Any, more: Any, before: Any = None) -> Any:
    chosen, after = choosing._settled(trial, [plain], [more], [before or scores()])
    return chosen[0], after[0]


def test_what_helps_stays_and_gives_its_scores() -> None:
    trial = Trial(lambda own: scores(0.4))
    chosen, after = settle(trial, {}, {2: LINKS, 5: LINKS})
    assert chosen == {2: LINKS, 5: LINKS}
    assert after == scores(0.4)
    assert len(trial.tried) == 1


def test_joints_go_back_to_what_they_had() -> None:
    """And their twins with them."""

    def judge(own: Any) -> Any:
        return scores(0.4, j2=score(2, 0.6 if own.get(2) == OTHER else 0.4))

    twins = [0, 4, 5, 6, 1, 2, 3, 7]
    plain, more = {2: LINKS, 3: LINKS}, {2: OTHER, 5: OTHER, 3: OTHER}
    chosen, after = settle(Trial(judge, twins), plain, more)
    assert chosen == {2: LINKS, 3: OTHER}
    assert after[2].tried == 0.4


def test_links_whose_skin_goes_astray_go_though_nothing_looks_bad() -> None:
    trial = Trial(lambda own: scores(0.4), astray=lambda own: {2} if 2 in own else {})
    chosen, _ = settle(trial, {}, {2: LINKS, 5: LINKS})
    assert chosen == {5: LINKS}
    own = [{2: LINKS, 5: LINKS}]
    kept, _ = choosing._settled(trial, [{}], own, [scores()], may_move=True)  # type: ignore[arg-type]
    assert kept == own


def test_if_it_does_not_settle_all_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choosing, "ROUNDS", 2)

    def judge(own: Any) -> Any:
        # Always the next one is no better.
        row = min((row for row in own if own[row] == OTHER), default=0)
        return scores(0.4, **{f"j{row}": score(row, 0.5)})

    plain = {1: LINKS}
    more = {2: OTHER, 5: OTHER, 6: OTHER, 7: OTHER}
    before = scores(0.45)
    chosen, after = settle(Trial(judge), plain, more, before)
    assert chosen == plain
    assert after == before


def test_worth_is_more_than_better() -> None:
    old = score(2, 0.5)
    assert choosing._is_worth(replace(old, tried=0.44), old)
    assert not choosing._is_worth(replace(old, tried=0.46), old)


def test_the_best_of_what_is_tried_is_taken() -> None:
    """By the score, of those that are better; the others get none."""
    by_variant = dict(zip(choosing.VARIANTS, (0.4, 0.2, 0.3), strict=True))

    def judge(own: Any) -> Any:
        made = {
            f"j{row}": score(row, by_variant[one.length, one.fade])
            for row, one in own.items()
            if row != 5
        }
        return scores(**made)

    found = choosing._best(Trial(judge), [{2: LINKS, 5: LINKS}], [scores()])  # type: ignore[arg-type]
    length, fade = choosing.VARIANTS[1]
    assert found == [{2: LinkSettings(length=length, fade=fade)}]


def test_bones_lead_to_joints_that_hold_skin() -> None:
    leading = choosing._leading(SceneFacts(forearm_scene()).bodies[0])
    assert leading == {0, 1}
    # With a joint in the middle of the forearm that holds some, that one does not.
    assert choosing._leading(SceneFacts(forearm_scene(more=[3.0])).bodies[0]) == {0}
