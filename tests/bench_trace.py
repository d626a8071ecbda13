"""Time of a trace: ``python -m tests.bench_trace``, the median of nine runs each."""

import time

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import TRACES

if __name__ == "__main__":
    for p in (Problem(), Problem(n=128, d=64, block_q=16, block_k=16, mask="full")):
        for pass_, run in TRACES.items():
            times = []
            for _ in range(9):
                for function in (*TRACES.values(), schedule):
                    function.cache_clear()
                start = time.perf_counter()
                run(p)
                times.append((time.perf_counter() - start) * 1e3)
            print(
                f"{pass_} N={p.n} d={p.d} Br={p.block_q} Bc={p.block_k} {p.order}: "
                f"median {sorted(times)[4]:.2f} ms"
            )
