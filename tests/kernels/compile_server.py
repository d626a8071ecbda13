"""`python -m kernels.measure.compile_child` many times over: torch and Triton are imported once.

Each request, a line of JSON, is answered by a fork, as fresh as a process of its own.
"""

import json
import os
import sys
import traceback

from kernels.measure.compile_child import compile_kernel


def answer(line: str) -> dict:
    """What the child process would give: its exit status and what it wrote."""
    try:
        return {"code": 0, "out": json.dumps(compile_kernel(json.loads(line))), "error": ""}
    except BaseException:
        return {"code": 1, "out": "", "error": traceback.format_exc()}


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if not child:
            print(json.dumps(answer(line)), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
