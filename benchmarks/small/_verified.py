"""Runs in the jail of the scorer `math`: whether an answer means the same as the reference.

The library parses a model's texts with a parser that evaluates them, and its results may be of any
size. It is loaded once; each answer is read in a forked process, which is killed after its verdict.
"""

# pyright: basic

import gc
import logging
import os
import select
import signal

from math_verify import parse, verify

logging.disable()  # it warns that it is without a time limit: the process has one


def means(answer, reference):
    """Return whether the answer's expression means the same; None if it has no expression."""
    wanted = parse(f"${reference}$", parsing_timeout=0) or parse(reference, parsing_timeout=0)
    result = parse(answer, parsing_timeout=0)
    return verify(wanted, result, timeout_seconds=None) if result else None


def judged(answer, reference, seconds):
    """Return the result of `means` as text, or why it did not finish."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if not child:
        _say(outgoing, answer, reference)
    os.close(outgoing)
    try:
        if not select.select([incoming], [], [], seconds)[0]:
            return f"it ran longer than {seconds:g} seconds"
        return os.read(incoming, 1000).decode("utf-8", "replace") or "its process ended"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(incoming)


def _say(outgoing, answer, reference):
    try:
        text = repr(means(answer, reference))
    except BaseException as error:  # noqa: BLE001 - whatever the library makes of such a text
        text = f"{type(error).__name__}: {error}".strip(": ")
    os.write(outgoing, text[:200].encode("utf-8", "replace"))
    os._exit(0)


means("$\\frac{1}{2}x$", "0.5x")  # what the library makes at its first use, all processes have
gc.freeze()
