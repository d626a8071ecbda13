"""The geometry of the course's map: groups side by side, the three paths as lines behind them.

Lengths are units of a map ``WIDE`` units wide; the style sheet scales them to its width.
"""

from __future__ import annotations

from itertools import pairwise

from explainer.learn.course import GROUPS, PATHS, Path

WIDE, COLUMN, ROW = 1216, 174, 36
LEFT, TOP = 18, 64  # of the first lesson's node
TURN = 18  # below a group's last lesson and above its first one
GUTTER = 14  # before the next group, where lines go up
ROUND = 8
# Lines that share their way lie side by side: (to the left, up).
OFFSET = {"quick": (-7, 4), "hour": (0, 0), "course": (0, 0)}
Point = tuple[float, float]


def _stops(keys: tuple[str, ...]) -> list[tuple[int, list[int]]]:
    """Return (group, rows) of the lessons of a path, by group."""
    found = [
        (k, [group.lessons.index(x) for x in group.lessons if x in keys])
        for k, group in enumerate(GROUPS)
    ]
    return [(k, rows) for k, rows in found if rows]


def corners(keys: tuple[str, ...], left: float = 0, up: float = 0) -> list[Point]:
    """Return where the line of a path turns: down each group, up in the gutter before the next."""
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
    points = [p for p, after in pairwise([*points, (-1, -1)]) if p != after]
    turns = zip(points, points[1:], points[2:], strict=False)
    bends = [at for a, at, b in turns if not (a[0] == at[0] == b[0] or a[1] == at[1] == b[1])]
    return [points[0], *bends, points[-1]]


def line(points: list[Point]) -> str:
    """Return an SVG path through the points with round corners."""
    drawn = f"M{points[0][0]:g} {points[0][1]:g}"
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        ends = []
        for other in (before, after):
            dx, dy = other[0] - at[0], other[1] - at[1]
            length = abs(dx) + abs(dy)  # every piece is level or upright
            share = min(ROUND, length / 2) / length
            ends.append(f"{at[0] + dx * share:g} {at[1] + dy * share:g}")
        drawn += f"L{ends[0]}Q{at[0]:g} {at[1]:g} {ends[1]}"
    return f"{drawn}L{points[-1][0]:g} {points[-1][1]:g}"


def path_line(path: Path) -> str:
    """Return the SVG path of a path's line, beside those that share its way."""
    return line(corners(path.lessons, *OFFSET[path.key]))


def paths_through(key: str) -> list[str]:
    """Return the keys of the paths that stop at a lesson."""
    return [path.key for path in PATHS if key in path.lessons]


def height() -> int:
    """Return the height of the map: of its longest group."""
    return TOP + ROW * max(len(group.lessons) for group in GROUPS)
