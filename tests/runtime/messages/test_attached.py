"""Images and PDFs of a task: who is shown them, who is told, and what is written down."""

import base64
import hashlib
import json
import sys
from pathlib import Path

import pytest

from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedCall, ScriptedModel
from coterie.runtime.repository.workspace import Workspaces
from coterie.schema import Task, load_task
from coterie.schema.values.attachments import Attachment
from studies.providers.shown import PDF, PNG

from ...support.commands import CommandResult, invoked_in

TEAM = """\
name: pair
agents:
  looker: {role: looker, prompt: "You are [looker].", model_id: sighted}
  judge: {role: judge, prompt: "You are [judge]."}
topology:
  reports_to: {looker: [judge]}
"""
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team.yaml").write_text(TEAM)
    (tmp_path / "plot.png").write_bytes(PNG)
    (tmp_path / "report.pdf").write_bytes(PDF)
    return tmp_path


def mas_run(
    folder: Path, model: ScriptedModel, *arguments: str, inputs: str = "[image]", **task: object
) -> CommandResult:
    """Run the pair: its looker's model takes `inputs`, its judge's takes text."""
    address = f"{{model: scripted, api_base: '{model.api_base}'"
    (folder / "models.yaml").write_text(
        f"models:\n  default: {address}}}\n  sighted: {address}, inputs: {inputs}}}\n"
    )
    asked = {"id": "t", "query": "What is it?", "files": ["plot.png"], **task}
    (folder / "task.json").write_text(json.dumps(asked))
    words = arguments or ("team.yaml", "task.json")
    return invoked_in(folder, main, words, "mas-run")


def test_an_agent_whose_model_takes_images_sees_them_and_another_is_told(folder: Path) -> None:
    with ScriptedModel("a pixel") as model:
        result = mas_run(folder, model)
        looker, judge = model.calls
    assert (result.code, result.out) == (0, "a pixel\n")
    assert "note: judge (default = scripted) is not shown plot.png (image)." in result.err
    assert "looker (" not in result.err
    assert looker.body
    assert judge.body
    seen = looker.body["messages"][1]["content"]
    assert seen[0] == {"type": "image_url", "image_url": {"url": URL}}
    assert (
        "You see, at the head of this message and in this order: plot.png (image)"
        in (seen[1]["text"])
    )
    assert "Not shown to you: plot.png (image)" in judge.body["messages"][1]["content"]


def test_a_team_says_which_of_its_agents_are_shown_which_files(folder: Path) -> None:
    chosen = 'model_id: sighted, files: ["plot.*", b.txt]'
    team = TEAM.replace("model_id: sighted", chosen).replace('[judge]."', '[judge].", files: []')
    (folder / "team.yaml").write_text(team)
    for name in "ab":
        (folder / f"{name}.txt").write_text(f"text of {name}")
    files = ["plot.png", "report.pdf", "a.txt", "b.txt"]
    with ScriptedModel("a pixel") as model:
        refused = mas_run(folder, model, inputs="[image, pdf]", files=files)
        assert (refused.code, model.calls) == (2, ())
        assert "can read report.pdf (pdf). `files` of each agent leaves it out." in refused.err
        result = mas_run(folder, model, inputs="[image, pdf]", files=[files[0], *files[2:]])
        looker, judge = (call.body or {} for call in model.calls)
    assert (result.code, "is not shown" in result.err) == (0, False)
    picture, words = looker["messages"][1]["content"]
    assert picture["type"] == "image_url"
    assert ("text of b" in words["text"], "text of a" in words["text"]) == (True, False)
    assert "text of" not in judge["messages"][1]["content"]


def test_what_nobody_can_read_is_refused_before_anything_is_spent(folder: Path) -> None:
    with ScriptedModel("a pixel") as model:
        result = mas_run(folder, model, files=["plot.png", "report.pdf"])
        assert not model.calls
    assert result.code == 2
    assert "task 't' (task.json:1): no agent in pair can read report.pdf (pdf)." in result.err
    assert "`inputs: [pdf]`" in result.err
    assert not (folder / "runs").exists()


def test_a_dry_run_says_who_is_shown_what(folder: Path) -> None:
    with ScriptedModel("") as model:
        result = mas_run(folder, model, "team.yaml", "task.json", "--dry-run")
        report = mas_run(folder, model, "team.yaml", "task.json", "--dry-run", "--json")
    assert "judge (default = scripted) is not shown plot.png (image)" in result.out
    assert report.json["unseen"] == ["judge (default = scripted) is not shown plot.png (image)"]


def test_a_run_is_made_again_from_its_folder_which_has_the_bytes_once(folder: Path) -> None:
    with ScriptedModel("a pixel") as model:
        mas_run(folder, model)
    (run,) = (folder / "runs").iterdir()
    (folder / "plot.png").unlink()
    assert (run / "files" / "plot.png").read_bytes() == PNG
    encoded = base64.b64encode(PNG)
    assert not any(encoded in path.read_bytes() for path in run.iterdir() if path.is_file())
    again = invoked_in(folder, main, ["--replay", str(run), "--verify"], "mas-run")
    assert again.out.startswith("verified: ")
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    (call,) = (
        event for event in events if event["type"] == "model_call" and event["agent"] == "looker"
    )
    digest = Attachment.of(PNG)
    assert digest is not None
    described = {"name": "plot.png", "kind": "image", "bytes": len(PNG), "sha256": digest.sha256}
    assert call["attachments"] == [described]


def test_another_image_is_another_question(folder: Path) -> None:
    with ScriptedModel("a pixel") as model:
        mas_run(folder, model)
        (run,) = (folder / "runs").iterdir()
        (run / "files" / "plot.png").write_bytes(PNG + b"\0")
        again = invoked_in(folder, main, ["--replay", str(run), "--verify"], "mas-run")
    assert again.out.startswith("differs: looker")
    assert "asked differs" in again.out


def test_a_secret_in_a_file_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-that-nobody-may-see")
    (folder / "plot.png").write_bytes(PNG + b"a-key-that-nobody-may-see")
    with ScriptedModel("a pixel") as model:
        result = mas_run(folder, model)
        assert not model.calls
    assert result.code == 2
    assert "plot.png holds a secret key." in result.err


def test_an_agent_in_a_loop_sees_them_in_every_call(folder: Path) -> None:
    (folder / "team.yaml").write_text(
        "name: loop\nagents:\n  looker: {agent_type: ToolCallingAgent, model_id: sighted,"
        " prompt: Look., tools: [list_files]}\n"
    )
    listing = Reply(tool_calls=(ScriptedCall(name="list_files", arguments="{}"),))
    answer = Reply(
        tool_calls=(ScriptedCall(name="final_answer", arguments='{"answer": "a pixel"}'),)
    )
    with ScriptedModel([listing, answer]) as model:
        result = mas_run(folder, model)
        bodies = [call.body for call in model.calls]
    assert (result.code, result.out, len(bodies)) == (0, "a pixel\n", 2)
    assert [json.dumps(body).count(URL) for body in bodies] == [1, 1]
    assert "plot.png" in json.dumps(bodies[1])


def test_an_agent_that_writes_code_may_open_what_its_model_does_not_take(folder: Path) -> None:
    (folder / "team.yaml").write_text(
        "name: coder\nagents:\n  coder: {agent_type: CodeAgent, prompt: Look.}\n"
    )
    with ScriptedModel("") as model:
        result = mas_run(folder, model, "team.yaml", "task.json", "--dry-run")
    assert result.code == 0
    assert "coder (default = scripted) is not shown plot.png (image)" in result.out
    with Workspaces(load_task(folder / "task.json")) as workspaces:
        assert (workspaces.of("coder", 1).path / "plot.png").read_bytes() == PNG


def test_a_task_writes_where_its_images_are() -> None:
    seen = Attachment.of(PNG)
    assert seen is not None
    task = Task(id="t", query="?", files={"a.txt": "a"}, attachments={"b/c.png": seen})
    assert task.value()["files"] == {"a.txt": "a", "b/c.png": {"path": "files/b/c.png"}}
    assert PNG.hex() not in repr(task)


ASKS = """\
name: camera
agents:
  looker: {agent_type: ToolCallingAgent, prompt: "Look.", model_id: MODEL, tools: [cam.act]}
"""


@pytest.mark.parametrize("sees", [True, False])
def test_an_image_that_a_server_returns_reaches_models_that_see(folder: Path, sees: bool) -> None:
    server = Path(__file__).parents[1] / "tools" / "scripted_server.py"
    image, blob = (base64.b64encode(content).decode() for content in (PNG, PDF))
    resource = {"uri": "file:///r", "mimeType": "x/y", "blob": blob}
    content = [
        {"type": "text", "text": "the gate"},
        {"type": "image", "data": image, "mimeType": "image/png"},
        {"type": "resource", "resource": resource},
    ]
    script = json.dumps({"tools/call": {"content": content}})
    command = json.dumps([sys.executable, "-I", "-S", str(server), script])
    (folder / "tools.yaml").write_text(f"servers: {{cam: {{command: {command}, tools: [act]}}}}\n")
    (folder / "cam.yaml").write_text(ASKS.replace("MODEL", "sighted" if sees else "default"))
    ends = [Reply.tool("cam_act"), Reply.tool("final_answer", answer="a gate")]
    with ScriptedModel(ends) as model:
        result = mas_run(folder, model, "cam.yaml", "-q", "What is at the gate?")
        assert (result.code, result.out) == (0, "a gate\n"), result.err
        _, second = model.calls
    assert second.body
    asked = json.dumps(second.body["messages"])
    marker = f"[image {hashlib.sha256(PNG).hexdigest()[:8]}, image/png, {len(PNG)} bytes"
    assert "the gate" in asked
    assert asked.count(URL) == sees
    assert (f"{marker}, not shown]" in asked) is not sees
    assert "application/pdf" in asked
    assert blob not in asked  # neither of the models takes PDFs
    (run,) = (folder / "runs").iterdir()
    assert image not in (run / "events.jsonl").read_text()
    invoked_in(folder, main, ["--replay", str(run), "--verify", "--quiet"], "mas-run").ended(0)
