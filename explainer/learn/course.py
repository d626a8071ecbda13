"""The course: its groups of rungs in order, the paths through them, where a reader may start.

``assets/learn/course.json`` owns the order, and with it every number: "3.2" is the second rung of
the third group. A rung's key is its address and never changes; ``MOVED`` leads older ones on.
"""

from __future__ import annotations

from dataclasses import dataclass

from explainer.learn.content import TEXTS, read


@dataclass(frozen=True)
class Group:
    """Some rungs on one subject: their keys, in order."""

    key: str
    title: str
    rungs: tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """A way over the map: the keys of the rungs that it stops at; ``done`` what who has gone it
    knows."""

    key: str
    title: str
    words: str
    done: str
    rungs: tuple[str, ...]


_COURSE = read("course")
GROUPS = tuple(Group(**entry | {"rungs": tuple(entry["rungs"])}) for entry in _COURSE["groups"])
PATHS = tuple(Path(**entry | {"rungs": tuple(entry["rungs"])}) for entry in _COURSE["paths"])
# The self-test, easiest first: (a question's key, the rung to start at for who does not know it);
# and the rung for who knows them all.
SELF_TEST = tuple((entry["question"], entry["rung"]) for entry in _COURSE["selftest"])
AFTER: str = _COURSE["after"]
MOVED: dict[str, str] = _COURSE["moved"]
ORDER = tuple(key for group in GROUPS for key in group.rungs)
NUMBERS = {
    key: f"{at}.{k}" for at, group in enumerate(GROUPS, 1) for k, key in enumerate(group.rungs, 1)
}


def checked() -> None:
    """Raises ValueError with one sentence if the file contradicts itself."""
    if len(NUMBERS) != len(ORDER):
        raise ValueError(f"{TEXTS.name}/course.json: a rung stands in two places")
    named = [(f"the path {path.key}", key) for path in PATHS for key in path.rungs]
    named += [("the self-test", key) for key in (*(key for _, key in SELF_TEST), AFTER)]
    named += [(f"the old key {old}", key) for old, key in MOVED.items()]
    for where, key in named:
        if key not in NUMBERS:
            raise ValueError(f"{TEXTS.name}/course.json: {where} names {key}, which is no rung")
    for path in PATHS:
        if list(path.rungs) != [key for key in ORDER if key in path.rungs]:
            raise ValueError(f"{TEXTS.name}/course.json: the path {path.key} is out of order")
    if both := set(MOVED) & set(NUMBERS):
        raise ValueError(f"{TEXTS.name}/course.json: {min(both)} is old and current at once")


checked()
