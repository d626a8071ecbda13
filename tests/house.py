"""Draw which room imports which: `python -m tests.house` writes it into .github/ARCHITECTURE.md."""

import ast
from pathlib import Path

from explainer.base.paths import ROOT

PYTHON = sorted([*ROOT.glob("explainer/**/*.py"), *ROOT.glob("kernels/**/*.py"), ROOT / "app.py"])
PAGE = ROOT / ".github" / "ARCHITECTURE.md"
BEGIN, END = "<!-- drawn by python -m tests.house -->\n", "<!-- end -->\n"


def name(path: Path) -> str:
    """Return the dotted name that a file is imported by."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    """Absolute names that a file imports, wherever in the file; modules and what is in them."""
    package = name(path).split(".") if path.stem == "__init__" else name(path).split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names} | {module}
    return found


def room(module: str) -> str | None:
    """Return the room of a module, None if it belongs to neither package."""
    first, *rest = module.split(".")
    if first == "explainer":
        return rest[0] if rest else None
    if first == "kernels":
        return "kernels/spec" if rest[:1] == ["spec"] else "kernels"
    return None


def draw() -> str:
    """Return the imports between rooms as Mermaid, without those that follow from others."""
    below: dict[str, set[str]] = {}
    for path in PYTHON:
        if own := room(name(path)):
            found = {r for module in imported(path) if (r := room(module))}
            below.setdefault(own, set()).update(found - {own})
    below["kernels/spec"] = set()  # `import kernels.spec` names `kernels` too, which loads nothing

    def reached(start: str) -> set[str]:
        return below[start].union(*map(reached, below[start]))

    lines = ["flowchart TD"]
    for own, found in sorted(below.items()):
        direct = found - set().union(*map(reached, found))
        lines += [
            f'  {_node(own)}["{own}"] --> {_node(other)}["{other}"]' for other in sorted(direct)
        ]
    return "\n".join(["```mermaid", *lines, "```", ""])


def _node(room: str) -> str:
    return room.replace("/", "_")


def embed(page: str) -> str:
    """Return the page with the picture between its two marks."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}{draw()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(embed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
