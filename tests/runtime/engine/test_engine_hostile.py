"""Whatever a provider answers costs little, holds nobody up, and ends in a result."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Calls, Context, Gateway, Journal, Run, Toolbox, Trace, compile, perform
from coterie.runtime.gateway.stream_sink import most_pieces
from coterie.runtime.jail import Jails
from coterie.runtime.record.trace import Event, RunFolder
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.values.bounds import (
    LARGEST_STREAM,
    LONGEST_CONTENT,
    LONGEST_EVENT,
    LONGEST_REPORTS,
    LONGEST_STRUCTURED,
    MOST_EVENTS,
    MOST_VALUES,
)
from coterie.schema import Agent, Catalogue, Execution, Model, Task, Team

from ...damage import bounded
from ...hostile import ANSWERS, OTHERS, STREAMS, deltas, message, much, provider, watched

ONCE = Execution(max_retries=0)
ALONE = Team(name="alone", agents={"a": Agent(id="a", prompt="Do it.")}, execution=ONCE)
QUESTION = Task(id="t", query="What?")
SECRETS = ("tk-9fQ2xLz7Rb4Wm1Yc8Vn5Kd3Hs6Jg0Pa", 'p@ss/w"\u00f6\\rd+= %&<~>\n\U0001f511')
Besiege = Callable[..., Run]


@pytest.fixture(autouse=True, scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import what only the first run imports: that is no answer's fault."""
    asked = replaced(ALONE, output_schema={"type": "number"})
    besieged(asked, [message(content="1")], tmp_path_factory.mktemp("warm"))


@pytest.fixture
def besiege(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Besiege:
    """Run a team on answers as a command does; the loop is watched, and the cost of each run."""

    def run(team: Team, bodies: Sequence[bytes], **how: Any) -> Run:
        size, more = sum(map(len, bodies)), len(team.agents) - 1
        folder = Path(mkdtemp(dir=tmp_path))
        with bounded(size=size, more=more), watched(monkeypatch):
            return besieged(team, bodies, folder, **how)

    return run


def besieged(
    team: Team,
    bodies: Sequence[bytes],
    folder: Path,
    *,
    kind: str = "application/json",
    api: Any = None,
    events: list[Event] | None = None,
    task: Task = QUESTION,
    jails: Jails | None = None,
) -> Run:
    scrubber = Scrubber(SECRETS)

    async def done(models: Mapping[str, Model]) -> Run:
        async with Gateway(models, seed=0) as gateway, Toolbox() as toolbox:
            with Journal.open(folder) as journal:
                said = RunFolder(folder, scrubber)
                context = Context(
                    calls=Calls(gateway=gateway, journal=journal, scrub=scrubber.without_secrets),
                    jails=jails or Jails(),
                    toolbox=toolbox,
                    trace=Trace(said, [].append if events is None else events.append),
                )
                plan = compile(team, Catalogue.of_host(models=models))
                await toolbox.prepare(plan.tools)
                try:
                    return await perform(plan, task, context)
                finally:
                    said.close()

    with provider(bodies, kind) as base:
        model = Model(alias="default", model="m", api=api, api_base=base)
        return asyncio.run(done({"default": model}))


def replaced(team: Team, **fields: Any) -> Team:
    agent = Agent(id="a", prompt="Do it.", **fields)
    return Team(name=team.name, agents={"a": agent}, execution=team.execution)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_means_harm_is_an_answer(name: str, besiege: Besiege, nightly: bool) -> None:
    run = besiege(ALONE, [ANSWERS[name](2_000_000 if nightly else 100_000)])
    assert run.status in {"done", "failed"}
    assert run.status == "done" or run.error


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_means_harm_is_an_answer(name: str, besiege: Besiege, nightly: bool) -> None:
    body = STREAMS[name](2_000_000 if nightly else 100_000)
    run = besiege(ALONE, [body], kind="text/event-stream")
    assert run.status in {"done", "failed"}
    assert run.status == "done" or run.error


@pytest.mark.parametrize(("api", "name"), [(api, name) for api in OTHERS for name in OTHERS[api]])
def test_harmful_answers_are_answers(api: str, name: str, besiege: Besiege, nightly: bool) -> None:
    body = OTHERS[api][name](2_000_000 if nightly else 100_000)
    is_stream = body.startswith(b"data:")
    kind = "text/event-stream" if is_stream else "application/json"
    run = besiege(ALONE, [body], kind=kind, api=api)
    assert run.status in {"done", "failed"}
    assert run.status == "done" or run.error


@pytest.mark.parametrize(
    ("unit", "bound"),
    [
        (b"data:\n", "2 MiB"),
        (b"\n", "chunks"),
        (b": yes\n\n", "chunks"),
    ],
)
def test_a_stream_that_goes_on_and_on_is_left(unit: bytes, bound: str, besiege: Besiege) -> None:
    body = b":\n" + unit * (LARGEST_STREAM // len(unit) - 1)
    run = besiege(ALONE, [body], kind="text/event-stream")
    assert run.status == "failed"
    assert bound in (run.error or "")


def test_too_many_events_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"data: {}\n\n" * (2 * MOST_EVENTS)

    with bounded(size=len(body), more=MOST_EVENTS // 5_000), watched(monkeypatch):
        run = besieged(ALONE, [body], tmp_path, kind="text/event-stream")
    assert run.status == "failed"
    assert f"more than {most_pieces(4096):,} chunks" in (run.error or "")


def test_an_answer_of_many_long_pieces_is_left_on_the_way(besiege: Besiege) -> None:
    piece = deltas([{"content": "a" * 60_000}]).split(b"\n\n")[0] + b"\n\n"
    run = besiege(ALONE, [piece * (LARGEST_STREAM // len(piece))], kind="text/event-stream")
    assert run.status == "failed"
    assert "an answer of more than 2 MiB" in (run.error or "")


def test_what_an_event_says_is_cut_and_the_answer_is_whole(besiege: Besiege) -> None:
    much_of = "y" * (2 * LONGEST_EVENT)
    called = {"id": "c", "function": {"name": "look", "arguments": json.dumps({"a": much_of})}}
    body = message(content=much_of, reasoning_content=much_of, tool_calls=[called])
    asked = Team(name="one", agents={"a": Agent(id="a", prompt=much_of)}, execution=ONCE)
    events: list[Event] = []
    run = besiege(asked, [body], events=events)
    assert run.answer == much_of
    sizes = {
        (event.type, name): len(json.dumps(value))
        for event in events
        for name, value in event.fields.items()
    }
    long = {place for place, size in sizes.items() if size > LONGEST_EVENT // 2}
    row = ("messages", "text", "thinking", "tool_calls")
    assert long == {*(("model_call", name) for name in row), ("agent_finished", "content")}
    assert max(sizes.values()) < 1.1 * LONGEST_EVENT


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
FIELDS = ("content", "tool_calls", "refusal", "reasoning", "reasoning_details", "thinking_blocks")


@given(
    fields=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
    outside=st.dictionaries(st.sampled_from(("usage", "model", "choices", "error")), VALUES),
    cut=st.integers(0, 400) | st.none(),
    streams=st.booleans(),
)
@settings(max_examples=8)
def test_any_answer_is_an_answer(
    fields: Mapping[str, Any],
    outside: Mapping[str, Any],
    cut: int | None,
    streams: bool,
    besiege: Besiege,
) -> None:
    body = json.dumps({**json.loads(message(**fields)), **outside}).encode()[:cut]
    kind = "text/event-stream" if streams else "application/json"
    run = besiege(ALONE, [b"data: " + body + b"\n\n" if streams else body], kind=kind)
    assert run.status in {"done", "failed"}


NUMBERS = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "number"}}}}
LISTS = {
    "type": "object",
    "properties": {
        "x": {
            "anyOf": [
                {"type": "array", "items": {"not": {"required": [f"k{number}"]}}}
                for number in range(16)
            ]
        }
    },
}


@pytest.mark.parametrize("schema", [NUMBERS, LISTS], ids=["numbers", "alternatives"])
@pytest.mark.parametrize("count", [MOST_VALUES - 10, 4 * MOST_VALUES, LONGEST_STRUCTURED])
def test_one_bad_item_refuses(schema: Mapping[str, Any], count: int, besiege: Besiege) -> None:
    last = '{"' + '":1,"'.join(f"k{number}" for number in range(16)) + '":1}'
    body = message(content=f'{{"x":[{"{}," * count}{last}]}}')
    run = besiege(replaced(ALONE, output_schema=schema), [body])
    assert run.status == "failed"
    assert "does not fit output_schema" in str(run.error)


@pytest.mark.parametrize(
    "text", ["[" * 1000 + "0," * 100_000 + "x", '{"x":' * 40_000, "[NaN " * 40_000]
)
def test_what_is_no_json_is_soon_known(text: str, besiege: Besiege) -> None:
    run = besiege(replaced(ALONE, output_schema=NUMBERS), [message(content=text)])
    assert "it is not JSON" in str(run.error)


def team_of(count: int, function: str) -> Team:
    agents = {f"w{number}": Agent(id=f"w{number}", prompt="Do it.") for number in range(count)}
    last = Agent(id="v", agent_type="Function", function=function)
    edges = dict.fromkeys(agents, ("v",))
    return Team(name="vote", agents={**agents, "v": last}, reports_to=edges, execution=ONCE)


@pytest.mark.parametrize(
    ("function", "unit"),
    [("majority", "answer: a\n"), ("vote", "```\nx = 1\n```\n"), ("concat", "a ")],
)
def test_long_reports_are_cut(function: str, unit: str, besiege: Besiege, nightly: bool) -> None:
    events: list[Event] = []
    team = team_of(40 if nightly else 3, function)
    run = besiege(team, [much(unit, 700_000)], events=events)
    assert run.status == "done"
    assert len(run.answer or "") <= LONGEST_REPORTS
    assert "characters left out" in (run.answer or "")
    (started,) = [event for event in events if event.type == "agent_started" and event.agent == "v"]
    assert started.fields["left_out"] > 0
    cut = [event for event in events if event.type == "cut_off"]
    assert {item.fields["finish_reason"] for item in cut} == {"too_long"}


def test_a_chain_in_which_each_repeats_all_stays_small(besiege: Besiege) -> None:
    agents = {f"w{number}": Agent(id=f"w{number}", prompt="Do it.") for number in range(5)}
    edges = {f"w{number}": (f"w{number + 1}",) for number in range(4)}
    everything = Execution(max_retries=0, context="ancestors")
    chain = Team(name="chain", agents=agents, reports_to=edges, execution=everything)
    run = besiege(chain, [much("a ", 1_500_000)])
    assert run.status == "done"
    assert len(run.answer or "") <= LONGEST_CONTENT
