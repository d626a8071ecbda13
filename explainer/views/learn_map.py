"""The course's map as HTML: groups and lessons as a list of links, the three paths as lines behind.

Lengths are units of a map ``WIDE`` units wide; the style sheet scales them to its width.
"""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn.course import GROUPS, NUMBERS, PATHS
from explainer.learn.registry import lessons
from explainer.views.html import div, tag
from explainer.views.learn_parts import to

tell = Texts("learn")

WIDE, COLUMN, ROW = 1216, 174, 36
LEFT, TOP = 18, 64  # of the first lesson's node
TURN = 18  # below a group's last lesson and above its first one
GUTTER = 14  # before the next group, where lines go up
ROUND = 8
# Lines that share their way lie side by side: (to the left, up).
OFFSET = {"quick": (-7, 4), "hour": (0, 0), "course": (0, 0)}
Point = tuple[float, float]


def _stops(keys: tuple[str, ...]) -> list[tuple[int, list[int]]]:
    """(group, rows) of the lessons of a path, by group."""
    found = [
        (k, [group.lessons.index(x) for x in group.lessons if x in keys])
        for k, group in enumerate(GROUPS)
    ]
    return [(k, rows) for k, rows in found if rows]


def corners(keys: tuple[str, ...], left: float = 0, up: float = 0) -> list[Point]:
    """Where the line of a path turns: down each group, up in the gutter before the next one."""
    points: list[Point] = []
    stops = _stops(keys)
    for k, (group, rows) in enumerate(stops):
        x = LEFT + COLUMN * group + left
        first, last = (TOP + ROW * row for row in (rows[0], rows[-1]))
        if k:
            gutter, above = x - GUTTER, first - TURN - up
            points += [(gutter, points[-1][1]), (gutter, above), (x, above)]
        points += [(x, first), (x, last)]
        if k + 1 < len(stops):
            points.append((x, last + TURN - up))
    points = [p for p, after in pairwise([*points, None]) if p != after]
    turns = zip(points, points[1:], points[2:], strict=False)
    kept = [at for a, at, b in turns if not (a[0] == at[0] == b[0] or a[1] == at[1] == b[1])]
    return [points[0], *kept, points[-1]]


def line(points: list[Point]) -> str:
    """An SVG path through the points with round corners."""
    said = f"M{points[0][0]:g} {points[0][1]:g}"
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        ends = []
        for other in (before, after):
            dx, dy = other[0] - at[0], other[1] - at[1]
            length = abs(dx) + abs(dy)  # every piece is level or upright
            share = min(ROUND, length / 2) / length
            ends.append(f"{at[0] + dx * share:g} {at[1] + dy * share:g}")
        said += f"L{ends[0]}Q{at[0]:g} {at[1]:g} {ends[1]}"
    return f"{said}L{points[-1][0]:g} {points[-1][1]:g}"


def _high() -> int:
    return TOP + ROW * max(len(group.lessons) for group in GROUPS)


def _lines() -> str:
    drawn = Markup()
    for path in reversed(PATHS):
        d = line(corners(path.lessons, *OFFSET[path.key]))
        drawn += tag("path", d=d, class_=f"fa-way is-{path.key}")
    return tag(
        "svg", drawn, class_="fa-way-lines", viewBox=f"0 0 {WIDE} {_high()}", aria_hidden="true"
    )


def course_map() -> str:
    """All groups and lessons that are written, with the lines of the paths."""
    there = {lesson.key: lesson for lesson in lessons()}
    groups = Markup()
    for k, group in enumerate(GROUPS):
        stops = Markup()
        for row, key in enumerate(group.lessons):
            if key not in there:
                continue
            lesson = there[key]
            paths = " ".join(path.key for path in PATHS if key in path.lessons)
            number = tag("span", NUMBERS[key], class_="fa-halt-number")
            stops += tag(
                "li",
                tag(
                    "a",
                    number,
                    tag("span", lesson.title, class_="fa-halt-title"),
                    href=to(key),
                    class_="fa-halt",
                    data_lesson=key,
                    data_asks=lesson.question.key,
                    data_paths=paths,
                    data_minutes=lesson.minutes,
                ),
                style=f"--x:{LEFT + COLUMN * k};--y:{TOP + ROW * row}",
            )
        minutes = sum(there[key].minutes for key in group.lessons if key in there)
        title = tag(
            "h3",
            f"{k + 1} {group.title} ",
            tag("span", tell("learn_map.minutes", n=minutes)),
            style=f"--x:{LEFT - 10 + COLUMN * k}",
        )
        groups += tag("li", title, tag("ol", stops), class_="fa-way-group")
    return div(
        "fa-course-map",
        _lines(),
        tag("ol", groups, aria_label=tell("learn_map.name")),
        style=f"--wide:{WIDE};--high:{_high()}",
    )
