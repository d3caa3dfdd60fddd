"""The package's own evaluator, in a process of its own, to compare with."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

from coterie.benchmarks.plancraft.episode import CraftingEpisode
from coterie.benchmarks.plancraft.package import REQUIREMENT
from coterie.schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.benchmarks.plancraft.episode import CraftingWorld

HOW_TO_INSTALL = f"python -m pip install --no-deps --target DIR {REQUIREMENT} loguru==0.7.3"
"""All that its text environment, evaluator and planner need beside what coterie itself needs."""

PROGRAM = Path(__file__).with_name("_reference_process.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """An episode as the package has it.

    Attributes:
        said: The texts that were meant as actions.
        told: What the model was told before each of them.
        success: The verdict.
        steps: How many of the texts were looked at.
        failed: How the package broke down over it; empty: it did not, and the rest counts.
    """

    said: Sequence[str]
    told: Sequence[str] = ()
    success: bool = False
    steps: int = 0
    failed: str = ""


class Reference:
    """The package's evaluator under way. A context manager.

    Args:
        folder: Has the package and what it needs, as `HOW_TO_INSTALL` fills it.
        seconds: How long its planner may search for a plan, in wall time. The package has 30, which
            a busy machine does not keep to; then it would take a task for impossible.
    """

    def __init__(self, folder: Path, *, seconds: float = 600.0) -> None:
        if not (folder / "plancraft" / "evaluator.py").is_file():
            raise InputError(
                f"{str(folder)!r} has no plancraft/evaluator.py. Fill it: {HOW_TO_INSTALL}"
            )
        # The planner goes through sets of texts, whose order would be another one each time. The
        # package looks for keys in its surroundings and in .env: there are none for it.
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder.resolve()), str(seconds)],
            cwd=folder,
            env={"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def play(
        self, world: CraftingWorld, *, impossible: bool, texts: Sequence[str] | None
    ) -> Played:
        """Play an episode with these texts; with None, as the package's planner plays it.

        Raises:
            InputError: The process has ended, such as for want of a package.
        """
        asked = {
            "target": world.target,
            "slots": {slot: [item.item, item.quantity] for slot, item in world.slots.items()},
            "impossible": impossible,
            "texts": None if texts is None else list(texts),
        }
        return Played(**self._answer(asked))

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        asking, answers = (
            cast("IO[str]", self._process.stdin),
            cast("IO[str]", self._process.stdout),
        )
        try:
            asking.write(f"{json.dumps(asked)}\n")
            asking.flush()
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise InputError(f"the package's evaluator has ended: {self._last_words()}")
        return json.loads(line)

    def _last_words(self) -> str:
        lines = cast("IO[str]", self._process.stderr).read().split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "it does not say why")
        return f"{last}. Fill its folder: {HOW_TO_INSTALL}"


def difference(world: CraftingWorld, played: Played, *, impossible: bool) -> str:
    """Play an episode of the package here; give the first thing that is different, or nothing."""
    episode = CraftingEpisode(world)
    report = episode.observation
    for number, (text, expected) in enumerate(zip(played.said, played.told, strict=True), 1):
        if report != expected:
            return f"before action {number}: {report!r}, not {expected!r}"
        if episode.is_over:
            return f"over before action {number}, {text!r}"
        report = episode.act(text)
    success = episode.has_succeeded(impossible=impossible)
    if (success, episode.steps, episode.is_over) != (played.success, played.steps, True):
        return f"success {success} after {episode.steps}, not {played.success} after {played.steps}"
    return ""
