"""The benchmark of the memory: it measures what it says, and prints a table."""

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from coterie.pool.embedding import Vector
from studies.memory.__main__ import main
from studies.memory.measures import retrieval
from studies.memory.pairs import PAIRS


class Oracle:
    """Gives both wordings of a pair the same vector, or all texts one vector."""

    name = "oracle"
    dimension = len(PAIRS)

    def __init__(self, *, knows: bool) -> None:
        self.knows = knows

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        pairs = {text: number for number, pair in enumerate(PAIRS) for text in pair}
        hot = [pairs[text] if self.knows else 0 for text in texts]
        return [[float(place == number) for place in range(self.dimension)] for number in hot]


@pytest.mark.parametrize("knows", [True, False])
def test_recall_is_that_of_the_embedder(knows: bool) -> None:
    result = retrieval(Oracle(knows=knows))
    assert result.at_1 == result.at_5 == float(knows)
    assert result.reciprocal_rank == pytest.approx(1 if knows else 1 / 59)


def test_prints_tables_of_what_it_measured() -> None:
    result = CliRunner().invoke(main, ["--embedders", "hashing", "--quick"])
    assert result.exit_code == 0, result.output
    begun = ("| hashing", "| 100", "| 20 ")
    rows = [line for line in result.output.splitlines() if line.startswith(begun)]
    assert [row.count("|") for row in rows] == [8, 9, 10]
