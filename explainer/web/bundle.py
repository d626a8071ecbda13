"""Our modules as one script: an offline page needs it, since browsers import no modules from disk,
and the app serves it, since a class of 300 should not fetch thirty small files each. Covers the
forms that our own modules use, and refuses others.

By hand, since esbuild and rollup would bring a binary or a node, and a step to build, to every
Space and every clone, for a hundred lines that only ever read our own files."""

import gzip
import json
import posixpath
import re
from functools import cache

from explainer.base.facts import filled
from explainer.base.paths import ASSETS
from explainer.learn.blocks import PICTURES

# script → the module that it exports; the others bring their own, and take the rest of what they
# need from the first, and those that Step fetches also from Step
SCRIPTS = {
    "all": "js/main.js",
    "step": "js/step/index.js",
    "video": "js/step/video.js",
    "masks": "js/masks/index.js",
    "run": "js/run/index.js",
    "memory": "js/story/memory.js",
    "parallel": "js/story/parallel.js",
    # Each picture of the Learn page is fetched when a widget first draws it.
    **{f"picture_{name}": f"js/learn/pictures/{name}.js" for name in PICTURES},
}
OF_STEP = ("video",)
OFFLINE = "js/step/offline.js"
SITE = "js/offline/index.js"
VENDOR = "vendor/"  # scripts of others, each of which sets a global of its own name
START = '"use strict";\nconst m = {};\n'
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./]+)";\n', re.M)
# What a page says: the texts themselves.
TEXTS = re.compile(r'^import (\w+) from "(\.\.?/[\w./]+\.json)" with \{ type: "json" \};\n', re.M)
# A line, or several, of nothing but a comment: they are for who reads the modules.
INDENT = re.compile(r"^\s+", re.M)  # and empty lines
COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.M)
# A type within a line.
TYPE = re.compile(r"/\*\* @type [^*]*\*/ ?")
# One behind a statement: what follows it holds no quote that can begin a string, since Prettier
# writes those with double quotes.
BEHIND = re.compile(r"[ \t]+// [^\n`\"]*$", re.M)
# A field without a value: only its type, which stood above it, says something.
FIELD = re.compile(r"(?<=[;{}]\n)  (?!(?:debugger|return);)\w+;\n")
# The layout of what is one statement: where a line opens something or the next one goes on.
LAYOUT = re.compile(r"(?<=[(\[{,])\n|,?\n(?=[)\]}])|\n(?=[.?:&|])")
EXPORT = re.compile(r"^export (?:async )?(class|function|const|let) (\w+)", re.M)


class BundleError(RuntimeError):
    """A module that this bundler does not understand."""


def _place(importer: str, relative: str) -> str:
    """A module's path below assets/, as another one names it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), relative))


def _ref(name: str) -> str:
    """A module in the script, by its path below assets/js/."""
    return f"m[{json.dumps(name.removeprefix('js/'))}]"


def _module(name: str, parts: dict[str, str], path: tuple[str, ...] = ()) -> None:
    """Add a module to the ``parts`` of a script, by their names, after those that it imports."""
    if name in path:
        raise BundleError(f"{' → '.join((*path, name))} import each other")
    if name in parts:
        return
    if name.startswith(VENDOR):
        text = gzip.decompress((ASSETS / f"{name}.gz").read_bytes()).decode()
        library = posixpath.basename(name).partition(".")[0]
        parts[name] = f"{_ref(name)} = (() => {{\n{text}\nreturn {library};\n}})();\n"
        return
    text = (ASSETS / name).read_text(encoding="utf-8")
    if name.endswith(".json"):
        data = json.dumps(json.loads(filled(text)), ensure_ascii=False, separators=(",", ":"))
        parts[name] = f"{_ref(name)} = {data};\n"
        return
    for _, other in (*IMPORT.findall(text), *TEXTS.findall(text)):
        _module(_place(name, other), parts, (*path, name))
    exports = [symbol for _, symbol in EXPORT.findall(text)]

    def taken(match: re.Match) -> str:
        names = ", ".join(part.strip().replace(" as ", ": ") for part in match[1].split(","))
        return f"const {{ {names.rstrip(', ')} }} = {_ref(_place(name, match[2]))};\n"

    body = IMPORT.sub(taken, text)
    body = TEXTS.sub(lambda match: f"const {match[1]} = {_ref(_place(name, match[2]))};\n", body)
    body = EXPORT.sub(lambda match: match[0].removeprefix("export "), body)
    body = BEHIND.sub("", TYPE.sub("", COMMENT.sub("", body)))
    if any(line.count("`") % 2 for line in body.splitlines()):
        raise BundleError(f"{name}: a template of several lines")
    if " // " in body:
        raise BundleError(f"{name}: a comment with a quote behind a statement")
    body = LAYOUT.sub("", INDENT.sub("", FIELD.sub("", body)))
    if re.search(r"^(import|export)\b|\bimport\(", body, re.M):
        raise BundleError(f"{name}: an import or export of a form that is not bundled")
    exported = ", ".join(exports)
    parts[name] = f"{_ref(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"


def bundle(entry: str, *without: str) -> str:
    """The module ``entry`` of assets/ and what it imports, unless ``without`` import it too."""
    parts: dict[str, str] = {}
    for other in without:
        _module(other, parts)
    before = len(parts)
    _module(entry, parts)
    return "".join([*parts.values()][before:])


def offline() -> str:
    """The player that needs no server, as a classic script that starts it. Raises BundleError."""
    text = bundle(OFFLINE)
    if "import.meta" in text:
        raise BundleError("offline.js: a classic script has no import.meta")
    return f"(() => {{\n{START}{text}{_ref(OFFLINE)}.start();\n}})();\n"


def site() -> str:
    """All pages without a server, as a module that stands in its page and starts them."""
    drawn = [(name, path) for name, path in SCRIPTS.items() if name.startswith("picture_")]
    pictures = "".join(bundle(path, SITE) for _, path in drawn)
    given = ", ".join(f"{name}: () => Promise.resolve({_ref(path)})" for name, path in drawn)
    return f"{START}{bundle(SITE)}{pictures}{_ref(SITE)}.start({{ {given} }});\n"


@cache
def online(script: str = "all") -> str:
    """One of ``SCRIPTS`` as an ES module, js/<script>.js: what pages call, by name."""
    first, entry = SCRIPTS["all"], SCRIPTS[script]
    if entry == first:
        named = f"export {{ m }};\nexport const {{ call, mount }} = {_ref(first)};\n"
        return START + bundle(first) + named
    named = f"export const {{ mount, draw }} = {_ref(entry)};\n"
    before = (first, SCRIPTS["step"]) if script in OF_STEP else (first,)
    return 'import { m } from "./all.js";\n' + bundle(entry, *before) + named
