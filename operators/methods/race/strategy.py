"""Race: replay-assisted evolution of one team over many tasks, and a last word on others.

The main flow: split the tasks, propose, race, and measure the winner once beside the original on
tasks held back until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....runtime.values.operator_answers import summed_answers
from ....runtime.values.usage import Usage
from ....schema.values.errors import InputError, LimitError
from ....schema.values.hints import listed
from ...evolution.strategy import Strategy
from .ceiling import allowed_by_default
from .judging import refuse_judge_at_chance
from .keeping import keep
from .last_word import last_word
from .pages import race_page
from .race import Race
from .result import Entrant, RaceResult
from .settings import SCHEMA, RaceSettings, check, needs
from .split import refuse_few

if TYPE_CHECKING:
    from ....schema.team.team import Team
    from ...evolution.stream import TaskStream
    from .result import LastWord


async def race(stream: TaskStream) -> RaceResult:
    """Find a better team, or show that none was found."""
    running = Race.of(stream)
    original = _original(stream)
    running.enter(original)
    _result(running).write(stream.folder)
    await running.begin()
    stream.say(_estimate(running))
    refuse_judge_at_chance(running.proposing.pilot)
    try:
        while await running.step():
            _result(running).write(stream.folder)
    except LimitError as error:  # what is left may do for the last word
        running.ended = f"the search ended: {error}"
    word = None if running.standings.finalist.parent is None else await last_word(running)
    members = keep(running)
    result = _result(running, word, members)
    result.write(stream.folder)
    return result


def _original(stream: TaskStream) -> Team:
    """Return the team that the race begins with: the pool's only team without a parent."""
    members = stream.context.pool.teams.values()
    seeds = [member.team for member in members if not member.lineage.parents]
    if len(seeds) > 1:
        names = listed([team.name for team in seeds])
        raise InputError(
            f"race begins with one team, and the pool has {len(seeds)} that people wrote: {names}."
            " Name one in seeds, and take a new --pool."
        )
    return seeds[0]


def _estimate(running: Race) -> str:
    """Return the cost of a run according to the pilot, and what the budget pays for."""
    trials = running.proposing.pilot
    usage = sum((trial.run.usage for trial in trials), Usage())
    seconds = sum(trial.run.seconds for trial in trials) / len(trials)
    n, stage = len(trials), running.stream.context
    each = f"{usage.calls / n:.1f} calls, {usage.tokens / n:.0f} tokens, ${usage.usd / n:.5f}"
    share = running.spending.share(usage) / n
    runs = min(running.settings.runs, int(1 / share) if share else running.settings.runs)
    runs += 0 if share else 2 * len(running.split.held)
    minutes = runs * seconds / stage.recipe.workers / 60
    score = sum(trial.score.value for trial in trials) / n
    split = running.split
    return (
        f"pilot: {score:.2f} on {n} tasks; a run takes {each}, {seconds:.1f} s. About {runs} runs,"
        f" {minutes:.0f} min. Tasks: {len(split.propose)} to propose on, {len(split.race)} to race"
        f" on, {len(split.held)} held back"
    )


def _result(
    running: Race, word: LastWord | None = None, members: list[str] | None = None
) -> RaceResult:
    """Return the current state of the race as its record."""
    standings = running.standings
    entrants = tuple(
        Entrant(
            number=candidate.number,
            parent=candidate.parent,
            partner=candidate.partner,
            kind=candidate.kind,
            reason=candidate.reason,
            edits=candidate.edits,
            scores=tuple(candidate.scores),
            mean=standings.belief(candidate).mean,
            spread=standings.belief(candidate).spread,
            gain=running.gains[candidate.number].interval if candidate.number else None,
            state=candidate.state,
            usage=candidate.usage,
            member=members[candidate.number] if members else "",
        )
        for candidate in standings.candidates
    )
    return RaceResult(
        entrants=entrants,
        tasks=tuple(task.id for task in running.split.race),
        leader=standings.finalist.number,
        slots=tuple(running.order),
        last_word=word,
        ended=running.ended,
        caps=running.caps,
        spent=running.spending.spent + (word.usage if word else Usage()),
        operators=running.proposing.author.operators,
        dropped=len(running.proposing.rejected),
        conflicts=tuple(running.proposing.merging.conflicts.values()),
        asked=summed_answers([running.proposing.author.tally.answers]),
    )


RACE = Strategy(
    name="race",
    whole=race,
    settings=RaceSettings,
    schema=SCHEMA,
    check=check,
    check_tasks=refuse_few,
    needs=needs,
    ceiling=allowed_by_default,
    status=RaceResult.read,
    page=race_page,
    foretells=lambda settings: (
        f"at most {settings.runs} runs of candidates, then a last word; a pilot says what they take"
    ),
    leaves_team=True,
    reuses=True,
)
