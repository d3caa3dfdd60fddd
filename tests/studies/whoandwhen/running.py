"""Attributes with a scripted model, and counts what is right."""

import json
from pathlib import Path
from typing import Any

from coterie.runtime.doubles import Replies, ScriptedModel
from studies.whoandwhen.__main__ import main
from studies.whoandwhen.methods import METHODS
from studies.whoandwhen.results import ATTRIBUTIONS

from ...support.commands import CommandResult, invoked

Right = dict[str, tuple[int, ...]]
"""How many are right, by method: agent exactly and by the original, then the step."""
VERDICTS = ("agent", "agent_original", "step", "step_original")


def run(folder: Path, out: Path, replies: Replies, *words: str) -> CommandResult:
    """Attribute all traces of a folder, with all methods unless the words say otherwise."""
    with ScriptedModel(replies) as model:
        options = ["--data", str(folder), "--other-traces", "--out", str(out), "--quiet"]
        result = invoked(main, ["run", *options, "--model", f"m@{model.api_base}", *words], "who")
        result.calls = len(model.calls)
        return result


def lines_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / ATTRIBUTIONS).read_text().splitlines()]


def right_in(out: Path) -> Right:
    rights = {
        method: [line["right"] for line in lines_of(out) if line["method"] == method]
        for method in METHODS
    }
    return {
        method: tuple(sum(item[verdict] for item in of) for verdict in VERDICTS)
        for method, of in rights.items()
    }
