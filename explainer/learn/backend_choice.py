"""7.2: which backend of SDPA takes an input: the checks that PyTorch does, in its order."""

from __future__ import annotations

from dataclasses import dataclass

from explainer.base.amounts import listed
from explainer.learn.blocks import Block, t, text
from explainer.learn.ecosystem import CHECKED
from explainer.learn.scene import Shape, box, draw_text, panel, path, scene

NAMES = t.named("backend_choice.names")
GPUS = {"75": "T4", "80": "A100", "90": "H100, H200"}


@dataclass(frozen=True)
class Input:
    """What SDPA is given: ``sm`` the card's architecture, ``dtype``, head dimension ``d``, ``mask``
    "none", "causal" or "any", ``shared`` whether query heads share K and V (enable_gqa)."""

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
            return t("backend_choice.refusal.bf16")
        if x.d % (8 if short else 4):
            return t("backend_choice.refusal.multiple", n=8 if short else 4)
        return t("backend_choice.refusal.shared") if x.shared else ""
    if x.sm < 80:
        return t("backend_choice.refusal.old")
    if not short:
        return t("backend_choice.refusal.short")
    if backend == "flash":
        if x.d > 256:
            return t("backend_choice.refusal.wide")
        return t("backend_choice.refusal.mask") if x.mask == "any" else ""
    most = 256 if x.sm == 90 else 128
    return t("backend_choice.refusal.cudnn", most=most) if x.d % 8 or x.d > most else ""


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
    shapes = [draw_text(0, 16, t("backend_choice.tried"), "is-bold")]
    for k, name in enumerate(tried(x.sm)):
        why, at = refusal(name, x), 28 + k * 50
        runs = name == taken
        shapes += [
            box(
                0,
                at,
                170,
                42,
                NAMES[name],
                hue="v" if runs else "",
                key=name,
                look="is-full is-edge" if runs else "is-line",
            ),
            draw_text(
                186,
                at + 26,
                t("backend_choice.runs") if runs else why or t("backend_choice.would"),
                f"is-small {'is-good' if runs else 'is-quiet'}",
                key=f"why {name}",
            ),
        ]
        if k:
            shapes.append(path([(85, at - 8), (85, at - 1)], look="is-quiet", tip=5))
    return shapes


def _which(sm: int, dtype: str, d: int, mask: str, shared: bool = False) -> list[Block]:
    x = Input(sm, dtype, d, mask, shared)
    order = [f"{NAMES[k]}: {refusal(k, x) or t('backend_choice.takes')}" for k in tried(x.sm)]
    words = t("backend_choice.spoken", order="; ".join(order), runs=NAMES[chosen(x)])
    stored = chosen(x) == "math"
    return [
        scene(t("backend_choice.title"), words, panel(440, 224, _picture(x))),
        text(
            t("backend_choice.stored" if stored else "backend_choice.fused", checked=CHECKED),
            "fine",
        ),
    ]


WIDGETS = {
    "backends": _which,
}


def _question(**given) -> dict:
    x = Input(**given, shared=False)
    offered = tried(x.sm)
    options = tuple((NAMES[name], _why(name, x)) for name in offered)
    words = t(
        "backend_choice.question",
        gpu=GPUS[str(x.sm)].replace(", ", " or "),
        dtype=x.dtype,
        d=x.d,
        mask=t.named("backend_choice.question_masks")[x.mask],
    )
    return {"options": options, "answer": offered.index(chosen(x)), "words": words}


def _why(name: str, x: Input) -> str:
    taken, why = chosen(x), refusal(name, x)
    if name == taken:
        order = tried(x.sm)
        before = [NAMES[k] for k in order[: order.index(name)]]
        if not before:
            return t("backend_choice.first")
        return t("backend_choice.next", before=listed(before))
    return (
        t("backend_choice.refused", why=why)
        if why
        else t("backend_choice.later", first=NAMES[taken])
    )


QUESTIONS = {"backends": _question}
