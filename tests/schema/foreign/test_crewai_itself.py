"""CrewAI runs the files that are taken over: our reading of them is its own."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from coterie.runtime.doubles import ScriptedModel
from coterie.schema.foreign.taking_over import take_over

pytestmark = pytest.mark.skipif(
    "MAS_CREWAI_PYTHON" not in os.environ, reason="MAS_CREWAI_PYTHON names no Python with crewai"
)

AGENTS = """\
scout: {role: "{topic} scout", goal: Find news, backstory: You look., llm: openai/gpt-4o-mini}
cook: {role: Cook, goal: Taste it, backstory: You cook., llm: openai/gpt-4o-mini}
nose: {role: Nose, goal: Smell it, backstory: You smell., llm: openai/gpt-4o-mini}
editor: {role: Editor, goal: Make it readable, backstory: You cut., llm: openai/gpt-4o-mini}
"""
TASKS = """\
look: {description: "Look for TASK-look of {topic}.", expected_output: News, agent: scout}
taste: {description: Do TASK-taste., expected_output: Words, agent: cook, async_execution: true}
smell: {description: Do TASK-smell., expected_output: Words, agent: nose, async_execution: true}
write: {description: Do TASK-write., expected_output: A page, agent: editor}
polish: {description: Do TASK-polish., expected_output: Fun, agent: editor, context: [smell, write]}
file: {description: Do TASK-file., expected_output: A name, agent: cook, context: []}
end: {description: Do TASK-end., expected_output: A page, agent: editor}
"""
CREW = """\
import json, sys
from pathlib import Path
import yaml
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, crew, task

def names(kind):
    return list(yaml.safe_load(Path(f"config/{kind}.yaml").read_text()))
def agent_of(name):
    def make(self):
        return Agent(config=self.agents_config[name])
    make.__name__ = name
    return agent(make)
def task_of(name):
    def make(self):
        return Task(config=self.tasks_config[name])
    make.__name__ = name
    return task(make)
body = {one: agent_of(one) for one in names("agents")}
body |= {one: task_of(one) for one in names("tasks")}
body |= {"agents_config": str(Path("config/agents.yaml").resolve())}
body |= {"tasks_config": str(Path("config/tasks.yaml").resolve())}
@crew
def whole(self):
    return Crew(agents=self.agents, tasks=self.tasks, process=Process.sequential)
Tea = CrewBase(type("Tea", (), body | {"crew": whole}))
result = Tea().crew().kickoff(inputs={"topic": "tea"})
print(json.dumps({"answer": result.raw}))
"""
WORKS = ("look", "taste", "smell", "write", "polish", "file", "end")


def test_each_task_reads_there_what_its_agent_reads_here(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "agents.yaml").write_text(AGENTS, encoding="utf-8")
    (tmp_path / "config" / "tasks.yaml").write_text(TASKS, encoding="utf-8")
    (tmp_path / "crew_of_tea.py").write_text(CREW, encoding="utf-8")
    imported = take_over(tmp_path, {"topic": "tea"})
    script = {f"TASK-{work}": f"OUTPUT-{work}" for work in WORKS}
    with ScriptedModel(script) as model:
        done = subprocess.run(
            [os.environ["MAS_CREWAI_PYTHON"], "crew_of_tea.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": model.api_base,
                "OPENAI_API_BASE": model.api_base,
                "CREWAI_DISABLE_TELEMETRY": "true",
                "OTEL_SDK_DISABLED": "true",
            },
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        prompts = {
            next(work for work in WORKS if f"TASK-{work}" in call.text): json.dumps(call.body)
            for call in model.calls
        }
    read = {
        name: {other for other in WORKS if f"OUTPUT-{other}" in text}
        for name, text in prompts.items()
    }
    ids = {**{work: work for work in WORKS}, "look": "scout", "smell": "nose"}
    here = {ids[name]: {ids[other] for other in others} for name, others in read.items()}
    before = {item: {*others} for item, others in imported.team.predecessors.items()}
    assert here == before
    assert json.loads(done.stdout.splitlines()[-1]) == {"answer": "OUTPUT-end"}
    assert imported.team.output == "end"
    assert "tea scout" in prompts["look"]
    assert imported.team.agents["scout"].role == "tea scout"
