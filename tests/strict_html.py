"""HTML as strictly as XML, for the tests of what pages are made of."""

from __future__ import annotations

from html.parser import HTMLParser


class Strict(HTMLParser):
    """Every element is closed, in order; gathers elements and text."""

    VOID = ("br", "img", "input", "hr")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict]] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag, tag

    def handle_data(self, data):
        self.words.append(data)
