"""The course: its groups of lessons in order, the paths through them, where a reader may start.

``assets/learn/course.json`` owns the order, and with it every number: "3.2" is the second lesson of
the third group. A lesson's key is its address and never changes; ``MOVED`` leads older ones on.
"""

from dataclasses import dataclass

from explainer.learn.content import stored


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


_COURSE = stored("course")
GROUPS = tuple(Group(**entry) for entry in _COURSE["groups"])
PATHS = tuple(Path(**entry) for entry in _COURSE["paths"])
# The self-test, easiest first: (a question's key, the lesson to start at for who does not know it);
# and the lesson for who knows them all.
SELF_TEST = tuple((entry["question"], entry["lesson"]) for entry in _COURSE["selftest"])
# Screens behind the lessons, as the entrance's footer names them. The self-test is linked from its
# head, the answers from "For lecturers" alone.
BEHIND: tuple[str, ...] = _COURSE["behind"]
AFTER: str = _COURSE["after"]
MOVED: dict[str, str] = _COURSE["moved"]
ORDER = tuple(key for group in GROUPS for key in group.lessons)
NUMBERS = {
    key: f"{at}.{k}" for at, group in enumerate(GROUPS, 1) for k, key in enumerate(group.lessons, 1)
}
