"""What a view of the Memory or the Parallel page is made of."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go
from markupsafe import Markup


class View(NamedTuple):
    """``head``: HTML above the charts; ``figures``: at most two charts; ``tail``: HTML below."""

    head: Markup
    figures: tuple[go.Figure, ...] = ()
    tail: Markup = Markup()
