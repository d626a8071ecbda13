"""The course: its groups of lessons in order, the paths through them, where a reader may start.

``assets/learn/course.json`` owns the order, and with it every number: "3.2" is the second lesson of
the third group. A lesson's key is its address and never changes; ``MOVED`` leads older ones on.
"""

from __future__ import annotations

from dataclasses import dataclass

from explainer.learn.content import TEXTS, read


@dataclass(frozen=True)
class Group:
    """Some lessons on one subject: their keys, in order."""

    key: str
    title: str
    lessons: tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """A way over the map: the keys of the lessons that it stops at; ``done`` what who has gone it
    knows."""

    key: str
    title: str
    words: str
    done: str
    lessons: tuple[str, ...]


_COURSE = read("course")
GROUPS = tuple(Group(**entry | {"lessons": tuple(entry["lessons"])}) for entry in _COURSE["groups"])
PATHS = tuple(Path(**entry | {"lessons": tuple(entry["lessons"])}) for entry in _COURSE["paths"])
# The self-test, easiest first: (a question's key, the lesson to start at for who does not know it);
# and the lesson for who knows them all.
SELF_TEST = tuple((entry["question"], entry["lesson"]) for entry in _COURSE["selftest"])
AFTER: str = _COURSE["after"]
MOVED: dict[str, str] = _COURSE["moved"]
ORDER = tuple(key for group in GROUPS for key in group.lessons)
NUMBERS = {
    key: f"{at}.{k}" for at, group in enumerate(GROUPS, 1) for k, key in enumerate(group.lessons, 1)
}


def checked() -> None:
    """Raises ValueError with one sentence if the file contradicts itself."""
    if len(NUMBERS) != len(ORDER):
        raise ValueError(f"{TEXTS.name}/course.json: a lesson stands in two places")
    named = [(f"the path {path.key}", key) for path in PATHS for key in path.lessons]
    named += [("the self-test", key) for key in (*(key for _, key in SELF_TEST), AFTER)]
    named += [(f"the old key {old}", key) for old, key in MOVED.items()]
    for where, key in named:
        if key not in NUMBERS:
            raise ValueError(f"{TEXTS.name}/course.json: {where} names {key}, which is no lesson")
    for path in PATHS:
        if list(path.lessons) != [key for key in ORDER if key in path.lessons]:
            raise ValueError(f"{TEXTS.name}/course.json: the path {path.key} is out of order")
    if both := set(MOVED) & set(NUMBERS):
        raise ValueError(f"{TEXTS.name}/course.json: {min(both)} is old and current at once")


checked()
