"""`mas op` of the phases of a dream: dream_reflect, _contrast, _imagine, _debate, _crystallize."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...runtime.terminal import speakable
from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.json_text import dumps, loads
from ...schema.loading import read_file
from ..population.dream_contrast import dream_contrast
from ..population.dream_crystallize import dream_crystallize
from ..population.dream_debate import dream_debate
from ..population.dream_imagine import dream_imagine
from ..population.dream_reflect import dream_reflect
from ..population.dream_rules import survivors
from ..population.ideas import Difference, Idea, Opinion
from ..population.settings import PopulationSettings
from ..proposal import Dropped
from .arguments import (
    FILE,
    FRACTION,
    Host,
    asked_task,
    known_of,
    model_options,
    refusal,
    run_option,
    setting_options,
    task_options,
)
from .learning import work_of
from .worked import Worked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...schema.task import Task

__all__ = [
    "contrast_works",
    "crystallize_insights",
    "debate_strategies",
    "diagnose_work",
    "imagine_strategies",
]

Read = TypeVar("Read")
USUAL = PopulationSettings()
niche_option = click.option(
    "--niche",
    "niches",
    multiple=True,
    help="A kind of task that strategies may be for; once for each.  [default: that of the task]",
)
ideas_option = click.option(
    "--ideas",
    type=FILE,
    required=True,
    help="What dream_imagine wrote: the strategies.",
)


def most_option(most: int) -> Callable[..., Any]:
    """Bound how many there may be."""
    return click.option(
        "--most", type=click.IntRange(min=1), default=most, show_default=True, help="How many."
    )


@click.command("dream_reflect", cls=Command)
@click.argument("team")
@click.argument("agent")
@run_option
@click.option("--score", type=FRACTION, help="What its own answer was worth.")
@task_options
@model_options
@setting_options
def diagnose_work(
    team: str, agent: str, run_folder: Path, score: float | None, **options: Any
) -> None:
    """Let a model say what went right and wrong in an agent's own work.

    TEAM is a team file, or seed:NAME; AGENT is the id of one of its agents. The diagnosis goes to
    standard output. The model is not shown the reference answer, nor anybody else's work.
    """
    worked = Worked.of(team, run_folder, options)
    work = work_of(worked, agent, score)
    came = worked.host.ask(
        worked.host.ceiling(worked.team),
        lambda meta: dream_reflect(meta, f"dream/reflect/{agent}", worked.task, work),
    )
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(speakable(came))


@click.command("dream_contrast", cls=Command)
@click.argument("team")
@click.argument("failed")
@click.argument("succeeded")
@run_option
@click.option(
    "--scores",
    type=(FRACTION, FRACTION),
    default=(0.0, 1.0),
    show_default=True,
    help="What their own answers were worth.",
)
@task_options
@model_options
@setting_options
def contrast_works(
    team: str,
    failed: str,
    succeeded: str,
    run_folder: Path,
    scores: tuple[float, float],
    **options: Any,
) -> None:
    """Let a model say what an agent that succeeded did differently from one that failed.

    TEAM is a team file, or seed:NAME; FAILED and SUCCEEDED are ids of its agents. The difference
    goes to standard output as JSON, which dream_imagine reads.
    """
    worked = Worked.of(team, run_folder, options)
    first, second = (
        work_of(worked, one, score) for one, score in zip((failed, succeeded), scores, strict=True)
    )
    came = worked.host.ask(
        worked.host.ceiling(worked.team),
        lambda meta: dream_contrast(meta, "dream/contrast", worked.task, first, second),
    )
    _show(came)


@click.command("dream_imagine", cls=Command)
@click.argument("differences", nargs=-1, required=True, type=FILE)
@niche_option
@most_option(2 * USUAL.insights)
@task_options
@model_options
@setting_options
def imagine_strategies(
    differences: tuple[Path, ...], niches: tuple[str, ...], most: int, **options: Any
) -> None:
    """Let a model imagine strategies that follow from what made the difference.

    DIFFERENCES are files that dream_contrast wrote. The strategies go to standard output as JSON,
    which dream_debate and dream_crystallize read.
    """
    host, task = _host(options)
    of = [_read(one, _difference) for one in differences]
    kinds = _niches(niches, task)
    came = host.ask(
        host.ceiling(),
        lambda meta: dream_imagine(meta, "dream/imagine", task, of, niches=kinds, most=most),
    )
    _show(came)


@click.command("dream_debate", cls=Command)
@click.argument("team")
@click.argument("agent")
@run_option
@ideas_option
@task_options
@model_options
@setting_options
def debate_strategies(team: str, agent: str, run_folder: Path, ideas: Path, **options: Any) -> None:
    """Let a model criticise strategies from where an agent stands, and say which to drop.

    TEAM is a team file, or seed:NAME; AGENT is the id of one of its agents. An opinion on each
    strategy goes to standard output as JSON, which dream_crystallize reads.
    """
    worked = Worked.of(team, run_folder, options)
    work, of = work_of(worked, agent), _read(ideas, _ideas)
    came = worked.host.ask(
        worked.host.ceiling(worked.team),
        lambda meta: dream_debate(meta, f"dream/debate/{agent}", worked.task, work, of),
    )
    _show(came if isinstance(came, Dropped) else _Said(agent=work.agent, opinions=came))


@click.command("dream_crystallize", cls=Command)
@ideas_option
@click.option(
    "--opinions",
    type=FILE,
    multiple=True,
    help="What dream_debate wrote; once for each agent. Ideas that most would drop are left out.",
)
@niche_option
@most_option(USUAL.insights)
@task_options
@model_options
@setting_options
def crystallize_insights(
    ideas: Path, opinions: tuple[Path, ...], niches: tuple[str, ...], most: int, **options: Any
) -> None:
    """Let a model make insights of strategies, each with how far it reaches.

    The insights go to standard output as JSON. None of them is verified.
    """
    host, task = _host(options)
    of, said = _read(ideas, _ideas), [_read(one, _said) for one in opinions]
    for file, one in zip(opinions, said, strict=True):
        if len(one.opinions) != len(of):
            raise InputError(f"{file}: no opinions on the {len(of)} strategies of {ideas}.")
    by_name = {one.agent: one.opinions for one in said}
    left = survivors(of, by_name, [*by_name])
    if not left:
        raise InputError(f"{ideas}: most would drop each of these strategies. Nothing is left.")
    came = host.ask(
        host.ceiling(),
        lambda meta: dream_crystallize(
            meta,
            "dream/crystallize",
            task,
            [of[n] for n in left],
            criticism=[[one.opinions[n].reason for one in said] for n in left],
            niches=_niches(niches, task),
            most=most,
        ),
    )
    _show(came)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    """What one agent thinks of each strategy."""

    agent: str
    opinions: tuple[Opinion, ...]


def _host(options: dict[str, Any]) -> tuple[Host, Task]:
    known = known_of(options)
    return Host.of(options, known), asked_task(options, known)


def _niches(named: tuple[str, ...], task: Task) -> tuple[str, ...]:
    return named or tuple(filter(None, (task.niche,)))


def _show(came: Any) -> None:
    """Print what came of it as JSON, which may be a value or several."""
    if isinstance(came, Dropped):
        raise refusal(came)
    value = [asdict(one) for one in came] if isinstance(came, tuple) else asdict(came)
    click.echo(dumps(value, indent=2, ensure_ascii=False))


def _read(file: Path, make: Callable[[Any], Read]) -> Read:
    """Read what another of these commands printed.

    Raises:
        InputError: The file cannot be read, or is something else.
    """
    try:
        return make(loads(read_file(file)))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not what mas op writes of a dream: {error!r}.") from None


def _difference(value: Any) -> Difference:
    return Difference(**{name: str(value[name]) for name in ("giver", "failed", "text")})


def _ideas(value: Any) -> tuple[Idea, ...]:
    return tuple(
        Idea(text=str(one["text"]), niches=tuple(one["niches"]), of=_difference(one["of"]))
        for one in value
    )


def _said(value: Any) -> _Said:
    listed = value["opinions"]
    opinions = (Opinion(keep=bool(one["keep"]), reason=str(one["reason"])) for one in listed)
    return _Said(agent=str(value["agent"]), opinions=tuple(opinions))
