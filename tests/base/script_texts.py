"""What scripts say: their literals, and their uses of assets/texts, read from the modules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explainer.base.paths import ASSETS

SCRIPTS = ASSETS / "js"
TEXTS = re.compile(r'^import (\w+) from "[./]+/texts/(\w+)\.json"', re.M)
SAYER = re.compile(r"const (\w+) = sayer\((\w+)\)")
IMPORT = re.compile(r'^import \{([^}]*)\} from "([./\w]+)"', re.M)
OPEN, CLOSE = "([{", ")]}"
BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[!&|?{};+]|=>|\breturn)\s*$")
COMPARED = re.compile(r"[!=]==\s*$")


@dataclass(frozen=True)
class Literal:
    """A string or template from ``start`` up to ``stop``; each value in a template is a …."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True)
class Use:
    """One text that is said: its key, and the names of its values if they are seen here."""

    page: str
    key: str
    values: frozenset[str] | None
    file: str


class Script:
    """A module's literals, and ``code``: the module with its comments, strings and patterns
    blanked, but for what stands in a template's ${…}."""

    def __init__(self, text: str) -> None:
        self.text, self.literals = text, {}
        self._code = list(text)
        self._read(0, "")
        self.code = "".join(self._code)

    def _blank(self, start: int, stop: int) -> int:
        self._code[start:stop] = " " * (stop - start)
        return stop

    def _read(self, at: int, until: str) -> int:
        """Reads code up to its closing brace, or to the end; where it stopped."""
        text, depth = self.text, 0
        while at < len(text):
            sign = text[at]
            if text.startswith("//", at):
                at = self._blank(at, end if (end := text.find("\n", at)) > 0 else len(text))
            elif text.startswith("/*", at):
                at = self._blank(at, text.index("*/", at) + 2)
            elif sign in "\"'":
                found = re.compile(rf"{sign}((?:\\.|[^\\{sign}])*){sign}").match(text, at)
                self.literals[at] = Literal(at, found.end(), found[1])
                at = self._blank(at, found.end())
            elif sign == "`":
                at = self._template(at)
            elif sign == "/" and BEFORE_REGEX.search(text, max(0, at - 20), at):
                found = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n])+/\w*").match(text, at)
                at = self._blank(at, found.end())
            elif sign == until and not depth:
                return at
            else:
                depth += (sign == "{") - (sign == "}")
                at += 1
        return at

    def _template(self, start: int) -> int:
        at, said = start + 1, []
        while self.text[at] != "`":
            if self.text.startswith("${", at):
                self._blank(at, at + 2)
                at = self._read(at + 2, "}")
                said.append("…")
            elif self.text[at] == "\\":
                at = self._blank(at, at + 1)
                said.append(self.text[at])
            else:
                said.append(self.text[at])
            at = self._blank(at, at + 1)
        self._blank(start, start + 1)
        self.literals[start] = Literal(start, at + 1, "".join(said))
        return self._blank(at, at + 1)

    def parts(self, start: int) -> list[tuple[int, int]]:
        """What the bracket before ``start`` holds, cut at its commas."""
        found, depth, at, begin = [], 0, start, start
        while depth or self.code[at] not in CLOSE:
            if at in self.literals:
                at = self.literals[at].stop
                continue
            depth += (self.code[at] in OPEN) - (self.code[at] in CLOSE)
            if self.code[at] == "," and not depth:
                found.append((begin, at))
                begin = at + 1
            at += 1
        return [(a, b) for a, b in [*found, (begin, at)] if self.text[a:b].strip()]

    def given(self, name: str, before: int) -> tuple[int, int] | None:
        """Where the value stands that a name was given last."""
        found = list(re.finditer(rf"\bconst {name} =\s+", self.code[:before]))
        if not found:
            return None
        start = found[-1].end()
        return start, self.code.index(";", start)

    def keys(self, start: int, stop: int) -> list[str]:
        """The keys that an expression may be; what a string is compared with is none."""
        if re.fullmatch(r"\w+", name := self.text[start:stop].strip()):
            place = self.given(name, start)
            return self.keys(*place) if place else []
        found = [one for one in self.literals.values() if start <= one.start < stop]
        outer = [x for x in found if not any(y.start < x.start < y.stop for y in found)]
        return [x.text for x in outer if not COMPARED.search(self.text, 0, x.start)]

    def names(self, start: int, stop: int) -> frozenset[str] | None:
        """The names of an object's values; None where they are not seen."""
        said = self.text[start:stop].strip()
        if re.fullmatch(r"\w+", said):
            place = self.given(said, start)
            return self.names(*place) if place else None
        if not said.startswith("{"):
            return None
        parts = [self.text[a:b] for a, b in self.parts(self.text.index("{", start) + 1)]
        if any(part.strip().startswith("...") for part in parts):
            return None
        return frozenset(part.split(":")[0].strip() for part in parts)


def sayers(path: Path) -> dict[str, str]:
    """{name: page} of who says texts in a module, its own or from another."""
    text = path.read_text("utf-8")
    pages = dict(TEXTS.findall(text))
    found = {name: pages[told] for name, told in SAYER.findall(text) if told in pages}
    for names, place in IMPORT.findall(text):
        if re.search(r"/texts(_\w+)?\.js$", place):
            names = [x.strip() for x in names.split(",")]
            other = (path.parent / place).resolve()
            found |= {name: page for name, page in sayers(other).items() if name in names}
    return found


def uses_of(path: Path) -> list[Use]:
    """Every use of a text in a module; the values in a key's template are …."""
    said, found = sayers(path), []
    if not said:
        return []
    script = Script(path.read_text("utf-8"))
    for call in re.finditer(rf"(?<![\w.])({'|'.join(said)})\(", script.code):
        key, *values = script.parts(call.end())
        if re.match(r"\s*\)\s*\{", script.code[max(b for _, b in [key, *values]) :]):
            continue  # a method of this name
        keys = script.keys(*key)
        assert keys, f"a key is not known before it runs: {script.text[slice(*key)]} in {path.name}"
        names = script.names(*values[0]) if values else frozenset()
        found += [Use(said[call[1]], one, names, path.name) for one in keys]
    return found


@cache
def uses() -> list[Use]:
    return [use for path in sorted(SCRIPTS.rglob("*.js")) for use in uses_of(path)]


def meant(use: Use, keys: set[str]) -> set[str]:
    """The keys that a use may mean: itself, or all that its template may be."""
    form = r"\w+".join(map(re.escape, use.key.split("…")))
    return {key for key in keys if re.fullmatch(form, key)} if "…" in use.key else {use.key}
