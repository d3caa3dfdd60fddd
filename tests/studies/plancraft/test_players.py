"""Teams that play: with tools and a scripted model, or with a list of actions in the answer."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Run, run
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Agent, ConfigError, ScorerChoice, Task, Team, load_task
from coterie.schema.values.codec import to_value

from ...benchmarks.plancraft.recording import episodes
from ...jails import needs_jail
from ...scoring import scored
from ...support.commands import started

TORCH, _, TORCH_PLAN = episodes()[0]
TASK = Task(
    id="torch",
    query="Make a torch.",
    answer={"impossible": False},
    scorer=ScorerChoice(name="plancraft", options=to_value(TORCH)),
)
DIAMOND_SWORD = next(world for world, impossible, _ in episodes() if impossible)
HOPELESS = Task(
    id="sword",
    query="Make a sword.",
    answer={"impossible": True},
    scorer=ScorerChoice(name="plancraft", options=to_value(DIAMOND_SWORD)),
)
TEAM = """\
name: player
agents:
  player:
    agent_type: ToolCallingAgent
    tools: [plancraft]
    max_steps: 40
execution: {max_retries: 0}
"""


def act(action: str) -> Reply:
    return Reply.tool("plancraft_act", action=action)


def final(answer: str = "Done.") -> Reply:
    return Reply.tool("final_answer", answer=answer)


def ran(task: Task, *script: Reply, agent_type: str = "ToolCallingAgent") -> tuple[Run, list[str]]:
    """Run one agent with the tools; give also what the model was told before each call."""
    player = Agent(id="player", agent_type=agent_type, tools=("plancraft",), max_steps=40)
    team = Team(name="player", agents={"player": player})
    with ScriptedModel(list(script)) as model:
        done = run(team, task, model=[f"m@{model.api_base}"])
        return done, [call.text for call in model.calls]


def outcome(done: Run) -> tuple[float, dict[str, float], str]:
    assert done.score is not None
    return done.score.value, dict(done.score.measures), done.score.reason


def listed(task: Task, answer: str) -> tuple[float, float]:
    """Score an answer without tools; give also how many actions were played."""
    result = scored(task, answer)
    assert result is not None
    return result.value, result.measures["steps"]


def test_an_agent_plays_the_planners_actions_to_the_end() -> None:
    done, texts = ran(TASK, *(act(text) for text in TORCH_PLAN.said), final())
    assert outcome(done) == (
        1.0,
        {"steps": 8.0, "unreadable": 0.0, "gave_up": 0.0},
        "the item was made after 8 actions",
    )
    for text, expected in zip(texts[1:], TORCH_PLAN.told[1:], strict=False):
        assert expected in text
    assert "The item is made. The task has ended" in texts[-1]


def test_looking_shows_the_slots_and_is_no_action() -> None:
    look = Reply.tool("plancraft_look")
    done, texts = ran(TASK, look, act("hm"), look, final())
    assert TORCH_PLAN.told[0] in texts[1]
    assert "Only select actions from the following: move, smelt, impossible" in texts[2]
    assert outcome(done)[:2] == (0.0, {"steps": 1.0, "unreadable": 1.0, "gave_up": 0.0})


def test_giving_up_is_right_in_a_hopeless_task_and_ends_it() -> None:
    script = [act("impossible: no second diamond"), act("hm"), final()]
    done, texts = ran(HOPELESS, *script)
    assert "You have said that it is impossible." in texts[1]
    assert "The task had ended before" in texts[2]
    assert outcome(done)[:2] == (1.0, {"steps": 1.0, "unreadable": 0.0, "gave_up": 1.0})
    assert outcome(ran(TASK, *script)[0])[0] == 0.0


def test_after_thirty_actions_it_is_over() -> None:
    done, texts = ran(TASK, *[act("hm")] * 30, act(TORCH_PLAN.said[0]), final())
    assert "That was the last action." in texts[30]
    assert "The task had ended before" in texts[31]
    assert outcome(done)[:2] == (0.0, {"steps": 30.0, "unreadable": 30.0, "gave_up": 0.0})


def test_a_call_that_does_not_fit_the_tool_is_no_action() -> None:
    wrong = Reply.tool("plancraft_act", move="from [I1] to [A1]")
    done, _ = ran(TASK, wrong, *(act(text) for text in TORCH_PLAN.said), final())
    assert outcome(done)[1]["steps"] == 8.0


@needs_jail
def test_an_agent_that_writes_code() -> None:
    code = f"for text in {list(TORCH_PLAN.said)!r}:\n    print(plancraft_act(action=text))\n"
    done, _ = ran(TASK, Reply.code(f"{code}final_answer('Done.')"), agent_type="CodeAgent")
    assert outcome(done)[0] == 1.0


def test_elsewhere_the_tools_say_that_there_is_no_table() -> None:
    done, texts = ran(Task(id="t", query="?", answer="Done."), act("hm"), final())
    assert "only in tasks of the benchmark plancraft" in texts[1]
    assert outcome(done)[0] == 1.0


def test_a_list_of_actions_is_played() -> None:
    plan = "\n".join(f"{n}. `{text}`" for n, text in enumerate(TORCH_PLAN.said, 1))
    assert listed(TASK, f"First planks:\nACTIONS:\n{plan}\nThat makes four.") == (1.0, 8.0)
    assert listed(TASK, f"I move: no.\n**Actions**:\n```\n{plan}\n```") == (1.0, 8.0)
    assert listed(TASK, plan) == (1.0, 8.0)
    assert listed(HOPELESS, "ACTIONS:\nimpossible: only one diamond") == (1.0, 1.0)
    assert listed(TASK, "I cannot tell.") == (0.0, 0.0)
    assert listed(TASK, "ACTIONS:\n" + "move: it\n" * 40 + plan) == (0.0, 30.0)


def test_what_was_done_with_tools_counts_more_than_a_list() -> None:
    plan = "ACTIONS:\n" + "\n".join(TORCH_PLAN.said)
    tried = ToolCall(tool="plancraft_act", arguments={"action": "hm"})
    result = scored(TASK, plan, tried)
    assert result is not None
    assert (result.value, result.log) == (0.0, "hm\n")
    looked = ToolCall(tool="plancraft_look", arguments={})
    failed = ToolCall(tool="plancraft_act", arguments={"action": "hm"}, error="no table")
    result = scored(TASK, plan, looked, failed)
    assert result is not None
    assert (result.value, result.log) == (1.0, "")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"answer": "no"}, "answer: 'no' is not a mapping"),
        ({"answer": {"possible": True}}, "answer: impossible is missing"),
        ({"slots": {"99": ["log", 1]}}, "'99' is not the number of a slot"),
        ({"slots": {"9": ["log", "1"]}}, "scorer.slots.9[1]: '1' is not an integer"),
        ({"recipes": [{"makes": "log"}]}, "recipes[0]: A recipe has one of shaped"),
        ({"recipes": [{"makes": "log", "shaped": [["a"], ["a", "b"]]}]}, "of the same length"),
    ],
)
def test_the_scorer_is_for_its_own_tasks(changes: dict[str, Any], why: str, tmp_path: Path) -> None:
    scorer = {"name": "plancraft", **TASK.scorer.options}
    scorer |= {key: item for key, item in changes.items() if key in scorer}
    answer = changes.get("answer", TASK.answer)
    path = tmp_path / "task.json"
    path.write_text(json.dumps({"id": "t", "query": "?", "answer": answer, "scorer": scorer}))
    with pytest.raises(ConfigError) as caught:
        load_task(path)
    assert why in str(caught.value)


@pytest.mark.nightly
def test_an_episode_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    fields = {"id": TASK.id, "query": TASK.query, "answer": TASK.answer}
    scorer = {"name": "plancraft", **TASK.scorer.options}
    (tmp_path / "task.json").write_text(json.dumps({**fields, "scorer": scorer}))
    (tmp_path / "team.yaml").write_text(TEAM)
    reached, stay = threading.Event(), Reply.fault("hang")
    before, after = TORCH_PLAN.said[:5], TORCH_PLAN.said[5:]

    def until_killed(request: Any) -> Reply:
        steps = sum(message["role"] == "assistant" for message in request["messages"])
        if steps < len(before):
            return act(before[steps])
        reached.set()
        return stay

    with ScriptedModel(until_killed) as model:
        process = started(tmp_path, "team.yaml", "task.json", "--model", f"m@{model.api_base}")
        assert reached.wait(300)
        process.kill()
        process.communicate()
    (folder_of_run,) = (tmp_path / "runs").iterdir()
    with ScriptedModel([*(act(text) for text in after), final()]) as model:
        chosen = ("--model", f"m@{model.api_base}")
        process = started(tmp_path, "--resume", str(folder_of_run), *chosen)
        _, err = process.communicate(timeout=300)
        report = [call.text for call in model.calls]
    assert process.returncode == 0, err
    assert TORCH_PLAN.told[5] in report[0]
    assert TORCH_PLAN.told[-1] in report[-2]
    score = json.loads((folder_of_run / "result.json").read_text())["score"]
    assert (score["value"], score["measures"]["steps"]) == (1.0, 8.0)
