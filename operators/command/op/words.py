"""What a person can say to `mas dev op`: each word and each option, declared once.

An input of an operator is read from some of these; see `readers`. A command has those that its
operator's inputs need, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

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
"""What is said without an option: its name, what it is, and how it is read."""


def argument_text(name: str) -> str:
    """Return what an argument is, in a sentence."""
    word, about, how = ARGUMENTS[name]
    return f"{word.upper()} {'are' if 'nargs' in how else 'is'} {about}."


OPTIONS: Mapping[str, Any] = {
    "task_file": click.option("-t", "--task", "task_file", type=FILE, help="The task's file."),
    "query": click.option("-q", "--query", help="Ask this instead of a task file."),
    "run_folder": click.option(
        "--run",
        "run_folder",
        type=FOLDER,
        required=True,
        metavar="RUN",
        help="The folder of a run of the team, as evidence. Without a task, its task is used.",
    ),
    "runs": click.option(
        "--run",
        "runs",
        type=FOLDER,
        multiple=True,
        metavar="RUN",
        help="The folder of a run of the team on the task, as evidence. Without a task, its task"
        " is used. Repeat it for each team, in order.",
    ),
    "memory_folder": click.option(
        "--memory",
        "memory_folder",
        metavar="POOL",
        type=FOLDER,
        help="Show the operator what this pool has learnt on similar tasks.",
    ),
    "embedder": embedder_option,
    "judged_file": click.option(
        "--judged",
        "judged_file",
        type=FILE,
        help="The output of `contributions` for the run.  [default: the model writes it first]",
    ),
    "judged_files": click.option(
        "--judged",
        "judged_files",
        type=FILE,
        multiple=True,
        help="The output of `contributions` for a round. Repeat it for each round, in order.",
    ),
    "scores_file": click.option(
        "--judged",
        "scores_file",
        type=FILE,
        help="The output of `appraise` for the run.  [default: the model writes it first]",
    ),
    "rubric_file": click.option(
        "--rubric",
        "rubric_file",
        type=FILE,
        help="A file with the criteria to score by.  [default: coterie's own]",
    ),
    "round_number": click.option(
        "--round",
        "round_number",
        type=POSITIVE,
        help="The round of the utterance.  [default: the last in which the agent spoke]",
    ),
    "roles_folder": click.option(
        "--roles",
        "roles_folder",
        type=FOLDER,
        default=ROLES,
        help="The catalogue: a folder of agent files.  [default: coterie's own]",
    ),
    "worth": click.option(
        "--reward",
        "worth",
        type=FRACTION,
        help="The score of the team's answer.  [default: the score of the run]",
    ),
    "own_score": click.option(
        "--score", "own_score", type=FRACTION, help="The score of the agent's own answer."
    ),
    "own_scores": click.option(
        "--scores",
        "own_scores",
        type=(FRACTION, FRACTION),
        default=(0.0, 1.0),
        show_default=True,
        help="The scores of their own answers.",
    ),
    "niche_names": click.option(
        "--niche",
        "niche_names",
        multiple=True,
        help="A niche that strategies may be for. May be repeated.  [default: the task's]",
    ),
    "ideas_file": click.option(
        "--ideas",
        "ideas_file",
        type=FILE,
        required=True,
        help="The strategies: the output of `dream_imagine`.",
    ),
    "opinion_files": click.option(
        "--opinions",
        "opinion_files",
        type=FILE,
        multiple=True,
        help="The output of `dream_debate` for an agent. May be repeated. Strategies that most"
        " agents would drop are left out.",
    ),
    "own_models": click.option(
        "--own-models/--one-model",
        default=True,
        show_default=True,
        help="Whether agents answer with their own models, or all with --meta-model.",
    ),
    "show_answer": click.option(
        "--show-answer", is_flag=True, help="Show the task's reference answer."
    ),
    "structure_files": click.option(
        "--structure",
        "structure_files",
        metavar="TEAM",
        multiple=True,
        help="A structure to choose from: a team file whose agents are seats, or seed:NAME. May"
        " be repeated.  [default: coterie's four]",
    ),
    "team_size": click.option(
        "--team-size",
        type=POSITIVE,
        default=USUAL.team_size,
        show_default=True,
        help="How many agents work if you name none.",
    ),
    "bank": click.option(
        "--bank",
        type=click.IntRange(min=0),
        default=USUAL.bank,
        show_default=True,
        help="How many earlier rounds of leadership the leader reads.",
    ),
    "niche": click.option(
        "--niche", help="The niche to write for.  [default: that in which the agent worked most]"
    ),
    "any_niche": click.option(
        "--niche", "any_niche", help="The niche to write the agent for.  [default: any]"
    ),
    "founder_file": click.option(
        "--founder",
        "founder_file",
        type=FILE,
        help="The agent file from which the new agent takes everything but its persona.  [default:"
        " a generic assistant]",
    ),
}
"""The options that inputs are read from, by the name of the value."""

_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would be written, and why.")
_output = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
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
"""The options that say what becomes of a result, by what an operator gives."""
