"""The player as one classic script: what an offline page needs, since browsers import no modules
from disk. Covers the forms that our own modules use, and refuses others."""

from __future__ import annotations

import re
from pathlib import Path

PLAYER = Path(__file__).resolve().parent.parent / "assets" / "player"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.M)
EXPORT = re.compile(r"^export (?:async )?(class|function|const|let) (\w+)", re.M)


class BundleError(RuntimeError):
    """A module that this bundler does not understand."""


def _module(name: str, done: list[str], parts: list[str], path: tuple[str, ...] = ()) -> None:
    if name in path:
        raise BundleError(f"{' → '.join((*path, name))} import each other")
    if name in done:
        return
    text = (PLAYER / name).read_text(encoding="utf-8")
    for _, other in IMPORT.findall(text):
        _module(other, done, parts, (*path, name))
    exports = [symbol for _, symbol in EXPORT.findall(text)]

    def taken(match: re.Match) -> str:
        names = ", ".join(part.strip().replace(" as ", ": ") for part in match[1].split(","))
        return f'const {{ {names.rstrip(", ")} }} = modules["{match[2]}"];\n'

    body = IMPORT.sub(taken, text)
    body = EXPORT.sub(lambda match: match[0].removeprefix("export "), body)
    if re.search(r"^(import|export)\b|import\.meta|\bimport\(", body, re.M):
        raise BundleError(f"{name}: an import or export of a form that is not bundled")
    parts.append(
        f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {", ".join(exports)} }};\n}})();\n'
    )
    done.append(name)


def bundle(*entries: str) -> str:
    """The modules ``entries`` of assets/player and what they import; each is ``modules[name]``."""
    parts: list[str] = []
    done: list[str] = []
    for entry in entries:
        _module(entry, done, parts)
    return '"use strict";\nconst modules = {};\n' + "".join(parts)
