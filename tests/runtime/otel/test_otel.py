"""`--otel`: what happened in a run, as a trace."""

import asyncio
import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from coterie.runtime.command.doctor import main as doctor
from coterie.runtime.command.run import main
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.otel import asked
from coterie.runtime.otel.file import FileExporter
from coterie.runtime.otel.spans import Spans
from coterie.schema.values.extras import how_to_get

from ...support.commands import CommandResult, invoked, invoked_in
from ...traces import Span, nested, spans_in, spans_of, tree

TEAM = """\
name: pair
agents:
  worker: {role: worker, prompt: "You are [worker].", max_tokens: 50, temperature: 0.25}
  judge: {role: judge, prompt: "You are [judge]."}
topology:
  reports_to: {worker: [judge]}
"""
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "7", "scorer": "number"}
LIKE_A_KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
LISTING = Reply.tool("list_files", path=".")
SCRIPT = {"[worker]": "maybe 7", "[judge]": "7"}
WITH_TOOL = {"[worker]": "maybe 7", "[judge]": [LISTING, Reply.tool("final_answer", answer="7")]}
TOOLED = TEAM.replace('[judge]."', '[judge].", agent_type: ToolCallingAgent, tools: [list_files]')


@pytest.fixture(autouse=True)
def _(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRACEPARENT", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(name, raising=False)


def made(folder: Path, answers: Any, *words: str) -> CommandResult:
    team = TOOLED if answers is WITH_TOOL else TEAM
    (folder / "team.yaml").write_text(team)
    (folder / "task.json").write_text(json.dumps(TASK))
    return again(folder, answers, "team.yaml", "task.json", *words)


def again(folder: Path, answers: Any, *words: str) -> CommandResult:
    with ScriptedModel(answers) as model:
        command = [*words, "--model", f"m@{model.api_base}"]
        return invoked_in(folder, main, command, "mas-run")


def result_of(folder: Path) -> dict[str, Any]:
    (run,) = (folder / "runs").iterdir()
    return json.loads((run / "result.json").read_text())


def named(spans: list[Span], name: str) -> Span:
    (span,) = (item for item in spans if item.name == name)
    return span


def test_a_run_is_a_tree_of_agents_calls_and_tools_with_its_tokens(tmp_path: Path) -> None:
    result = made(tmp_path, WITH_TOOL, "--otel", "t.jsonl")
    assert (result.code, result.out) == (0, "7\n")
    spans = spans_in(tmp_path / "t.jsonl")
    assert tree(spans) == {
        "invoke_workflow pair": {
            "invoke_agent worker": {"chat m": {}},
            "invoke_agent judge": {"chat m": {}, "execute_tool list_files": {}, "chat m #2": {}},
        }
    }
    assert nested(spans)
    usage = result_of(tmp_path)["usage"]
    assert sum(span.input_tokens for span in spans) == usage["prompt_tokens"]
    assert sum(span.tokens for span in spans) == usage["prompt_tokens"] + usage["completion_tokens"]
    worker, judge = named(spans, "invoke_agent worker"), named(spans, "invoke_agent judge")
    assert (judge.links, worker.links) == ((worker.id,), ())
    (chat,) = (span for span in spans if span.parent == worker.id)
    assert chat.fields["gen_ai.request.temperature"] == pytest.approx(0.25)
    wanted = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.agent.name": "worker",
        "server.address": "127.0.0.1",
    }
    assert wanted.items() <= chat.fields.items()
    root = named(spans, "invoke_workflow pair")
    assert root.fields["coterie.task"] == "sum"
    assert root.events["gen_ai.evaluation.result"]["gen_ai.evaluation.score.value"] == 1
    assert not any(span.is_error for span in spans)
    assert "3 + 4" not in (tmp_path / "t.jsonl").read_text()


def test_content_is_there_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", 'known"secret\\9')
    answers = {"[worker]": f'{LIKE_A_KEY} known"secret\\9', "": "7"}
    monkeypatch.setenv(asked.CAPTURE, "true")
    made(tmp_path, answers, "--otel", "t.jsonl")
    written = (tmp_path / "t.jsonl").read_text()
    assert "What is 3 + 4?" in written
    assert LIKE_A_KEY not in written
    assert "known" not in written
    worker = named(spans_in(tmp_path / "t.jsonl"), "invoke_agent worker")
    (chat,) = (span for span in spans_in(tmp_path / "t.jsonl") if span.parent == worker.id)
    (said,) = json.loads(chat.fields["gen_ai.output.messages"])
    assert said["parts"] == [{"type": "text", "content": "[secret] [secret]"}]
    roles = [load["role"] for load in json.loads(chat.fields["gen_ai.input.messages"])]
    assert roles == ["system", "user"]


def test_the_variable_wants_content_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(asked.CAPTURE, "SPAN_ONLY")
    made(tmp_path, WITH_TOOL, "--otel", "t.jsonl")
    spans = spans_in(tmp_path / "t.jsonl")
    tool = named(spans, "execute_tool list_files").fields
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"path": "."}
    asking = [
        span for span in spans if span.fields.get("gen_ai.output.messages", "").count("tool_call")
    ]
    assert len(asking) == 2


def test_failures_and_retries_have_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(asked.CAPTURE, "true")
    down = Reply.error(503)
    answers = {"[worker]": [down, "maybe 7"], "": Reply.error(400, message="no such thing")}
    assert made(tmp_path, answers, "--otel", "t.jsonl").code == 1
    spans = spans_in(tmp_path / "t.jsonl")
    tried, failed = sorted((span for span in spans if span.name == "chat m"), key=lambda o: o.began)
    assert tried.events["coterie.model_retried"]["coterie.wait"] >= 0
    assert not tried.is_error
    assert failed.is_error
    assert "no such thing" in failed.words
    assert failed.fields["error.type"]
    judge = named(spans, "invoke_agent judge")
    assert (judge.is_error, judge.fields["error.type"]) == (True, "failed")
    assert named(spans, "invoke_workflow pair").is_error
    assert nested(spans)


def test_what_the_journal_had_is_marked_and_counted_once(tmp_path: Path) -> None:
    failing = {**SCRIPT, "[judge]": Reply.error(400)}
    assert made(tmp_path, failing, "--otel", "t.jsonl").code == 1
    (run,) = (tmp_path / "runs").iterdir()
    answers = {"[worker]": "never asked", "": "7"}
    again(tmp_path, answers, "--resume", str(run), "--otel", "u.jsonl").ended(0)
    first, then = spans_in(tmp_path / "t.jsonl"), spans_in(tmp_path / "u.jsonl")
    assert named(then, "invoke_agent worker").fields["coterie.source"] == "journal"
    assert "coterie.source" not in named(then, "invoke_agent judge").fields
    assert {span.words for span in first if span.is_error} == {""}
    usage = result_of(tmp_path)["usage"]
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    assert sum(span.tokens for span in [*first, *then]) == total
    invoked(mas_view, [str(run), "--otel", str(tmp_path / "v.jsonl")], "mas-view").ended(0)
    recorded = spans_in(tmp_path / "v.jsonl")
    assert sum(span.tokens for span in recorded) == total
    assert nested(recorded)
    assert [span.name for span in recorded].count("invoke_workflow pair") == 2


def test_a_recorded_run_is_sent_as_it_was(tmp_path: Path) -> None:
    made(tmp_path, SCRIPT, "--otel", "t.jsonl")
    (run,) = (tmp_path / "runs").iterdir()
    invoked(mas_view, [str(run), "--otel", str(tmp_path / "u.jsonl")], "mas-view").ended(0)
    live, recorded = spans_in(tmp_path / "t.jsonl"), spans_in(tmp_path / "u.jsonl")
    assert tree(recorded) == tree(live)
    assert {span.fields.get("gen_ai.usage.input_tokens") for span in recorded} == {
        span.fields.get("gen_ai.usage.input_tokens") for span in live
    }
    assert abs(recorded[0].began - live[0].began) < 60e9


def test_a_run_is_in_its_callers_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    monkeypatch.setenv("TRACEPARENT", f"00-{trace}-{parent}-01")
    made(tmp_path, SCRIPT, "--otel", "t.jsonl")
    spans = spans_in(tmp_path / "t.jsonl")
    assert {span.trace for span in spans} == {trace}
    assert named(spans, "invoke_workflow pair").parent == parent


@contextmanager
def collector(received: list[Mapping[str, Any]]) -> Generator[str]:
    """Serve OTLP over HTTP, and keep what comes."""

    async def take(request: web.Request) -> web.Response:
        assert request.content_type == "application/x-protobuf"
        message = ExportTraceServiceRequest.FromString(await request.read())
        received.append(MessageToDict(message, use_integers_for_enums=True))
        return web.Response(content_type="application/x-protobuf")

    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), list[int]()

    async def serve() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/traces", take)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ports.append(runner.addresses[0][1])
        return runner

    def work() -> None:
        runner = loop.run_until_complete(serve())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_collector_gets_what_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_variable: bool
) -> None:
    received: list[Mapping[str, Any]] = []
    with collector(received) as address:
        if by_variable:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        result = made(tmp_path, SCRIPT, "--otel", "otlp" if by_variable else address, "--quiet")
    assert result.code == 0
    assert "note:" not in result.err
    spans = [span for fields in received for span in spans_of(fields)]
    assert len(spans) == 5
    usage = result_of(tmp_path)["usage"]
    assert sum(span.input_tokens for span in spans) == usage["prompt_tokens"]
    (resource,) = {json.dumps(fields["resourceSpans"][0]["resource"]) for fields in received}
    assert '"coterie"' in resource


def test_a_collector_down_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    result = made(tmp_path, SCRIPT, "--otel", "otlp")
    assert (result.code, result.out) == (0, "7\n")
    assert result.err.count("note: 5 of 5 spans could not be exported") == 1
    assert result.err.count("note:") == 1
    assert "Traceback" not in result.err


@pytest.mark.filterwarnings("error")
def test_no_disk_and_no_bug_fails_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def buggy(*_: object) -> None:
        raise KeyError("oh")

    monkeypatch.setattr(FileExporter, "export", full)
    monkeypatch.setattr(Spans, "_begin_run", buggy)
    result = made(tmp_path, SCRIPT, "--otel", "t.jsonl")
    assert (result.code, result.out) == (0, "7\n")
    assert "note: 4 of 4 spans could not be exported: OSError: [Errno 28] No space" in result.err
    assert "the trace lacks 1 event, which is a bug of coterie: run_started: KeyError" in result.err


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (["--otel", "no/such/t.jsonl"], {}, "cannot be written: No such file or directory."),
        (["--otel", "otlp"], {"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER='zipkin'"),
        (
            ["--otel", "http://127.0.0.1:9"],
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "--otel supports only http/protobuf.",
        ),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_spent(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: Mapping[str, str],
    message: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = made(tmp_path, SCRIPT, *words).ended(2)
    assert message in result.err
    assert not (tmp_path / "runs").exists()


def test_without_the_extra_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "NEEDED", ("opentelemetry.nowhere.at.all",))
    result = made(tmp_path, SCRIPT, "--otel", "otlp").ended(2)
    assert result.err.endswith(f"which is not installed. Run: {how_to_get('otel')}\n")
    assert not (tmp_path / "runs").exists()
    report = invoked(doctor, ["--no-probes", "--json"], "mas doctor").json["traces"]
    assert report == f"not installed: {how_to_get('otel')}"


def test_the_doctor_says_where_traces_would_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> str:
        return invoked(doctor, ["--no-probes", "--json"], "mas doctor").json["traces"]

    assert told() == "ready: --otel otlp sends to http://localhost:4318"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:secret@traces.example/otlp")
    monkeypatch.setenv(asked.CAPTURE, "true")
    assert told() == "ready: --otel otlp sends to https://traces.example/otlp, with content"
