"""Serve ``/metrics`` in Prometheus' text form to operators; off unless METRICS is set.

Labels are routes of the app and statuses, never what a visitor typed.
"""

import os
from collections.abc import Callable, Iterator

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/metrics"
SECONDS = (0.005, 0.02, 0.1, 0.3, 1, 3, 10, 30)
GAUGES = {
    "healthy": "1 if kernels can run",
    "running": "Kernel jobs that run",
    "waiting": "Kernel jobs in the line",
    "faults": "Faults of the kernel's process in a row",
}


class Meters:
    """Count requests; read the engine's state by ``state`` whenever the page is fetched."""

    def __init__(self, state: Callable[[], dict]) -> None:
        # Imported here, because the start of an app without metrics should not wait for it.
        from prometheus_client import (
            CollectorRegistry,
            Counter,
            Histogram,
            ProcessCollector,
            disable_created_metrics,
        )

        disable_created_metrics()
        self.registry, self._state = CollectorRegistry(), state
        self._requests = Counter(
            "fa_requests", "Requests", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "fa_response_seconds",
            "Until an answer begins",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)  # memory, open files, seconds of CPU
        self.registry.register(self)

    def count(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def collect(self) -> Iterator:
        """Yield the engine's metrics; prometheus_client calls this of a registered collector."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        state = self._state()
        for key, words in GAUGES.items():
            yield GaugeMetricFamily(f"fa_engine_{key}", words, value=float(state[key]))
        replaced = "Times that the kernel's process was replaced"
        yield CounterMetricFamily("fa_engine_replaced", replaced, value=state["replaced"])

    def page(self) -> Response:
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)


def is_enabled() -> bool:
    return os.environ.get("METRICS", "") not in ("", "0")


class MetricsPage:
    """Middleware that answers ``/metrics`` outside of the filter, which admits only the pages' own
    requests."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self.app, self.meters = app, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "GET":
            await self.meters.page()(scope, receive, send)
        else:
            await self.app(scope, receive, send)
