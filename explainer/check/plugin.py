"""pytest plugin: ``pytest --flashattention FILE`` makes a test of each case, of each FILE if there
are several; the first wrong one shows the map of tiles. The fixture ``check_attention`` does so in
a test of one's own."""

from pathlib import Path
from typing import Any

import pytest


class Wrong(Exception):
    """A case that is not right, with the verdict as text."""


class CaseItem(pytest.Item):
    """One case of a file: ``text`` is empty if it is right."""

    text = ""

    def runtest(self) -> None:
        if self.text:
            raise Wrong(self.text)

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "check the attention function in FILE, a test for each case; may be given several times"
    own = {"action": "append", "metavar": "FILE", "default": []}
    parser.getgroup("flashattention").addoption("--flashattention", help=about, **own)


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    if not (files := config.getoption("flashattention")):
        return
    from explainer.check.terminal import render
    from explainer.check.verdict import check

    for file in files:
        verdict = check(config.invocation_params.dir / file)
        texts = [render(verdict, False)]  # once, for the first case that is wrong
        cases = {case.name: not case.right for case in verdict.cases} or {"runs": True}
        for name, wrong in cases.items():
            item = CaseItem.from_parent(session, name=f"{file}[{name}]")
            item.text = (texts.pop() if texts else verdict.sentence) if wrong else ""
            items.append(item)


@pytest.fixture
def check_attention():
    """``check_attention(path, **options)`` returns the verdict on a file, and fails the test with
    the map of its first wrong tile if it is not right. Options: ``function``, its name; ``arrays``,
    "numpy" or "torch"; ``layout``, "bhnd", "bnd" or "nd"; ``seconds`` for a call."""
    from explainer.check.terminal import render
    from explainer.check.verdict import check

    def check_file(path: str | Path, **options: Any):
        verdict = check(Path(path), **options)
        if not verdict.right:
            pytest.fail(render(verdict, False), pytrace=False)
        return verdict

    return check_file
