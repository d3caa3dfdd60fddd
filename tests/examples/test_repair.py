"""A team with a real mini-swe-agent repairs a real bug of a released package, in the jail."""

import asyncio
from pathlib import Path

from coterie.benchmarks.repair.benchmark import repair_task
from coterie.runtime import Calls, Context, Gateway, Run, Toolbox, Trace, compile, perform
from coterie.runtime.doubles import ScriptedModel, load_script
from coterie.runtime.jail import Jails
from coterie.runtime.record.trace import Event
from coterie.schema import Catalogue, Model, Task, load_team

from ..repairs import git, needs_jail, offline

ROOT = Path(__file__).parents[2]
REPLIES = ROOT / "examples" / "repair" / "replies.yaml"


async def run(task: Task, api_base: str, events: list[Event]) -> Run:
    models = {"default": Model(alias="default", model="scripted", api_base=api_base)}
    catalogue = Catalogue.of_host(models=models)
    plan = compile(load_team(ROOT / "seeds" / "code_repair.yaml", catalogue), catalogue)
    async with Gateway(models) as gateway, Toolbox() as toolbox:
        return await perform(
            plan,
            task,
            Context(
                calls=Calls(gateway=gateway),
                jails=Jails(),
                toolbox=toolbox,
                trace=Trace(events.append),
            ),
        )


@needs_jail
def test_the_patch_repairs_the_bug_and_keeps_the_rest() -> None:
    repair, repository = offline("inflection_passerby")
    task = repair_task(repair.instance, repository, "inflection")
    events: list[Event] = []
    with ScriptedModel(load_script(REPLIES)) as model:
        done = asyncio.run(run(task, model.api_base, events))
    assert done.status == "done", done.error
    assert done.answer is not None
    assert done.answer.startswith("diff --git a/inflection.py b/inflection.py")
    assert done.score is not None
    assert done.score.value == 1, done.score
    assert git(repository, "status", "--porcelain") == "", "the user's repository was touched"
    (finished,) = [e for e in events if e.type == "agent_finished" and e.agent == "engineer"]
    assert "passed" in str(finished.fields["steps"]), "the agent could run the tests in the jail"
