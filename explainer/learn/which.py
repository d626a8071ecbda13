"""7.2: which backend of SDPA takes an input: the checks that PyTorch does, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explainer.base.amounts import listed
from explainer.learn.blocks import Block, Widget, text
from explainer.learn.content import rung
from explainer.learn.controls import pick
from explainer.learn.scene import Shape, box, panel, path, say, scene
from explainer.learn.wild import CHECKED

Values = Mapping[str, float | str]
NAMES = {"flash": "flash (FA-2)", "cudnn": "cuDNN", "efficient": "memory-efficient", "math": "math"}
GPUS = {"75": "T4", "80": "A100", "90": "H100, H200"}
MASKS = {"none": "none", "causal": "is_causal", "any": "an attn_mask"}


@dataclass(frozen=True)
class Input:
    """What SDPA is given: ``sm`` the card's architecture, ``dtype``, head dimension ``d``, ``mask``
    of MASKS, ``shared`` whether query heads share K and V (enable_gqa)."""

    sm: int
    dtype: str
    d: int
    mask: str
    shared: bool


def refusal(backend: str, x: Input) -> str:
    """Why a backend does not take the input, "" if it does: the rows of assets/learn/backends.json
    as checks, forward pass, Nq = Nk, on the versions that were asked."""
    short = x.dtype in ("fp16", "bf16")
    if backend == "math":
        return ""
    if backend == "efficient":
        if x.dtype == "bf16" and x.sm < 80:
            return "bf16 from sm_80 on"
        if x.d % (8 if short else 4):
            return f"d must be a multiple of {8 if short else 4}"
        return "no shared K and V" if x.shared else ""
    if x.sm < 80:
        return "from sm_80 on"
    if not short:
        return "fp16 and bf16 only"
    if backend == "flash":
        if x.d > 256:
            return "d up to 256"
        return "no mask but is_causal" if x.mask == "any" else ""
    most = 256 if x.sm == 90 else 128
    return f"d a multiple of 8, up to {most}" if x.d % 8 or x.d > most else ""


def tried(sm: int) -> tuple[str, ...]:
    """The backends in the order in which SDPA tries them."""
    if sm in (90, 100):
        return ("cudnn", "flash", "efficient", "math")
    return ("flash", "efficient", "math", "cudnn")


def chosen(x: Input) -> str:
    """The first that takes the input."""
    return next(name for name in tried(x.sm) if not refusal(name, x))


def _picture(x: Input) -> list[Shape]:
    taken = chosen(x)
    shapes = [say(0, 16, "Tried from the top; the first yes runs", "is-bold")]
    for k, name in enumerate(tried(x.sm)):
        why, at = refusal(name, x), 28 + k * 50
        runs = name == taken
        shapes += [
            box(0, at, 170, 42, NAMES[name], hue="v" if runs else "", key=name,
                look="is-full is-edge" if runs else "is-line"),
            say(186, at + 26, "runs" if runs else why or "would take it too",
                f"is-small {'is-good' if runs else 'is-quiet'}", key=f"why {name}"),
        ]  # fmt: skip
        if k:
            shapes.append(path([(85, at - 8), (85, at - 1)], look="is-quiet", tip=5))
    return shapes


def _which(v: Values) -> list[Block]:
    x = Input(int(v["sm"]), str(v["dtype"]), int(v["d"]), str(v["mask"]), v.get("shared") == "yes")
    order = [f"{NAMES[k]}: {refusal(k, x) or 'takes it'}" for k in tried(x.sm)]
    words = f"{'; '.join(order)}. {NAMES[chosen(x)]} runs."
    memory = ("S and P are stored: O(N²) memory, several kernels." if chosen(x) == "math" else
              "One fused kernel, O(N) extra memory.")  # fmt: skip
    return [
        scene("Which backend runs", words, panel(440, 224, _picture(x))),
        text(f"{memory} Forward pass, Nq = Nk; checks of sdp_utils.cpp, {CHECKED}.", "fine"),
    ]


WIDGETS = (
    Widget("which", "Which backend takes which input", (
        pick("sm", "GPU", "90", GPUS.items()),
        pick("dtype", "Format", "bf16", ("bf16", "fp16", "fp32"), closed=("fp32", "fp16")),
        pick("d", "Head dimension d", 64, (32, 50, 64, 128, 256)),
        pick("mask", "Mask", "none", MASKS.items(), closed=("any",)),
    ), _which),
)  # fmt: skip
ASKED = (
    Input(90, "fp32", 64, "none", False),
    Input(80, "bf16", 64, "causal", False),
    Input(75, "bf16", 64, "none", False),
)
WORDS = (
    "scaled_dot_product_attention on {gpu}: {dtype}, d = {d}, mask: {mask}, every head with its "
    "own K and V. Which backend runs?"
)
OFFERED = ("flash", "cudnn", "efficient", "math")


def _asked(x: Input) -> dict:
    options = tuple((NAMES[name], _why(name, x)) for name in OFFERED)
    words = WORDS.format(gpu=GPUS[str(x.sm)], dtype=x.dtype, d=x.d, mask=MASKS[x.mask])
    return {"options": options, "answer": OFFERED.index(chosen(x)), "words": words}


def _why(name: str, x: Input) -> str:
    taken, why = chosen(x), refusal(name, x)
    if name == taken:
        order = tried(x.sm)
        before = listed([NAMES[k] for k in order[: order.index(name)]])
        refused = f"{before} refuse{'s' * (before in NAMES.values())} it; this is next in line."
        return refused if before else "It is tried first, and it takes this input."
    return f"It refuses: {why}." if why else f"It would, but {NAMES[taken]} comes before it."


_first, *_others = (_asked(x) for x in ASKED)
RUNGS = (rung("backends", **_first, variants=_others),)
