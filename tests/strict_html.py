"""HTML as strictly as XML, for the tests of what pages are made of."""

from html.parser import HTMLParser


class Strict(HTMLParser):
    """Every element is closed, in order; gathers elements with their attributes."""

    VOID = ("br", "img", "input", "hr")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open += [tag] * (tag not in self.VOID)

    def handle_endtag(self, tag):
        assert tag in self.VOID or (self.open and self.open.pop() == tag), tag

    def values(self, *names: str) -> list[str]:
        """The values of these attributes, in the order of the page."""
        return [each[name] for _, each in self.tags for name in names if name in each]
