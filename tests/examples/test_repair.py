"""A team with a real mini-swe-agent repairs a real bug of a released package, in the jail."""

from pathlib import Path

from coterie.benchmarks.repair.benchmark import repair_task
from coterie.runtime import run
from coterie.runtime.doubles import ScriptedModel, load_script

from ..repairs import git, needs_jail, offline

ROOT = Path(__file__).parents[2]
REPLIES = ROOT / "examples" / "repair" / "replies.yaml"


@needs_jail
def test_the_patch_repairs_the_bug_and_keeps_the_rest() -> None:
    repair, repository = offline("inflection_passerby")
    task = repair_task(repair.instance, repository, "inflection")
    with ScriptedModel(load_script(REPLIES)) as model:
        done = run("seed:code_repair", task, model=f"m@{model.api_base}")
    assert done.status == "done", done.error
    assert done.answer is not None
    assert done.answer.startswith("diff --git a/inflection.py b/inflection.py")
    assert done.score is not None
    assert done.score.value == 1, done.score
    assert git(repository, "status", "--porcelain") == "", "the user's repository was touched"
    engineer = done.agents["engineer"].result
    assert engineer is not None
    assert "passed" in str(engineer.steps), "the agent could run the tests in the jail"
