"""The lesson: heads that share."""

from tests.learn.scenes import data, marks


def test_heads_of_k_are_as_wide_as_the_queries_that_share_them():
    for kv in (32, 8, 1):
        queries, keys, values = (m for m in marks(data("gqa", hk=kv)) if m["mark"] == "stack")
        assert len(keys["parts"]) == len(values["parts"]) == kv
        assert keys["parts"][0]["amount"] * kv == len(queries["parts"]) == 32
