"""The queue before the kernel is fair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.engine.fair_queue import Client, FairQueue

CLIENTS = [Client("a", "p1"), Client("a", "p2"), Client("a"), Client("b", "p3"), Client("b")]


def filled(clients) -> FairQueue:
    queue: FairQueue = FairQueue()
    for k, client in enumerate(clients):
        queue.add((k, client), client)
    return queue


def test_at_one_address_a_page_takes_turns_with_the_programs():
    queue = filled([*[Client("hall")] * 5, Client("hall", "one"), Client("hall", "two")])
    assert [client.page for _, client in queue.order()][:4] == ["", "one", "two", ""]


@given(st.lists(st.sampled_from(CLIENTS), max_size=24), st.data())
def test_order_is_what_pop_gives_and_each_client_keeps_its_own(clients, data):
    queue = filled(clients)
    items = [(k, client) for k, client in enumerate(clients)]
    for item in data.draw(st.lists(st.sampled_from(items), unique=True)) if items else ():
        queue.remove(item)
        items.remove(item)
    assert len(queue) == len(items) and all(item in queue for item in items)
    expected = list(queue.order())
    assert [queue.pop() for _ in items] == expected and sorted(expected) == sorted(items)
    for client in CLIENTS:
        mine = [k for k, of in expected if of == client]
        assert mine == sorted(mine), "first in, first out, for each"
    with pytest.raises(ValueError):
        queue.pop()


@given(st.lists(st.sampled_from(CLIENTS), min_size=1, max_size=24))
def test_between_two_runs_of_an_address_every_other_that_waits_has_one(clients):
    queue, last = filled(clients), {}
    while len(queue):
        waiting = {client.address for _, client in queue.order()}
        _, client = queue.pop()
        for other in waiting - {client.address}:
            assert last.get(other, -1) >= last.get(client.address, -1)
        last[client.address] = max(last.values(), default=-1) + 1
