"""`mas op appraise` and `distil`: what the utterances of a recorded run are worth, and teach."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.json_text import dumps, loads
from ...schema.loading import read_file
from ..appraise import Appraisal, appraise, appraised
from ..contributions import Contribution
from ..distil import distil
from ..proposal import Dropped
from .arguments import FILE, FOLDER, Host, known_of, model_options, refusal, setting_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...runtime.plan import Plan
    from ...runtime.rounds import Round
    from ...runtime.services import Setting
    from ...schema.catalogue import Catalogue
    from ...schema.task import Task
    from ..distil import Distilled
    from ..meta import Meta
    from ..utterances import Turn, Utterance

__all__ = ["appraise_run", "distil_utterance"]

rubric_option = click.option(
    "--rubric",
    type=FILE,
    help="A text that says what makes an utterance good.  [default: the one that comes with"
    " coterie]",
)


@click.command("appraise", cls=Command)
@click.argument("run", type=FOLDER)
@rubric_option
@model_options
@setting_options
def appraise_run(run: Path, rubric: Path | None, **options: Any) -> None:
    """Let a model score every utterance of a run.

    RUN is the folder of a run that came to its end; it is made again from its journal, and no
    agent is asked. One question for each round. The scores go to standard output as JSON, which
    distil reads with --judged. The model is not shown the reference answer.
    """
    heard = Heard.of(run, options)
    lost: list[Dropped] = []

    async def work(meta: Meta) -> Mapping[Turn, Contribution]:
        return await appraised(
            meta, "", heard.task, heard.said, lost.append, rubric=_text_of(rubric)
        )

    scores = heard.host.ask(heard.host.ceiling(), work)
    if not scores:
        raise refusal(lost[0])
    click.echo(dumps(_value(heard.said, scores), indent=2))
    for one in lost:
        click.echo(f"a round without scores: {speakable(str(refusal(one)))}", err=True)


@click.command("distil", cls=Command)
@click.argument("run", type=FOLDER)
@click.argument("agent")
@click.option(
    "--round",
    "number",
    type=click.IntRange(min=1),
    help="In which round it was said.  [default: the last in which the agent spoke]",
)
@click.option(
    "--judged",
    type=FILE,
    help="What appraise said of the run.  [default: the model is asked for that first]",
)
@rubric_option
@model_options
@setting_options
def distil_utterance(
    run: Path,
    agent: str,
    number: int | None,
    judged: Path | None,
    rubric: Path | None,
    **options: Any,
) -> None:
    """Let a model put what an agent said in a run into what it should know in a similar case.

    RUN is the folder of a run that came to its end; AGENT is the id of an agent that works in its
    rounds. The entry goes to standard output: when it applies, what to do then, and why.
    """
    heard = Heard.of(run, options)
    said = heard.by(agent, number)
    known = None if judged is None else _score_of(said, judged)

    async def work(meta: Meta) -> Distilled | Dropped:
        score = known
        if score is None:
            of = [one for one in heard.said if one.round == said.round]
            whole = await appraise(meta, "appraise", heard.task, of, rubric=_text_of(rubric))
            if not isinstance(whole, Appraisal):
                return whole
            score = whole.of[agent]
        return await distil(meta, "distil", heard.task, said, score=score)

    came = heard.host.ask(heard.host.ceiling(), work)
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(speakable(came.text))


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """What was said in a recorded run, for who judges it.

    Attributes:
        host: What operators have of this host.
        task: What the run was about.
        said: Its utterances, at least one.
        folder: Where it is.
    """

    host: Host
    task: Task
    said: tuple[Utterance, ...]
    folder: Path

    @classmethod
    def of(cls, folder: Path, options: dict[str, Any]) -> Heard:
        """Load a run, and make it again.

        Raises:
            InputError: It did not come to its end, was adapted, or nobody consulted in it.
        """
        from ...runtime.command.loading import known_again, load_folder
        from ...runtime.plan import compile
        from ...runtime.record import read_setting
        from ..utterances import utterances

        _must_be_whole(folder)
        known = known_of(options)
        setting, models = read_setting(folder)
        again = known_again(folder, known, models, options["model"], offline=True)
        loaded = load_folder(folder, again)
        plan = compile(loaded.team, loaded.known)
        done = asyncio.run(_passes(plan, loaded.task, loaded.known, setting, folder))
        said = utterances(done)
        if not said:
            raise InputError(
                f"{folder}: nobody consults in a run of {loaded.team.name}: there is no agent that"
                " asks a model, beside the one that decides."
            )
        return cls(host=Host.of(options, known), task=loaded.task, said=said, folder=folder)

    def by(self, agent: str, number: int | None) -> Utterance:
        """Find an utterance.

        Raises:
            InputError: There is none by that agent in that round.
        """
        of = [one for one in self.said if one.agent == agent and number in {None, one.round}]
        if of:
            return of[-1]
        turns = ", ".join(f"{one.agent} in round {one.round}" for one in self.said)
        raise InputError(f"{self.folder}: {agent!r} said nothing there. Who spoke: {turns}.")


def _must_be_whole(folder: Path) -> None:
    from ...runtime.adapting import RECIPE
    from ..recorded import read_run

    if (status := read_run(folder).status) != "done":
        raise InputError(
            f"{folder}: this run is {status}, so not all is there that was said. Finish it with:"
            f" mas-run --resume {folder}"
        )
    if (folder / RECIPE).exists():
        raise InputError(
            f"{folder}: this run was adapted, so its rounds are not those that its team declares."
            " Give a run that was made without --adapt."
        )


async def _passes(
    plan: Plan, task: Task, known: Catalogue, setting: Setting, folder: Path
) -> Sequence[Round]:
    """Make a run again from its journal, asking nobody."""
    from ...runtime.journal import Journal
    from ...runtime.services import open_services
    from ...runtime.whole import passes

    async with open_services(known, setting) as services:
        with Journal.open(folder, replaying=True) as journal:
            scrubber = services.scrubber(os.environ)
            done = await passes(plan, task, services.context(journal=journal, scrubber=scrubber))
            if journal.divergences:
                raise InputError(f"{folder}: it cannot be made again. {journal.divergences[0]}")
    return done


def _value(said: Sequence[Utterance], scores: Mapping[Turn, Contribution]) -> list[dict[str, Any]]:
    return [
        {"agent": one.agent, "round": one.round, "score": score.value, "reason": score.reason}
        for one in said
        if (score := scores.get(one.turn)) is not None
    ]


def _score_of(said: Utterance, file: Path) -> Contribution:
    """Find what was said of an utterance.

    Raises:
        InputError: The file cannot be read, is something else, or says nothing of it.
    """
    try:
        scores = {
            (one["agent"], one["round"]): Contribution(
                value=float(one["score"]), reason=str(one["reason"])
            )
            for one in loads(read_file(file))
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not what mas op appraise writes: {error!r}.") from None
    if said.turn not in scores:
        raise InputError(f"{file}: nothing is said of {said.agent} in round {said.round}.")
    return scores[said.turn]


def _text_of(file: Path | None) -> str:
    return "" if file is None else read_file(file).decode("utf-8", errors="replace")
