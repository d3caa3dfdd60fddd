"""Invented problems in the form of HumanEval, and tasks made of them."""

from typing import Any

from coterie.benchmarks.small.humaneval import humaneval_task
from coterie.schema import Task

PROMPT = '''from typing import List


def shifted(numbers: List[int], by: int = 1) -> List[int]:
    """Add the same to every number."""
'''
BODY = "    return [number + by for number in numbers]\n"
TEST = """
def check(candidate):
    assert candidate([1, 2], 3) == [4, 5]
    assert candidate([1], by=0) == [1], "nothing to add"
    assert candidate([]) == []
"""


def problem(**changed: str) -> dict[str, Any]:
    given = {
        "task_id": "Invented/0",
        "prompt": PROMPT,
        "entry_point": "shifted",
        "canonical_solution": BODY,
        "test": TEST,
    }
    return given | changed


def task(**changed: str) -> Task:
    return humaneval_task(problem(**changed))
