"""The original's own verdict: its `evaluate.py`, run on made-up predictions in logs of its form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.schema.values.errors import InputError

from .published import SOURCES
from .verdicts import Told, original

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from .published import Labelled, Source

    Predictions = Mapping[str, Told]

SCRIPT = Path("Automated_FA", "evaluate.py")
MISSING = 0.1
"""The share of traces of which a made-up log predicts nothing."""
_FIGURE = re.compile(r"^(?:Agent|Step) Accuracy:\s+(\S+)%$", re.MULTILINE)


def drawn(labels: Sequence[Labelled], chance: Random) -> dict[str, Told]:
    """Make up predictions by the trace's id: right ones, almost right ones, and any others."""
    return {label.id: _drawn(label, chance) for label in labels if chance.random() >= MISSING}


def figures_here(labels: Sequence[Labelled], predictions: Predictions) -> tuple[str, str]:
    """Return the accuracy on agents and on steps in per cent, as the original writes them."""
    verdicts = [original(label, predictions.get(label.id)) for label in labels]
    return _per_cent([verdict.agent for verdict in verdicts]), _per_cent(
        [verdict.step for verdict in verdicts]
    )


def figures_there(
    clone: Path, source: Source, predictions: Predictions, log: Path
) -> tuple[str, str]:
    """Have the original's program compute them.

    Args:
        clone: The original's repository; a program of it is run.
        source: Which of the sources the predictions are of.
        predictions: The predictions, by the trace's id.
        log: A file that is written for it.

    Raises:
        InputError: There is no such program, or it gives no figures.
    """
    script = clone / SCRIPT
    if not script.is_file():
        raise InputError(f"{str(clone)!r} has no {SCRIPT}: name a clone of the original.")
    log.write_text(
        "\n".join(_block(name, item) for name, item in predictions.items()), encoding="utf-8"
    )
    folder = clone / "Who&When" / SOURCES[source]
    command = [sys.executable, str(script), "--data_path", str(folder), "--eval_file", str(log)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = _FIGURE.findall(done.stdout)
    if len(figures) != 2:
        raise InputError(f"{script} gives no figures: {(done.stderr or done.stdout)[-300:]}")
    return figures[0], figures[1]


def _drawn(label: Labelled, chance: Random) -> Told:
    named = [label.agent, f"{label.agent}_2", f"The_{label.agent}"]
    agents = [*(entry.speaker for entry in label.history), *named]
    steps = [int(label.step), int(f"1{label.step}"), chance.randrange(len(label.history))]
    return Told(agent=chance.choice(agents), step=chance.choice(steps))


def _per_cent(rights: Sequence[bool]) -> str:
    return f"{100 * sum(rights) / len(rights):.2f}"


def _block(name: str, prediction: Told) -> str:
    """Write a prediction as the original's log has it."""
    file = f"{name.rpartition('/')[2]}.json"
    return (
        f"Prediction for {file}:\nAgent Name: {prediction.agent}\nStep Number: {prediction.step}\n"
    )
