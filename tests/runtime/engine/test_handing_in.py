"""Teams that work on a repository: what reaches whom, what is chosen, and what the answer is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.agents.outcomes import AgentOutcome, Run
from coterie.runtime.engine.handing_in import chosen
from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.runners import AgentReport, AgentResult, Assignment
from coterie.runtime.scoring.functions import majority
from coterie.runtime.scoring.voting import vote
from coterie.schema import Agent, AgentError, Roster, Rounds, Task, Team
from coterie.schema.values.codec import from_value, to_value

from ..conftest import llm, team
from ..merging import Edit, Said, Studio, start_repository

LINES = "".join(f"line {number}\n" for number in range(40)).encode()
CHOICE = {"type": "object", "properties": {"chosen": {"type": "string"}}}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all these teams work on; nobody changes it."""
    return start_repository(tmp_path_factory.mktemp("work") / "repository", {"code.py": LINES})


def line(number: int, mark: str = "") -> Edit:
    """Have a coder put its name at the end of a line, again each time."""

    def edit(path: Path, agent: str) -> None:
        lines = (path / "code.py").read_bytes().splitlines()
        lines[number] += f" {mark or agent}".encode()
        (path / "code.py").write_bytes(b"\n".join([*lines, b""]))

    return edit


def says(text: str) -> Said:
    def said(_: Assignment) -> str:
        return text

    return said


def made(patch: str | None) -> str:
    """The lines that a patch makes."""
    assert patch
    return ", ".join(re.findall(r"^\+(line .*)$", patch, re.MULTILINE))


def of(*agents: str | Agent, **options: Any) -> Team:
    """A team of these agents; edges are given as `a="b c"`."""
    named = [llm(agent) if isinstance(agent, str) else agent for agent in agents]
    ids = {item.id for item in named}
    edges = {name: tuple(options.pop(name).split()) for name in [*options] if name in ids}
    return team(*named, edges=edges, **options)


def test_a_patch_goes_through_a_reviewer_to_the_next_coder(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "rex": says("Good patch."), "bob": line(20)})
    run = studio.run(of("ann", "rex", "bob", ann="rex", rex="bob"))
    assert made(run.answer) == "line 3 ann, line 20 bob"
    assert run.said is None


def test_three_coders_who_see_all_before_them_lose_nothing(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "bob": line(4), "cid": line(5)})
    run = studio.run(of("ann", "bob", "cid", ann="bob", bob="cid", context="ancestors"))
    assert made(run.answer) == "line 3 ann, line 4 bob, line 5 cid"


def test_the_answer_of_a_reviewer_is_the_patch_and_its_words_are_kept(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "rex": says("Good patch.")})
    run = studio.run(of("ann", "rex", ann="rex"))
    assert made(run.answer) == "line 3 ann"
    assert (run.answered_by, run.said) == ("rex", "Good patch.")


def test_the_work_of_two_is_merged_for_the_third(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "bob": line(20), "cid": line(30)})
    run = studio.run(of("ann", "bob", "cid", ann="cid", bob="cid"))
    assert b"line 3 ann\n" in studio.results["cid"]["code.py"]
    assert made(run.answer) == "line 3 ann, line 20 bob, line 30 cid"


def test_the_work_of_two_is_merged_for_the_answer(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "bob": line(20), "rex": says("Both are good.")})
    run = studio.run(of("ann", "bob", "rex", ann="rex", bob="rex"))
    assert made(run.answer) == "line 3 ann, line 20 bob"
    assert run.said == "Both are good."


def test_what_conflicts_and_nobody_can_mend_is_no_answer(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "bob": line(3), "rex": says("Fine.")})
    run = studio.run(of("ann", "bob", "rex", ann="rex", bob="rex"))
    assert (run.status, run.answer) == ("failed", None)
    assert "agent rex: the work of ann and bob cannot be merged: CONFLICT" in str(run.error)
    patches = [run.agents[word].result for word in ("ann", "bob")]
    assert all(patch is not None and patch.patch for patch in patches)


ALTERNATIVES: Mapping[str, Any] = {"ann": "judge end", "bob": "judge end", "judge": "end"}


@pytest.mark.parametrize(
    "judge",
    [
        (llm("judge", output_schema=CHOICE), says('{"why": "Shorter.", "chosen": "bob"}')),
        (Agent(id="judge", agent_type="Function", function="vote"), None),
    ],
    ids=["names it", "vote"],
)
def test_a_choice_replaces_its_options(repository: Path, judge: tuple[Agent, Said | None]) -> None:
    agent, said = judge
    parts: dict[str, Any] = {"ann": line(3), "bob": line(3), "eve": line(3, "bob"), "end": line(9)}
    parts |= {"judge": said} if said else {}
    edges = {**ALTERNATIVES, "eve": "judge end"}
    studio = Studio(repository, parts)
    run = studio.run(of("ann", "bob", "eve", agent, "end", **edges))
    assert run.error is None
    assert made(run.answer) == "line 3 bob, line 9 end"
    assert [event.fields for event in studio.events if event.type == "work_chosen"] == [
        {"of": ["ann", "bob", "eve"]}
    ]


def reported(**patches: str) -> dict[str, AgentOutcome]:
    """What some coders came to."""
    return {
        agent: AgentOutcome(
            status="done",
            result=AgentResult(content=patch, patch=patch),
            changes=(RepositoryChange(agent=agent, patch=patch),),
        )
        for agent, patch in patches.items()
    }


@pytest.mark.parametrize(
    ("agent", "message", "expected"),
    [
        (llm("judge"), " 2\n", "bob"),
        (llm("judge"), "The second.", None),
        (llm("judge", output_schema=CHOICE), 'I say {"chosen": "bob"}', "bob"),
        (Agent(id="judge", agent_type="Function", function="majority"), "2", "bob"),
        (Agent(id="judge", agent_type="Function", function="concat"), "1\n\n2", None),
    ],
)
def test_who_chooses(agent: Agent, message: str, expected: str | None) -> None:
    before = reported(ann="1", bob="2")
    assert chosen(agent, AgentResult(content=message), before) == expected
    assert chosen(agent, AgentResult(content=message, patch="3"), before) is None
    assert chosen(agent, AgentResult(content=message), reported(ann="2")) is None


def test_votes_are_for_whole_patches() -> None:
    reports = [
        AgentReport(agent_id=name, role="", content=patch, patch=patch)
        for name, patch in (("ann", "+1\n }"), ("bob", "+2\n }"), ("eve", "+2\n }"))
    ]
    task = Task(id="task", query="?")
    assert vote(reports, task) == majority(reports, task) == "+2\n }"


def test_a_choice_of_nobody_is_a_failure(repository: Path) -> None:
    judge = llm("judge", output_schema=CHOICE)
    parts = {"ann": line(3), "bob": line(3), "judge": says('{"chosen": "eve"}')}
    studio = Studio(repository, parts)
    run = studio.run(of("ann", "bob", judge, ann="judge", bob="judge", max_retries=1))
    assert run.error == "agent judge: it chose 'eve'; there is work of ann, bob to choose from."
    assert studio.begun.count("judge") == 2


def test_the_choice_of_a_reviewer_is_what_went_through_it(repository: Path) -> None:
    parts = {
        "ann": line(3), "bob": line(20), "cid": line(3), "rex": says("Both."),
        "judge": says('{"chosen": "rex"}'),
    }  # fmt: skip
    judge = llm("judge", output_schema=CHOICE)
    edges = {"ann": "rex", "bob": "rex", "rex": "judge", "cid": "judge"}
    run = Studio(repository, parts).run(of("ann", "bob", "cid", "rex", judge, **edges))
    assert made(run.answer) == "line 3 ann, line 20 bob"
    assert run.said == '{"chosen": "rex"}'


def test_whoever_fails_passes_on_what_reached_it(repository: Path) -> None:
    def fails(_: Assignment) -> str:
        raise AgentError("It is lost.")

    parts = {"ann": line(3), "bob": fails, "rex": says("See."), "cid": line(20)}
    run = Studio(repository, parts).run(
        of("ann", "bob", "rex", "cid", ann="bob", bob="cid", rex="cid", on_error="degrade")
    )
    assert made(run.answer) == "line 3 ann, line 20 cid"


GATE = {
    "type": "object",
    "properties": {"reviews": {"type": "array"}},
    "required": ["reviews"],
}


def test_a_review_gate_sends_work_back_to_where_it_was_left(repository: Path) -> None:
    verdicts = iter(["revise", "accept"])

    def reviewed(_: Assignment) -> str:
        return f'{{"reviews": [{{"of": "ann", "verdict": "{next(verdicts)}", "issues": []}}]}}'

    studio = Studio(repository, {"ann": line(3), "rex": reviewed})
    rounds = Rounds(most=5, until="accepted")
    run = studio.run(of("ann", llm("rex", output_schema=GATE), ann="rex", rounds=rounds))
    assert (run.rounds, studio.begun) == (2, ["ann", "rex", "ann", "rex"])
    assert made(run.answer) == "line 3 ann ann"


def test_in_rounds_own_work_is_merged_with_what_comes(repository: Path) -> None:
    studio = Studio(repository, {"ann": line(3), "bob": line(20)})
    rounds = Rounds(most=3, until="never")
    run = studio.run(of("ann", "bob", ann="bob", rounds=rounds))
    assert made(run.answer) == "line 3 ann ann ann, line 20 bob bob bob"


def test_a_resumed_run_asks_only_those_who_start_anew(repository: Path, tmp_path: Path) -> None:
    def asked(prompt: str, place: int) -> tuple[list[str], str]:
        studio = Studio(repository, {"ann": line(place), "rex": says("Good."), "bob": line(20)})
        ann = Agent(id="ann", prompt=prompt)
        answer = studio.run(of(ann, "rex", "bob", ann="rex", rex="bob"), folder=tmp_path).answer
        return studio.begun, made(answer)

    assert asked("Do.", 3) == (["ann", "rex", "bob"], "line 3 ann, line 20 bob")
    assert asked("Do.", 4) == ([], "line 3 ann, line 20 bob")
    assert asked("Do it.", 4) == (["ann", "rex", "bob"], "line 4 ann, line 20 bob")


def test_outcomes_of_a_record_are_worked_on_as_those_of_the_run(repository: Path) -> None:
    parts = {"ann": line(3), "bob": line(4), "rex": says("Good."), "cid": line(5)}
    whole = of("ann", "bob", "rex", "cid", ann="bob", bob="rex", rex="cid", context="ancestors")
    studio = Studio(repository, parts)
    run = studio.run(whole)
    recorded = dict(from_value(Run, to_value(run)).agents)
    del recorded["cid"]
    assert studio.one_pass(whole, recorded).answer == run.answer
    assert studio.begun.count("ann") == 1


def test_without_a_repository_nothing_changes() -> None:
    studio = Studio(None, {"ann": says("4"), "rex": says("Good.")})
    run = studio.run(of("ann", "rex", ann="rex"))
    assert (run.answer, run.said) == ("Good.", None)
    assert "said" not in to_value(run)


def leading(assignment: Assignment) -> str:
    """Start both, wait for both, hand in."""

    def act(tool: str, **arguments: str) -> None:
        assignment.emit("tool_call", tool=tool, arguments=arguments, result="done")

    result = [item.agent for item in assignment.workspace.start]
    if not result:
        act("start_agent", agent="ann", text="go")
        act("start_agent", agent="bob", text="go")
    elif len(result) == 2:
        act("finalize", answer="It is done.")
    return ""


@pytest.mark.parametrize("place", [20, 3])
def test_in_an_open_roster_the_lead_hands_in_the_work_of_all(repository: Path, place: int) -> None:
    studio = Studio(repository, {"lead": leading, "ann": line(3), "bob": line(place)})
    run = studio.run(of("lead", "ann", "bob", roster=Roster(lead="lead"), max_retries=0))
    if place == 20:
        assert made(run.answer) == "line 3 ann, line 20 bob"
    else:
        assert run.status == "failed"
        assert "cannot be merged: CONFLICT (content)" in str(run.error)


def test_changes_that_count_for_nothing_are_told(repository: Path) -> None:
    def tries(assignment: Assignment) -> str:
        (assignment.workspace.path / "trial.py").write_text("1\n")
        return "It works."

    studio = Studio(repository, {"ann": line(3), "rex": tries})
    run = studio.run(of("ann", "rex", ann="rex"))
    assert made(run.answer) == "line 3 ann"
    assert run.agents["rex"].mishaps == (
        "it answers with text, so its changes are ignored: trial.py",
    )
