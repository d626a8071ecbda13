"""Masks and scores that published models use, scaled to the sequence on screen.

``assets/learn/presets.json`` has them. A figure of a model is an entry of the register
(assets/facts.json), which has its source.
"""

import re
from dataclasses import dataclass

from explainer.base.facts import FACTS
from explainer.learn.content import stored


@dataclass(frozen=True)
class Preset:
    """``template`` is the mask's text with sixteenths of N in ``parts`` and the starts of three
    documents; ``score`` and ``sink`` as in a Problem. ``says`` has the models' own numbers, of
    which ``fact``, an entry of the register, is the ground."""

    key: str
    title: str
    models: str
    says: str
    fact: str
    template: str
    score: str = "none"
    sink: str = ""

    def mask(self, n: int) -> str:
        """Return the mask's text for N tokens."""
        parts = [max(1, round(n * k / 16)) for k in range(17)]
        starts = sorted({0, parts[5], parts[10]} & set(range(n)))
        return self.template.format(parts=parts, starts=",".join(map(str, starts)))

    def to_json(self) -> dict[str, str]:
        """Return all but the mask for the browser, with its source."""
        fields = ("key", "title", "models", "says", "score", "sink")
        return {name: getattr(self, name) for name in fields} | {"source": FACTS[self.fact].ground}


PRESETS = tuple(Preset(**entry) for entry in stored("presets"))
# The presets that are a mask alone, by their titles.
SCALED = {p.title: p.mask for p in PRESETS if p.score == "none" and not p.sink}


def preset_text(value: str, n: object) -> str:
    """Write the mask of a preset for N tokens, also of one that is still called by its title;
    return any other text as it is."""
    name, _, text = value.partition(": ")
    if name in SCALED and text:
        return text
    digits = re.sub(r"[\s,]|\.0$", "", str(n))
    if value in SCALED and digits.isdecimal() and len(digits) < 8:
        return SCALED[value](max(1, int(digits)))
    return value
