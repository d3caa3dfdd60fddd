"""Every study comes out the same, whatever words the prompts of the package have."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import prompts
from studies.world.trials import DRAWN, Job, Outcome, work

STUDIES: Mapping[str, tuple[int, int]] = {
    "chamber": (8, 0),
    "retrospect": (3, 2),
    "consulting": (2, 2),
}
"""Each study, with how many tasks are enough for all its operators to be asked."""
ROWS: Mapping[str, str] = {
    "consulting": "difference, fair",
    "adaptation": "joint",
    "landscape": "judge",
}


def outcome(study: str) -> Outcome:
    """What comes of the first row, but for seconds and the tokens that prompts have."""
    tasks, test = STUDIES[study]
    job = Job(study=study, world=DRAWN, row=ROWS.get(study, "full"), seed=0, tasks=tasks, test=test)
    return replace(work(job), seconds=0.0, tokens={}, tested=0)


@pytest.mark.parametrize("study", STUDIES)
def test_rewording_all_prompts_changes_nothing(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, template = outcome(study), prompts._template
    reworded: set[str] = set()

    def other(name: str, folder: Path) -> Callable[[dict[str, Any]], str]:
        """Say something else, in all of operators' instructions and around agents' texts."""
        fill = template(name, folder)
        reworded.add(name)
        if folder == prompts.FOLDER:
            return lambda values: f"In other words:\n\n{fill(values)}\n\nTake your time."
        return lambda _: f"Do what {name} is for, in your own way."

    monkeypatch.setattr(prompts, "_template", other)
    assert outcome(study) == before
    assert len(reworded) > 4
