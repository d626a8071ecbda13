"""Simulated schedules against a second-hand greedy one, conserved work, schedules drawn by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.parallel.simulator import Schedule, shared_times, simulate, slowed

costs = st.lists(st.integers(1, 50), min_size=1, max_size=60).map(lambda x: np.array(x, float))


def by_hand(sm, slot, start, end, sms, slots) -> Schedule:
    ints, floats = (np.array(x, int) for x in (sm, slot)), (np.array(x) for x in (start, end))
    return Schedule(*ints, *floats, sms, slots)


def greedy(cost: np.ndarray, places: int) -> tuple[np.ndarray, np.ndarray]:
    """Each program in its turn takes the place that is free first: (start, end)."""
    free = np.zeros(places)
    start, end = np.zeros(len(cost)), np.zeros(len(cost))
    for p, c in enumerate(cost):
        place = int(free.argmin())
        start[p], end[p] = free[place], free[place] + c
        free[place] = end[p]
    return start, end


def assert_possible(s: Schedule, count: int) -> None:
    """Every program once, on places that there are, none beside another on the same place."""
    assert len(s.sm) == len(s.slot) == len(s.start) == len(s.end) == count
    assert (s.sm >= 0).all() and (s.sm < s.sms).all()
    assert (s.slot >= 0).all() and (s.slot < s.slots).all()
    assert (s.start >= 0).all() and (s.end > s.start).all()
    place = s.sm * s.slots + s.slot
    for here in np.unique(place):
        mine = np.flatnonzero(place == here)
        mine = mine[np.argsort(s.start[mine])]
        assert (s.start[mine[1:]] >= s.end[mine[:-1]] - 1e-9).all()


@given(costs, st.integers(1, 9), st.integers(1, 4), st.sampled_from([1.0, 1.3, 2.0]))
def test_no_place_runs_two_at_once_and_none_idles_while_one_waits(cost, sms, slots, sharing):
    s = simulate(cost, sms, slots, sharing, 1.25)
    assert_possible(s, len(cost))
    assert (np.diff(s.start) >= 0).all()  # in the order of their ids
    if len(cost) > sms * slots:  # while the last one waits, every place works
        for t in np.unique(s.start[s.start < s.start[-1]]):
            assert ((s.start <= t) & (t < s.end)).sum() == sms * slots


@given(costs, st.integers(1, 9), st.integers(1, 4))
def test_without_sharing_it_is_the_greedy_schedule_and_work_is_conserved(cost, sms, slots):
    s = simulate(cost, sms, slots)
    start, end = greedy(cost, sms * slots)
    np.testing.assert_allclose(s.end - s.start, cost, rtol=1e-12)
    np.testing.assert_allclose(np.sort(s.start), np.sort(start))
    np.testing.assert_allclose(np.sort(s.end), np.sort(end))
    assert s.makespan == pytest.approx(end.max())


shares = st.tuples(st.sampled_from([1.0, 1.4, 2.0, 2.5]), st.sampled_from([1.0, 1.25]))


@given(costs, st.integers(1, 4), st.integers(2, 4), shares)
def test_work_is_conserved_at_any_sharing(cost, sms, slots, shares):
    """An SM that runs k at once does k / (1 + (k − 1)(sharing − 1)) units in a unit of time: two
    that share entirely (2.0) are no faster than one after the other."""
    sharing = shares[0]
    s = simulate(cost, sms, slots, *shares)
    for sm in np.unique(s.sm):
        start, end = s.start[s.sm == sm], s.end[s.sm == sm]
        times = np.unique(np.concatenate([start, end]))
        middle = (times[1:] + times[:-1]) / 2
        k = ((start[:, None] <= middle) & (middle < end[:, None])).sum(0)
        done = (np.diff(times) * k / (1 + np.maximum(0, k - 1) * (sharing - 1))).sum()
        assert done == pytest.approx(cost[s.sm == sm].sum())


def test_the_older_of_two_runs_faster_by_hand():
    """Two share at 2/3 and 1/3: program 0 ends at 3; program 1, then the older one of two, has 2
    left and ends at 6; program 2 has done 1 of its 3 by then, and does the rest alone."""
    s = simulate(np.array([2.0, 3.0, 3.0]), 1, 2, 2.0, 2.0)
    assert s.start.tolist() == [0, 0, 3] and s.end == pytest.approx([3, 6, 8])
    alone, older, younger = shared_times(s).T
    assert alone == pytest.approx([0, 0, 2]) and older == pytest.approx([3, 3, 0])
    assert younger == pytest.approx([0, 3, 3])


def test_the_first_round_goes_to_every_multiprocessor_before_a_second():
    s = simulate(np.ones(5), 3, 2)
    assert s.sm.tolist() == [0, 1, 2, 0, 1] and s.slot.tolist() == [0, 0, 0, 1, 1]


def test_busy_counts_gaps_and_overlaps_once():
    # SM 0: 0–4 and 2–6 overlap, then nothing until 8–10; SM 1: one inside the other; SM 2 idle
    s = by_hand([0, 0, 0, 1, 1], [0, 1, 0, 0, 1], [0, 2, 8, 0, 1], [4, 6, 10, 9, 3], 3, 2)
    assert s.makespan == 10 and s.busy == pytest.approx((8 + 9 + 0) / 30)
    assert s.tail == pytest.approx((0 + 1 + 10) / 30) and s.waves == pytest.approx(5 / 6)


def test_slowed_by_hand():
    """Three at once from 0 to 2, two to 3, one to 5: with room for two, the first span doubles."""
    s = by_hand([0, 1, 2], [0, 0, 0], [0.0, 0.0, 0.0], [2.0, 3.0, 5.0], 3, 1)
    found = slowed(s, 2, 2.0)
    assert found.start.tolist() == [0, 0, 0] and found.end.tolist() == [4, 5, 7]
    assert slowed(s, 0.5, 3.0).end.tolist() == [6, 9, 15]
    assert slowed(s, 3, 2.0) is s and slowed(s, 1, 1.0) is s  # never crowded; no slower
