"""What an agent reads in a run: its instructions, its prompt, and what it starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...schema.values.attachments import MOST_IN_ALL
from ..agents.round_state import NOTHING
from ..gateway.chat.dialogue import clipped
from ..messages.messages import UNBURDENED, question, system
from ..record.journal import digest_of
from ..values.bounds import LONGEST_REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.values.attachments import Attachment
    from ..agents.items import Item
    from ..agents.outcomes import AgentOutcome
    from ..agents.round_state import AgentState, RoundState
    from ..agents.runner import AgentReport
    from ..messages.recall import MemoryEntry
    from ..plan.plan import PlannedAgent
    from .engine import Running
    from .turn import AgentTurn

CONTENT = attrgetter("content")


@dataclass(kw_only=True, eq=False)
class AgentInputs:
    """What an agent reads.

    Attributes:
        before: The outcomes of the agents whose output it sees.
        recalled: The memory entries that it is shown, once they are known.
        carried: Its state from earlier rounds.
        turn: Its turn in an open roster; None without mail of one.
        left_out: The number of characters cut from its reports.
        attachments: The task's attachments that its model is shown.
        pictures: The attachments of tools' answers that its model is shown as well.
        start: The changes to the task's repository that it starts from.
        missing: The agents that it sees and that failed.
        unneeded: The agents that it sees and that did not have to work.
    """

    run: Running
    planned: PlannedAgent
    before: Mapping[str, AgentOutcome]
    item: Item | None = None
    recalled: tuple[MemoryEntry, ...] = ()

    def __post_init__(self) -> None:
        carried = _state_of(self.run.state, self.planned.agent.id)
        # The agent's previous report is a list, from which an item cannot continue.
        self.carried = replace(carried, own=None) if self.item else carried
        self.turn = self._turn()
        reported = self._reports()
        self.reports = _bounded(reported)
        self.left_out = _length(reported) - _length(self.reports)
        self.start = self.run.start_of(self.planned.agent.id, self.before)
        self.attachments: Mapping[str, Attachment] = {}
        if (task := self.run.workspaces.task).attachments:
            from ..messages.attached import seen_by

            self.attachments = seen_by(self.planned, task)
        self.pictures: dict[str, Attachment] = {}
        silent = {name: outcome for name, outcome in self.before.items() if outcome.result is None}
        self.missing = tuple(name for name, outcome in silent.items() if not outcome.unneeded)
        self.unneeded = tuple(name for name, outcome in silent.items() if outcome.unneeded)

    def _turn(self) -> AgentTurn | None:
        """Return its turn in an open roster; None without mail of one."""
        if (mail := self.carried.mail) is None:
            return None
        from .turn import turn_of

        return turn_of(self.planned, self.run.plan.team, mail)

    def _reports(self) -> list[AgentReport]:
        """Return the reports of the agents whose output it sees."""
        return [
            report
            for sender, outcome in self.before.items()
            if (report := self.run.report_of(sender, outcome)) is not None
        ]

    @cached_property
    def system(self) -> str:
        """Its instructions."""
        has_reports = bool(self.reports or (self.carried and not self.turn))
        team, agent = self.run.plan.team, self.planned.agent
        text = system(
            self.turn.planned if self.turn else self.planned,
            team.constitution,
            has_reports=has_reports,
            noted=team.known_to(agent),
            paired=team.paired_with(agent),
            task=self.run.workspaces.task,
        )
        return self.turn.instructions(text) if self.turn else text

    @cached_property
    def question(self) -> str:
        """Its prompt: in a further turn of an open roster, only what is new.

        The prompt contains recalled entries, so it is not requested before they are known.
        """
        if self.turn and self.carried.earlier:
            return self.turn.news()
        return "\n\n".join([self._written_question(), *([self.turn.news()] if self.turn else ())])

    def _written_question(self) -> str:
        task = self.run.workspaces.task
        brief = task.briefs.get(self.planned.agent.id, "")
        carried = UNBURDENED if self.turn else self.carried  # its mail has the rest
        parts = (task, self.reports, self.missing, carried, self.recalled)
        files: dict[str, Any] = {}
        if task.files:
            from ..messages.attached import shown_files, unread_files

            files["texts"] = shown_files(self.planned, task)
            files["unread"] = unread_files(self.planned, task)
        return question(
            *parts,
            brief=brief,
            visible=self.attachments,
            unneeded=self.unneeded,
            item=self.item,
            **files,
        )

    def show(self, attachment: Attachment) -> bool:
        """From now on, show the model an attachment of a tool's answer, if it accepts that kind."""
        from ..gateway.chat.inputs import takes

        shown = {**self.attachments, **self.pictures, attachment.marker: attachment}
        size = sum(len(entry.content) for entry in shown.values())
        model = self.planned.model
        if model is None or not takes(model, attachment) or size > MOST_IN_ALL:
            return False
        self.pictures[attachment.marker] = attachment
        return True

    def digest(self) -> str:
        """Return the digest of everything that the agent's outcome depends on."""
        task = self.run.workspaces.task
        patches = [report.patch for report in self.reports]
        repo = str(task.repo.resolve()) if task.repo else None
        parts = (
            *(dict(task.files), task.attached, repo, task.commit),
            self.carried.own.patch if self.carried.own else None,
            [change.key for change in self.start],
            self.run.context.dialogue,
            self.carried.earlier,
            self.turn.tool_inputs() if self.turn else None,
        )
        read = (self.system, self.question, patches, *parts)
        return digest_of(self.planned.shape_json, *read)


def _state_of(state: RoundState, agent_id: str) -> AgentState:
    """Return the state carried over for an agent, cut as it is read."""
    if state is NOTHING:
        return UNBURDENED
    carried = state.of(agent_id)
    own = _bounded([carried.own])[0] if carried.own else None
    return replace(carried, own=own, letters=_bounded(carried.letters))


def _bounded(reports: Sequence[AgentReport]) -> tuple[AgentReport, ...]:
    """Return reports cut as they are read: if too long together, the longest are cut."""
    if _length(reports) <= LONGEST_REPORTS:
        return tuple(reports)
    texts = clipped([report.content for report in reports], LONGEST_REPORTS)
    return tuple(
        report if report.content is text else replace(report, content=text)
        for report, text in zip(reports, texts, strict=True)
    )


def _length(reports: Sequence[AgentReport]) -> int:
    return sum(map(len, map(CONTENT, reports)))
