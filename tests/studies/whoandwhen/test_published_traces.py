"""The published traces, where this machine has them: their facts, and what scripts get on them.

`MAS_BENCHMARK_DATA` names a folder that has them below `who_and_when`. The expectations were
computed from the files alone, by a program that shares nothing with this package.
"""

import os
import sys
from collections import Counter
from dataclasses import astuple
from pathlib import Path

import pytest

from coterie.schema.values.errors import InputError
from studies.whoandwhen.chance import chance_of
from studies.whoandwhen.judges import JUDGES, Judge
from studies.whoandwhen.published import SOURCES, Labelled, read_folder, revision_of
from studies.whoandwhen.quirks import QUIRKS, having

from .running import right_in, run

JULY = "of July 2025"
EXPECTED = {
    "labels": {
        "all-at-once": (184, 181, 184, 184),
        **dict.fromkeys(["step-by-step", "binary-search"], (178, 175, 184, 184)),
        **dict.fromkeys(["global", "local", "collaborative"], (184, 181, 178, 178)),
    },
    "lookalike": {
        "all-at-once": (184, 181, 162, 184),
        **dict.fromkeys(["step-by-step", "binary-search"], (163, 160, 162, 184)),
        **dict.fromkeys(["global", "local", "collaborative"], (184, 181, 158, 163)),
    },
    "first": {
        "all-at-once": (80, 80, 20, 20),
        **dict.fromkeys(["step-by-step", "binary-search"], (62, 62, 20, 20)),
        **dict.fromkeys(["global", "local", "collaborative"], (80, 80, 21, 21)),
    },
}
"""Of 184, how many are right: agent exactly and by the original, step exactly and by it."""


@pytest.fixture
def folder() -> Path:
    return Path(os.environ.get("MAS_BENCHMARK_DATA", "nowhere")) / "who_and_when"


@pytest.fixture
def labels(folder: Path) -> tuple[Labelled, ...]:
    try:
        return read_folder(folder)
    except InputError:
        pytest.skip("MAS_BENCHMARK_DATA names no folder with `who_and_when`, the traces")


def test_there_are_184_traces_with_known_quirks(labels: tuple[Labelled, ...]) -> None:
    assert revision_of(labels) in {JULY, "of November 2025"}
    assert Counter(label.source for label in labels) == dict(zip(SOURCES, (126, 58), strict=True))
    assert sum(len(label.history) for label in labels) == 4_092
    written_otherwise = 2 if revision_of(labels) == JULY else 0
    counts = [len(having(labels, quirk)) for quirk in QUIRKS]
    assert counts == [0, written_otherwise, 1 + written_otherwise, 0, 0, 6, 22, 3, 14, 2, 58]


def test_the_published_chances_of_agents_and_steps_are_ours(labels: tuple[Labelled, ...]) -> None:
    """29.10 % of generated agents and 4.16 % of crafted steps; 12.00 % are generated steps."""
    generated, crafted = (
        [astuple(chance_of(label)) for label in labels if label.source == source]
        for source in SOURCES
    )
    assert round(sum(item[0] for item in generated) / 126, 4) == 0.2910
    assert round(sum(item[2] for item in generated) / 126, 4) == 0.1200
    assert round(sum(item[2] for item in crafted) / 58, 4) == 0.0416


@pytest.mark.nightly
@pytest.mark.parametrize("judge", [*JUDGES])
def test_a_script_gets_exactly_what_is_expected(
    folder: Path,
    labels: tuple[Labelled, ...],
    judge: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if revision_of(labels) != JULY:
        pytest.skip("the expectations are of the other revision")
    monkeypatch.setattr(sys, "argv", ["whoandwhen"])
    out = tmp_path / "out"
    assert run(folder, out, Judge(labels, JUDGES[judge])).code == 0
    assert right_in(out) == EXPECTED[judge]
