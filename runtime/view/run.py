"""The page of a run: how it ended and why, each agent's work over time, and every conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...schema.picture.svg import Mark, draw_marked
from ...schema.values.terminal import counted
from ...schema.values.values import is_list, is_mapping
from ..record.events import EVENTS
from ..record.journal import is_held
from ..runs.record import MANIFEST, RESULT, TEAM_THAT_WAS, read_value
from ..showing.recorded import Recorded
from ..showing.saying import event_text
from .chart import chart
from .pages import FOLDER, Page, Templates
from .questions import open_questions, write_answer
from .rounds import rounds
from .site import ANSWER, FolderSite, NoPage
from .tables import verdict
from .talk import anchor_of, is_trouble, steps_of, turns, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from markupsafe import Markup

    from ...schema.team.team import Team
    from .links import Links

TEMPLATES = Templates(folder=FOLDER)
MOST_TROUBLES = 40
"""Lines about problems at the head of a page."""
KINDS = {
    "done": ("good", "✓"),
    "failed": ("bad", "✗"),
    "cut short": ("bad", "✗"),
    "cancelled": ("odd", "!"),
    "working": ("busy", "▶"),
}
"""The CSS class and sign of each status of an agent; any other status is idle."""


def open_run(folder: Path) -> RunSite | None:
    """Open a run's folder as a site; None if it holds no run."""
    is_run = (folder / "task.json").is_file() and (folder / MANIFEST).is_file()
    return RunSite(folder=folder) if is_run else None


class RunSite(FolderSite):
    """A run's folder, as a site of one page."""

    @property
    def contents(self) -> Mapping[str, str]:
        """The only page."""
        return {"": "Run"}

    @property
    def state(self) -> str:
        """A text that changes with every event; empty once no process works on the run."""
        if not is_held(self.folder):
            return ""
        sizes = (self._size(name) for name in (EVENTS, RESULT))
        return "-".join(sizes)

    def _size(self, name: str) -> str:
        path = self.folder / name
        return str(path.stat().st_size) if path.exists() else "none"

    def answer(self, question: str, text: str) -> None:
        """Answer a question to a `Person` of the run; see `Answerable`."""
        write_answer(self.folder, question, text)

    def page(self, address: str, links: Links) -> Page:
        """Make the page; see `Site`."""
        if address:
            raise NoPage(address)
        return run_page(Recorded.of(self.folder), links, folder=self.folder)


def run_page(run: Recorded, links: Links, *, folder: Path | None = None) -> Page:
    """Make the page of a run, also of a run that is part of an evaluation or an evolution."""
    view = _View(run, links, folder)
    title = f"{run.team.name}: {run.task.get('id', '')}"
    return Page(title=f"{title} · {run.status}", body=view.body(title))


class _View:
    """The content of a run's page."""

    def __init__(self, run: Recorded, links: Links, folder: Path | None) -> None:
        self.run, self.links, self.folder = run, links, folder
        self.time = run.time
        self.events = {event["n"]: event for event in run.events}
        self.agents = run.speakers
        self.blamed = [*self._blame()]
        self.read_by: dict[str, list[str]] = {}
        for reporter, receiver in run.team.edges:
            self.read_by.setdefault(receiver, []).append(reporter)

    def body(self, title: str) -> Markup:
        run = self.run
        return TEMPLATES.render(
            "run.html",
            self.links,
            run=run,
            title=title,
            facts=[*self._facts()],
            models=", ".join(run.models),
            started=run.started.replace("T", " ").replace("+00:00", " UTC"),
            budget=[*self._budget()],
            verdict=self._verdict(),
            reason=whole(score.get("reason"))
            if is_mapping(score := run.result.get("score"))
            else "",
            error=whole(run.result.get("error")),
            said=whole(run.result.get("said")),
            query=whole(run.task.get("query")),
            reference=whole(run.task.get("answer")),
            answer=whole(run.result.get("answer")),
            questions=[] if self.folder is None else [*open_questions(self.folder)],
            form="" if self.links.base is None else f"{self.links.base}{ANSWER}",
            context=whole(run.task.get("context")),
            troubles=(troubles := [*self._troubles()])[:MOST_TROUBLES],
            more=max(0, len(troubles) - MOST_TROUBLES),
            blame=self.blamed,
            graph=self._graph(),
            chart=self._chart(),
            rows=[self._row(agent) for agent in self.agents],
            total=self._total(),
            rounds=rounds(run.events),
            agents=[self._agent(agent) for agent in self.agents],
            happened=[*self._happened()],
            kinds=KINDS,
        )

    # How it went.

    def _facts(self) -> Iterator[tuple[str, str]]:
        run, usage = self.run, self.run.usage
        if is_mapping(score := run.result.get("score")):
            yield "Score", f"{score['value']:g}"
        cached = f", {usage.cached_calls} more from the cache" if usage.cached_calls else ""
        yield "Model calls", f"{usage.calls}{cached}"
        yield "Tokens", f"{usage.tokens:,}"
        yield "Cost", usage.cost
        yield "Time", _seconds(self._took())
        yield "Agents", f"{len(run.team.agents)}"

    def _verdict(self) -> str:
        score = self.run.result.get("score")
        if not is_mapping(score):
            return ""
        return verdict(float(score["value"]))

    def _took(self) -> float:
        return self.run.seconds

    def _budget(self) -> Iterator[tuple[str, float, float, str]]:
        """Yield the caps of the run, each with the amount used."""
        if self.folder is None:
            return
        caps = read_value(self.folder / MANIFEST).get("budget")
        usage = self.run.usage
        used = {
            "usd": usage.usd,
            "tokens": usage.tokens,
            "calls": usage.calls,
            "seconds": self._took(),
        }
        for name, cap in (caps if is_mapping(caps) else {}).items():
            if name in used and isinstance(cap, int | float):
                text = f"{used[name]:,.4g} of {cap:,.10g} {name}"
                yield str(name), float(used[name]), float(cap), text

    def _troubles(self) -> Iterator[tuple[str, str, str]]:
        """Yield the problems: the agent, a description, and the address of its part of the page."""
        for event in self.run.events:
            if is_trouble(event):
                agent, text = event.get("agent", ""), event_text(event["type"], event)
                is_end = event["type"] == "agent_finished"
                anchor = f"agent-{agent}" if is_end else anchor_of(event)
                is_there = agent in self.agents
                yield agent, text, self.links.to(anchor) if is_there else ""
        told_of = {fields.get("agent") for fields in self.run.events if fields["type"] == "cut_off"}
        for call in self.run.calls:
            if call.is_cut_off and call.agent not in told_of:
                yield call.agent, "an answer was cut off", self.links.to(anchor_of(call.event))

    def _blame(self) -> Iterator[dict[str, Any]]:
        """Yield the blame verdicts on the run."""
        if self.folder is None:
            return
        for path in sorted((self.folder / "blame").glob("*.json")):
            value = read_value(path)
            if value["agent"] is None:
                continue  # there was no verdict
            number = str(value.get("line", "")).rpartition(":")[2]
            event = self.events.get(int(number)) if number.isdecimal() else None
            agent = str(value["agent"])
            anchor = f"agent-{agent}"
            if event is not None and event["type"] in {"model_call", "tool_call"}:
                anchor = anchor_of(event)
            votes = value.get("votes")
            yield {
                "scheme": str(value["scheme"]),
                "agent": agent,
                "step": int(value["step"]),
                "kind": str(value.get("kind", "")),
                "why": str(value["why"]),
                "text": str(value["text"]),
                "confidence": float(value["confidence"]),
                "number": int(number) if number.isdecimal() else None,
                "address": self.links.to(anchor),
                "votes": [_vote(vote) for vote in votes] if is_list(votes) else [],
            }

    # Who was there.

    def _graph(self) -> Markup:
        from markupsafe import Markup

        run, team = self.run, self._team()
        carried = {
            (sender, event["agent"])
            for event in run.events
            if event["type"] == "agent_started"
            for sender in event["received"]
        }
        carried |= {
            (event["agent"], event["to"])
            for event in run.events
            if event["type"] == "message_posted" and event.get("agent") and event.get("to")
        }
        marks = {
            agent: self._mark(agent, run.states.get(agent, "not begun")) for agent in team.agents
        }
        # Drawn from a team that loads; what it says is escaped there.
        return Markup(draw_marked(team, marks, carried, tip=self.links.id("tip")))  # noqa: S704

    def _team(self) -> Team:
        """Return the final team, if agents recruited it."""
        from ...schema.loading.loading import read_team

        if self.folder is not None and (self.folder / TEAM_THAT_WAS).exists():
            return read_team(self.folder / TEAM_THAT_WAS)
        return self.run.team

    def _mark(self, agent: str, status: str) -> Mark:
        kind, sign = KINDS.get(status, ("idle", "·"))
        spans = self.time.of_agent(agent)
        took = f", {_seconds(self.time.seconds_of(agent))}" if spans else ""
        blamed = " ⚑ blamed" if any(fields["agent"] == agent for fields in self.blamed) else ""
        address = self.links.to(f"agent-{agent}")
        return Mark(words=f"{sign} {status}{took}{blamed}", kind=kind, address=address)

    # When.

    def _chart(self) -> dict[str, Any]:
        blamed: dict[str, list[int]] = {}
        for fields in self.blamed:
            if fields["number"] is not None:
                blamed.setdefault(fields["agent"], []).append(fields["number"])
        return chart(
            self.time,
            self.agents,
            blamed=blamed,
            of_agent=lambda agent: self.links.to(f"agent-{agent}"),
            of_event=lambda number: self.links.to(anchor_of(self.events[number])),
        )

    def _row(self, agent: str) -> dict[str, Any]:
        """Return an agent's figures: a row of the table beside the timeline."""
        time, usage = self.time, self.run.usage_of(agent)
        spans = time.of_agent(agent)
        worked = time.seconds_of(agent)
        model, tool = time.seconds(agent, "model"), time.seconds(agent, "tool")
        waited = dict.fromkeys(span.waited_for for span in spans if span.waited_for)
        return {
            "agent": agent,
            "address": self.links.to(f"agent-{agent}"),
            "status": self.run.states.get(agent, "asked"),
            "starts": _seconds(spans[0].start) if spans else "",
            "takes": _seconds(worked) if spans else "",
            "model": _seconds(model),
            "tool": _seconds(tool),
            "own": _seconds(max(0.0, worked - model - tool)) if spans else "",
            "waited_for": ", ".join(waited),
            "is_critical": any(span.is_critical for span in spans),
            "calls": f"{usage.calls}",
            "tokens": f"{usage.tokens:,}",
            "cost": usage.cost,
        }

    def _total(self) -> dict[str, str]:
        usage = self.run.usage
        return {
            "takes": _seconds(self._took()),
            "calls": f"{usage.calls}",
            "tokens": f"{usage.tokens:,}",
            "cost": usage.cost,
        }

    # What was said.

    def _agent(self, agent: str) -> dict[str, Any]:
        run = self.run
        planned, ended = run.team.agents.get(agent), run.ended(agent)
        its_turns = [*turns(run, agent, self.time.times)]
        status = run.states.get(agent, "asked")
        steps = ended.get("steps")
        return {
            "name": agent,
            "role": planned.role if planned else "",
            "status": status,
            "is_open": status not in {"done", "not begun", "asked"} or agent == run.team.output,
            "usage": run.usage_of(agent),
            "reads": ", ".join(self.read_by.get(agent, ())),
            "tells": ", ".join(run.team.reports_to.get(agent, ())),
            "error": whole(ended.get("error")),
            "mishaps": [str(mishap) for mishap in ended["mishaps"]],
            "content": whole(ended.get("content")),
            "turns": its_turns,
            # An answer that was cut off is told by its turn, and mostly by an event as well.
            "troubles": sum(
                its_turn.is_trouble and its_turn.kind != "says" for its_turn in its_turns
            )
            or sum(its_turn.is_trouble for its_turn in its_turns),
            "steps": [*steps_of(steps)] if is_list(steps) else [],
            "blamed": [fields for fields in self.blamed if fields["agent"] == agent],
        }

    def _happened(self) -> Iterator[tuple[str, str, str, bool]]:
        """Yield the events in order: time, agent, description, and whether it is a problem."""
        for event in self.run.events:
            if text := event_text(event["type"], event):
                whom = event.get("agent") or "the team"
                when = f"{self.time.times[event['n']]:.2f}"
                yield when, whom, text, is_trouble(event)


def _vote(vote: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return a vote: the accused agent, the step, the weight, and the voter."""
    by = ", ".join(map(str, vote["by"]))
    return str(vote["agent"]), str(vote["step"]), f"{float(vote['weight']):.3g}", by


def _seconds(seconds: float) -> str:
    """Write a duration so that short ones differ and long ones are readable."""
    if seconds < 120:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{counted(minutes, 'minute')} {rest} s"
