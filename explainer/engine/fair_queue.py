"""The line before the kernel: everybody's turn comes, however many runs one of them asks for."""

from collections.abc import Iterator
from itertools import count
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
    """Addresses take turns, and the pages and programs of an address take turns of its turn: a new
    item waits for one of each address before its own. Not thread safe."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Client, Item]] = []  # as they came
        # When each address and each client with an item here came, or had its last turn.
        self._turns: dict[str | Client, int] = {}
        self._count = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, item: Item) -> bool:
        return any(item == other for _, other in self._waiting)

    def crowded(self, client: Client, most: int) -> str | None:
        """Return why nothing more of this client is taken where ``most`` may wait, of programs half
        as many; None if it is."""
        clients = [client for client, _ in self._waiting]
        programs = sum(not other.page for other in clients)
        if len(self) >= most or (not client.page and programs >= most // 2):
            return t("line.full", n=len(self))
        if (mine := clients.count(client)) >= MOST_EACH:
            return t("line.yours", n=mine)
        return None

    def add(self, item: Item, client: Client) -> None:
        self._waiting.append((client, item))
        for key in (client.address, client):
            if key not in self._turns:
                self._turns[key] = next(self._count)

    def remove(self, item: Item) -> None:
        """Take the item out, wherever it stands."""
        self._waiting = [entry for entry in self._waiting if entry[1] != item]
        there = {key for client, _ in self._waiting for key in (client.address, client)}
        self._turns = {key: turn for key, turn in self._turns.items() if key in there}

    def pop(self) -> Item:
        """Take out the next item. Raises ValueError if there is none."""
        turns = self._turns
        client, item = min(
            self._waiting, key=lambda entry: (turns[entry[0].address], turns[entry[0]])
        )
        for key in (client.address, client):
            turns[key] = next(self._count)
        self.remove(item)
        return item

    def clear(self) -> None:
        self._waiting, self._turns = [], {}

    def order(self) -> Iterator[Item]:
        """Yield all items in the order in which they would come if none were added."""
        rest: FairQueue[Item] = FairQueue()
        rest._waiting, rest._turns, rest._count = self._waiting, {**self._turns}, self._count
        while rest._waiting:
            yield rest.pop()
