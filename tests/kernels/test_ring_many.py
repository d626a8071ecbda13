"""Attention over the ranks of a process group, of many random problems; 20 more: test_ring.py."""

import pytest

from tests.kernels.ring_ranks import RANKS, random_call

pytestmark = pytest.mark.skipif(RANKS < 2, reason="needs two GPUs, or none")


@pytest.mark.parametrize("first", range(20, 200, 20))
def test_is_attention_of_one_device(ranks, first):
    for number in range(first, first + 20):
        ranks.judge(random_call(number))
