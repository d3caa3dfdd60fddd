"""What runs in the jail of the scorer `math`: whether an answer means what the reference means.

The library reads texts that a model wrote with a parser that evaluates them, and what it works out
of them may be of any size. It is read once; each answer is read in a process of its own, which
begins as this one stands and is ended with its verdict.
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
    """Give whether the answer has an expression that means the same; None where it has none."""
    wanted = parse(f"${reference}$", parsing_timeout=0) or parse(reference, parsing_timeout=0)
    result = parse(answer, parsing_timeout=0)
    return verify(wanted, result, timeout_seconds=None) if result else None


def judged(answer, reference, seconds):
    """Give what `means` says, as text, or how it came to no end."""
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
