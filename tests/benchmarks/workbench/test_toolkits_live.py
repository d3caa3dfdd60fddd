"""Agents that call the workplace's tools while they work, in real runs with a scripted model."""

import json
import threading
from pathlib import Path
from typing import Any

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.workbench.tasks import WORKBENCH, WORKBENCH_DOMAINS
from coterie.benchmarks.workbench.toolkits import TOOLKITS
from coterie.runtime import Score, run
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Agent, Task, Team

from ...jails import needs_jail
from ...support.commands import invoked_in
from ...support.processes import KILLED, Child
from ...waiting import wait_for

TEAM = """\
name: clerk
agents:
  clerk:
    agent_type: ToolCallingAgent
    tools: [workbench_calendar, workbench_email]
execution: {max_retries: 0}
"""


def final(answer: str = "Done.") -> Reply:
    return Reply.tool("final_answer", answer=answer)


def ran(
    task: Task, *script: Reply, agent_type: str = "ToolCallingAgent"
) -> tuple[Score, list[str]]:
    """Score a run of an agent with all tools; give also what the model read before each call."""
    clerk = Agent(id="clerk", agent_type=agent_type, tools=TOOLKITS)
    with ScriptedModel(list(script)) as model:
        done = run(Team(name="clerk", agents={"clerk": clerk}), task, model=[f"m@{model.api_base}"])
        assert done.status == "done"
        assert done.score is not None
        return done.score, [call.text for call in model.calls]


def asked(folder: Path, number: int) -> Task:
    return WORKBENCH.tasks(Source(data=folder))[number]


LUNCH, MAIL = 1, 4


def test_an_agent_does_what_is_asked_with_three_tools(folder: Path) -> None:
    score, texts = ran(
        asked(folder, MAIL),
        Reply.tool("company_directory_find_email_address", name="ada"),
        Reply.tool("email_search_emails", query="budget", date_max="2023-11-30"),
        Reply.tool(
            "email_send_email", recipient="ada.low@firm.com", subject="It", body="It is on."
        ),
        final(),
    )
    assert score.value == 1.0
    assert score.measures == {"side_effects": 0.0, "exact_match": 1.0}
    assert "ada.low@firm.com" in texts[1]
    assert "00000005" in texts[2]
    assert "Email sent successfully." in texts[3]


def test_changes_last_from_call_to_call(folder: Path) -> None:
    delete = Reply.tool("calendar_delete_event", event_id="00000009")
    score, texts = ran(asked(folder, LUNCH), delete, delete, final())
    assert "Event deleted successfully." in texts[1]
    assert "Event not found." in texts[2]
    assert score.value == 1.0


def test_empty_cells_are_null_and_times_are_text(folder: Path) -> None:
    send = Reply.tool("email_send_email", recipient="q@r.s", subject="S", body="B")
    score, texts = ran(
        asked(folder, LUNCH),
        Reply.tool("customer_relationship_manager_search_customers", customer_name="dee"),
        send,
        Reply.tool("email_search_emails", query="q@r.s"),
        final(),
    )
    assert '"customer_phone": null' in texts[1]
    assert '"sent_datetime": "2023-11-30 00:00:00"' in texts[3]
    assert score.measures["side_effects"] == 1.0


def test_a_call_that_fails_is_told_to_the_agent_which_goes_on(folder: Path) -> None:
    score, texts = ran(
        asked(folder, LUNCH),
        Reply.tool("calendar_search_events", query="("),
        Reply.tool("calendar_delete_event", event_id="00000009"),
        final(),
    )
    assert "is not a regular expression" in texts[1]
    assert score.value == 1.0


def test_the_list_in_the_answer_counts_more_than_what_was_done(folder: Path) -> None:
    wrong = Reply.tool("calendar_delete_event", event_id="00000004")
    listed = 'FUNCTION_CALLS:\ncalendar.delete_event.func(event_id="00000009")'
    score, _ = ran(asked(folder, LUNCH), wrong, final(listed))
    assert score.value == 1.0


def test_elsewhere_the_tools_say_that_there_is_no_workplace(folder: Path) -> None:
    task = Task(id="t", query="What is on?", answer="Done.")
    score, texts = ran(task, Reply.tool("calendar_search_events", query="x"), final())
    assert "only in tasks of the benchmark workbench" in texts[1]
    assert score.value == 1.0


def test_a_tool_of_another_domain_is_withheld(folder: Path) -> None:
    task = WORKBENCH_DOMAINS.tasks(Source(data=folder))[LUNCH]
    call = Reply.tool("email_delete_email", email_id="00000003")
    score, texts = ran(task, call, final())
    assert "not available in this task" in texts[1]
    # It changed nothing, and so it is no part of the prediction.
    assert score.measures["side_effects"] == 0.0


@needs_jail
def test_an_agent_that_writes_code(folder: Path) -> None:
    code = (
        "(event,) = calendar_search_events(query='team lunch')\n"
        "print(calendar_delete_event(event_id=event['event_id']))\n"
        "final_answer('Done.')"
    )
    score, _ = ran(asked(folder, LUNCH), Reply.code(code), agent_type="CodeAgent")
    assert score.value == 1.0


def test_two_agents_have_workplaces_of_their_own(folder: Path) -> None:
    delete = Reply.tool("calendar_delete_event", event_id="00000009")
    agents = {
        name: Agent(
            id=name,
            agent_type="ToolCallingAgent",
            prompt=f"You are [{name}].",
            tools=("workbench_calendar",),
        )
        for name in ("one", "two")
    }
    team = Team(name="pair", agents=agents, reports_to={"one": ("two",)})
    script = {"[one]": [delete, final()], "[two]": [delete, final()]}
    with ScriptedModel(script) as model:
        done = run(team, asked(folder, LUNCH), model=[f"m@{model.api_base}"])
        report = [call.text for call in model.calls]
    assert "Event deleted successfully." in report[3]
    assert done.score is not None
    assert done.score.value == 1.0


def write_task(folder: Path, task: Task) -> None:
    scorer = {"name": task.scorer.name, **task.scorer.options}
    fields = {"id": "lunch", "query": task.query, "answer": task.answer, "scorer": scorer}
    (folder / "task.json").write_text(json.dumps(fields))
    (folder / "team.yaml").write_text(TEAM)


def test_a_run_that_was_killed_goes_on_in_the_same_state(tmp_path: Path, folder: Path) -> None:
    """The second deletion works on what the first one, made before the kill, left behind."""
    write_task(tmp_path, asked(folder, LUNCH))
    reached, stay = threading.Event(), Reply.fault("hang")
    done_before = [
        Reply.tool("email_delete_email", email_id="00000003"),
        Reply.tool("calendar_delete_event", event_id="00000009"),
    ]

    def until_killed(request: Any) -> Reply:
        steps = sum(message["role"] == "assistant" for message in request["messages"])
        if steps < len(done_before):
            return done_before[steps]
        reached.set()
        return stay

    with ScriptedModel(until_killed) as model:
        words = ["team.yaml", "task.json", "--model", f"m@{model.api_base}"]
        child = Child(lambda: invoked_in(tmp_path, mas_run, words, "mas-run"))
        wait_for(lambda: reached.is_set() or child.has_ended(), "it never came so far")
        child.kill()
        assert child.wait() == KILLED
    (folder_of_run,) = (tmp_path / "runs").iterdir()
    rest = [
        Reply.tool("email_send_email", recipient="q@r.s", subject="S", body="B"),
        Reply.tool("calendar_delete_event", event_id="00000009"),
        final(),
    ]
    with ScriptedModel(rest) as model:
        words = ["--resume", str(folder_of_run), "--model", f"m@{model.api_base}"]
        invoked_in(tmp_path, mas_run, words, "mas-run").ended(0)
        report = [call.text for call in model.calls]
    assert "Event not found." in report[-1]
    score = json.loads((folder_of_run / "result.json").read_text())["score"]
    uninterrupted, _ = ran(asked(folder, LUNCH), *done_before, *rest)
    assert score["value"] == uninterrupted.value == 0.0
    assert score["measures"] == dict(uninterrupted.measures)
    assert score["measures"]["side_effects"] == 1.0
    assert score["reason"] == uninterrupted.reason
