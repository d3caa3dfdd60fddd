"""Runs in the two jails of the scorer `humaneval`: an answer in one, its test in the other.

Both get this file as their first cell. Values pass between them as text that can hold only plain
values, so an answer cannot pass an object that claims to be equal to anything.
"""

# pyright: basic

import json


def encode(value):
    return json.dumps(_marked(value))


def _marked(value):
    """Convert a value to one that JSON can hold. Any other iterable becomes an iterator."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"dict": [[_marked(key), _marked(item)] for key, item in value.items()]}
    for mark, kind in (("list", list), ("tuple", tuple), ("set", (set, frozenset))):
        if isinstance(value, kind):
            return {mark: [_marked(item) for item in value]}
    return {"iter": [_marked(item) for item in value]}


def decode(text):
    return _unmarked(json.loads(text))


def _unmarked(marked):
    if not isinstance(marked, dict):
        return marked
    ((mark, items),) = marked.items()
    if mark == "dict":
        return {_unmarked(key): _unmarked(item) for key, item in items}
    return _KINDS[mark](map(_unmarked, items))


def _complex(parts):
    real, imaginary = parts
    return complex(real, imaginary)


_KINDS = {"list": list, "tuple": tuple, "set": set, "iter": iter, "complex": _complex}


def define(readings, entry_point):
    """Run the first reading that is valid Python, and return the function that it defines.

    Args:
        readings: Possible readings of an answer: each a list of sources to run in order.
    """
    failure = SyntaxError("there is no code")
    for sources in readings:
        try:
            codes = [compile(source, "<answer>", "exec", dont_inherit=True) for source in sources]
        except (SyntaxError, ValueError) as error:
            failure = error
            continue
        namespace = {}
        for code in codes:
            exec(code, namespace)  # noqa: S102 - this is the jail
        return namespace[entry_point]
    raise failure


def respond(function, text):
    arguments, named = decode(text)
    return encode(function(*arguments, **named))


def judge(prompt, test, entry_point, ask):
    """Test a function in another jail; return its failure, or an empty text."""

    def candidate(*arguments, **named):
        return decode(ask(encode((arguments, named))))

    import random

    random.seed(0)
    namespace = {}
    try:
        exec(compile(prompt, "<prompt>", "exec", dont_inherit=True), namespace)  # noqa: S102
        namespace[entry_point] = candidate
        exec(compile(test, "<test>", "exec", dont_inherit=True), namespace)  # noqa: S102
        namespace["check"](candidate)
    except Exception as error:  # noqa: BLE001 - whatever a wrong value brings about
        return f"{type(error).__name__}: {error}".strip(": ")
    return ""
