"""Failpoints act where and when they are told to, and stand around everything that must last."""

import ast
import re
import signal
from collections.abc import Iterator
from pathlib import Path

from coterie.schema.values.failpoints import failpoint

from ...support.failpoints import FAILPOINTS, armed
from ...support.processes import at_once, python, with_tests

ROOT = Path(__file__).parents[3]
FLOORS = ("schema", "runtime", "pool", "operators")
MODULES = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))
NOT_STATE = {
    "runtime/cluster/": "what agents work on elsewhere is sent again",
    "runtime/jail/": "what agents work on is gone with the run",
    "runtime/local/": "the embedded model is checked by its digest, and fetched again",
    "runtime/repository/repository.py": "a branch moves in one step, and git looks after the rest",
}
"""Where something is flushed or renamed that nobody misses after a crash."""

PROGRAM = """
from coterie.schema.values.failpoints import failpoint
from tests.support.failpoints import armed
with armed("files.write.before:3:kill"):
    for number in range(3):
        failpoint("files.write.before")
        print(number, flush=True)
"""


def test_nothing_happens_where_nothing_is_set() -> None:
    for name in FAILPOINTS:
        failpoint(name)  # pyright: ignore[reportArgumentType]


def test_the_process_is_killed_the_nth_time() -> None:
    done = python("-c", PROGRAM, env=with_tests())
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == "0\n1\n"


def test_each_time_is_counted_once_whatever_the_thread() -> None:
    failures = list[OSError]()

    def come(_: object) -> None:
        try:
            failpoint("files.sync.before")
        except OSError as error:
            failures.append(error)

    with armed("files.sync.before:5:raise-eio"):
        at_once(come, range(10))
    assert len(failures) == 1


# What the tree has to keep to


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Give the calls of a function, but not of those that it defines, in the order of the text."""
    result = list[ast.Call]()
    rest = [*ast.iter_child_nodes(tree)]
    while rest:
        node = rest.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            rest += ast.iter_child_nodes(node)
            result += [node] if isinstance(node, ast.Call) else []
    return iter(sorted(result, key=lambda call: (call.lineno, call.col_offset)))


def name_of(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


LASTING = r"(?i)fsync|fdatasync|\.replace\(|\.rename\(|\.commit\(|\.execute\("
"""What the text of a module has that makes something last."""


def makes_something_last(call: ast.Call) -> bool:
    """Whether a call flushes, renames or commits."""
    match call:
        case ast.Call(func=ast.Attribute(attr="fsync" | "fdatasync")):
            return True
        case ast.Call(func=ast.Attribute(attr="replace" | "rename"), args=[_], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="replace" | "rename")):
            return True
        case ast.Call(func=ast.Attribute(attr="commit"), args=[], keywords=[]):
            return True
        case ast.Call(
            func=ast.Attribute(attr="execute"), args=[ast.Constant(value=str(statement)), *_]
        ):
            return statement.upper().startswith(("COMMIT", "END"))
        case _:
            return False


def functions(path: Path, words: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module that has one of these words, an expression, anywhere."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if re.search(words, text) else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_state(path: Path) -> bool:
    return not str(path.relative_to(ROOT)).startswith(tuple(NOT_STATE))


def test_all_that_makes_state_last_stands_between_two_failpoints() -> None:
    guarded = 0
    for path in filter(is_state, MODULES):
        for function in functions(path, LASTING):
            marks = [
                "point" if name_of(call) == "failpoint" else "last"
                for call in calls(function)
                if name_of(call) == "failpoint" or makes_something_last(call)
            ]
            for index, mark in enumerate(marks):
                if mark == "last":
                    around = (*marks[max(0, index - 1) : index], *marks[index + 1 : index + 2])
                    assert around == ("point", "point"), f"{path}: {function.name}"
                    guarded += 1
    assert guarded >= 6


def test_every_failpoint_is_declared_and_stands_somewhere() -> None:
    named = {
        ast.literal_eval(call.args[0])
        for path in MODULES
        for function in functions(path, "failpoint")
        for call in calls(function)
        if name_of(call) == "failpoint"
    }
    assert named == FAILPOINTS
