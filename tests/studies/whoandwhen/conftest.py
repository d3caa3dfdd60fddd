"""Five invented failures, laid out as the published ones are, with their quirks."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from studies.whoandwhen.published import Labelled, read_folder

DOORS = "How many doors has the hall?"


def generated(
    question: str, agent: str, step: str, history: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "question": question,
        "ground_truth": "four",
        "history": [{"content": text, "role": "user", "name": name} for name, text in history],
        "mistake_agent": agent,
        "mistake_step": step,
        "mistake_reason": "It counted windows.",
        "level": "1",
        "system_prompt": {"Window_Expert": "You know windows."},
    }


def crafted(
    question: str, agent: str, step: str, history: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "question": question,
        "ground_truth": "four",
        "history": [{"content": text, "role": role} for role, text in history],
        "mistake_agent": agent,
        "mistake_step": step,
        "mistake_reason": "It read another page.",
    }


ASKED = ("human", DOORS)
THOUGHT = ("Orchestrator (thought)", "What is known?")
TOLD = ("Orchestrator (-> WebSurfer)", "Look at the plan of the hall.")
LOOKED = ("WebSurfer", "I see three doors.")
TRACES = {
    "Algorithm-Generated/1.json": generated(
        DOORS,
        "Hall_Expert",
        "3",
        [
            ("Hall_Expert", "Let us count."),
            ("Half-Door_Expert", "I count two."),
            ("Computer_terminal", "exitcode: 0"),
            ("Hall_Expert", "With the windows it makes three."),
            ("Checker_Expert", "Three. TERMINATE"),
        ],
    ),
    "Algorithm-Generated/2.json": generated(
        "Who lit the lamp?",
        "Half-Door_Expert",
        "1",
        [("Lamp_Expert", "Who?"), ("Half-Door_Expert", "Nobody."), ("Lamp_Expert", " ")],
    ),
    "Hand-Crafted/1.json": crafted(
        DOORS, "Orchestrator", "2", [ASKED, THOUGHT, *[TOLD, LOOKED] * 5, TOLD]
    ),
    "Hand-Crafted/2.json": crafted(
        "Which door is red?", "Websurfer", "3", [ASKED, THOUGHT, TOLD, LOOKED]
    ),
    "Hand-Crafted/10.json": crafted("Which is blue?", "WebSurfer", "1", [ASKED, TOLD, LOOKED]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the traces."""
    return written(tmp_path / "data")


@pytest.fixture
def labels(folder: Path) -> tuple[Labelled, ...]:
    return read_folder(folder)


def written(root: Path) -> Path:
    for name, content in TRACES.items():
        path = root / "Who&When" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return root
