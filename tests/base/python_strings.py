"""Read the strings of a Python source that somebody may see."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator


def strings(
    tree: ast.AST, write: Callable[[list[ast.expr]], str], silent: frozenset[ast.AST] = frozenset()
) -> Iterator[str]:
    """Yield the strings of ``tree`` that are no docstrings and not ``silent``; ``write`` gives the
    text of an f-string from its parts."""
    left = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)} | silent
    for node in ast.walk(tree):
        if node in left:
            continue
        if isinstance(node, ast.JoinedStr):
            left |= {*node.values}
            yield write(node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
