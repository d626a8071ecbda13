"""PTX and SASS of the FA-2 kernel for a named card, compiled on request in a child process."""

import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache

from explainer.base.fields import ProblemError, refused
from explainer.base.records import rows_where
from explainer.base.texts import Texts
from explainer.memory.compiled_tiles import COMPILED_D
from explainer.memory.tile_choices import SIDES, TABLED
from kernels.measure import compiling
from kernels.spec import masks
from kernels.spec.masks import PLAIN

TIMEOUT_S = compiling.TIMEOUT_S
KINDS = ("ptx", "sass")
t = Texts("engine")
# What a line must hold to be marked: a product of matrices, on any card.
MATRIX = re.compile(r"\b(?:wgmma\.mma_async|mma\.sync|HGMMA|HMMA|QGMMA)\b")
ENCODING = re.compile(r"\s*/\* 0x[0-9a-f]{16} \*/")


def _one(query: Mapping[str, str], key: str, allowed: tuple) -> str:
    value = str(query.get(key, ""))
    if value not in map(str, allowed):
        raise refused({key: value}, t("code.choice", choices=", ".join(map(str, allowed))))
    return value


def code(query: Mapping[str, str]) -> dict:
    """{"kind", "text", "marked": numbers of the lines with matrix products, "registers",
    "shared_bytes", "spill_bytes", "triton"} for arch, d, br, bc, mask, kind of a query.

    Raises ProblemError for what the map does not have, and when compiling fails.
    """
    kind = _one(query, "kind", KINDS)
    arch = _one(query, "arch", tuple(sorted(TABLED)))
    d, br, bc = (
        int(_one(query, k, v)) for k, v in (("d", COMPILED_D), ("br", SIDES), ("bc", SIDES))
    )
    causal = _one(query, "mask", PLAIN) == "causal"
    found = _compiled(arch, d, br, bc, causal)
    text = _sass(found["sass"]) if kind == "sass" else found["ptx"]
    lines = text.splitlines()
    marked = [k for k, line in enumerate(lines) if MATRIX.search(line)]
    keep = ("registers", "shared_bytes", "spill_bytes", "triton")
    return {"kind": kind, "text": text, "marked": marked} | {key: found[key] for key in keep}


def _sass(text: str) -> str:
    """Without the encodings, which take two thirds of it."""
    lines = (ENCODING.sub("", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip())


@lru_cache(maxsize=16)
def _compiled(arch: str, d: int, br: int, bc: int, causal: bool) -> dict:
    tile = {"block_m": br, "block_n": bc, "order": "fa2"}
    (row,) = rows_where("compiled", arch=arch, d=d, causal=causal, **tile)
    config = {k: row[k] for k in ("block_m", "block_n", "num_warps", "num_stages")}
    request = {
        "capability": int(arch[3:]),
        "d": d,
        "dtype": "fp16",
        "mask": masks.of(causal).text,
        "config": config,
        "order": "fa2",
    }
    return _child(request)


def _child(request: dict) -> dict:
    try:
        return compiling.compile_in_child(request)
    except subprocess.TimeoutExpired as error:
        raise ProblemError(t("code.slow", seconds=error.timeout)) from None
    except subprocess.CalledProcessError as error:
        raise ProblemError(
            t("code.failed", why=compiling.last_line(error, t("code.silent")))
        ) from None
