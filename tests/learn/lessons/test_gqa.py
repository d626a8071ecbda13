"""Lesson 6.1: the cache by allocating it; heads that share."""

from __future__ import annotations

import torch

from explainer.base.cards import CARDS
from explainer.learn.lessons.gqa import lesson
from tests.learn.scenes import data, marks


def test_the_cache_by_allocating_it():
    one = torch.empty(32, 2, 8, 128, dtype=torch.float16)
    assert lesson.cache(8, 1) == one.numel() * one.element_size()
    assert lesson.cache(32, 524_288) > CARDS["h200"].hbm_bytes > lesson.cache(8, 524_288)


def test_heads_of_k_are_as_wide_as_the_queries_that_share_them():
    for kv in (32, 8, 1):
        queries, keys, values = (m for m in marks(data("gqa", hk=kv)) if m["mark"] == "stack")
        assert len(keys["parts"]) == len(values["parts"]) == kv
        assert keys["parts"][0]["amount"] * kv == len(queries["parts"]) == 32
