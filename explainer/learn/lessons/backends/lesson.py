"""Which backend of SDPA takes an input: the checks that PyTorch does, in its order."""

from dataclasses import dataclass

from explainer.base.amounts import listed
from explainer.learn.ecosystem import CHECKED
from explainer.learn.kit import Block, Words

t = Words(__name__)

NAMES = t.named("names")
GPUS = {"75": "T4", "80": "A100", "90": "H100, H200"}


@dataclass(frozen=True)
class Input:
    """What SDPA is given: ``sm`` the card's architecture, ``dtype``, head dimension ``d``, ``mask``
    "none", "causal" or "any"; each query head with its own K and V."""

    sm: int
    dtype: str
    d: int
    mask: str


def refusal(backend: str, x: Input) -> str:
    """Say why a backend does not take the input, "" if it does: the rows of
    assets/learn/backends.json as checks, forward pass, Nq = Nk, on the versions that were asked."""
    short = x.dtype in ("fp16", "bf16")
    if backend == "math":
        return ""
    if backend == "efficient":
        if x.dtype == "bf16" and x.sm < 80:
            return t("refusal.bf16")
        if x.d % (8 if short else 4):
            return t("refusal.multiple", n=8 if short else 4)
        return ""
    if x.sm < 80:
        return t("refusal.old")
    if not short:
        return t("refusal.short")
    if backend == "flash":
        return t("refusal.mask") if x.mask == "any" else ""
    most = 256 if x.sm == 90 else 128
    return t("refusal.cudnn", most=most) if x.d % 8 or x.d > most else ""


def tried(sm: int) -> tuple[str, ...]:
    """Return the backends in the order in which SDPA tries them."""
    if sm in (90, 100):
        return ("cudnn", "flash", "efficient", "math")
    return ("flash", "efficient", "math", "cudnn")


def chosen(x: Input) -> str:
    """Return the first that takes the input."""
    return next(name for name in tried(x.sm) if not refusal(name, x))


def compute(sm: int, dtype: str, d: int, mask: str) -> Block:
    """Show the backends in their order, each with its answer to this input."""
    x = Input(sm, dtype, d, mask)
    order, taken = tried(sm), chosen(x)
    whys = [refusal(name, x) for name in order]
    return t.picture(
        order="; ".join(
            f"{NAMES[k]}: {why or t('takes')}" for k, why in zip(order, whys, strict=True)
        ),
        runs=NAMES[taken],
        x=x,
        gpu=GPUS[str(sm)],
        mask=t.named("masks")[mask],
        names=[NAMES[name] for name in order],
        whys=[
            t("runs") if name == taken else why or t("would")
            for name, why in zip(order, whys, strict=True)
        ],
        at=order.index(taken),
        taken=taken,
        checked=CHECKED,
    )


def question(**given) -> dict:
    """The backends in their order; the first that takes the input is right."""
    x = Input(**given)
    offered = tried(x.sm)
    gpu = GPUS[str(x.sm)].replace(", ", " or ")
    words = t("question", gpu=gpu, dtype=x.dtype, d=x.d, mask=t.named("masks")[x.mask])
    options = tuple((NAMES[name], _why(name, x)) for name in offered)
    return {"options": options, "answer": offered.index(chosen(x)), "words": words}


def _why(name: str, x: Input) -> str:
    taken, why, order = chosen(x), refusal(name, x), tried(x.sm)
    if name == taken:
        before = [NAMES[k] for k in order[: order.index(name)]]
        return t("next", before=listed(before)) if before else t("first")
    return t("refused", why=why) if why else t("later", first=NAMES[taken])
