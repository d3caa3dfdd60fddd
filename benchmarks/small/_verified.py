"""What runs in the jail of the scorer `math`: whether an answer means what the reference means.

The library reads texts that a model wrote with a parser that evaluates them, and what it works out
of them may be of any size: it is given a jail, and no more time than the jail has.
"""

# pyright: basic

import logging

from math_verify import parse, verify

logging.disable()  # it warns that it is without a time limit: the jail has one


def means(answer, reference):
    """Give whether the answer has an expression that means the same; None where it has none."""
    wanted = parse(f"${reference}$", parsing_timeout=0) or parse(reference, parsing_timeout=0)
    found = parse(answer, parsing_timeout=0)
    return verify(wanted, found, timeout_seconds=None) if found else None
