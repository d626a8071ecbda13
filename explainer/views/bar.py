"""Render the bar above all pages, and what stands in the place of a view that is not there yet."""

from markupsafe import Markup

from explainer.learn.content import PAGES
from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons
from explainer.views.learn_parts import address
from explainer.views.templates import render


def render_bar() -> Markup:
    """Render the bar with the lessons that explain each page."""
    explained = {
        page: [
            (address(lesson.key), f"{NUMBERS[lesson.key]} {lesson.title}")
            for lesson in lessons()
            if any(link.page == page for link in lesson.links)
        ]
        for page in PAGES
        if page != "paper"
    }
    return render("site/bar", explained=explained)
