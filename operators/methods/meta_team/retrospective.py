"""A whole retrospective after a task: all levels, in order (Algorithm 1).

Each level works on the team that the previous level left, so no two levels decide the same thing.
Within a level, agents are asked concurrently and do not read each other's new notes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ....runtime.values.together import together
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import RejectedProposal
from .centralise import centralise
from .discussion import Discussion, discuss
from .evidence.conversation import interactions, speakers
from .noted import evidence_lines, noted, notes_of
from .reorganise import Reorganised, known_text, reorganise
from .retrospect import QUESTIONS, retrospect
from .settings import RetrospectiveSettings
from .settle import settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....runtime.gateway.stream_sink import Tell
    from ....schema.edits import Edit
    from ....schema.team.team import Team
    from ...core.meta import OperatorModel
    from ...core.printed import Noted
    from .evidence.ground import Ground
    from .gate import Refused
    from .retrospect import Reflected
    from .settle import Settlement

Scheme = Literal["centralised", "partitioned", "collaborative"]
"""How the evidence of a run is distributed among readers (Meta-Team Table 2)."""
LEVELS = ("agent", "pair", "team")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The outcomes of all questions.

    Attributes:
        fit: Questions whose first answer was fully valid.
        repaired: Questions whose second answer was valid, at least in part.
        dropped: Questions without a valid answer, or not asked because of a limit.
    """

    fit: int = 0
    repaired: int = 0
    dropped: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrospective:
    """The result of a retrospective.

    Attributes:
        child: The resulting team; the same team if nothing changes.
        levels: The edits of each level, to apply in order.
        reorganised: The decision of the team; None if it was not asked, or gave no valid answer.
        refused: Changes that cannot be kept, also after one repair.
    """

    child: Team
    levels: tuple[tuple[Edit, ...], ...] = ()
    reflected: tuple[Reflected, ...] = ()
    settled: tuple[Settlement, ...] = ()
    discussion: Discussion = field(default_factory=Discussion)
    reorganised: Reorganised | None = None
    refused: tuple[Refused, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()
    tally: Tally = field(default_factory=Tally)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All accepted edits, in order."""
        return tuple(edit for level in self.levels for edit in level)

    @property
    def retry(self) -> bool:
        """Whether the team wants to retry the task."""
        return self.reorganised is not None and self.reorganised.retry

    @property
    def numbers(self) -> Mapping[str, float]:
        """The figures for a report: outcomes of questions, and of the edits in them."""
        counts = {**asdict(self.tally), "kept": len(self.edits), "refused": len(self.refused)}
        return {name: float(count) for name, count in counts.items()}


async def look_back(
    model: OperatorModel, path: str, ground: Ground, how: RetrospectiveSettings | None = None
) -> Retrospective:
    """Run a retrospective of a team on a task.

    Args:
        how: Its settings. None: the defaults, with all levels.
    """
    counting = _LookBackTally(model.tell)
    counted = replace(model, tell=counting)
    item = _LookingBack(model=counted, path=path, ground=ground, how=how or RetrospectiveSettings())
    return replace(await item.through(), tally=counting.tally)


class _LookBackTally:
    """Counts the outcomes of questions from their events."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.tally = Tally()
        self.handed_back = set[str]()

    def __call__(self, event: str, /, **fields: Any) -> None:
        """Count an event, and forward it."""
        match event:
            case "operator_repair":
                self.handed_back.add(fields["path"])
            case "operator_answered":
                self._add("repaired" if fields["path"] in self.handed_back else "fit")
            case "operator_dropped":
                self._add("dropped")
            case _:
                pass
        self.tell(event, **fields)

    def _add(self, name: str) -> None:
        self.tally = replace(self.tally, **{name: getattr(self.tally, name) + 1})


@dataclass(kw_only=True, eq=False)
class _LookingBack:
    model: OperatorModel
    path: str
    ground: Ground
    how: RetrospectiveSettings

    def __post_init__(self) -> None:
        self.result = Retrospective(child=self.ground.team)

    async def through(self) -> Retrospective:
        if self.how.scheme == "centralised":
            await self._centralised()
            return self.result
        if self.how.agent_level:
            await self._agents()
        if self.how.pair_level:
            await self._pairs()
        if self.how.team_level:
            await self._team()
        return self.result

    @property
    def _is_together(self) -> bool:
        return self.how.scheme == "collaborative"

    async def _centralised(self) -> None:
        result = await centralise(self.model, f"{self.path}centralise", self.ground, self.how)
        if isinstance(result, RejectedProposal):
            self._lose([result])
            return
        self._refuse(result.refused)
        self._keep(result.edits)
        if result.team is not None:
            self._changed(result.team)

    async def _agents(self) -> None:
        of = speakers(self.ground.team, self.ground.run)
        reflecteds = await together(
            *(
                retrospect(
                    self.model,
                    f"{self.path}retrospect/{name}",
                    self.ground,
                    name,
                    evidence=self.how.evidence if self._is_together else 0,
                    looks=self.how.looks,
                )
                for name in of
            )
        )
        self.result = replace(self.result, reflected=tuple(reflecteds))
        self._take_in(reflecteds)

    async def _pairs(self) -> None:
        of = interactions(self.ground.team, self.ground.run)
        paths = ((pair, f"{self.path}settle/{pair[0]} {pair[1]}") for pair in of)
        settlements = await together(
            *(
                settle(self.model, path, self.ground, pair, exchange=self._is_together)
                for pair, path in paths
            )
        )
        self.result = replace(self.result, settled=tuple(settlements))
        self._take_in(settlements)

    async def _team(self) -> None:
        meta, ground, pair = self.model, self.ground, (self.result.reflected, self.result.settled)
        meter = ground.meter()
        discussion = await discuss(
            meta,
            f"{self.path}discuss",
            ground,
            known_text(meta, ground, *pair),
            rounds=self.how.discussion if self._is_together else 0,
            meter=meter,
            inputs={"reflected": pair[0], "settled": pair[1]},
        )
        self.result = replace(self.result, discussion=discussion)
        self._lose(discussion.rejected)
        result = await reorganise(
            meta,
            f"{self.path}reorganise",
            ground,
            *pair,
            discussion=discussion,
            edges=self.how.edges,
            meter=meter,
        )
        if isinstance(result, RejectedProposal):
            self._lose([result])
        else:
            self._changed(result)

    def _changed(self, reorganised: Reorganised) -> None:
        self.result = replace(self.result, reorganised=reorganised)
        self._refuse(reorganised.refused)
        self._keep(reorganised.edits)

    def _take_in(self, parts: Sequence[Reflected | Settlement]) -> None:
        """Take in what agents, or pairs of them, have answered."""
        self._lose([lost for part in parts for lost in part.rejected])
        self._refuse([lost for part in parts for lost in part.refused])
        self._keep([edit for part in parts for edit in part.edits])

    def _keep(self, edits: Sequence[Edit]) -> None:
        """Pass a level's edits through the gate together, and continue with the resulting team."""
        passed = self.ground.gate(self.model, edits, self.ground.room)
        self._refuse(passed.refused)
        self.ground = replace(self.ground, team=passed.child)
        levels = (*self.result.levels, passed.edits)
        self.result = replace(self.result, child=passed.child, levels=levels)

    def _lose(self, rejected: Sequence[RejectedProposal]) -> None:
        self.result = replace(self.result, rejected=(*self.result.rejected, *rejected))

    def _refuse(self, refused: Sequence[Refused]) -> None:
        self.result = replace(self.result, refused=(*self.result.refused, *refused))


async def reorganise_alone(
    model: OperatorModel,
    path: str,
    ground: Ground,
    *,
    scheme: Scheme = "collaborative",
    level: tuple[str, ...] = (),
    evidence: int = 2,
    discussion: int = 2,
) -> Noted:
    """Return the team that results from a whole retrospective; see `look_back`."""
    wanted: dict[str, Any] = {f"{name}_level": name in (level or LEVELS) for name in LEVELS}
    how = RetrospectiveSettings(scheme=scheme, evidence=evidence, discussion=discussion, **wanted)
    back = await look_back(model, f"{path}/", ground, how)
    events = [f"{each.agent}: {each.summary}" for each in back.reflected if each.summary]
    events += [line for each in back.reflected for line in evidence_lines(each.evidence)]
    events += [
        f"{statement.agent} said: {statement.text}" for statement in back.discussion.statements
    ]
    events += ["the team wishes to try again."] if back.retry else []
    return noted(
        "reorganise",
        ground.team,
        back.child,
        back.edits,
        reason=back.reorganised.reason if back.reorganised else "",
        notes=notes_of(events, back.refused, back.rejected),
    )


REORGANISE = Operator(
    name="reorganise",
    scale="team",
    act=reorganise,
    about="Let a team look back on a run, and change its notes, its rules and its organisation."
    " Agents review their own work, pairs settle what they learnt, the team discusses it, and its"
    " lead decides.",
    alone=reorganise_alone,
    inputs={
        "scheme": OperatorSetting(
            about="Who reads the run. centralised: one analyser reads everything. partitioned:"
            " each agent reads its own part. collaborative: the same, and they exchange.",
            choices=get_args(Scheme),
        ),
        "level": OperatorSetting(
            about="Look back only at this level. May be repeated.  [default: all three]",
            choices=LEVELS,
            several=True,
        ),
        "evidence": QUESTIONS,
        "discussion": OperatorSetting(
            about="The most rounds in which agents talk about the team before its lead decides.",
            least=0,
            most=5,
        ),
    },
)
