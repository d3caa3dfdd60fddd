"""Readers of operators' inputs from other operators' output files and from recorded runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ....runtime.plan.plan import Plan
from ....runtime.rounds.rounds import Round
from ....runtime.runs.services import Setting
from ....schema.host.catalogue import Catalogue
from ....schema.loading.loading import read_file
from ....schema.team.task import Task
from ....schema.values.errors import InputError
from ....schema.values.json_text import loads
from ...core.answers import InvalidAnswer
from ...core.recorded import read_run
from ...core.utterances import Utterance, utterances
from ...credit.contributions import Contribution, Contributions, contributions_in
from ...methods.evochamber.dream.ideas import Difference, Idea, Opinion, Opinions
from ...methods.evochamber.dream.rules import survivors
from ..arguments import text_in

Read = TypeVar("Read")


def _written(file: Path, operator: str, make: Callable[[Any], Read]) -> Read:
    """Parse a file that an operator wrote."""
    try:
        return make(loads(read_file(file)))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not the output of mas dev op {operator}: {error!r}.") from None


def _judged(file: Path) -> Contributions:
    try:
        return contributions_in(text_in(file))
    except InvalidAnswer as unfit:
        why = unfit.problems[0].removeprefix("the answer: ")
        raise InputError(f"{file}: not the output of mas dev op contributions: {why}.") from None


def judged(judged_files: tuple[Path, ...]) -> list[Contributions]:
    """Read the judgements of rounds."""
    return [_judged(file) for file in judged_files]


def contribution(agent_id: str, judged_file: Path | None) -> Contribution | None:
    """Read an agent's contribution; None without a judgement."""
    if judged_file is None:
        return None
    of = _judged(judged_file).of
    if agent_id not in of:
        raise InputError(f"{judged_file}: no entry for {agent_id!r}, only for {', '.join(of)}.")
    return of[agent_id]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedUtterances:
    """The utterances of agents in a recorded run."""

    folder: Path
    task: Task
    utterances: tuple[Utterance, ...]


def recorded(
    options: dict[str, Any], catalogue: Catalogue, recorded_folder: Path
) -> RecordedUtterances:
    """Replay a recorded run without model calls, and return its utterances."""
    from ....runtime.command.loading import load_folder
    from ....runtime.plan.plan import compile
    from ....runtime.runs.again import known_again
    from ....runtime.runs.record import read_setting

    folder = recorded_folder
    _must_be_whole(folder)
    setting, models = read_setting(folder)
    again = known_again(folder, catalogue, models, options["model"], offline=True)
    loaded = load_folder(folder, again)
    plan = compile(loaded.team, loaded.catalogue)
    rounds = asyncio.run(_passes(plan, loaded.task, loaded.catalogue, setting, folder))
    result = utterances(rounds)
    if not result:
        raise InputError(
            f"{folder}: no agent consults in a run of {loaded.team.name}: only the agent that"
            " decides asks a model."
        )
    return RecordedUtterances(folder=folder, task=loaded.task, utterances=result)


def _must_be_whole(folder: Path) -> None:
    from ....runtime.runs.adapting import RECIPE

    if (status := read_run(folder).status) != "done":
        raise InputError(
            f"{folder}: this run is {status}, so its utterances are incomplete. Finish it with:"
            f" mas-run --resume {folder}"
        )
    if (folder / RECIPE).exists():
        raise InputError(
            f"{folder}: the team of this run adapted, so its rounds differ from those that its"
            " file declares. Use a run without --adapt."
        )


async def _passes(
    plan: Plan, task: Task, catalogue: Catalogue, setting: Setting, folder: Path
) -> Sequence[Round]:
    from ....runtime.record.journal import Journal
    from ....runtime.runs.services import open_services
    from ....runtime.runs.whole import passes

    async with open_services(catalogue, setting) as services:
        with Journal.open(folder, replaying=True) as journal:
            scrubber = services.scrubber(os.environ)
            rounds = await passes(plan, task, services.context(journal=journal, scrubber=scrubber))
            if journal.divergences:
                raise InputError(f"{folder}: it cannot be replayed. {journal.divergences[0]}")
    return rounds


def utterance(recorded: RecordedUtterances, agent_id: str, round_number: int | None) -> Utterance:
    """Return an agent's utterance in a round, by default in its last one."""
    of = [
        each
        for each in recorded.utterances
        if each.agent == agent_id and round_number in {None, each.round}
    ]
    if of:
        return of[-1]
    turns = ", ".join(f"{each.agent} in round {each.round}" for each in recorded.utterances)
    raise InputError(
        f"{recorded.folder}: {agent_id!r} said nothing in that round. Utterances: {turns}."
    )


def utterance_score(utterance: Utterance, scores_file: Path | None) -> Contribution | None:
    """Read an utterance's score; None without a judgement."""
    if scores_file is None:
        return None
    scores = _written(scores_file, "appraise", _scores)
    if utterance.turn not in scores:
        raise InputError(
            f"{scores_file}: no entry for {utterance.agent} in round {utterance.round}."
        )
    return scores[utterance.turn]


def _scores(value: Any) -> dict[tuple[str, int], Contribution]:
    return {
        (score["agent"], score["round"]): Contribution(
            value=float(score["score"]), reason=str(score["reason"])
        )
        for score in value
    }


def niches(task: Task, niche_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the niches that strategies may be for."""
    return niche_names or tuple(filter(None, (task.niche,)))


def differences(difference_files: tuple[Path, ...]) -> list[Difference]:
    """Read differences."""
    return [_written(file, "dream_contrast", _difference) for file in difference_files]


def _difference(value: Any) -> Difference:
    return Difference(**{name: str(value[name]) for name in ("giver", "failed", "text")})


def ideas(ideas_file: Path) -> tuple[Idea, ...]:
    """Read strategies."""
    return _written(ideas_file, "dream_imagine", _ideas)


def _ideas(value: Any) -> tuple[Idea, ...]:
    return tuple(
        Idea(text=str(idea["text"]), niches=tuple(idea["niches"]), of=_difference(idea["of"]))
        for idea in value
    )


def surviving(
    ideas: tuple[Idea, ...], ideas_file: Path, opinion_files: tuple[Path, ...]
) -> list[tuple[Idea, list[str]]]:
    """Return the strategies that survive the debate, each with the criticism of it."""
    debated = [_written(file, "dream_debate", _opinions) for file in opinion_files]
    for file, member in zip(opinion_files, debated, strict=True):
        if len(member.opinions) != len(ideas):
            raise InputError(f"{file}: no opinions on the {len(ideas)} strategies of {ideas_file}.")
    by_name = {member.agent: member.opinions for member in debated}
    left = survivors(ideas, by_name, [*by_name])
    if not left:
        raise InputError(
            f"{ideas_file}: no strategy is left, because most agents would drop each of them."
        )
    return [(ideas[n], [member.opinions[n].reason for member in debated]) for n in left]


def _opinions(value: Any) -> Opinions:
    opinions = (
        Opinion(keep=bool(opinion["keep"]), reason=str(opinion["reason"]))
        for opinion in value["opinions"]
    )
    return Opinions(agent=str(value["agent"]), opinions=tuple(opinions))
