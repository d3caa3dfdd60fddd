"""Answers that would keep an agent library busy for minutes."""

import pytest

from coterie.runtime.runners._bounds import LARGEST_ANSWER, LONGEST_SEARCH, check_answer
from coterie.schema import AgentError

BLOCKS = "```python\nprint(1)\n```\n"


@pytest.mark.parametrize("text", ["", BLOCKS, BLOCKS * 1000, "x" * LARGEST_ANSWER])
def test_honest_answers_pass(text: str) -> None:
    check_answer(text)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(AgentError, match="1000001 characters"):
        check_answer("x" * (LARGEST_ANSWER + 1))


def test_what_opens_too_many_blocks_is_refused() -> None:
    with pytest.raises(AgentError, match="opened 20000 blocks of code in an answer of 100000"):
        check_answer("```py" * 20_000)


def test_the_worst_that_passes_is_soon_taken_apart() -> None:
    utils = pytest.importorskip("smolagents.utils")
    opened = int((LONGEST_SEARCH / 5) ** 0.5)
    worst = "```py" * opened
    check_answer(worst)
    with pytest.raises(ValueError, match="code snippet is invalid"):
        utils.parse_code_blobs(worst, ("<code>", "</code>"))
