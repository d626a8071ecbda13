"""How fast runs are here, learned from those that ended: for what the line says of its waits."""

SHARE = 0.3  # of the last run in what is known
LEAST, MOST = 0.1, 10.0  # of one run: a machine that slept says nothing about the next


class RuntimeEstimate:
    """``factor``: seconds that runs take by seconds that were expected."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._life: int | None = None

    def learn(self, life: int, took_s: float, expected_s: float) -> None:
        """One run of the worker's ``life``, whose first one also loads what it needs and says
        nothing about the next."""
        if life == self._life and expected_s:
            took = min(max(took_s / expected_s, LEAST), MOST)
            self.factor += SHARE * (took - self.factor)
        self._life = life
