"""The benchmark `mbpp`: functions to write from a sentence and the asserts they must pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ..evaluation.benchmark import Benchmark, Source
from .named import NamedFile, NamedItem

FILE = NamedFile(
    name="mbpp_sanitized_test.jsonl",
    published="the test split of the sanitized MBPP is published",
    fields={"prompt": str, "code": str, "test_list": list},
)
REQUEST = (
    "{prompt}\n\nYour Python code has to pass these tests:\n\n```python\n{tests}\n```\n\nAnswer"
    " with all of the code in one ```python block."
)


def mbpp_tasks(source: Source, benchmark: str = "mbpp") -> list[Task]:
    """Return a task for each line of the file, in order: the whole test split of 257."""
    return [mbpp_task(line) for line in FILE.read(benchmark, source)]


def mbpp_task(item: NamedItem) -> Task:
    """Return the task of a problem. It shows the tests, as in the published protocol."""
    tests = _texts(item, "test_list")
    imports = _texts(item, "test_imports")
    name = _entry_point(item, tests)
    # The name is the check's own: one of the functions is itself called `check`.
    check = ["def check(candidate):", f"    {name} = candidate", *(f"    {test}" for test in tests)]
    shown = "\n".join([*imports, *tests])
    return Task(
        id=f"mbpp-{item.number:03}",
        query=REQUEST.format(prompt=item.case["prompt"].strip(), tests=shown),
        answer={
            "prompt": "",
            "entry_point": name,
            "test": "\n".join([*imports, *check, ""]),
        },
        scorer=ScorerChoice(name="humaneval"),
    )


def _texts(item: NamedItem, name: str) -> Sequence[str]:
    texts: Any = item.case.get(name) or []
    if not isinstance(texts, list) or not all(
        isinstance(text, str) and text and "\n" not in text for text in texts
    ):
        raise InputError(f"{item.where}: {name} is not a list of lines of code. {FILE.how_to_get}")
    return texts


def _entry_point(item: NamedItem, tests: Sequence[str]) -> str:
    """Return the function of the published solution that the tests call."""
    called = {name for text in tests for name in _called(_parsed(item, "test_list", text))}
    solution = _parsed(item, "code", item.case["code"])
    defined = [stmt.name for stmt in solution.body if isinstance(stmt, ast.FunctionDef)]
    texts = [name for name in defined if name in called]
    if len(set(texts)) != 1:
        raise InputError(
            f"{item.where}: the tests must call exactly one function of code, not"
            f" {texts or 'none'}. {FILE.how_to_get}"
        )
    return texts[0]


def _parsed(item: NamedItem, name: str, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(
            f"{item.where}: {name} is not Python: {error}. {FILE.how_to_get}"
        ) from None


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


MBPP = Benchmark(
    name="mbpp",
    title="MBPP, sanitized, the test split (2021)",
    about=(
        "257 Python functions to write from a sentence. All published tests of a problem are in"
        " the prompt, as in the published protocol, and an answer is right if it passes them within"
        " 10 seconds; it runs in a jail, its tests in another one. So code that knows no more than"
        " these tests passes too. The request's words are ours, and without the three worked"
        " examples of the original: figures differ from those that have them."
    ),
    licence="CC BY 4.0, Google LLC",
    citation="Austin et al., Program Synthesis with Large Language Models, arXiv:2108.07732 (2021)",
    source=FILE.how_to_get,
    tasks=mbpp_tasks,
)
