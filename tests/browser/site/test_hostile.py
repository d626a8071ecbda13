"""Hostile requests, 10,000 of them with --full: no 5xx, no stack, no path, no file, nothing of them
in the log, and the app goes on; and addresses full of scripts, on every page."""

import http.client
import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote, urlencode

import pytest

from explainer.base.fields import FIELDS
from explainer.base.logs import is_line
from tests.browser.harness import ROOT, settled
from tests.browser.run.running import open_run, run
from tests.browser.site.hostile import DATA, TEXTS, Attacker, Call, posted, send

SEED, AT_ONCE = 20261121, 8
CALLS, ALL_CALLS = 500, 10_000
STACK = ("Traceback (most recent", 'File "/', "site-packages")
PLACES = (str(ROOT), sys.prefix, f"{tempfile.gettempdir()}/gradio")
# One line each of files that are nobody's business; the code that /fa/listing shows is not theirs.
SECRETS = (
    "def serve(",
    "class RequestFilter",
    next(x for x in (ROOT / "requirements.txt").read_text().splitlines() if "==" in x or ">" in x),
    "root:x:0:0",
    "GRADIO_SERVER_PORT=",
    "[core]\n",
    "VENV := ",
)
# One of each kind that random calls found to answer wrongly, so that a failure names its kind.
KINDS = {
    name: posted(call["path"], call["body"])
    if "body" in call
    else Call("GET", call["path"].replace("{LONG}", "x" * 300), None, call.get("headers", {}))
    for name, call in DATA["kinds"].items()
} | {
    "a file for an app that takes none": Call(
        "POST",
        "/gradio_api/upload",
        b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nx\r\n--b--\r\n',
        {"Content-Type": "multipart/form-data; boundary=b"},
        "/gradio_api/file={event}",
    ),
}


def faults(server, call: Call) -> list[str]:
    """What is wrong with the answer to one call, and with what that call has begun."""
    found = []
    try:
        status, text = send(server, call.method, call.path, call.body, call.headers)
        found += wrong(call, status, text)
        if call.follow and status == 200:
            begun = json.loads(text)
            event = begun.get("event_id", "") if isinstance(begun, dict) else begun[0]
            path = call.follow.format(event=event)
            found += wrong(call, *send(server, "GET", path))
    except (OSError, http.client.HTTPException) as error:
        found.append(f"no answer ({error!r}) to {call}")
    return found


def wrong(call: Call, status: int, text: str) -> list[str]:
    """The complaints about one answer, one line each."""
    asked = f"{call.path} {unquote(call.path)} {call.body!r}"
    # A path that the request itself names may come back in "not allowed"; its content may not.
    shown = [mark for mark in (*STACK, *PLACES) if mark in text and mark not in asked]
    shown += [mark for mark in SECRETS if mark in text]
    found = [f"{status} to {call}: {text[:120]!r}"] if status >= 500 else []
    return found + [f"{mark!r} in the answer to {call}" for mark in shown]


def still_serves(server) -> None:
    assert send(server, "GET", "/healthz")[0] == 200
    assert send(server, "GET", "/fa/trace?n=16&d=8&br=4&bc=4")[0] == 200
    assert send(server, "GET", "/")[0] == 200


@pytest.mark.parametrize("call", KINDS.values(), ids=KINDS)
def test_hand_made_call(server, call):
    assert not faults(server, call)


def test_a_function_of_the_browser_is_none_of_the_server(server):
    config = json.loads(send(server, "GET", "/config")[1])
    indices = [f["id"] for f in config["dependencies"] if not f["backend_fn"]]
    calls = [posted("/gradio_api/run/predict", {"data": [], "fn_index": i}) for i in indices]
    assert indices and not [line for call in calls for line in faults(server, call)]


@pytest.mark.parametrize("path", ["/", "/config"])
@pytest.mark.parametrize("name", ["X-Gradio-Server", "X-Forwarded-Host"])
def test_a_header_of_one_visitor_reaches_no_other(server, path, name):
    host = {"Host": f"{name}.test"}  # nobody has asked by this name: nothing is kept for it yet
    send(server, "GET", path, None, host | {name: "http://evil.example"})
    assert "evil.example" not in send(server, "GET", path, None, host)[1]


# Paths that climb out of the folder of static files, or name none of them; pages by odd names.
PLAIN = {
    path: status for status, paths in ((404, "climbs"), (200, "pages")) for path in DATA[paths]
}


@pytest.mark.parametrize("path", PLAIN)
def test_a_path_goes_out_as_it_is_written(server, path):
    assert send(server, "GET", path)[0] == PLAIN[path]
    assert not faults(server, Call("GET", path))


def test_random_calls(server, request):
    every = request.config.getoption("--full")
    calls = Attacker(server, SEED).calls(ALL_CALLS if every else CALLS)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [line for lines in pool.map(lambda c: faults(server, c), calls) for line in lines]
    still_serves(server)
    log = server.log(100_000_000)
    found += [f"in the log: {line[:200]}" for line in log.splitlines() if not is_line(f"{line}\n")]
    found += [f"in the log: {mark}" for mark in ("pwned", "hostile", "passwd") if mark in log]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found[:60])


PAYLOADS = [text for text in TEXTS if "pwned" in text and "\r" not in text]
NAMES = [
    *(prefix + field.key for prefix in ("", "run-", "mem-", "par-") for field in FIELDS.values()),
    *DATA["places"],
]
PAGES = ("step", "run", "memory", "parallel", "learn", None)  # None: the page's name is the script
WORDS = DATA["words"]  # short enough to be taken for words of a sentence, which the page then shows
SENTENCE = {"data": "sentence", "text": " ".join(WORDS), "n": "6", "br": "2", "bc": "2"}


INJECTED = """() => [...document.querySelectorAll("*")].filter((node) =>
  (node.tagName === "SCRIPT" && /pwned/.test(node.textContent)) || node.matches('img[src="x"]')
  || [...node.attributes].some(({ name, value }) =>
    /pwned/.test(value) && (/^on/.test(name) || /^\\s*javascript:/i.test(value))))
  .map((node) => node.outerHTML.slice(0, 200))"""


REFUSED = """() => performance.getEntriesByType("resource")
  .filter(({ name, responseStatus }) => responseStatus === 400 && name.includes("/fa/"))
  .length"""


def unharmed(tab) -> None:
    """No script of the address ran or could; what is refused is a trace or a picture, no more."""
    settled(tab.page)
    while sum("status of 400" in p for p in tab.problems) < tab.page.evaluate(REFUSED):
        tab.page.wait_for_event("console")  # the console names a refusal later than fetch() does
    assert tab.page.evaluate("window.pwned") is None
    assert tab.page.evaluate(INJECTED) == []
    refused = [
        p for p in tab.problems if re.search(r"status of 400.*/fa/(trace|memory|parallel)\?", p)
    ]
    assert tab.problems == refused
    tab.problems.clear()


@pytest.fixture
def silent(tab):
    """A watched page in which no dialog may open."""
    opened: list[str] = []

    def note(dialog) -> None:
        opened.append(dialog.message)
        dialog.dismiss()

    tab.page.on("dialog", note)
    yield tab
    tab.page.remove_listener("dialog", note)
    assert not opened


@pytest.mark.parametrize("k, payload", [*enumerate(PAYLOADS)], ids=range(len(PAYLOADS)))
def test_an_address_full_of_scripts_runs_none(silent, k, payload):
    page = PAGES[k % len(PAGES)]
    query = dict.fromkeys(NAMES, payload) | {"page": page or payload}
    silent.page.goto(f"{silent.server.url}/?{urlencode(query)}")
    unharmed(silent)
    chosen = silent.page.locator("#pages > .tab-wrapper [role=tab][aria-selected=true]").first
    assert chosen.get_attribute("data-tab-id") == (page or "step")


MODES = [{"order": "fa1"}, {"mode": "present"}, {"mode": "compare"}, {"tour": "1"}]


@pytest.mark.parametrize("more", MODES, ids=lambda more: "=".join(*more.items()))
def test_words_that_are_scripts_are_shown_as_words(silent, more):
    page = silent.open(urlencode(SENTENCE | more))
    if "order" in more:  # the other modes show no table of rows, or other rows
        assert WORDS[0] in page.inner_text(".fa-rows")
    unharmed(silent)


def test_the_run_page_reports_such_words_without_running_them(silent):
    query = {f"run-{key}": value for key, value in SENTENCE.items()}
    page = open_run(silent, **query)
    assert run(page)["right"] == "true"
    unharmed(silent)
