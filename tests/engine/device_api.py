"""A stand-in for ZeroGPU's device API, which the package ``spaces`` asks for GPUs over HTTP."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

GRANTED = {"idle": False, "nvidiaIndex": 0, "nvidiaUUID": "GPU-none", "allowToken": "token"}


class DeviceApi:
    """Listens on a free port of loopback until the process ends. ``answers`` are used up by calls
    of ``/schedule``, one each: (status, body, headers); without one a GPU is granted."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict]] = []
        self.answers: list[tuple[int, dict | str, dict]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                url = urlsplit(self.path)
                name = url.path.strip("/")
                api.asked.append((name, dict(parse_qsl(url.query))))
                status, body, headers = 200, {}, {}
                if name == "schedule":
                    status, body, headers = (api.answers or [(200, GRANTED, {})]).pop(0)
                text = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                for key, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(key, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def of(self, name: str) -> list[dict]:
        """The parameters of all calls of this name."""
        return [given for asked, given in self.asked if asked == name]
