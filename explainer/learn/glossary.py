"""The glossary: every symbol and every term of the pages, in 40 words at most, and what papers,
Triton and Stanford's CS336 call it."""

from dataclasses import asdict
from functools import cache

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.base.amounts import listed
from explainer.learn.blocks import t
from explainer.learn.content import Term, stored


def _term(entry: dict) -> Term:
    """Make the entry's term, whose words end with what others call it."""
    others = [
        t("glossary.called", name=name, by=by) for by, name in entry.get("called", {}).items()
    ]
    words = " ".join(
        (entry["words"], *([t("glossary.elsewhere", names=listed(others))] * bool(others)))
    )
    return Term(entry["key"], entry["symbol"], entry["name"], words)


TERMS = tuple(map(_term, stored("glossary", **CONVENTIONS)))
# How the pages write some of them beside their names.
_ALSO = t.named("glossary.also")
# Names that mean something else as often: shown for a symbol beside them, never found in a text.
_TOO_PLAIN = {*t.row("glossary.plain")}


@cache
def spelled() -> dict[str, str]:
    """{as it stands in a text: key}: names, also at the beginning of a sentence, and symbols of two
    letters and more or of none that is Latin. One Latin letter is found everywhere, so a symbol is
    told by its surroundings (assets/js/site/terms.js)."""
    found: dict[str, str] = {}
    for term in TERMS:
        if len(term.symbol) > 1 or term.symbol in ("α", "ℓ"):
            found[term.symbol] = term.key
    for term in TERMS:
        for name in term.name.replace(" or ", "").split(","):
            name = name.strip()
            plain = name in _TOO_PLAIN or name.startswith("phase ")
            if plain or (term.symbol and " in a Triton" in name):
                continue
            found.setdefault(name, term.key)
            found.setdefault(name[0].upper() + name[1:], term.key)
    return found | _ALSO


def groups() -> dict[str, tuple[Term, ...]]:
    """{heading: its terms}: symbols and phases in the order of the algorithm, words by letter."""
    symbols = tuple(term for term in TERMS if term.symbol)
    phases = tuple(term for term in TERMS if term.name.startswith("phase "))
    rest = (term for term in TERMS if term not in {*symbols, *phases})
    words = tuple(sorted(rest, key=lambda term: term.name.casefold()))
    return {
        t("glossary.symbols"): symbols,
        t("glossary.phases"): phases,
        t("glossary.words"): words,
    }


def data() -> dict[str, object]:
    """What the browser looks words up in: ``terms`` and ``spelled``."""
    return {"terms": [asdict(term) for term in TERMS], "spelled": spelled()}
