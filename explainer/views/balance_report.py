"""Render how equal the work of FA-2's programs is under a mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from markupsafe import Markup

from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.views.templates import render

t = Texts("parallel")


def render_balance(w: Workload, pass_: str = "forward") -> Markup:
    """Render how equal the row blocks' work is, in the backward pass the key blocks': this mask
    beside causal and full."""
    rows = []
    for mask in dict.fromkeys((w.mask.text, "causal", "full")):
        visits = np.add(*launch.block_visits(replace(w, mask=mask), pass_))
        longest, mean = int(visits.max()), float(visits.mean())
        rows.append(
            {
                "mask": mask,
                "visits": int(visits.sum()),
                "shortest": int(visits.min()),
                "mean": mean,
                "longest": longest,
                "even": mean / longest if longest else 1.0,
            }
        )
    return render("parallel/balance", pass_=pass_, kind=computed(t("balance.kind")), rows=rows)
