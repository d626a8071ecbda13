"""A small serving engine, iteration by iteration: its batch, its pages, its block tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from explainer.learn.kit import (
    Block,
    Mark,
    frame,
    grid,
    note,
    picture,
    row,
    span,
    timeline,
    words_of,
)

t = words_of(__name__)

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


def _lanes() -> list:
    served = iterations()
    lanes = []
    for name, out in OUT.items():
        spans = []
        for k, state in enumerate(served):
            if name in state.tokens:
                count = state.tokens[name]
                is_prompt = name in state.prefilled
                text = t("prefill", n=count) if is_prompt else str(count)
                look = "full" if is_prompt else "pale"
                spans.append(span(k, k + 1, text, HUES[name], look=look))
            elif (name,) == state.waiting[:1] and len(state.tokens) == SEATS:
                spans.append(span(k, k + 1, t("waits"), look="hatch"))
        lanes.append((t("request", name=name, n=len(PROMPTS[name]), out=out), spans))
    used = [sum(state.tokens.values()) for state in served]
    lanes.append((t("used", most=BUDGET), [span(k, k + 1, str(n)) for k, n in enumerate(used)]))
    return lanes


def _page(page: int, content: tuple[str, tuple[str, ...]] | None) -> Mark:
    if content is None:
        return frame(str(page), look="empty", key=f"page {page}")
    names, words = content
    owner = t("shared", names=" + ".join(names)) if len(names) > 1 else names
    line = " ".join([*words, *["_"] * (PAGE - len(words))])
    return frame(
        str(page), note(line), remark=owner, look="line", hue=HUES[names[0]], key=f"page {page}"
    )


def compute(step: int) -> Block:
    """Show the batches, and pages and block tables after iteration ``step``."""
    served = iterations()
    state = served[min(step, len(served)) - 1]
    content = contents(state)
    tables = [
        grid("", [[*map(str, table)]], HUES[name], rows=[name])
        for name, table in state.tables.items()
    ]
    ticks = [(k + 0.5, str(k + 1)) for k in range(len(served))]
    count = sum(len(words) for _, words in content.values())
    filled = t("filled", tokens=count, pages=len(content), empty=len(content) * PAGE - count)
    pages = [_page(page, content.get(page)) for page in range(POOL)]
    return picture(
        t("label"),
        t(
            "spoken",
            step=step,
            batch=[f"{name} {n}" for name, n in state.tokens.items()],
            waiting=state.waiting or t("nobody"),
            tables="; ".join(f"{k}: {', '.join(map(str, v))}" for k, v in state.tables.items()),
        ),
        timeline(
            t("batches", budget=BUDGET, seats=SEATS, page=PAGE),
            _lanes(),
            ticks=ticks,
            now=(step - 1, step),
        ),
        row(note(t("tables")), *tables, note(filled), aside=True),
        *(row(*pages[k : k + 4], align="stretch", grow=(1, 1, 1, 1)) for k in range(0, POOL, 4)),
    )


def question(tokens: int, common: int, size: int) -> dict:
    """The answer, and: a page that is full of others' words too, what is left, all of them."""
    saved = common // size * size
    return {"answer": saved, "wrong": (common, tokens - saved, tokens)}
