"""mini-swe-agent as a backend: the real agent, a real jail, a scripted model."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.runners.mini_swe_agent.runner import MiniSweAgentRunner
from coterie.schema import Agent, Task

from ....jails import holding, needs_jail
from ..conftest import Workbench, observed, result_of, shell

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]

SUBMIT = Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
REPAIR = Reply.bash("sed -i 's/a - b/a + b/' toy.py")


def worker(agent_id: str = "worker", **fields: Any) -> Agent:
    return Agent(id=agent_id, agent_type="DefaultAgent", **fields)


def repair(repository: Path) -> Task:
    return Task(id="toy", query="add(2, 2) gives 0.", repo=repository)


def test_the_patch_of_a_repair_is_its_answer(workbench: Workbench, repository: Path) -> None:
    check = Reply.bash("python -m pytest -q -p no:cacheprovider 2>&1 | tail -3")
    with ScriptedModel([check, REPAIR, check, SUBMIT]) as model:
        run = workbench.run(model, worker(), task=repair(repository))
        assert "1 failed" in observed(model, 1)
        assert "1 passed" in observed(model, 3)
    result = result_of(run, "worker")
    assert run.answer == result.content == result.patch
    (repository.parent / "patch").write_text(result.content, "utf-8")
    shell("git apply ../patch", repository)
    assert "a + b" in (repository / "toy.py").read_text("utf-8")
    assert shell("git status --short", repository) == " M toy.py\n"


def test_the_original_repository_is_not_touched(workbench: Workbench, repository: Path) -> None:
    with ScriptedModel([REPAIR, Reply.bash("git commit -qam done"), SUBMIT]) as model:
        run = workbench.run(model, worker(), task=repair(repository))
    assert "+    return a + b" in str(run.answer)
    assert "a - b" in (repository / "toy.py").read_text("utf-8")


def test_what_is_handed_in_is_not_its_patch(workbench: Workbench, repository: Path) -> None:
    lie = Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo I changed everything")
    with ScriptedModel([REPAIR, lie]) as model:
        run = workbench.run(model, worker(), task=repair(repository))
    assert "everything" not in str(run.answer)


def test_handing_in_without_a_change_is_a_failure(workbench: Workbench, repository: Path) -> None:
    with ScriptedModel(SUBMIT) as model:
        run = workbench.run(model, worker(), task=repair(repository))
    assert "without having changed anything" in str(run.error)


def test_a_colleague_hands_in_both_changes(workbench: Workbench, repository: Path) -> None:
    script = {
        "You are [tester]": [Reply.bash("cat toy.py; echo '# checked' >> toy.py"), SUBMIT],
        "": [REPAIR, SUBMIT],
    }
    agents = (worker("fixer"), worker("tester", prompt="You are [tester]."))
    with ScriptedModel(script) as model:  # pyright: ignore[reportArgumentType]
        run = workbench.run(
            model, *agents, task=repair(repository), reports_to={"fixer": ("tester",)}
        )
        assert "a + b" in observed(model, 3)
    assert "+    return a + b" in str(run.answer)
    assert "+# checked" in str(run.answer)


PLANT = """
sed -i 's/a - b/a + b/' toy.py
git config filter.planted.clean 'touch {mark}; cat'
git config filter.planted.smudge 'touch {mark}; cat'
git config core.fsmonitor 'touch {mark}'
git config diff.external 'touch {mark}'
git config core.hooksPath hooks
mkdir -p hooks && printf '#!/bin/sh\\ntouch {mark}\\n' > hooks/post-index-change
chmod +x hooks/post-index-change
echo '*.py filter=planted diff=planted' > .gitattributes
mkdir -p .git/info && cp .gitattributes .git/info/attributes
"""
# The same commit wherever it is made: git looks closer at a submodule that is where it was.
SUBMODULE = """
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
export GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
git init --quiet inner && cd inner && echo 1 > a.py && git add . && git commit --quiet --message 1
"""
PLANT_IN_SUBMODULE = f"""
rm -rf inner
{SUBMODULE}
git config filter.planted.clean 'touch {{mark}}; cat'
echo '*.py filter=planted' > .gitattributes
touch -d '1 hour ago' a.py
"""


@pytest.mark.parametrize("plant", [PLANT, PLANT_IN_SUBMODULE])
def test_programs_that_the_agent_plants_in_git_do_not_run_on_the_host(
    workbench: Workbench, repository: Path, tmp_path: Path, plant: str
) -> None:
    mark = tmp_path / "ran-on-the-host"
    shell(SUBMODULE, repository)
    shell("git add . 2> /dev/null; git commit -qm 'With a submodule.'", repository)
    shell(f"cp -r . ../control && cd ../control && {plant.format(mark=mark)}", repository)
    shell("git status", tmp_path / "control")
    assert mark.exists(), "the control: git itself runs what is planted here"
    mark.unlink()
    with ScriptedModel([Reply.bash(plant.format(mark=mark)), REPAIR, SUBMIT]) as model:
        run = workbench.run(model, worker(), task=repair(repository))
    assert "+    return a + b" in str(run.answer)
    assert not mark.exists()


def test_without_a_repository_the_answer_is_what_is_handed_in(workbench: Workbench) -> None:
    hand_in = Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat note.txt")
    task = Task(id="t", query="What does it say?", files={"note.txt": "hello\n"})
    with ScriptedModel(hand_in) as model:
        run = workbench.run(model, worker(), task=task)
    assert run.answer == "hello"
    assert result_of(run, "worker").patch is None


def test_without_anything_handed_in_the_last_text_counts(workbench: Workbench) -> None:
    with ScriptedModel([SUBMIT.replace(text="It is seven.")]) as model:
        assert workbench.run(model, worker()).answer == "It is seven."
    with ScriptedModel(SUBMIT) as model:
        assert workbench.run(model, worker()).error == "agent worker: it handed in nothing."


def test_prompts_are_no_templates(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    text = "Use {{ OPENAI_API_KEY }} and {% if x %}."
    task = Task(id="t", query="Say {{ OPENAI_API_KEY }}.")
    script = [Reply.bash("env; echo '{{ OPENAI_API_KEY }}'"), SUBMIT.replace(text="done")]
    with ScriptedModel(script) as model:
        assert workbench.run(model, worker(prompt=text), task=task).answer == "done"
        assert text in model.calls[0].text
        assert "Say {{ OPENAI_API_KEY }}." in model.calls[0].text
        assert "{{ OPENAI_API_KEY }}" in observed(model, 1)
        assert all("sk-secret" not in call.text for call in model.calls)


def test_steps_are_bounded(workbench: Workbench) -> None:
    with ScriptedModel(Reply.bash("true")) as model:
        run = workbench.run(model, worker(max_steps=3))
        assert len(model.calls) == 3
    assert run.error == "agent worker: it used its 3 steps without handing in its work."


def test_a_model_that_calls_no_tool_is_told_and_then_given_up(workbench: Workbench) -> None:
    with ScriptedModel(["I would run ls.", Reply.tool("ls"), "And again."]) as model:
        run = workbench.run(model, worker())
        assert "No tool calls found" in observed(model, 1)
        assert "there is no tool 'ls'" in observed(model, 2)
    assert "three times in a row without a usable call of bash" in str(run.error)


def test_an_answer_that_was_cut_off_is_told_so(workbench: Workbench) -> None:
    with ScriptedModel([Reply.fault("length"), SUBMIT.replace(text="ok")]) as model:
        assert workbench.run(model, worker()).answer == "ok"
        assert "cut off at its largest length" in observed(model, 1)


def test_long_output_is_shown_without_its_middle(workbench: Workbench) -> None:
    script = [Reply.bash("echo first; seq 1000000; echo last"), SUBMIT.replace(text="ok")]
    with ScriptedModel(script) as model:
        workbench.run(model, worker())
        shown = observed(model, 1)
    assert len(shown) < 20_000
    assert "first" in shown
    assert "last" in shown
    assert "bytes left out" in shown


def test_a_command_without_end_is_ended_by_the_agents_timeout(workbench: Workbench) -> None:
    mark = f"102.{os.getpid()}"
    with ScriptedModel(Reply.bash(f"sleep {mark} & setsid sleep {mark} & sleep {mark}")) as model:
        run = workbench.out_of_time(model, worker(), lambda: len(holding(mark)) == 3)
    assert run.error == "agent worker: it reached its timeout, 60 seconds of work."
    assert holding(mark) == []


def test_nothing_is_printed(workbench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel([Reply.bash("echo hello"), "no tool", SUBMIT]) as model:
        workbench.run(model, worker())
    assert capfd.readouterr() == ("", "")


IMPORT = """
import os, sys
before = dict(os.environ)
from coterie.runtime.runners.mini_swe_agent.runner import _import_minisweagent
_import_minisweagent()
assert "minisweagent" in sys.modules
print(os.environ == before, "litellm" in sys.modules)
"""


def test_importing_it_writes_nothing_prints_nothing_and_reads_no_settings(tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "mini-swe-agent" / ".env"
    settings.parent.mkdir(parents=True)
    settings.write_text("SECRET=leaked\n", "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True False\n", "")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [settings]


def test_what_it_cannot_keep_to_is_objected_to() -> None:
    assert list(MiniSweAgentRunner.objections(worker())) == []
    agent = Agent(id="a", agent_type="LLM", tools=("x",), output_schema={"type": "object"})
    assert len(list(MiniSweAgentRunner.objections(agent))) == 3


def at_once(*commands: str) -> list[Reply]:
    return [*map(Reply.bash, commands), SUBMIT]


@pytest.mark.parametrize("mends", [True, False])
def test_conflicts_are_shown_to_mend(workbench: Workbench, repository: Path, mends: bool) -> None:
    mending = ["sed -i '/^[<=>]\\{7\\}/d' toy.py"] if mends else ["true"]
    script = {
        "You are [ann]": at_once("sed -i 's/a - b/a + b/' toy.py"),
        "You are [bob]": at_once("sed -i 's/a - b/b + a/' toy.py"),
        "": at_once("cat toy.py", *mending),
    }
    agents = [worker(word, prompt=f"You are [{word}].") for word in ("ann", "bob", "end")]
    edges = {"ann": ("end",), "bob": ("end",)}
    with ScriptedModel(script) as model:  # pyright: ignore[reportArgumentType]
        run = workbench.run(model, *agents, task=repair(repository), reports_to=edges)
        asked = next(call.text for call in model.calls if "You are [end]" in call.text)
    assert "Your work folder starts from the work of ann, bob." in asked
    assert "- CONFLICT (content): Merge conflict in toy.py" in asked
    assert [item.fields["of"] for item in workbench.of("work_merged")] == [["ann", "bob"]]
    if mends:
        assert "+    return a + b\n+    return b + a\n" in str(run.answer)
    else:
        assert "it left what git could not merge as it was: '<<<<<<< by/ann'" in str(run.error)
