"""The Learn page as HTML, a screen at a time, each rendered once: the entrance, the lessons, and
what stands behind them."""

from functools import cache

from markupsafe import Markup

from explainer.learn import claims, ecosystem, glossary, reference, slides, teaching
from explainer.learn.content import SECTIONS, Lesson
from explainer.learn.course import AFTER, BEHIND, GROUPS, MOVED, NUMBERS, PATHS
from explainer.learn.registry import lessons, self_test, widgets
from explainer.views import learn_parts
from explainer.views.templates import render

ENTRANCE = "entrance"
END = "end"  # what a lecture ends with


def lessons_by_key() -> dict[str, Lesson]:
    """Return {key: lesson}, in the course's order."""
    return {lesson.key: lesson for lesson in lessons()}


def render_screen(name: str, **values: object) -> Markup:
    """Render a template of Learn with what all of them take: the course and its parts."""
    return render(
        f"learn/{name}",
        groups=GROUPS,
        lessons=lessons_by_key(),
        numbers=NUMBERS,
        parts=learn_parts,
        sections=SECTIONS,
        **values,
    )


def _minutes(keys: tuple[str, ...]) -> int:
    return sum(lesson.minutes for lesson in lessons() if lesson.key in keys)


def render_entrance() -> Markup:
    """Render the entrance: the paths, the map of the course."""
    return render_screen(
        "entrance",
        paths=PATHS,
        paths_through={
            key: [path.key for path in PATHS if key in path.lessons] for key in lessons_by_key()
        },
        path_minutes={path.key: _minutes(path.lessons) for path in PATHS},
        group_minutes={group.key: _minutes(group.lessons) for group in GROUPS},
        behind=BEHIND,
    )


def render_lesson(lesson: Lesson) -> Markup:
    """Render one lesson: everything of it, of which a slide and a phone show a part at a time."""
    found = [*lessons_by_key()]
    at = found.index(lesson.key)
    before, after = (lessons()[k] if 0 <= k < len(found) else None for k in (at - 1, at + 1))
    return render_screen(
        "lesson",
        lesson=lesson,
        group=next(group for group in GROUPS if lesson.key in group.lessons),
        before=before,
        after=after,
        slide=slides.slide(lesson),
        **learn_parts.lesson_text(lesson.words),
    )


def render_behind(key: str) -> Markup:
    """Render a screen behind the lessons. Raises KeyError for a key that has none."""
    return render_screen(
        "behind",
        key=key,
        entry=SECTIONS[key],
        claims=claims,
        ecosystem=ecosystem,
        glossary=glossary,
        reference=reference,
        self_test=self_test(),
        teaching=teaching,
        widgets=widgets(),
    )


def keys() -> tuple[str, ...]:
    """Return the keys of all screens: the entrance, the lessons in order, those behind them."""
    return (ENTRANCE, *lessons_by_key(), *SECTIONS)


@cache
def screen(key: str) -> Markup:
    """Return one screen. Raises KeyError for a key that has none."""
    if key == ENTRANCE:
        return render_entrance()
    lesson = lessons_by_key().get(key)
    return render_lesson(lesson) if lesson else render_behind(key)


def outline() -> dict:
    """Return what the browser must know first: the screens, older keys, the paths' stops."""
    return {
        "keys": keys(),
        "moved": MOVED,
        "lessons": {lesson.key: [NUMBERS[lesson.key], lesson.title] for lesson in lessons()},
        "paths": {path.key: path.lessons for path in PATHS},
        "starts": [[question.key, start] for question, start in self_test()],
        "after": AFTER,
        "ends": {path.key: [path.title, path.done] for path in PATHS},
        "sessions": {
            key: {"title": one.title, "stops": [x for x, _ in one.stops]}
            for key, one in teaching.SESSIONS.items()
        },
        "end": END,
        "printed": [key for key in keys()[1:] if SECTIONS.get(key, {}).get("printed", True)],
    }
