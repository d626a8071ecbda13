"""Requests that only somebody with bad intentions makes: random ones of a seed, and hand-made ones.

What a named endpoint takes is read from the running app, so that nothing here follows its changes.
"""

import http.client
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_plus

from explainer.base.fields import FIELDS
from tests.browser.harness import ROOT, Server

SCRIPT = "<script>window.pwned=1</script>"
# {ROOT} is the app's own folder.
DATA = json.loads((Path(__file__).parent / "hostile.json").read_text().replace("{ROOT}", str(ROOT)))
TEXTS = [*DATA["texts"], "9" * 5_000, "A" * 20_000, "𝟙🧮" * 40]
ODD = [*DATA["values"], 10**400]
WRONG = [None, [], {}, [[1]], float("nan"), float("inf"), 10**400, SCRIPT, "9" * 5_000, "\x00"]
BODIES = [
    *(text.encode("latin-1") for text in DATA["bodies"]),
    b'{"data": [' + b"9" * 6_000 + b"]}",
    b'{"data": ' + b"[" * 30_000,
    b'{"data": ["' + b"x" * 70_000 + b'"]}',
]
KEYS = (*(field.key for field in FIELDS.values()), *DATA["keys"])


@dataclass(frozen=True)
class Call:
    """One request; its path goes out as it stands."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict = field(default_factory=dict)
    follow: str = ""  # where what it begins can be read, with {event} for the id of the answer

    def __str__(self) -> str:
        body = "" if self.body is None else f" {self.body[:160]!r}"
        return f"{self.method} {self.path[:160]!r}{body} {self.headers or ''}"


def posted(path: str, value: object, follow: str = "") -> Call:
    """A post of JSON; of bytes as they are."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Call("POST", path, body, {"Content-Type": "application/json"}, follow)


class Connection(http.client.HTTPConnection):
    """Sends what http.client would refuse to send."""

    def _validate_path(self, url: str) -> None: ...

    def _encode_request(self, request: str) -> bytes:
        return request.encode("utf-8", "surrogatepass")


def send(server: Server, method: str, path: str, body=None, headers=None) -> tuple[int, str]:
    """Status and text of one request, sent as it stands; a body is JSON unless headers
    say otherwise."""
    connection = Connection("127.0.0.1", server.port, timeout=240)
    if headers is None and body is not None:
        headers = {"Content-Type": "application/json"}
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8", "replace")
    finally:
        connection.close()


class Attacker:
    """Makes calls of a seed against what the app says it has."""

    def __init__(self, server: Server, seed: int) -> None:
        self.random = random.Random(seed)
        info = json.loads(send(server, "GET", "/gradio_api/info")[1])["named_endpoints"]
        self.endpoints = {name[1:]: about["parameters"] for name, about in info.items()}
        config = json.loads(send(server, "GET", "/config")[1])
        self.functions = {f["id"]: len(f["inputs"]) for f in config["dependencies"]}

    def value(self) -> object:
        return self.random.choice(self.random.choice((TEXTS, ODD)))

    def calls(self, count: int) -> list[Call]:
        kinds = {
            self.named: 5,
            self.raw: 5,
            self.query: 5,
            self.climb: 4,
            self.other: 2,
        }
        chosen = self.random.choices(list(kinds), list(kinds.values()), k=count)
        return [make() for make in chosen]

    def named(self) -> Call:
        """A named endpoint: of /run and /trace a few are left valid by chance, and tiny then."""
        choose = self.random
        name = choose.choice(list(self.endpoints))
        parameters = self.endpoints[name]
        path = f"/gradio_api/call/{name}"
        if choose.random() < 0.15:
            return posted(path, choose.choice(BODIES))
        data = [p.get("parameter_default", p.get("example_input")) for p in parameters]
        for _ in range(choose.randint(1, 3)):
            data[choose.randrange(len(data))] = self.value()
        if name not in ("run", "trace") or choose.random() < 0.7:
            data[0] = choose.choice(WRONG)
        if choose.random() < 0.1:
            data = data[: choose.randrange(len(data))] or [*data, self.value()]
        if choose.random() < 0.2:
            names = [p["parameter_name"] for p in parameters]
            body = dict(zip(names, data, strict=False)) | {"pwned": SCRIPT}
            path, body = f"/gradio_api/call/v2/{name}", body
        else:
            body = {"data": data}
        return posted(path, body, f"/gradio_api/call/{name}/{{event}}")

    def raw(self) -> Call:
        """A post below the named endpoints: private functions by number, or no function at all."""
        choose = self.random
        path = f"/gradio_api/{choose.choice([*DATA['posted'][:3], *DATA['posted']])}"
        if choose.random() < 0.15:
            return posted(path, choose.choice(BODIES))
        index = choose.choice([*self.functions, *self.functions, -1, 10**9, 10**30, "0", None, [0]])
        count = self.functions.get(index, 3) if isinstance(index, int) else 3
        if choose.random() < 0.2:
            count = choose.randrange(20)
        session = f"hostile{choose.randrange(10**9)}"
        body = {
            "data": [self.value() for _ in range(count)],
            "fn_index": index,
            "session_hash": session if choose.random() < 0.9 else self.value(),
            "event_data": self.value() if choose.random() < 0.3 else None,
            "trigger_id": choose.choice((None, 0, -1, 10**9)),
            "component_id": choose.choice((0, 1, 10**9)),
            "fn_name": choose.choice(DATA["names"]),
            "event_id": "x",
        }
        joined = path.endswith("queue/join") and body["session_hash"] == session
        return posted(path, body, f"/gradio_api/queue/data?session_hash={session}" * joined)

    def query(self) -> Call:
        """Values that no page of ours puts into an address."""
        choose = self.random
        path = "/" if choose.random() < 0.2 else f"/fa/{choose.choice(DATA['ours'])}"
        pairs = []
        for key in choose.sample(KEYS, choose.randint(1, 4)):
            text = str(choose.choice((choose.choice(TEXTS)[:6_000], self.value())))[:6_000]
            value = quote_plus(text, errors="surrogatepass")
            key = key if choose.random() < 0.9 else "".join(f"%{ord(c):02x}" for c in key)
            pairs.append(f"{key}={value}" if choose.random() < 0.95 else f"{key}&={value}&%zz=%")
        return Call("GET", f"{path}?{'&'.join(pairs)}")

    def climb(self) -> Call:
        """A file that is nobody's business, by every way up."""
        choose = self.random
        wanted = choose.choice(DATA["files"])
        way = choose.choice(DATA["climb"]) * choose.randint(1, 9)
        form = choose.choice((str, str, quote, lambda x: quote(x, safe="")))
        end = choose.choice([*DATA["ends"], "x" * 300])
        return Call(
            choose.choice(("GET",) * 5 + ("HEAD",)),
            choose.choice(DATA["starts"]) + way + form(wanted) + end,
        )

    def other(self) -> Call:
        """Odd methods and headers, and routes of Gradio's that this app does not use."""
        choose = self.random
        name, value = choose.choice(DATA["headers"]), [*DATA["header values"], "x" * 4_000]
        headers = {name: choose.choice(value)}
        return Call(choose.choice(DATA["methods"]), choose.choice(DATA["other"]), None, headers)
