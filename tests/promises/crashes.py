"""Runs of random teams on a model that answers by what it is asked, ended at random moments."""

import asyncio
import hashlib
import json
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from coterie.runtime import Calls, Context, Gateway, Run, Toolbox, compile, perform
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Usage
from coterie.runtime.record.journal import Journal, digest
from coterie.runtime.rounds.rounds import NOBODY_SILENT, Ablation
from coterie.schema import Agent, Catalogue, Execution, Model, Recruit, Rounds, Task, Team, dump
from coterie.schema.loading.loading import check_team
from coterie.schema.team.team import Until

TASK = Task(id="t", query="What comes next?")
KNOWN = Catalogue.of_host(models={"default": Model(alias="default", model="openai/m")})
FORM = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
FINAL = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "final": {"type": "boolean"}},
    "required": ["answer", "final"],
    "additionalProperties": False,
}
UNUSED: Any = None
"""No agent of these teams writes code."""


@dataclass
class CountingProvider:
    """Stands for the gateway. Answers follow from questions alone; every answer is counted.

    Attributes:
        broken: Agents whose model never answers.
        calls: Calls that were answered.
        questions: The digests of what was answered, however often.
    """

    broken: frozenset[str] = frozenset()
    calls: int = 0
    questions: set[str] = field(default_factory=set[str])
    models: Mapping[str, Model] = field(default_factory=lambda: KNOWN.models)

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        text = "\n".join(str(message["content"]) for message in request.messages)
        question = hashlib.sha256(f"{text}{request.seed}".encode()).hexdigest()
        for _turn in range(int(question[0], 16)):
            await asyncio.sleep(0)
        if any(f"[{agent}]" in text for agent in self.broken):
            raise CallError("out of order", kind="rejected")
        self.calls += 1
        self.questions.add(question)
        if request.schema is None or int(question[1], 16) % 3 == 0:  # needs to be repaired
            answer = question[:8]
        else:
            answer = f'{{"answer": "{question[:8]}"}}'
        return ChatAnswer(text=answer, usage=Usage(calls=1, prompt_tokens=9, completion_tokens=3))


@dataclass
class SettlingProvider(CountingProvider):
    """Answers from few words by the question alone, so that agents come to rest in rounds.

    Attributes:
        asked: The digests under which a journal would keep what was answered.
    """

    asked: set[str] = field(default_factory=set[str])

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        answer = await super().chat(replace(request, seed=None))
        sampling = [request.max_tokens, request.temperature, request.seed, request.stop]
        others = [request.tools, request.tool_choice, request.schema]
        self.asked.add(digest([request.messages, *sampling, *others], request.model))
        few = int(hashlib.sha256(answer.text.encode()).hexdigest()[:2], 16) % 3
        fits = answer.text.startswith("{") or (request.schema and len(request.messages) > 2)
        if not fits:
            return replace(answer, text=f"word {few}")
        if request.schema is not None and request.schema not in (FORM, FINAL):
            return replace(answer, text=json.dumps(example(request.schema, answer.text)))
        final = f', "final": {"true" if few else "false"}' if request.schema == FINAL else ""
        return replace(answer, text=f'{{"answer": "word {few}"{final}}}')


def example(schema: Mapping[str, Any], seed: str) -> Any:
    """A value that fits a schema, and follows from a text."""
    chance = int(hashlib.sha256(f"{seed}{json.dumps(schema)}".encode()).hexdigest()[:4], 16)
    match schema:
        case {"enum": choices}:
            return choices[chance % len(choices)]
        case {"type": "array", "items": items, "maxItems": most}:
            least = schema.get("minItems", 0)
            count = least + chance % (most + 1 - least)
            return [example(items, f"{seed}{number}") for number in range(count)]
        case {"type": "object", "properties": properties}:
            return {name: example(part, f"{seed}{name}") for name, part in properties.items()}
        case _:
            return f"word {chance % 3}"


class CrashingJournal(Journal):
    """A journal whose process dies at one of its entries: just before or just after it is kept."""

    crash_at: float = 0
    after: bool = False

    async def put(
        self, path: str, kind: str, key: str, value: Mapping[str, Any], *, at_once: bool = True
    ) -> None:
        self.crash_at -= 1
        if self.crash_at == 0 and not self.after:
            await self._die()
        await super().put(path, kind, key, value, at_once=at_once)
        if self.crash_at == 0:
            await self._die()

    @property
    def is_dead(self) -> bool:
        return self.crash_at <= 0

    async def _die(self) -> None:
        self._entries._waiting.clear()  # pyright: ignore[reportPrivateUsage] - not yet written
        self.process.cancel()
        await asyncio.Event().wait()

    process: asyncio.Task[Run]


@st.composite
def teams(draw: st.DrawFn) -> Team:
    """Teams of 1 to 9 agents in any order, with every policy."""
    count = draw(st.integers(1, 9))
    names = [f"a{number}" for number in range(count)]
    edges = {
        name: tuple(to for to in names[number + 1 :] if draw(st.integers(0, 2)) == 0)
        for number, name in enumerate(names)
    }
    receives = {to for receivers in edges.values() for to in receivers}
    agents: dict[str, Agent] = {}
    for name in names:
        kinds = ["plain", "form", "function"] if name in receives else ["plain", "form"]
        match draw(st.sampled_from(kinds)):
            case "function":
                agents[name] = Agent(id=name, agent_type="Function", function="concat")
            case kind:
                schema = FORM if kind == "form" else None
                agents[name] = Agent(id=name, prompt=f"You are [{name}].", output_schema=schema)
    execution = Execution(
        on_error=draw(st.sampled_from(["fail", "skip", "degrade"])),
        parallel_workers=draw(st.sampled_from([True, 1, 3])),
        context=draw(st.sampled_from(["predecessors", "ancestors", "all"])),
        max_retries=draw(st.integers(0, 1)),
    )
    reports = {name: receivers for name, receivers in edges.items() if receivers}
    return Team(
        name="t",
        agents=agents,
        reports_to=reports,
        declared_output=names[-1],
        execution=execution,
    )


@st.composite
def repeating_teams(draw: st.DrawFn) -> Team:
    """Such teams, whose agents work in rounds, with and without some that close."""
    team = _to_one_end(draw(teams()))
    closing = draw(st.sampled_from([(), *_endings(team)]))
    until: Until = draw(st.sampled_from(["unchanged", "unchanged", "finalized", "never"]))
    agents = {
        agent.id: replace(agent, output_schema=FINAL) if agent.output_schema == FORM else agent
        for agent in team.agents.values()
    }
    repeating = [agent for agent in agents.values() if agent.id not in closing]
    if until == "finalized" and not any(item.can_finalize for item in repeating):
        until = "unchanged"
    rounds = Rounds(most=draw(st.integers(2, 5)), until=until, closing=closing)
    execution = replace(team.execution, rounds=rounds)
    repeated = replace(team, agents=agents, execution=execution)
    _, problems = check_team(dump(repeated).encode(), "team.yaml", KNOWN)
    assert not problems
    return repeated


WORKERS = ("a1", "a2", "a3", "a4")
INCREMENT = {
    "type": "object",
    "properties": {"increment": {"type": "array", "items": {"type": "string"}, "maxItems": 2}},
    "required": ["increment"],
}
REVIEW = {
    "type": "object",
    "properties": {
        "of": {"type": "string", "enum": [*WORKERS]},
        "verdict": {"type": "string", "enum": ["accept", "accept", "revise"]},
        "issues": {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    },
    "required": ["of", "verdict", "issues"],
}
REVIEWS = {
    "type": "object",
    "properties": {"reviews": {"type": "array", "items": REVIEW, "minItems": 3, "maxItems": 6}},
    "required": ["reviews"],
}


@st.composite
def consulting_teams(draw: st.DrawFn) -> Team:
    """Teams that open, recruit, consult with and without a chair, or review, and close."""
    until: Until = draw(st.sampled_from(["converged", "converged", "accepted"]))
    has_chair = until == "converged" and draw(st.booleans())
    is_hearing = draw(st.booleans())
    form = INCREMENT if until == "converged" else REVIEWS
    formed = WORKERS[2:] if until == "accepted" else WORKERS[: draw(st.integers(3, 4))]
    names: list[str] = ["a0", *WORKERS, *(["a5"] if has_chair else []), "a6"]
    agents = {
        name: Agent(
            id=name, prompt=f"You are [{name}].", output_schema=form if name in formed else None
        )
        for name in names
    }
    edges: dict[str, tuple[str, ...]] = dict.fromkeys(names, ("a6",))
    for word in WORKERS if has_chair else ():
        edges[word] = ("a5", "a6")
    for word in WORKERS[:2] if until == "accepted" else ():
        edges[word] = (*WORKERS[2:], "a6")
    edges["a0"] = (*WORKERS, "a6") if is_hearing else ("a6",)
    recruit = None
    if draw(st.booleans()):
        most, free = draw(st.integers(1, 3)), draw(st.booleans())
        recruit = Recruit(by="a0", among=WORKERS[: draw(st.integers(2, 4))], most=most, free=free)
    execution = Execution(
        on_error=draw(st.sampled_from(["fail", "skip", "degrade"])),
        parallel_workers=draw(st.sampled_from([True, 1])),
        max_retries=draw(st.integers(0, 1)),
        recruit=recruit,
        rounds=Rounds(
            most=draw(st.integers(2, 4)),
            until=until,
            opening=() if recruit else ("a0",),
            meeting="a5" if has_chair else None,
            closing=("a6",),
        ),
    )
    del edges["a6"]
    result = Team(name="t", agents=agents, reports_to=edges, execution=execution)
    _, problems = check_team(dump(result).encode(), "team.yaml", KNOWN)
    assert not problems
    return result


def _to_one_end(team: Team) -> Team:
    """Let everyone's work reach the output, as in every team that loads."""
    *others, last = team.agents
    reports = {other: team.reports_to.get(other, (last,)) for other in others}
    return replace(team, reports_to=reports)


def _endings(team: Team) -> Iterator[tuple[str, ...]]:
    """Name the agents that may close: whom nobody hears that repeats."""
    names, levels = [*team.agents], team.levels
    level = {item: number for number, ids in enumerate(levels) for item in ids}
    for start in range(1, len(names)):
        before, after = names[:start], names[start:]
        hears_all = team.execution.context == "all"
        if not hears_all or max(level[item] for item in before) <= min(
            level[item] for item in after
        ):
            yield tuple(after)


@contextmanager
def run_folder() -> Generator[Path]:
    """A folder in memory where there is one: what is lost with the power is tested elsewhere."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it is ours alone
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def run_once(
    team: Team,
    provider: CountingProvider,
    folder: Path,
    *,
    crash_at: float = 0,
    after: bool = False,
    replaying: bool = False,
    silent: Ablation = NOBODY_SILENT,
) -> tuple[Run | None, str]:
    """Run a team with the journal of a folder; it may crash, or somebody may be silent.

    Returns:
        The run, None where it crashed; and the hash of the journal.
    """

    async def made() -> Run:
        async with Toolbox() as toolbox:
            calls = Calls(gateway=cast_gateway(provider), journal=journal, seed=1)
            context = Context(calls=calls, jails=UNUSED, toolbox=toolbox)
            return await perform(plan, TASK, context, silent=silent)

    async def process() -> Run | None:
        journal.process = asyncio.create_task(made())
        await asyncio.wait({journal.process})
        return None if journal.process.cancelled() else journal.process.result()

    plan = compile(team, KNOWN)
    with CrashingJournal.open(folder, replaying=replaying) as journal:
        journal.crash_at, journal.after = crash_at or float("inf"), after
        run = asyncio.run(process())
        assert silent != NOBODY_SILENT or not journal.divergences
        return run, journal.content_hash


def cast_gateway(provider: Any) -> Gateway:
    return provider
