"""What the events of the Run page say where something breaks."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from explainer.engine.job import BROKE
from explainer.pages.run import RunEvents


def states(event: str, engine: object) -> list[dict]:
    async def all_of() -> list[dict]:
        answer = getattr(RunEvents(engine), f"answer_{event}")  # pyright: ignore[reportArgumentType]
        visitor = SimpleNamespace(session_hash="one", client=None, headers={})
        return [json.loads(state)[event] async for state in answer("", visitor)]

    return asyncio.run(all_of())


@pytest.mark.parametrize("event", ["run", "sweep"])
def test_an_event_that_breaks_ends_in_a_sentence(event, caplog):
    """The engine is one that can do nothing at all."""
    (state,) = states(event, object())
    assert BROKE in (state["sentence"] if event == "run" else state["error"])
    if event == "run":
        assert state["state"] == "refused", "the page may run again"
    assert "broke" in caplog.text
