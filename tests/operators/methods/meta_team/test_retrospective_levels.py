"""A team looks back: each level reads what it may, and changes what is its own."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import Chance
from coterie.operators.methods.meta_team import (
    PhaseLimits,
    Retrospective,
    RetrospectiveSettings,
    Tally,
    interactions,
    look_back,
)
from coterie.runtime import Journal
from coterie.runtime.agents.outcomes import Kind, Posted
from coterie.schema import Execution, Notes, Roster, Team, dump
from coterie.schema.edits import SetNote
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import check_team

from ...asking import TASK, Asked, asking, catalogue
from ...rounds import TRIO
from .looking import SETTLED, asked_of, calls_of, ground, model, phase, ran, spoke

CEILING = replace(CapabilityPolicy.of(TRIO), agents=6, edges=None, tools=frozenset({"read_file"}))


def looked(
    how: RetrospectiveSettings | None = None, team: Team = TRIO, **answers: Any
) -> Asked[Retrospective]:
    on = ground(team, answers.pop("run", None))
    return asking(model(answers), lambda meta: look_back(meta, "t/", on, how), ceiling=CEILING)


def patch(name: str, text: str) -> Any:
    return {"patch": {"name": name, "text": text}}


def noted(*notes: Any, summary: str = "I guessed.") -> Any:
    return {"reason": "So it was.", "notes": [*notes], "summary": summary}


def test_every_level_changes_what_is_its_own() -> None:
    done = looked(
        notes=lambda agent: noted(patch("units", f"Rule of {agent}.")),
        profile=lambda agent: {"reason": "x", "profile": f"As {agent} knows.", "together": ""},
        rules={"reason": "x", "rules": ["Say the unit."], "retry": True},
    ).result
    child = done.child
    assert {agent.id: dict(agent.notes.patches) for agent in child.agents.values()} == {
        agent: {"units": f"Rule of {agent}."} for agent in TRIO.agents
    }
    assert dict(child.agents["solver"].notes.teammates) == {
        "planner": "As solver knows.",
        "writer": "As solver knows.",
    }
    assert dict(child.agents["writer"].notes.teammates) == {"solver": "As writer knows."}
    assert child.constitution == "- Say the unit."
    assert (done.retry, done.refused, done.rejected) == (True, (), ())
    assert [len(level) for level in done.levels] == [3, 4, 1]
    assert check_team(dump(child).encode(), "child.yaml", catalogue()) == (child, [])


def test_who_never_read_of_each_other_have_nothing_to_settle() -> None:
    assert interactions(TRIO, ran()) == (("planner", "solver"), ("solver", "writer"))
    unheard = ran(planner=replace(spoke("planner"), result=None))
    assert interactions(TRIO, unheard) == (("solver", "writer"),)
    silent = ran(writer=replace(spoke("writer"), dialogue=()))
    assert interactions(TRIO, silent) == (("planner", "solver"),)


def test_an_agent_goes_on_with_its_own_conversation_and_reads_no_other() -> None:
    calls = looked(run=ran(solver=spoke("solver", "You are [solver].", "MY QUESTION", "MY ANSWER")))
    [call] = calls_of(calls.calls, "notes", "solver")
    report = call.body["messages"]
    assert [(item["role"], item["content"]) for item in report[:3]] == [
        ("system", "You are [solver]."),
        ("user", "MY QUESTION"),
        ("assistant", "MY ANSWER"),
    ]
    assert [item["role"] for item in report[3:]] == ["user"]
    assert "One is missing." in report[3]["content"]
    assert "work of planner" not in call.text
    others = [item for item in calls.calls if "You are [solver]." not in item.text]
    assert others
    assert all("MY ANSWER" not in other.text for other in others)


def test_nobody_reads_the_reference_answer() -> None:
    done = looked(run=ran(answer="wrong"))
    assert all(str(TASK.answer) not in call.text for call in done.calls)


def test_it_asks_colleagues_who_answer_from_their_own_conversation() -> None:
    def questions(agent: str) -> Any:
        wanted = [{"to": "writer", "question": "What of my sum did you use?"}]
        return {"questions": wanted if agent == "solver" else []}

    done = looked(questions=questions, answer={"answer": "Only the last line."})
    [answering] = calls_of(done.calls, "answer")
    assert answering.body["messages"][0]["content"] == "You are [writer]."
    assert "What of my sum did you use?" in answering.text
    [writing] = calls_of(done.calls, "notes", "solver")
    assert "Only the last line." in writing.text
    [of_writer] = calls_of(done.calls, "notes", "writer")
    assert "What of my sum did you use?" not in of_writer.text
    [exchange] = [item for of in done.result.reflected for item in of.evidence]
    assert (exchange.asker, exchange.colleague) == ("solver", "writer")


def test_the_lead_decides_by_summaries_and_reads_no_work_but_its_own() -> None:
    done = looked(notes=lambda agent: noted(summary=f"FOUND BY {agent}."))
    [call] = calls_of(done.calls, "rules")
    assert call.body["messages"][0]["content"] == "You are [writer]."
    assert "FOUND BY planner." in call.text
    assert "You gave a number without its unit." in call.text
    assert "work of writer" in call.text
    assert not {"work of planner", "work of solver"} & {*re.findall(r"work of \w+", call.text)}


def test_where_the_lead_asked_no_model_the_meta_model_decides() -> None:
    silent = replace(spoke("writer"), dialogue=())
    [call] = calls_of(looked(run=ran(writer=silent)).calls, "rules")
    assert call.body["messages"][0]["role"] == "system"
    assert "You do not see the work itself" in call.text
    assert "work of" not in call.text


def statements(**messages: list[str]) -> Any:
    left = {agent: iter(texts) for agent, texts in messages.items()}
    return lambda agent: {"statement": next(left[agent])}


def test_the_team_talks_in_turn_each_from_its_own_work_and_the_lead_hears_all() -> None:
    done = looked(statement=statements(planner=["LET US SAY UNITS."], solver=["I AGREE."]))
    first, second = calls_of(done.calls, "statement")
    assert [asked_of(item.body or {}) for item in (first, second)] == ["planner", "solver"]
    assert "work of planner" in first.text
    assert "LET US SAY UNITS." in second.text
    assert "work of planner" not in second.text
    [decision] = calls_of(done.calls, "rules")
    assert "LET US SAY UNITS." in decision.text
    assert "I AGREE." in decision.text
    assert done.calls.index(second) < done.calls.index(decision)
    assert [statement.agent for statement in done.result.discussion.statements] == [
        "planner",
        "solver",
    ]


def test_who_is_named_answers_in_the_next_round_and_nobody_else_does() -> None:
    said = statements(planner=["Fine.", "It was asked of me."], solver=["planner was vague."])
    asked = calls_of(looked(statement=said).calls, "statement")
    assert [asked_of(item.body or {}) for item in asked] == ["planner", "solver", "planner"]
    assert "planner was vague." in asked[-1].text
    once = looked(
        RetrospectiveSettings(discussion=1),
        statement=statements(planner=["x"], solver=["planner!"]),
    )
    assert len(calls_of(once.calls, "statement")) == 2
    assert calls_of(looked(RetrospectiveSettings(discussion=0)).calls, "statement") == []


def test_a_discussion_leaves_the_lead_the_calls_to_decide() -> None:
    on = ground(limits=PhaseLimits(steps=3))
    how = RetrospectiveSettings(agent_level=False, pair_level=False)
    fields = {"statement": {"statement": "solver, planner."}}
    done = asking(model(fields), lambda meta: look_back(meta, "t/", on, how), ceiling=CEILING)
    assert [len(calls_of(done.calls, word)) for word in ("statement", "rules")] == [1, 1]
    assert done.result.rejected == ()


def test_a_newcomer_is_written_after_one_who_is_there() -> None:
    newcomer = {
        "id": "Unit checker!",
        "role": "checks units",
        "prompt": "Check the unit of every number.",
        "like": "solver",
        "tools": [],
        "hears": ["solver"],
        "reports_to": ["writer"],
    }
    done = looked(
        rules={"reason": "x", "rules": [], "come": [newcomer], "go": ["planner"], "retry": False}
    ).result
    result = done.child.agents["unit_checker"]
    assert (result.model_id, result.max_tokens) == ("default", TRIO.agents["solver"].max_tokens)
    assert "planner" not in done.child.agents
    assert done.child.edges == (
        ("solver", "writer"),
        ("solver", "unit_checker"),
        ("unit_checker", "writer"),
    )


def test_each_level_can_be_left_out() -> None:
    done = looked(RetrospectiveSettings(agent_level=False, team_level=False))
    assert {phase(call.body or {}) for call in done.calls} == {"account", "profile"}
    assert (
        looked(RetrospectiveSettings(agent_level=False, pair_level=False, team_level=False)).calls
        == []
    )


def by_solver(*answers: Any) -> Any:
    left = iter(answers)
    return lambda agent: next(left) if agent == "solver" else noted()


def test_a_note_that_may_not_be_kept_is_shown_to_its_author_once() -> None:
    key = patch("key", "Use sk-" + "a1B2" * 12)
    good = patch("units", "Write the unit.")
    notes = by_solver(noted(key, good), noted(key, good))
    done = looked(
        RetrospectiveSettings(pair_level=False, team_level=False, evidence=0), notes=notes
    )
    again = calls_of(done.calls, "notes", "solver")
    assert len(again) == 2
    assert "looks like" in again[1].text
    assert dict(done.result.child.agents["solver"].notes.patches) == {"units": "Write the unit."}
    [refused] = done.result.refused
    assert "looks like" in refused.reasons[0]


def test_where_there_is_no_room_an_addition_is_refused_until_one_is_forgotten() -> None:
    full = Notes(patches={f"rule_{number}": "Do so." for number in range(12)})
    agents = {**TRIO.agents, "solver": replace(TRIO.agents["solver"], notes=full)}
    team = replace(TRIO, agents=agents)
    new = patch("units", "Write the unit.")
    forget = {"forget": {"note": "patch", "name": "rule_3"}}
    notes = by_solver(noted(new), noted(new, forget))
    done = looked(
        RetrospectiveSettings(pair_level=False, team_level=False, evidence=0), team, notes=notes
    )
    assert "room for 12" in calls_of(done.calls, "notes", "solver")[1].text
    kept = done.result.child.agents["solver"].notes.patches
    assert len(kept) == 12
    assert "units" in kept
    assert "rule_3" not in kept


def test_what_agents_write_at_once_fits_together() -> None:
    done = looked(notes=lambda agent: noted(patch("units", agent), patch("sums", agent))).result
    assert len(done.levels[0]) == 6
    assert {item.agent for item in done.levels[0] if isinstance(item, SetNote)} == {*TRIO.agents}


CENTRAL: dict[str, Any] = {
    "reason": "It guessed.",
    "agents": {
        "planner": [patch("units", "Name the unit.")],
        "solver": [],
        "writer": [],
    },
    "pairs": [
        {"of": "writer", "about": "solver", "profile": "Guesses.", "together": "It says how sure."}
    ],
    "rules": ["Say the unit."],
    "retry": True,
}


def test_one_analyser_reads_all_in_one_call_and_proposes_every_change() -> None:
    asked = looked(RetrospectiveSettings(scheme="centralised"), all=CENTRAL)
    [call] = asked.calls
    for agent in TRIO.agents:
        assert f"work of {agent}" in call.text
    done = asked.result
    assert dict(done.child.agents["planner"].notes.patches) == {"units": "Name the unit."}
    assert done.child.agents["writer"].notes.teammates["solver"] == "Guesses."
    assert done.child.agents["writer"].notes.pairs["solver"] == "It says how sure."
    assert done.child.constitution == "- Say the unit."
    assert (done.retry, done.refused, done.rejected) == (True, (), ())


def test_the_analyser_writes_only_notes_of_those_who_worked_together() -> None:
    strangers = {"of": "writer", "about": "planner", "profile": "x y", "together": ""}
    bad = {**CENTRAL, "pairs": [*CENTRAL["pairs"], strangers]}
    asked = looked(RetrospectiveSettings(scheme="centralised"), all=bad)
    assert len(asked.calls) == 2
    assert "did not work together" in asked.calls[1].text
    assert [*asked.result.child.agents["writer"].notes.teammates] == ["solver"]
    assert [item.reasons for item in asked.result.refused] == [
        ("'writer' and 'planner' did not work together.",)
    ]


def test_alone_nobody_reads_what_another_says() -> None:
    asked = looked(
        RetrospectiveSettings(scheme="partitioned"),
        notes=lambda agent: noted(summary=f"FOUND BY {agent}."),
        profile=lambda agent: {"reason": "x", "profile": f"As {agent} saw.", "together": ""},
    )
    assert {phase(call.body or {}) for call in asked.calls} == {"notes", "profile", "rules"}
    [team] = calls_of(asked.calls, "rules")
    assert "FOUND BY writer." in team.text
    assert all("FOUND BY" not in call.text for call in asked.calls if call != team)
    assert (
        asked.result.child.agents["solver"].notes.teammates["writer"].startswith("As solver saw.")
    )


def test_what_became_of_all_questions_is_counted() -> None:
    records = iter([{"account": ""}, {"account": ""}])
    asked = looked(
        RetrospectiveSettings(agent_level=False, team_level=False),
        account=lambda agent: (
            next(records) if agent == "planner" else {"account": "You were late."}
        ),
        profile=lambda agent: "no JSON" if agent == "writer" else SETTLED,
    )
    tally = asked.result.tally
    assert (tally.fit, tally.repaired, tally.dropped) == (6, 0, 2)
    assert tally.dropped == len(asked.result.rejected) == len(asked.events_of("operator_dropped"))
    assert asked.result.numbers["dropped"] == 2.0


@pytest.mark.parametrize(
    ("scheme", "calls"), [("collaborative", 17), ("partitioned", 8), ("centralised", 1)]
)
def test_a_scheme_costs_so_many_calls(scheme: Any, calls: int) -> None:
    assert len(looked(RetrospectiveSettings(scheme=scheme)).calls) == calls


def test_an_analyser_writes_once_of_each_and_of_nobody_else() -> None:
    known = {"of": "writer", "about": "solver", "profile": "Guesses.", "together": ""}
    odd = [known, {**known, "profile": 7}, 7]
    agents = {**CENTRAL["agents"], "nobody": [patch("x", "y")], "solver": None}
    fields = {**CENTRAL, "agents": agents, "pairs": [known, *odd]}
    done = looked(
        RetrospectiveSettings(scheme="centralised", team_level=False), all=_without_team(fields)
    ).result
    assert done.reorganised is None
    assert [*done.child.agents["writer"].notes.teammates.items()] == [("solver", "Guesses.")]
    assert [item.reasons[0] for item in done.refused] == [
        "there are lists of notes of planner, solver, writer.",
        "there are lists of notes of planner, solver, writer.",
        "what writer notes of solver is written twice.",
        "what an agent notes of another is written in texts.",
        "what an agent notes of another has exactly of, about, profile, together.",
    ]


def _without_team(answer: Any) -> Any:
    return {name: answer[name] for name in ("reason", "agents", "pairs")}


def test_whoever_could_be_read_counts_by_the_rule_for_context() -> None:
    far = replace(TRIO, execution=Execution(context="ancestors"))
    assert ("planner", "writer") in interactions(far, ran())
    consults: Any = {"properties": {"increment": {"type": "array"}}}
    agents = {agent.id: replace(agent, output_schema=consults) for agent in TRIO.agents.values()}
    assert len(interactions(replace(TRIO, agents=agents), ran())) == 3


def test_in_an_open_roster_who_sent_a_message_to_whom_worked_together() -> None:
    team = replace(TRIO, reports_to={}, execution=Execution(roster=Roster(lead="planner")))
    posts: tuple[tuple[str, str, Kind], ...] = (
        ("", "planner", "task"),
        ("planner", "writer", "start"),
        ("writer", "planner", "answer"),
        ("planner", "solver", "stop"),
        ("writer", "solver", "unsent"),
    )
    bus = tuple(
        Posted(number=number, sender=sender, to=to, kind=kind)
        for number, (sender, to, kind) in enumerate(posts, 1)
    )
    run = replace(ran(team), bus=bus)
    assert interactions(team, run) == (("planner", "writer"),)
    done = looked(RetrospectiveSettings(), team, run=run)
    assert calls_of(done.calls, "account", "solver") == []
    assert len(calls_of(done.calls, "account")) == 2
    assert len(calls_of(done.calls, "notes")) == 3


def test_what_is_refused_is_shown_to_who_settles() -> None:
    long = {"reason": "x", "profile": "x" * 700, "together": ""}
    done = looked(RetrospectiveSettings(agent_level=False, team_level=False), profile=long)
    assert len(calls_of(done.calls, "profile", "writer")) == 2
    assert len(done.result.refused) == 4
    assert done.result.child == TRIO


def test_who_tells_its_team_nothing_is_asked_again() -> None:
    done = looked(
        RetrospectiveSettings(pair_level=False, team_level=False, evidence=0),
        notes=noted(summary="…"),
    )
    assert len(calls_of(done.calls, "notes")) == 6
    assert done.result.tally == Tally(repaired=3)


@pytest.mark.parametrize("scheme", ["collaborative", "partitioned", "centralised"])
async def test_chance_can_look_back_in_the_place_of_models(scheme: Any) -> None:
    respondent = Chance(catalogue=catalogue(), ceiling=CEILING, seed=3)
    done = await look_back(respondent, "t/", ground(), RetrospectiveSettings(scheme=scheme))
    assert done.tally.fit + done.tally.dropped > 0
    assert done.tally.repaired == 0


def test_what_was_answered_once_is_not_asked_again(tmp_path: Path) -> None:
    wanted = [{"to": "writer", "question": "What of my sum did you use?"}]
    fields = {
        "questions": lambda agent: {"questions": wanted if agent == "solver" else []},
        "notes": lambda agent: noted(patch("units", f"Rule of {agent}.")),
    }
    with Journal.open(tmp_path) as journal:
        first, again = (
            asking(
                model(answers),
                lambda meta: look_back(meta, "t/", ground(), RetrospectiveSettings()),
                ceiling=CEILING,
                journal=journal,
            )
            for answers in (fields, {"notes": "something else"})
        )
    assert first.result == again.result
    assert (len(first.calls), again.calls) == (18, [])
