"""Names and orders that several places share."""

import inspect

import gradio as gr
import pytest

from explainer.pages import api

FUNCTIONS = {"run": api.run(None), "trace": api.trace, "sweep": api.sweep(None)}


@pytest.mark.parametrize("name", api.ENDPOINTS)
def test_endpoint_takes_what_the_gate_counts(name):
    function, names = FUNCTIONS[name], api.ENDPOINTS[name]
    signature = inspect.signature(function)
    assert tuple(key for key in signature.parameters if key != "request") == names
    for parameter in signature.parameters.values():
        assert parameter.annotation != parameter.empty and parameter.default != parameter.empty


def test_a_trace_for_a_program_is_bounded_in_numbers():
    with pytest.raises(gr.Error, match="at most 1,000,000"):
        api.trace(128, 256, 1, 1)
    assert len(api.trace(128, 64, 8, 8)["visits"])
