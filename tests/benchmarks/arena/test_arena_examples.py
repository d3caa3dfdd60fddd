"""The arenas of examples/arena that people run with their own models."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.benchmarks.arena.declared import load_arena
from coterie.schema.host.catalogue import Catalogue

from ...support.problems import problems_of

FILES = sorted((Path(__file__).parents[3] / "examples" / "arena" / "benchmarks").glob("*.yaml"))


def test_each_public_benchmark_of_the_readme_has_an_arena() -> None:
    assert [file.stem for file in FILES] == [
        "bbeh-mini",
        "math500",
        "plancraft",
        "repair",
        "workbench",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_arena_of_a_public_benchmark_lacks_nothing_but_its_data(
    file: Path, tmp_path: Path
) -> None:
    if file.stem == "plancraft":  # its tasks are fetched
        assert load_arena(file, Catalogue.of_host(), tmp_path).methods
        return
    [problem] = problems_of(load_arena, file, Catalogue.of_host(), tmp_path)
    assert f"streams.{file.stem}: " in problem
    assert "benchmarks/data/" in problem
