"""MLA: what the cache stores per token, and where the projections go."""

from __future__ import annotations

from explainer.base.facts import number
from explainer.learn.kit import Block, arrow, bar, bars, flow, node, note, picture, words_of

t = words_of(__name__)

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
    names, is_decoding = t.named("kinds"), phase == "decode"
    token = node("x", t("token"))
    latent = node("c", t("latent"), t("numbers", n=LATENT), "v", on=True)
    rotated = node("r", t("rotated"), t("numbers", n=ROTATED), "k", on=True)
    if is_decoding:
        query = node("q", t("query"), t("absorbed"), "q")
        scores = node("s", t("scores"), t("wide", n=LATENT + ROTATED), "s")
        columns = [[token], [latent, rotated, query], [scores], [node("o", "O", t("up_last"), "o")]]
        links = [("x", "c"), ("x", "r"), ("c", "s"), ("r", "s"), ("q", "s"), ("s", "o")]
    else:
        heads = [
            node("k", t("keys", n=HEADS), t("up"), "k"),
            node("v", t("values", n=HEADS), t("up"), "v"),
        ]
        scores = node("s", t("scores"), t("wide", n=WIDE + ROTATED), "s")
        columns = [[token], [latent, rotated], heads, [scores], [node("o", "O", hue="o")]]
        links = [("x", "c"), ("x", "r"), ("c", "k"), ("c", "v"), ("k", "s"), ("r", "s"), ("s", "o")]
        links.append(("v", "o"))
    items = [
        bar(names[key], n, f"{n:,}", "v" if key == "mla" else "k", on=key == "mla")
        for key, n in stored().items()
    ]
    return picture(
        t("label"),
        t("spoken", why=t.named("whys")[phase], n=stored()["mla"], whole=stored()["mha"]),
        note(t.named("whys")[phase], aside=True),
        flow(t("framed"), columns, [arrow(a, b) for a, b in links]),
        bars(t("stored", heads=HEADS), items),
    )


def question(heads: int, d: int, latent: int, rotated: int) -> dict:
    """How many times fewer numbers MLA stores than MHA; and: K alone, the rotated key forgotten,
    as against one head."""
    whole, mine = 2 * heads * d, latent + rotated
    return {"answer": whole / mine, "wrong": (whole / 2 / mine, whole / latent, 2 * d / mine)}


def figures() -> dict[str, int]:
    """Return what the text names: numbers of a dot product in decoding and in prefill."""
    return {"wide": LATENT + ROTATED, "qk": WIDE + ROTATED}
