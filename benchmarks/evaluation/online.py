"""The online score of an evolution, as results like those of a team: so they can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...pool.values.layout import TURNS
from ...runtime.values.usage import Usage
from .provenance import digest_of, endpoint, host, versions
from .results import Results
from .samples import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...runtime.record.trace import RunFolder
    from ...schema.host.models import Model
    from ...schema.loading.recipe import Recipe
    from .benchmark import Benchmark
    from .figures import EvaluationFigures
    from .results import Request

__all__ = ["episode_samples", "evolution_of", "write_online"]

CHOSEN = "answers"
"""What results.json says under `chosen_by` where reference answers chose what was scored."""


def evolution_of(folder: Path) -> Path | None:
    """Give the folder, if it is an evolution's; None where it is another one."""
    return folder if (folder / TURNS).exists() else None


def episode_samples(folder: Path) -> Iterator[Sample]:
    """Give a sample for each task of an evolution: its answer, at the cost of all that was done.

    The score is what the task's own scorer says, whoever chose the team.
    """
    from ...operators.evolution.lines import executed, lines_in, usage_of

    for line in lines_in(folder):
        usage = usage_of(line) + Usage(**line["operators"]) + Usage(**line["judging"])
        yield Sample(
            task=line["task"],
            trial=1,
            niche=line["niche"] or "",
            status="done" if executed(line) else "failed",
            score=line["verdict"],
            reason=f"by {line['team']}" if "team" in line else "",
            usage=usage,
        )


def write_online(
    folder: RunFolder,
    request: Request,
    recipe: Recipe,
    models: Mapping[str, Model],
    benchmark: Benchmark,
    *,
    command: Sequence[str],
) -> EvaluationFigures:
    """Write results.json and samples.jsonl of an evolution into its folder.

    Raises:
        StorageError: They cannot be written.
    """
    from ...operators.evolution.lines import lines_in
    from ...operators.report.report import EvolutionReport

    report = EvolutionReport.of(lines_in(folder.path))
    tasks = request.tasks()
    by_judge = recipe.score == "judge"
    chosen = "chosen by a judge" if by_judge else "chosen by answers"
    head: dict[str, Any] = {
        "command": " ".join(command),
        "team": f"{recipe.strategy}, online, {chosen}",
        "models": {alias: model.model for alias, model in sorted(models.items())},
        "endpoints": {alias: endpoint(model) for alias, model in sorted(models.items())},
        "chosen_by": "judge" if by_judge else CHOSEN,
        "data": digest_of(tasks),
        "seed": recipe.seed,
        "versions": versions(),
        "host": host(),
        "evolution": report.value(),
    }
    results = Results(folder=folder, request=request, head=head, tasks=tasks)
    return results.write(episode_samples(folder.path), benchmark, expected=len(tasks))
