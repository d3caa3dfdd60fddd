"""The arguments and options of `mas dev op`, each declared once.

Operators' inputs are read from them; see `readers`. A command has only those that its operator's
inputs need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ....schema.command import OutputFile
from ...core.roles import ROLES
from ...methods.evochamber.settings import PopulationSettings
from ..arguments import FILE, FOLDER, FRACTION, embedder_option

TEAM = "a team file, or seed:NAME"
AGENT = "the id of one of its agents"
POSITIVE = click.IntRange(min=1)
USUAL = PopulationSettings()

ARGUMENTS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "pool_folder": ("pool", "the folder of a pool", {"type": FOLDER}),
    "recorded_folder": ("run", "the folder of a finished run", {"type": FOLDER}),
    "team_file": ("team", TEAM, {}),
    "first_file": ("first", TEAM, {}),
    "second_file": ("second", TEAM, {}),
    "agent_id": ("agent", AGENT, {}),
    "other_agent_id": ("other_agent", AGENT, {}),
    "failed_id": ("failed", AGENT, {}),
    "succeeded_id": ("succeeded", AGENT, {}),
    "agent_names": ("agents", "names of agents of the pool, the leader first", {"nargs": -1}),
    "difference_files": (
        "differences",
        "files that `dream_contrast` wrote",
        {"type": FILE, "nargs": -1, "required": True},
    ),
    "earlier_text": ("earlier", "a text, not a file", {}),
    "new_text": ("new", "a text, not a file", {}),
}
"""The positional arguments: name, description, and parameters of click."""


def argument_text(name: str) -> str:
    """Return the description of an argument as a sentence."""
    word, about, how = ARGUMENTS[name]
    return f"{word.upper()} {'are' if 'nargs' in how else 'is'} {about}."


_DECLARED: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "task_file": ("-t --task", "The task's file.", {"type": FILE}),
    "query": ("-q --query", "Ask this instead of a task file.", {}),
    "run_folder": (
        "--run",
        "The folder of a run of the team, as evidence. Without a task, its task is used.",
        {"type": FOLDER, "required": True, "metavar": "RUN"},
    ),
    "runs": (
        "--run",
        "The folder of a run of the team on the task, as evidence. Without a task, its task is"
        " used. Repeat it for each team, in order.",
        {"type": FOLDER, "multiple": True, "metavar": "RUN"},
    ),
    "memory_folder": (
        "--memory",
        "Show the operator what this pool has learnt on similar tasks.",
        {"metavar": "POOL", "type": FOLDER},
    ),
    "judged_file": (
        "--judged",
        "The output of `contributions` for the run.  [default: the model writes it first]",
        {"type": FILE},
    ),
    "judged_files": (
        "--judged",
        "The output of `contributions` for a round. Repeat it for each round, in order.",
        {"type": FILE, "multiple": True},
    ),
    "scores_file": (
        "--judged",
        "The output of `appraise` for the run.  [default: the model writes it first]",
        {"type": FILE},
    ),
    "rubric_file": (
        "--rubric",
        "A file with the criteria to score by.  [default: coterie's own]",
        {"type": FILE},
    ),
    "round_number": (
        "--round",
        "The round of the utterance.  [default: the last in which the agent spoke]",
        {"type": POSITIVE},
    ),
    "roles_folder": (
        "--roles",
        "The catalogue: a folder of agent files.  [default: coterie's own]",
        {"type": FOLDER, "default": ROLES},
    ),
    "worth": (
        "--reward",
        "The score of the team's answer.  [default: the score of the run]",
        {"type": FRACTION},
    ),
    "own_score": ("--score", "The score of the agent's own answer.", {"type": FRACTION}),
    "own_scores": (
        "--scores",
        "The scores of their own answers.",
        {"type": (FRACTION, FRACTION), "default": (0.0, 1.0), "show_default": True},
    ),
    "niche_names": (
        "--niche",
        "A niche that strategies may be for. May be repeated.  [default: the task's]",
        {"multiple": True},
    ),
    "ideas_file": (
        "--ideas",
        "The strategies: the output of `dream_imagine`.",
        {"type": FILE, "required": True},
    ),
    "opinion_files": (
        "--opinions",
        "The output of `dream_debate` for an agent. May be repeated. Strategies that most"
        " agents would drop are left out.",
        {"type": FILE, "multiple": True},
    ),
    "own_models": (
        "--own-models/--one-model",
        "Whether agents answer with their own models, or all with --meta-model.",
        {"default": True, "show_default": True},
    ),
    "show_answer": ("--show-answer", "Show the task's reference answer.", {"is_flag": True}),
    "structure_files": (
        "--structure",
        "A structure to choose from: a team file whose agents are seats, or seed:NAME. May be"
        " repeated.  [default: coterie's four]",
        {"metavar": "TEAM", "multiple": True},
    ),
    "team_size": (
        "--team-size",
        "How many agents to choose if you name none.",
        {"type": POSITIVE, "default": USUAL.team_size, "show_default": True},
    ),
    "bank": (
        "--bank",
        "How many earlier rounds of leadership the leader reads.",
        {"type": click.IntRange(min=0), "default": USUAL.bank, "show_default": True},
    ),
    "niche": (
        "--niche",
        "The niche to write for.  [default: the agent's most frequent one]",
        {},
    ),
    "any_niche": ("--niche", "The niche to write the agent for.  [default: any]", {}),
    "founder_file": (
        "--founder",
        "The agent file from which the new agent takes everything but its persona.  [default: a"
        " generic assistant]",
        {"type": FILE},
    ),
}
OPTIONS: Mapping[str, Any] = {
    name: click.option(*flags.split(), name, help=about, **how)
    for name, (flags, about, how) in _DECLARED.items()
} | {"embedder": embedder_option}
"""The options that inputs are read from, by the name of the value."""

_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would be written, and why.")
_output = click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="Where to write the child.  [default: standard output]",
)
_keep = click.option(
    "--keep", is_flag=True, help="Apply the change to the pool.  [default: only show it]"
)
OUTPUTS: Mapping[str, tuple[Any, ...]] = {
    "child": (_dry_run, _output),
    "changes": (_keep,),
    "entry": (_dry_run,),
    "words": (),
}
"""The options for the output, by what an operator gives."""
