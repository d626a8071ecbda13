"""A request outside of what is allowed is answered by every route with 400 and the sentence."""

import pytest
from starlette.testclient import TestClient

from explainer.web import page_cache, routes

D = "d = 0 is not allowed: the head dimension d must be a whole number from 1 to 256."
STEP = "step = -1 is not allowed: the step must be a whole number from 0 to 9."
REFUSED = {
    "trace?d=0": D,
    "trace?n=16&n=0": "n = 0 is not allowed: the sequence length N must be a whole number from 1 "
    "to 65,536.",
    "trace?pass=back": "pass = back is not allowed: the pass must be one of forward, backward.",
    "visit?pass=backward&n=16384&d=64&br=128&bc=64&order=standard&at=98559": "order = standard is "
    "not allowed for the numbers of one tile of the backward pass at n = 16,384: fa1 or fa2: P, dP "
    "and dS of 16,384 rows would take 3 GiB, and at most 512 MiB are allowed.",
    "visit?n=16&at=x": STEP,
    "export.npz?d=0": D,
    "code?kind=x": "kind = x is not allowed: one of ptx, sass.",
    "learn?w=<b>": "w = <b> is not allowed: there is no such widget.",
}


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_allowed_is_400_and_a_sentence(client, address):
    answer = client.get(f"/fa/{address}")
    assert (answer.status_code, answer.json()) == (400, {"error": REFUSED[address]})
    assert answer.headers["content-type"] == "application/json"


def test_what_is_allowed_is_answered(client):
    assert client.get("/fa/trace?d=1").status_code == 200
    answers = [client.get(f"/fa/trace?d=1{more}").content for more in ("", "&pass=forward")]
    assert answers[0] == answers[1] != client.get("/fa/trace?d=1&pass=backward").content


def test_what_depends_on_the_build_alone_is_made_and_packed_once():
    assert all(f"/fa/{name}".startswith(page_cache.STATIC) for name in routes.CONSTANT)


def test_a_trace_is_small_and_cached(client):
    headers = client.get("/fa/trace").headers
    assert headers["content-encoding"] == "gzip" and "immutable" in headers["cache-control"]
    assert int(headers["content-length"]) <= 30_000


def test_health_says_what_there_is(client):
    answer = client.get("/healthz")
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {
        *("healthy", "why", "worker", "running", "waiting", "faults", "replaced", "resting_s"),
        *("device", "interpreted"),
    }


def test_a_large_answer_is_sent_in_pieces(client):
    sizes = []

    async def watched(scope, receive, send) -> None:
        async def note(message) -> None:
            sizes.append(len(message.get("body", b"")))
            await send(message)

        await client.app(scope, receive, note)

    answer = TestClient(watched).get("/fa/export.html")
    assert answer.headers["content-length"] == str(len(answer.content)) == str(sum(sizes))
    assert max(sizes) <= routes.PIECE < len(answer.content)
