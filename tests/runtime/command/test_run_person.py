"""`mas-run` with a team that asks a person."""

from pathlib import Path

from coterie.runtime.command.run import main
from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command.validate import main as mas_validate

from ...inbox import Question, answer, answering
from ...support.commands import invoked_in, started

TEAM = """\
name: approved
agents:
  writer: {prompt: "You are [writer]."}
  boss: {role: boss, agent_type: Person, prompt: Approve or refuse.}
topology:
  reports_to: {writer: [boss]}
"""


def approve(question: Question) -> str:
    assert "A draft." in question["messages"][-1]["content"]
    return "Approved."


def test_what_a_person_is_asked_survives_a_kill(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    assert invoked_in(tmp_path, mas_validate, ["team.yaml"], "mas-validate").code == 0
    with ScriptedModel("A draft.") as model:
        words = ("--model", f"m@{model.api_base}")
        process = started(tmp_path, "team.yaml", "-q", "Write.", *words)
        assert process.stderr is not None
        asked = next(line for line in process.stderr if "waiting for an answer" in line)
        process.kill()
        process.communicate()
        (run,) = (tmp_path / "runs").iterdir()
        (shown,) = (run / "inbox").glob("*.question.md")
        assert f"boss: waiting for an answer: {shown.relative_to(tmp_path)}" in asked
        assert len(answer(run / "inbox", approve)) == 1
        done = invoked_in(tmp_path, main, ["--resume", str(run), *words], "mas-run")
        assert (done.code, done.out) == (0, "Approved.\n")
        assert "2 calls" in done.err
    again = invoked_in(tmp_path, main, ["--replay", str(run), "--verify"], "mas-run")
    assert "no difference" in again.out


def test_the_host_says_who_answers(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM)
    words = ("team.yaml", "-q", "Write.", "--model", "person=inbox:desk")
    with ScriptedModel("A draft.") as model, answering(tmp_path / "desk", approve):
        done = invoked_in(tmp_path, main, [*words, "--model", f"m@{model.api_base}"], "mas-run")
    assert (done.code, done.out) == (0, "Approved.\n")
