"""The line before the kernel: everybody's turn comes, however many runs one of them asks for."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from explainer.base.texts import Texts

t = Texts("engine")
Item = TypeVar("Item")
MOST_EACH = 8  # waiting runs of one client


class Client(NamedTuple):
    """Who asks: ``address`` as the proxy saw it, ``page`` the session of one of its pages, "" for
    its programs, which share one turn."""

    address: str = ""
    page: str = ""


class FairQueue(Generic[Item]):
    """Addresses take turns, and the pages and programs of an address take turns of its turn: who
    comes new waits for one run of each address before its own. Nothing here is thread safe."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, OrderedDict[Client, deque[Item]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(items) for _, items in self._items())

    def __contains__(self, item: Item) -> bool:
        return any(item in items for _, items in self._items())

    def _items(self) -> Iterator[tuple[Client, deque[Item]]]:
        """Yield each client with its items."""
        for turn in self._turns.values():
            yield from turn.items()

    def of(self, client: Client) -> int:
        """How many this client has here."""
        return len(self._turns.get(client.address, {}).get(client, ()))

    def of_programs(self) -> int:
        """How many programs have here, of all addresses."""
        return sum(self.of(Client(address)) for address in self._turns)

    def crowded(self, client: Client, most: int) -> str | None:
        """Why nothing more of this client is taken where ``most`` may wait, of programs half as
        many; None if it is."""
        programs = not client.page and self.of_programs() >= most // 2
        if len(self) >= most or programs:
            return t("line.full", n=len(self))
        if (mine := self.of(client)) >= MOST_EACH:
            return t("line.yours", n=mine)
        return None

    def add(self, item: Item, client: Client) -> None:
        turn = self._turns.setdefault(client.address, OrderedDict())
        turn.setdefault(client, deque()).append(item)

    def remove(self, item: Item) -> None:
        """Takes it out, wherever it stands; ValueError where it does not."""
        for client, items in self._items():
            if item in items:
                items.remove(item)
                return self._tidy(client)
        raise ValueError("not in the line")

    def pop(self) -> Item:
        """The next one; IndexError if there is none."""
        if not self._turns:
            raise IndexError("nobody waits")
        address, turn = next(iter(self._turns.items()))
        client, items = next(iter(turn.items()))
        item = items.popleft()
        turn.move_to_end(client)
        self._turns.move_to_end(address)
        self._tidy(client)
        return item

    def clear(self) -> None:
        self._turns.clear()

    def order(self) -> Iterator[Item]:
        """All, in the order in which they would come if nobody else did."""
        rest: FairQueue[Item] = FairQueue()
        for client, items in self._items():
            for item in items:
                rest.add(item, client)
        while rest._turns:
            yield rest.pop()

    def _tidy(self, client: Client) -> None:
        turn = self._turns[client.address]
        if not turn[client]:
            del turn[client]
        if not turn:
            del self._turns[client.address]
