"""Attempts: who answered the task itself, what each answer is worth, and whether they agree."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode, Halted
from coterie.operators.methods.evochamber.attempts import MemberAttempt, attempts, disagree, graded
from coterie.operators.methods.evochamber.seating import seated
from coterie.runtime import AgentOutcome, Run
from coterie.runtime.agents.outcomes import ToolCall
from coterie.runtime.agents.runner import AgentResult
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema import JailError, Task

from ...evolution.test_episode import TASKS, done
from ...rounds import did
from .test_seating import KNOWN, MINE, ORDER, STANDARD, sit, structure, taken

TASK = TASKS[0]


def run_of(**outcomes: AgentOutcome) -> Run:
    return Run(status="done", answer="7", agents=outcomes)


def tried(*answers: str, **fields: Any) -> list[MemberAttempt]:
    places = zip(ORDER, answers, strict=False)
    return [
        MemberAttempt(agent=f"of {seat}", seat=seat, position=seat, answer=answer, **fields)
        for seat, answer in places
    ]


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("voting", ["anchor", "complement", "scout"]),
        ("debate", ["anchor_again", "complement_again", "scout_again"]),
        ("generator_critic", ["anchor_again"]),
        ("decompose", ["anchor_whole"]),
    ],
)
def test_an_attempt_is_the_answer_or_its_source(name: str, positions: list[str]) -> None:
    team = sit(name, 3)
    run = run_of(**{agent: did(f"work of {agent}") for agent in team.team.agents})
    result = attempts(team, run)
    assert [item.position for item in result] == positions
    assert [item.seat for item in result] == [position.partition("_")[0] for position in positions]
    assert [item.agent for item in result] == [team.seats[item.seat] for item in result]
    assert [item.answer for item in result] == [f"work of {position}" for position in positions]
    assert all(item.score is None for item in result)


def test_who_came_to_nothing_has_no_attempt() -> None:
    failed = AgentOutcome(status="failed", error="no")
    patch = AgentOutcome(status="done", result=AgentResult(content="Done.", answer="a patch"))
    result = attempts(sit("voting", 3), run_of(anchor=failed, scout=patch))
    assert [(item.position, item.answer) for item in result] == [("scout", "a patch")]


def test_a_function_that_picks_nothing_has_no_attempts() -> None:
    text = """\
name: sum
agents: {anchor: {prompt: A b.}, all: {agent_type: Function, function: concat}}
topology: {reports_to: {anchor: [all]}}
"""
    team = seated(structure(text), taken(1), STANDARD, KNOWN)
    assert attempts(team, run_of(anchor=did("a"), all=did("a"))) == ()
    relay = seated(structure(MINE), taken(3), STANDARD, KNOWN)
    assert [attempt.position for attempt in attempts(relay, run_of(scout_end=did("a")))] == [
        "scout_end"
    ]


@pytest.mark.parametrize(
    ("answers", "apart"),
    [
        ([], False),
        (["\\boxed{7}"], False),
        (["By parts: \\boxed{7}", "$\\boxed{7.0}$", "Answer: 7"], False),
        (["\\boxed{7}", "\\boxed{8}", "\\boxed{7}"], True),
    ],
)
def test_attempts_disagree_as_the_vote_reads_them(answers: list[str], apart: bool) -> None:
    assert disagree(tried(*answers), TASK) == apart


def grade(
    folder: Path, *attempt: MemberAttempt, task: Task = TASK, learning: bool = True, **how: Any
) -> tuple[list[Any], Episode, list[Any]]:
    def judging(request: Request) -> Reply:
        if "useless" in json.dumps(request["messages"]):
            return Reply(text="no")
        return Reply.json({"reason": "fine", "score": 0.25})

    async def work(context: EvolutionContext) -> Any:
        episode = Episode(
            context=context, number=0, task=task, view=context.view(), learning=learning
        )
        return await graded(episode, attempt, **how), episode

    with ScriptedModel(judging) as model:
        result, episode = done(folder, model.api_base, work)
    assert [(item.agent, item.answer) for item in result] == [
        (item.agent, item.answer) for item in attempt
    ]
    return [item.score for item in result], episode, [*model.calls]


def test_attempts_are_graded_by_the_reference_answer(tmp_path: Path) -> None:
    scores, episode, calls = grade(tmp_path, *tried("7", "8", "7"))
    assert scores == [1, 0, 1]
    assert calls == []
    assert episode.judging.calls == 0


def test_without_one_the_judge_grades_each_text_once(tmp_path: Path) -> None:
    task = Task(id="open", query="Why?")
    scores, episode, calls = grade(
        tmp_path, *tried("this", "that", "this", "useless", "it"), task=task, earlier={"it": 0.75}
    )
    assert scores == [0.25, 0.25, 0.25, None, 0.75]
    assert len(calls) == 4  # one of them is a repair
    assert episode.judging.calls == 4
    assert episode.operators.calls == 0
    assert [item.operator for item in episode.rejected] == ["judge"]
    again, _, calls = grade(tmp_path, *tried("this", "that", "this", "useless", "it"),
                            task=task, earlier={"it": 0.75})  # fmt: skip
    assert again == scores
    assert calls == []  # it is in the journal


def test_in_a_test_nothing_is_graded(tmp_path: Path) -> None:
    scores, episode, calls = grade(tmp_path, *tried("7", "8"), learning=False, earlier={"7": 1.0})
    assert scores == [None, None]
    assert (calls, episode.judging.calls) == ([], 0)


def test_what_tools_did_counts_by_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.operators.evolution import task_runs

    seen: list[Any] = []
    real = task_runs.scored

    async def scored(run: Run, *others: Any) -> Run:
        seen.append([call.tool for call in run.agents[str(run.answered_by)].tool_calls])
        return await real(run, *others)

    monkeypatch.setattr(task_runs, "scored", scored)
    used = tried("7", tool_calls=(ToolCall(tool="send", arguments={"to": "a"}),))
    plain = [replace_position(item, "scout") for item in tried("7")]
    scores, *_ = grade(tmp_path, *used, *plain)
    assert scores == [1, 1]
    assert seen == [["send"], []]


def replace_position(attempt: MemberAttempt, position: str) -> MemberAttempt:
    return MemberAttempt(
        agent=attempt.agent, seat=position, position=position, answer=attempt.answer
    )


def test_a_jail_that_fails_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.runtime.scoring import scorers

    async def fails(_evidence: Any) -> Any:
        raise JailError("no jail today")

    monkeypatch.setattr(scorers, "score", fails)
    with pytest.raises(Halted, match="no jail today"):
        grade(tmp_path, *tried("7"))
