"""A stand-in for the package ``spaces``: fork for every call, pickle both ways, a duration."""

from __future__ import annotations

import multiprocessing
import pickle
import traceback

from tests.workers import WAIT_S


class Broken(Exception):
    """What spaces raises in the web process when the forked one failed."""


def GPU(duration):
    """``@spaces.GPU(duration=…)``: ``duration`` seconds, or a function of the same arguments."""

    def decorate(function):
        def call(*args):
            seconds = duration(*args) if callable(duration) else duration
            sent = pickle.dumps(args)
            context = multiprocessing.get_context("fork")
            here, there = context.Pipe(duplex=False)
            child = context.Process(target=_run, args=(function, sent, there))
            child.start()
            there.close()
            try:
                if not here.poll(WAIT_S):  # the seconds are a busy machine's too
                    raise Broken(f"GPU task aborted after {seconds} s")
                good, value = pickle.loads(here.recv_bytes())
            except EOFError:
                raise Broken("the GPU process died") from None
            finally:
                child.kill()
                child.join()
            if not good:
                raise Broken(value)
            return value

        return call

    return decorate


def _run(function, sent, pipe) -> None:
    try:
        answer = pickle.dumps((True, function(*pickle.loads(sent))))
    except BaseException:
        answer = pickle.dumps((False, traceback.format_exc()[-300:]))
    pipe.send_bytes(answer)
