from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from flexor.files.mend import mend_directions, mend_times, mend_weights

F = np.float32


def weights_of(joints, weights, joint_count=100):
    places = np.arange(3 * len(joints), dtype=F).reshape(-1, 3)
    rows = np.array(joints, np.uint16), np.array(weights, F)
    return mend_weights(*rows, joint_count, places)


def test_good_weights_stay_as_they_are():
    given_weights = np.array([[0.7, 0.2, 0.1, 0], [1, 0, 0, 0]], F)
    skin, report = weights_of([[3, 1, 2, 0], [5, 0, 0, 0]], given_weights)
    assert report == {}
    np.testing.assert_array_equal(skin.weights, given_weights)
    np.testing.assert_array_equal(skin.joints, [[3, 1, 2, 0], [5, 0, 0, 0]])


@pytest.mark.parametrize(
    ("weights", "what", "expected"),
    [
        ([np.nan, 0.5, 0.5, 0], "not finite", [0, 0.5, 0.5, 0]),
        ([np.inf, 0.5, 0.5, 0], "not finite", [0, 0.5, 0.5, 0]),
        ([-0.5, 0.5, 0.5, 0], "negative", [0, 0.5, 0.5, 0]),
        ([0, 0, 0, 0], "no weight", [1, 0, 0, 0]),
        ([np.nan, -1, 0, 0], "no weight", [1, 0, 0, 0]),
        ([1, 1, 1, 1], "sum not 1", [0.25, 0.25, 0.25, 0.25]),
        ([3e38, 3e38, 0, 0], "sum not 1", [0.5, 0.5, 0, 0]),
        ([1e-45, 0, 0, 0], "sum not 1", [1, 0, 0, 0]),
    ],
)
def test_broken_weights_are_mended_and_reported(weights, what, expected):
    skin, report = weights_of([[1, 2, 3, 4]], [weights])
    assert report[what] == 1
    np.testing.assert_allclose(skin.weights, [expected], atol=1e-6)


def test_first_place_of_a_repeated_joint_takes_the_weight_of_all():
    joints = [[7, 2, 7, 7], [1, 2, 3, 4], [5, 5, 6, 6]]
    weights = [[0.1, 0.4, 0.2, 0.3], [0.25] * 4, [0.25, 0.25, 0.5, 0]]
    skin, report = weights_of(joints, weights)
    assert report == {"a joint twice": 2}
    np.testing.assert_allclose(skin.weights[0], [0.6, 0.4, 0, 0], atol=1e-6)
    np.testing.assert_array_equal(skin.weights[1], weights[1])
    np.testing.assert_allclose(skin.weights[2], [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(skin.joints[0], [7, 2, 0, 0])


def test_worst_sum_is_reported():
    _, report = weights_of([[0, 1, 2, 3]] * 2, [[0.5, 0, 0, 0], [0.9, 0, 0, 0]])
    assert report["sum not 1"] == 2
    assert report.worst == pytest.approx(0.5)


def test_joint_past_the_end_is_refused_where_it_has_weight():
    with pytest.raises(IndexError, match="vertex 1 hangs on joint 9 of a skin with 4"):
        weights_of([[0, 9, 0, 0], [0, 9, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]], 4)


def test_joint_past_the_end_without_weight_becomes_the_first():
    skin, _ = weights_of([[9, 9, 9, 9], [1, 9, 9, 9]], [[0] * 4, [1, 0, 0, 0]], 4)
    np.testing.assert_array_equal(skin.joints, [[0, 0, 0, 0], [1, 0, 0, 0]])


def test_no_vertices():
    skin, report = weights_of(np.zeros((0, 4)), np.zeros((0, 4)))
    assert skin.weights.shape == (0, 4)
    assert report == {}


def test_many_influences_are_quick():
    """A hostile file may name the same accessor as hundreds of sets."""
    skin, _ = weights_of(np.zeros((10, 4000)), np.ones((10, 4000)))
    np.testing.assert_array_equal(skin.influence_counts(), np.ones(10))


@given(
    st.integers(1, 9).flatmap(
        lambda k: st.tuples(
            hnp.arrays(np.uint16, (5, k), elements=st.integers(0, 3)),
            hnp.arrays(F, (5, k), elements=st.floats(width=32)),
        )
    )
)
def test_mended_weights_sum_to_one_and_mending_again_changes_nothing(arrays):
    joints, weights = arrays
    skin, _ = mend_weights(joints, weights, 4, np.zeros((len(joints), 3), F))
    assert (skin.weights >= 0).all()
    np.testing.assert_allclose(skin.weights.sum(1, dtype=np.float64), 1, atol=1e-6)
    for named, pull in zip(skin.joints, skin.weights, strict=True):
        used = named[pull > 0]
        assert len(set(used.tolist())) == len(used)
    again, _ = mend_weights(skin.joints, skin.weights, 4, np.zeros((len(joints), 3), F))
    np.testing.assert_array_equal(again.weights, skin.weights)
    np.testing.assert_array_equal(again.joints, skin.joints)


def test_directions_get_unit_length():
    spare = np.array([[0, 1, 0]] * 5, F)
    given_vectors = np.array(
        [[1, 0, 0], [0, 2, 0], [0, 0, 0], [np.nan, 1, 0], [0, 0, 1.000001]], F
    )
    unit, none, off = mend_directions(given_vectors, spare)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=2e-6)
    np.testing.assert_array_equal(unit[2:4], spare[2:4])
    assert (none, off) == (2, 1)


def test_unit_directions_are_given_back():
    vectors = np.eye(3, dtype=F)
    assert mend_directions(vectors, vectors)[0] is vectors


def test_rising_times_are_given_back():
    times = np.array([0, 0.5, 2], F)
    assert mend_times(times) == (times, 0)
    one = np.array([3], F)
    assert mend_times(one)[0] is one


def test_repeated_times_move_up_by_the_smallest_step():
    times, count = mend_times(np.array([-1, -1, 0, 0, 0, 5, 5], F))
    up = np.nextafter
    tiny = up(F(0), F(1))
    expected = [-1, up(F(-1), F(0)), 0, tiny, 2 * tiny, 5, up(F(5), F(9))]
    np.testing.assert_array_equal(times, np.array(expected, F))
    assert count == 4


def test_minus_zero_is_zero():
    times, _ = mend_times(np.array([0.0, -0.0, 1], F))
    assert (np.diff(times) > 0).all()


def test_falling_times_are_refused():
    with pytest.raises(ValueError, match="key 2 is earlier"):
        mend_times(np.array([0, 1, 0.5], F))


def test_times_at_the_end_of_the_range_are_refused():
    most = np.finfo(F).max
    with pytest.raises(ValueError, match="largest number"):
        mend_times(np.array([most, most], F))


@given(hnp.arrays(F, st.integers(1, 20), elements=st.floats(-100, 100, width=32)))
def test_sorted_times_rise_after_mending(times):
    times = np.sort(times)
    mended, count = mend_times(times)
    assert (mended[1:] > mended[:-1]).all()
    assert count == (times[1:] == times[:-1]).sum()
    np.testing.assert_allclose(mended, times, atol=1e-3)


@pytest.mark.parametrize("lost", [1, 500])
def test_broken_weights_come_from_the_nearest_vertex(lost: int) -> None:
    """Two good vertices with the broken ones beside the second, in space and order."""
    joints = np.array([[1, 0], [2, 3], *[[0, 0]] * lost], np.uint16)
    weights = np.array([[1, 0], [0.25, 0.75], *[[np.nan, 0]] * lost], F)
    places = np.array([[0, 0, 0], [5, 0, 0], *[[4, 1, 0]] * lost], F)
    skin, report = mend_weights(joints, weights, 4, places)
    assert (skin.joints[2:] == [2, 3]).all()
    assert (skin.weights[2:] == [0.25, 0.75]).all()
    assert report == {"not finite": lost}
