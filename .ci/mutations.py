"""What mutants a file has: small changes of its code, each of which a test should notice."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GROUPS = {
    "ledger": "pool/ledger/ledger.py runtime/record/journal.py runtime/record/_entries.py"
    " runtime/runs/record.py",
    "budget": "runtime/values/budget.py runtime/engine/allowance.py runtime/values/caps.py"
    " runtime/calls/calls.py",
    "engine": "runtime/engine/engine.py runtime/engine/agent_execution.py"
    " runtime/engine/agent_inputs.py runtime/engine/attempt.py",
    "edits": "schema/edits/**/*.py",
    "ceiling": "schema/loading/ceiling.py",
    "admission": "operators/methods/search/admission.py",
    "gateway": "runtime/gateway/**/*.py",
    "resume": "runtime/record/branch.py runtime/runs/parent_reuse.py operators/core/recorded.py"
    " operators/evolution/context.py operators/evolution/task_runs.py",
    "gate": "operators/methods/meta_team/gate.py",
}
"""The core: the files that mutants are drawn from, in groups with equal shares."""
SWAPS = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
SWAPS |= {ast.And: ast.Or, ast.Add: ast.Sub, ast.BitOr: ast.BitAnd, ast.Mult: ast.FloorDiv}
SWAPS |= {after: before for before, after in SWAPS.items()}
SWAPS |= {ast.Div: ast.Mult, ast.Mod: ast.Mult}
TYPES = {"dict", "frozenset", "list", "set", "tuple", "type"}


class Mutant(NamedTuple):
    """A changed file: which, by what name the mutant is known, at which lines, and its new text."""

    file: str
    key: str
    lines: range
    source: bytes


def changes(node: Any) -> Iterator[tuple[ast.AST, str]]:
    """Yield how a node may be broken: what is replaced, and by what."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                swapped = [*ops[:at], SWAPS[type(op)](), *ops[at + 1 :]]
                yield node, ast.unparse(ast.Compare(node.left, swapped, node.comparators))
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPS:
            fields = {**dict(ast.iter_fields(node)), "op": SWAPS[type(op)]()}
            yield node, ast.unparse(type(node)(**fields))
        case ast.UnaryOp(op=ast.Not()):
            yield node, ast.unparse(node.operand)
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield node, repr(value + 1)
        case ast.Constant(value=str(value)) if value.isidentifier():
            yield node, repr(f"{value}_")
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield node, "return None"
        case (
            ast.Raise()
            | ast.Delete()
            | ast.AugAssign()
            | ast.Expr(value=ast.Call() | ast.Await())
            | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            yield node, "pass"
        case ast.Break() | ast.Continue():
            yield node, "continue" if isinstance(node, ast.Break) else "break"
        case _:
            pass
    tests = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else []
    for test in getattr(node, "ifs", tests):
        if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield test, f"not ({ast.unparse(test)})"


def is_left_out(node: Any, parent: Any) -> bool:
    """Return whether what is below a node describes code and does nothing: types, decorators."""
    if isinstance(parent, ast.Subscript) and isinstance(parent.value, ast.Name):
        name = parent.value.id
        if node is parent.slice and (name in TYPES or name[0].isupper()):
            return True
    return (
        node in getattr(parent, "decorator_list", ())
        or node in {getattr(parent, "annotation", 0), getattr(parent, "returns", 0)}
        or isinstance(node, ast.JoinedStr)  # Until Python 3.12, its parts have no place.
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    )


def broken(node: ast.AST, place: str = "") -> Iterator[tuple[str, Any, str]]:
    """List how what is below a node may be broken: in which definition, what, and by what."""
    for child in ast.iter_child_nodes(node):
        if not is_left_out(child, node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            yield from ((place, *change) for change in changes(child))
            yield from broken(child, f"{place}.{child.name}".lstrip(".") if named else place)


def mutants_of(path: Path, root: Path) -> Iterator[Mutant]:
    """List all mutants of a file."""
    source, seen, file = path.read_bytes(), Counter[str](), path.relative_to(root).as_posix()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for place, node, after in broken(ast.parse(source)):
        before, short = " ".join(ast.unparse(node).split())[:120], " ".join(after.split())[:120]
        key = f"{file} {place or 'module'}: {before} -> {short}"
        seen[key] += 1
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        if b"pragma: no cover" not in source[start : source.find(b"\n", end)]:
            new = f"({after})" if isinstance(node, ast.expr) else after
            lines = range(node.lineno, node.end_lineno + 1)
            numbered = f"{key} #{seen[key]}" if seen[key] > 1 else key
            yield Mutant(file, numbered, lines, source[:start] + new.encode() + source[end:])
