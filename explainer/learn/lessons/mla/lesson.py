"""MLA: what the cache stores per token, and where the projections go."""

from explainer.base.facts import number
from explainer.learn.kit import Block, Words

t = Words(__name__)

HEADS, WIDE = int(number("mla.heads")), 128
LATENT, ROTATED = int(number("mla.latent")), int(number("mla.rope"))


def stored() -> dict[str, int]:
    """Return the numbers that a layer's cache stores per token, by kind of attention."""
    return {
        "mha": 2 * HEADS * WIDE,
        "gqa": 2 * 8 * WIDE,
        "mla": LATENT + ROTATED,
        "mqa": 2 * WIDE,
    }


def compute(phase: str) -> Block:
    """Show the way from a token to scores in prefill or decoding, and what is stored."""
    sizes = stored()
    return t.picture(
        "label",
        "spoken",
        phase,
        why=t.named("whys")[phase],
        n=sizes["mla"],
        whole=sizes["mha"],
        sizes=sizes,
        **figures(),
    )


def question(heads: int, d: int, latent: int, rotated: int) -> dict:
    """How many times fewer numbers MLA stores than MHA; and: K alone, the rotated key forgotten,
    as against one head."""
    whole, mine = 2 * heads * d, latent + rotated
    return {"answer": whole / mine, "wrong": (whole / 2 / mine, whole / latent, 2 * d / mine)}


def figures() -> dict[str, int]:
    """Return what the text names: numbers of a dot product in decoding and in prefill."""
    return {"wide": LATENT + ROTATED, "qk": WIDE + ROTATED}
