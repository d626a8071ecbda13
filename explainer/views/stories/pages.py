"""The chapters of each story by name, and the answer to an address that asks for one."""

import re
from collections.abc import Mapping

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.learn.glossary import spelled
from explainer.learn.presets import preset_text
from explainer.memory.workload import KEYS, MAX_BLOCK, MIN_N, Workload
from explainer.views.stories import (
    memory_capacity,
    memory_masks,
    memory_tiles,
    memory_traffic,
    memory_trips,
    memory_where,
    parallel_decoding,
    parallel_devices,
    parallel_schedule,
    parallel_sms,
    parallel_warps,
)
from explainer.views.stories.chapter import PARALLEL, MakeChapter

# In the order in which Next leads through them; the names stand in the address and on the pills.
CHAPTERS: dict[str, dict[str, MakeChapter]] = {
    "memory": {
        "where": memory_where.chapter,
        "trips": memory_trips.chapter,
        "traffic": memory_traffic.chapter,
        "capacity": memory_capacity.chapter,
        "tiles": memory_tiles.chapter,
        "masks": memory_masks.chapter,
    },
    "parallel": {
        "sms": parallel_sms.chapter,
        "schedule": parallel_schedule.chapter,
        "warps": parallel_warps.chapter,
        "decoding": parallel_decoding.chapter,
        "devices": parallel_devices.chapter,
    },
}
# What the pages show without an address.
DEFAULTS: dict[str, dict[str, str]] = {
    "memory": Workload().to_query(),
    "parallel": PARALLEL.to_query(),
}
t = Texts("shared")


def make_chapter(page: str, query: Mapping[str, str]) -> dict[str, object]:
    """Compute the chapter of a page that an address asks for, the first without one, beside its
    ``page_values``. Raises ProblemError."""
    chapters = CHAPTERS[page]
    name = query.get("chapter") or next(iter(chapters))
    if name not in chapters:
        raise ProblemError(t("story.unknown", name=name[:20], names=", ".join(chapters)))
    workload = parse_workload(page, query)
    return {**page_values(page, workload), **chapters[name](workload, query)}


def page_values(page: str, workload: Workload) -> dict[str, object]:
    """Return the ``values`` of the workload, the ``defaults`` of the page, and the ``terms`` that
    its pictures explain where they first stand: {as it is written: key of the glossary}."""
    terms = {name: key for name, key in spelled().items() if key in t.row("story.terms")}
    return {"values": workload.to_query(), "defaults": DEFAULTS[page], "terms": terms}


def parse_workload(page: str, query: Mapping[str, str]) -> Workload:
    """Parse the workload of an address; what is missing or empty is the page's default.

    Numbers may be written as the pages write them, “8,192”; a block longer than the sequence
    shrinks with it. Raises ProblemError.
    """
    given = {key: _plain(query[key]) for key in KEYS if query.get(key, "").strip()}
    found = DEFAULTS[page] | given
    if found["n"].isdecimal() and int(found["n"]) >= MIN_N:
        for block in ("br", "bc"):
            if found[block].isdecimal() and MAX_BLOCK >= int(found[block]) > int(found["n"]):
                found[block] = found["n"]
    return Workload.from_query(found | {"mask": preset_text(found["mask"], found["n"])})


def _plain(value: str) -> str:
    text = value.strip()
    return re.sub(r"(?<=\d)[, \u202f](?=\d{3}\b)", "", text).removesuffix(".0")
