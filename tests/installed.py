"""Try an installed app: `python tests/installed.py [COMMAND …]` starts it and asks for its answers.

COMMAND is `flashattention-tiles` unless another one is named. It imports nothing of the project,
so that it tries what is installed and no clone. Exits with an error where an answer is missing.
"""

import gzip
import json
import re
import sys
import tempfile
from subprocess import PIPE, Popen
from urllib.error import HTTPError
from urllib.request import urlopen


def fetch(url: str) -> tuple[int, bytes]:
    """Return status and uncompressed body of a GET."""
    try:
        answer = urlopen(url, timeout=60)
    except HTTPError as error:
        answer = error
    with answer:
        body = answer.read()
        packed = answer.headers.get("Content-Encoding") == "gzip"
        return answer.status, gzip.decompress(body) if packed else body


def check(url: str) -> dict:
    """Return /healthz after the page, its files, traces and, where kernels run, a run."""
    status, page = fetch(url)
    assert status == 200, page[:500]
    files = re.search(rb"fa/static/\w+/(?=all\.css)", page)
    assert files, page[:500]
    for name in ("all.css", "js/all.js"):
        status, body = fetch(f"{url}{files[0].decode()}{name}")
        assert status == 200 and len(body) > 10_000, name
    status, trace = fetch(f"{url}fa/trace?n=8&d=4&br=4&bc=4")
    assert status == 200 and trace.startswith(b"FATR"), trace[:500]
    status, expensive = fetch(f"{url}fa/trace?n=256&d=64&br=16&bc=16")
    assert status == 200 and len(expensive) > len(trace), expensive[:500]
    status, health = fetch(f"{url}healthz")
    if status == 200:
        from gradio_client import Client

        client = Client(url, verbose=False)
        result = client.predict(n=16, d=8, br=4, bc=4, methods=["fa2"], api_name="/run")
        assert [row["right"] for row in result["rows"]] == [True], result
    return json.loads(health)


def main(command: list[str]) -> None:
    """Start the app in an empty folder on a free port and print what `check` finds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Popen([*command, "--port", "0"], cwd=folder, stdout=PIPE) as app,
    ):
        try:
            assert app.stdout
            address = next(line for line in app.stdout if line.startswith(b'{"serving"'))
            print(json.dumps(check(json.loads(address)["serving"])))
        finally:
            app.terminate()


if __name__ == "__main__":
    main(sys.argv[1:] or ["flashattention-tiles"])
