"""The command line: ``python -m explainer.check FILE``, installed as ``flashattention-check``."""

import argparse
import json
import sys
import time
from pathlib import Path

from explainer.base.texts import Texts
from explainer.check.assignment import create
from explainer.check.page import document
from explainer.check.terminal import render
from explainer.check.verdict import Verdict, check

t = Texts("check")


def target(text: str) -> Path:
    """Return the path of a file to write. Raises ArgumentTypeError where its folder is missing."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(t("no_folder", folder=path.parent))
    return path


def parser() -> argparse.ArgumentParser:
    """Make the parser of a check."""
    made = argparse.ArgumentParser(
        prog="flashattention-check",
        description="Find the first wrong tile of an attention function.",
        epilog="flashattention-check new DIR begins an assignment in five steps.",
    )
    made.add_argument("file", type=Path, help="a Python file that defines attention(q, k, v, *, …)")
    named = "its name, if not attention, or of CS336's two getters the one to check"
    made.add_argument("--function", metavar="NAME", help=named)
    made.add_argument("--numpy", action="store_true", help="call it with NumPy arrays")
    layouts = "bhnd: (B, H, N, d); bnd: (B, N, d) without heads; nd: (N, d)"
    made.add_argument("--layout", choices=("bhnd", "bnd", "nd"), default="bhnd", help=layouts)
    made.add_argument("--timeout", type=float, default=20.0, help="seconds for each call")
    points = "write points for each case as Gradescope reads them (results.json)"
    page = "write the picture as one page that needs no network"
    made.add_argument("--html", type=target, metavar="REPORT", help=page)
    made.add_argument("--points", type=target, metavar="FILE", help=points)
    made.add_argument("--json", action="store_true", help="print the verdict as JSON, last line")
    return made


def points(verdict: Verdict) -> dict:
    """Return Gradescope's results: a point for each case that is right, and the map of tiles."""
    names, text = t.named("case"), render(verdict, False)
    tests = [
        {
            "name": names[case.name],
            "score": float(case.right),
            "max_score": 1.0,
            "output": case.sentence or t("row.right" if case.right else "points.wrong"),
        }
        for case in verdict.cases
    ]
    tests = tests or [{"name": verdict.file, "score": 0.0, "max_score": 1.0, "output": text}]
    return {"output": text, "tests": tests}


def _progress():
    """Return a function that names the case at work on a terminal's stderr, beyond a second."""
    began, is_shown, names = time.monotonic(), sys.stderr.isatty(), t.named("case")

    def show(case: str, n: int, total: int) -> None:
        if is_shown and time.monotonic() - began > 1:
            text = t("doing", n=n + 1, all=total, case=names[case])
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return show


def _new(folder: Path) -> int:
    """Begin an assignment in a folder."""
    try:
        create(folder)
    except OSError as error:
        print(t("new.refused", folder=folder, error=error.strerror or t("new.not_empty")))
        return 2
    print(t("new", folder=folder))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Check a file; return the exit status: 0 right, 1 wrong, 2 not runnable."""
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["new"]:
        print(t("new.no_folder"))
        return 2
    if words[:1] == ["new"] and len(words) == 2 and not words[1].startswith("-"):
        return _new(Path(words[1]))
    given = parser().parse_args(words)
    verdict: Verdict = check(
        given.file,
        _progress(),
        function=given.function,
        arrays="numpy" if given.numpy else None,
        layout=given.layout,
        seconds=given.timeout,
    )
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    if given.points:
        given.points.write_text(json.dumps(points(verdict), indent=1), encoding="utf-8")
    if given.html:
        given.html.write_text(document(verdict), encoding="utf-8")
    if given.json:
        print(json.dumps(verdict.to_json(), ensure_ascii=False))
    else:
        print(render(verdict, sys.stdout.isatty()))
    return verdict.status


if __name__ == "__main__":
    sys.exit(main())
