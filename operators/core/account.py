"""A bounded account of one round, for models that judge, coach or rebuild the team.

It never says how the answer compares with the reference answer, because nothing within a task may
depend on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...runtime.agents.outcomes import AgentOutcome, Run, ToolCall
from ...schema.team.team import Agent, Team
from ...schema.values.json_text import dumps
from ...schema.values.terminal import on_one_line, speakable
from .bounds import Bounds
from .material import CHARACTERS_PER_TOKEN, clip, fenced, material

FULL_SHARES = 4
"""Agents that fit at full length; more agents share the same room."""
MOST_TOOL_CALLS = 12
LONGEST_LINE = 160


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundAccount:
    """What a team did in one round."""

    team: Team
    run: Run

    def text(self, bounds: Bounds) -> str:
        """Return the whole account: the agents, what each of them did, and the team's answer."""
        agents = self.team.agents
        whole = bounds.digest_tokens * CHARACTERS_PER_TOKEN
        share = whole * min(len(agents), FULL_SHARES) // len(agents)
        return material(
            self.outline(bounds), *(self.of(agent, share) for agent in agents), self._answer(bounds)
        )

    def outline(self, bounds: Bounds) -> str:
        """Return one line for each agent, with its role, tools and receivers."""
        texts = (
            f"{agent.id}: {', '.join(_is(self.team, agent))}" for agent in self.team.agents.values()
        )
        return fenced("team", clip("\n".join(texts), bounds.team_characters))

    def of(self, agent: str, most: int) -> str:
        """Return one agent's status, tool calls, steps and result."""
        return fenced("agent", _summary(self.run.agents[agent], most), agent)

    def _answer(self, bounds: Bounds) -> str:
        return answer_text("answer", self.run.answer, self.run.error, bounds)


def answer_text(kind: str, answer: str | None, error: str | None, bounds: Bounds) -> str:
    """Return a team's answer as shown to a model; without one, the reason."""
    text = f"(none: {error or 'nobody gave one'})" if answer is None else answer
    return fenced(kind, clip(text.strip() or "(empty)", bounds.task_characters))


def _is(team: Team, agent: Agent) -> Iterator[str]:
    if agent.role:
        yield on_one_line(agent.role)
    if agent.function:
        yield f"function {agent.function}"
    if agent.tools:
        yield f"tools {' '.join(agent.tools)}"
    yield f"reports to {' and '.join(team.reports_to.get(agent.id, ())) or 'nobody'}"
    if agent.id == team.output:
        yield "gives the team's answer"


def _summary(outcome: AgentOutcome, most: int) -> str:
    tools = [_tool(call) for call in outcome.tool_calls]
    if len(tools) > MOST_TOOL_CALLS:
        tools = [*tools[:MOST_TOOL_CALLS], f"and {len(tools) - MOST_TOOL_CALLS} more"]
    head = clip("\n".join([*_ended(outcome), *tools]), most // 3)
    steps = clip("\n".join(_steps(outcome)), (most - len(head)) // 2)
    output = speakable(outcome.result.content).strip() if outcome.result else ""
    room = most - len(head) - len(steps) - len("\n\noutput: ")
    text = f"output: {clip(output, room)}" if output and room > 0 else ""
    return "\n".join(part for part in (head, steps, text) if part)


def _steps(outcome: AgentOutcome) -> Iterator[str]:
    """Yield the messages between the question and the last answer: output of tools and code."""
    for message in outcome.dialogue[2:-1]:
        yield f"{message['role']}: {on_one_line(str(message['content']))}"


def _ended(outcome: AgentOutcome) -> Iterator[str]:
    texts = [outcome.status, *([outcome.error] if outcome.error else []), *outcome.mishaps]
    yield "; ".join(clip(on_one_line(name), LONGEST_LINE) for name in texts)


def _tool(call: ToolCall) -> str:
    arguments = dumps(call.arguments, ensure_ascii=False)
    failed = f" failed: {call.error}" if call.error else ""
    return f"tool {clip(on_one_line(f'{call.tool} {arguments}{failed}'), LONGEST_LINE)}"
