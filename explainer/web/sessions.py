"""What Gradio keeps of each session, without what nobody asks for."""

from __future__ import annotations

from types import SimpleNamespace

from gradio import state_holder
from gradio.blocks import Blocks


class Session(state_holder.SessionState):
    """Notes of a component only what an event changed.

    Gradio first writes down what each of our components is, for links to a state, which this app
    has not: 10 ms on the loop that answers everybody, and 150 kB, at a program's every call.
    """

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))


def lighten() -> None:
    """To be called before the app is launched: its sessions are such ones."""
    state_holder.SessionState = Session
