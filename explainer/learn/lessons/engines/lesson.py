"""A small serving engine, iteration by iteration: its batch, its pages, its block tables."""

from dataclasses import dataclass
from functools import cache

from explainer.learn.kit import Block, Words

t = Words(__name__)

BUDGET, SEATS = 8, 3  # tokens of an iteration, requests of a batch
PAGE, POOL = 4, 12  # tokens of a page, pages
OUT = {"A": 4, "B": 4, "C": 4, "D": 3}  # tokens that each generates
HUES = {"A": "q", "B": "o", "C": "v", "D": "k"}
PROMPTS = {name: tuple(text.split()) for name, text in t.named("prompts").items()}


@dataclass(frozen=True)
class Iteration:
    """What one pass of the model did: the ``tokens`` of each request in its batch, those that
    ``wait``; and then the tokens in each request's cache and the pages that hold them."""

    tokens: dict[str, int]
    prefilled: frozenset[str]
    waiting: tuple[str, ...]
    cached: dict[str, int]
    tables: dict[str, tuple[int, ...]]


def shared_pages(name: str, running: dict[str, list[int]]) -> list[int]:
    """Return the pages of another's cache that hold the beginning of this prompt, whole ones."""
    for other, pages in running.items():
        alike = 0
        for mine, theirs in zip(PROMPTS[name], PROMPTS[other], strict=False):
            if mine != theirs:
                break
            alike += 1
        if alike >= PAGE:
            return pages[: alike // PAGE]
    return []


@cache
def iterations() -> tuple[Iteration, ...]:
    """Serve all requests: who decodes comes first, prompts take what is left of the budget."""
    cached: dict[str, int] = {}
    tables: dict[str, list[int]] = {}
    made: dict[str, int] = {}
    queue, found = [*OUT], []
    while queue or cached:
        batch = {name: 1 for name in cached if cached[name] >= len(PROMPTS[name])}
        prefilled = set()
        for name in [*cached, *queue]:
            room = BUDGET - sum(batch.values())
            if name in batch or room < 1 or (name in queue and len(cached) == SEATS):
                continue
            if name in queue:
                queue.remove(name)
                tables[name] = shared_pages(name, tables)
                cached[name] = PAGE * len(tables[name])
            batch[name] = min(room, len(PROMPTS[name]) - cached[name])
            prefilled.add(name)
        for name, count in batch.items():
            cached[name] += count
            made[name] = made.get(name, 0) + (name not in prefilled)
            while len(tables[name]) * PAGE < cached[name]:
                taken = {page for pages in tables.values() for page in pages}
                tables[name].append(next(k for k in range(POOL) if k not in taken))
        now = {name: tuple(pages) for name, pages in tables.items()}
        waiting = tuple(queue)
        found.append(Iteration(batch, frozenset(prefilled), waiting, dict(cached), now))
        for name in [name for name in batch if made[name] == OUT[name]]:
            del cached[name], tables[name]
    return tuple(found)


def contents(state: Iteration) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return {page: (the requests that read it, its words)}."""
    pages: dict[int, tuple[str, tuple[str, ...]]] = {}
    for name, table in state.tables.items():
        sequence = [*PROMPTS[name], *["•"] * OUT[name]][: state.cached[name]]
        for at, page in enumerate(table):
            words = tuple(sequence[at * PAGE : (at + 1) * PAGE])
            others = pages[page][0] if page in pages else ""
            pages[page] = (others + name, max(words, pages.get(page, ("", ()))[1], key=len))
    return pages


def compute(step: int) -> Block:
    """Show the batches, and pages and block tables after iteration ``step``."""
    served = iterations()
    state = served[min(step, len(served)) - 1]
    content = contents(state)
    pages = [content.get(page, ("", ())) for page in range(POOL)]
    count = sum(len(words) for _, words in pages)
    owners = [t("shared", names=" + ".join(x)) if len(x) > 1 else x for x, _ in pages]
    texts = [" ".join([*words, *["_"] * (PAGE - len(words))]) for _, words in pages]
    lines = [slice(k, k + 4) for k in range(0, POOL, 4)]
    return t.picture(
        step=step,
        batch=[f"{name} {n}" for name, n in state.tokens.items()],
        waiting=state.waiting or t("nobody"),
        said="; ".join(f"{k}: {', '.join(map(str, v))}" for k, v in state.tables.items()),
        names=[*OUT],
        sizes=[len(PROMPTS[name]) for name in OUT],
        lanes=[
            [
                (k, k + 1, one.tokens.get(name), name in one.prefilled)
                for k, one in enumerate(served)
                if name in one.tokens or ((name,) == one.waiting[:1] and len(one.tokens) == SEATS)
            ]
            for name in OUT
        ],
        used=[sum(one.tokens.values()) for one in served],
        ticks=range(1, len(served) + 1),
        middles=[k + 0.5 for k in range(len(served))],
        now=(step - 1, step),
        tables=[[[*map(str, table)]] for table in state.tables.values()],
        table_names=[*state.tables],
        tokens=count,
        pages=len(content),
        empty=len(content) * PAGE - count,
        numbers=[range(POOL)[line] for line in lines],
        owners=[owners[line] for line in lines],
        texts=[texts[line] for line in lines],
        page_hues=[[HUES.get(x[:1]) for x, _ in pages[line]] for line in lines],
    )


def question(tokens: int, common: int, size: int) -> dict:
    """The answer, and: a page that is full of others' words too, what is left, all of them."""
    saved = common // size * size
    return {"answer": saved, "wrong": (common, tokens - saved, tokens)}
