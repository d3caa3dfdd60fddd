"""What `mas dev op` shows and writes: a proposal is looked at before anything is kept."""

from pathlib import Path

import pytest

from coterie.operators.command.op.command import main as mas_op
from coterie.pool import Pool
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Agent, Lineage, load_team

from ....support.commands import CommandResult, invoked
from ..acting import PAIR, TASKED, mas, structured

MUTATE = ("mutate", "pair.yaml", *TASKED, "--component", "prompts")
PROMPT = structured(
    reason="It guessed.",
    edits=[{"set_prompt": {"agent": "judge", "prompt": "Count on your fingers."}}],
)
PERSONA = structured(reason="it adds", title="sum expert", persona="You love sums.")


def test_a_child_that_was_looked_at_is_kept_without_asking_again(world: Path) -> None:
    with ScriptedModel([PROMPT]) as model:  # it has one answer and no other
        words = (*MUTATE, "--cache", "answers", "--model", f"scripted@{model.api_base}")
        looked_at = invoked(mas_op, (*words, "--dry-run"), "mas dev op")
        kept = invoked(mas_op, (*words, "-o", "child.yaml"), "mas dev op")
        assert len(model.calls) == 1
    assert (looked_at.code, kept.code) == (0, 0), kept.err
    assert looked_at.out == kept.err
    assert load_team(world / "child.yaml").agents["judge"].prompt == "Count on your fingers."


def test_the_child_is_written_with_its_lineage(world: Path) -> None:
    done = mas(*MUTATE, "-o", "counting.yaml", replies=PROMPT)
    assert (done.code, done.out) == (0, "")
    assert "Count on your fingers." in done.err
    child = load_team(world / "counting.yaml")
    assert child.name == "counting"
    assert child.lineage == Lineage(
        operator="mutate",
        parents=("pair",),
        edits=("judge: prompt You are [judge]. Decide it. -> Count on your fingers.",),
        reason="It guessed.",
        task="sum",
    )
    assert (world / "pair.yaml").read_text() == PAIR


def test_without_a_file_the_child_goes_to_standard_output(world: Path) -> None:
    words = ("mutate", "pair.yaml", "-q", "Why?", "--component", "prompts")
    done = mas(*words, replies=PROMPT)
    (world / "Child 1.yaml").write_text(done.out)
    assert load_team(world / "Child 1.yaml").agents["judge"].prompt == "Count on your fingers."
    assert mas(*words, "-o", "Child 2.yaml", replies=PROMPT).code == 0  # no name of a team
    assert load_team(world / "Child 2.yaml").name == "pair"


def test_no_valid_proposal_is_1_with_its_problems(world: Path) -> None:
    wrong = structured(reason="", edits=[{"set_prompt": {"agent": "jugde", "prompt": "a b"}}])
    done = mas(*MUTATE, "-o", "child.yaml", replies=wrong).ended(1)
    assert "no agent 'jugde'. Did you mean 'judge'?" in done.err
    assert not (world / "child.yaml").exists()


@pytest.mark.usefixtures("shared_world")
def test_chance_needs_no_model_and_no_task() -> None:
    words = ("chance", "pair.yaml", "--component", "prompts", "--seed", "3")
    first, again = mas(*words), mas(*words)
    assert first.code == 0, first.err
    assert first.out == again.out
    assert "reason: Drawn at random." in first.err
    assert mas(*words[:-1], "4").out != first.out
    nothing = mas("chance", "pair.yaml", "--component", "tools").ended(1)
    assert "there is nothing to change about tools" in nothing.err


@pytest.mark.usefixtures("world")
def test_consolidate_puts_what_was_learnt_into_the_memory() -> None:
    consolidate = ("consolidate", "pool", *TASKED)
    learnt = structured(summary="One judge is enough.")
    assert mas(*consolidate, "--no-model", "--dry-run").code == 0
    assert not Pool.open("pool").learnt
    done = mas(*consolidate, replies=learnt)
    assert (done.code, done.out) == (0, "One judge is enough.\n")
    assert "the memory already has this entry" in mas(*consolidate, replies=learnt).err
    [entry] = Pool.open("pool").learnt.values()
    assert (entry.text, entry.niche, entry.reward) == ("One judge is enough.", "sums", 1)
    memory = ("--memory", "pool", "--embedder", "hashing")
    [call] = mas(*MUTATE, "--dry-run", *memory, replies=PROMPT).asked
    assert "One judge is enough." in call.text
    [call] = mas(*MUTATE, "--dry-run", replies=PROMPT).asked
    assert "One judge is enough." not in call.text
    nothing = mas("consolidate", "pool", "-q", "x", "--no-model").ended(2)
    assert "no team was created on task 'query'" in nothing.err


def test_what_each_agent_was_worth_and_why_a_structure_is_beside_the_result(world: Path) -> None:
    assert (world / "pool").is_dir()
    done = mas("select", "pool", *TASKED, "-k", "1", "--no-model", "--embedder", "hashing")
    assert (done.code, done.out) == (0, f"{[*Pool.open('pool').teams][-1]}\n"), done.err
    assert done.err == "reason: The first by statistics.\n"
    done = mas("lead", "town", "ben", *TASKED)
    assert (done.out, done.err) == ("voting\n", "team: ben (anchor)\nwhy: there is no other\n")


def agents() -> dict[str, Agent]:
    return {name: member.agent for name, member in Pool.open("town").agents.items()}


def op(*words: str) -> CommandResult:
    return mas(*words, replies=[PERSONA])


@pytest.mark.usefixtures("world")
def test_a_fork_is_shown_with_its_reason_then_kept_and_the_ledger_has_it() -> None:
    before = agents()
    done = op("fork", "town", "ada")
    assert "You love sums." in done.out
    assert (
        "reason: asked for by a person (ada: rolling reward 1 over 1 task, competence 0.65 in"
        " 'sums'). it adds"
    ) in done.out
    assert "sums" in done.asked[0].text
    assert agents() == before
    done = op("fork", "town", "ada", "--keep")
    assert done.err.startswith("kept: ada_1 (")
    assert agents()["ada_1"].prompt == "You love sums."
    assert Pool.open("town").agents["ada_1"].lineage.parents == ("ada",)
    *_, event = (entry.value for entry in Ledger(Path("town/ledger.jsonl")).read())
    assert (event["kind"], event["about"]["operator"]) == ("told", "fork")


@pytest.mark.usefixtures("world")
def test_two_are_merged_and_retired() -> None:
    done = op("merge", "town", "ben", "ada", "--keep").ended(0)
    assert [*agents()] == ["cyn", "ben_1"]
    assert "ben: retired, merged: asked for by a person" in done.out
    assert Pool.open("town").all_agents["ben_1"].lineage.parents == ("ben", "ada")


def test_one_is_made_like_a_generic_assistant_or_like_a_file(world: Path) -> None:
    (world / "nurse.yaml").write_text('role: nurse\nprompt: "You nurse."\nmax_tokens: 9\n')
    assert op("genesis", "town", "--niche", "care", "--keep").code == 0
    assert op("genesis", "town", "--founder", "nurse.yaml", "--keep").code == 0
    assert "`Answer:`" in agents()["solver"].prompt
    nurse = agents()["nurse"]
    assert (nurse.max_tokens, nurse.role) == (9, "sum expert")


@pytest.mark.usefixtures("world")
def test_an_agent_is_specialized_or_retired_with_keep_alone() -> None:
    op("specialize", "town", "ben", "--niche", "art", "--keep")
    assert agents()["ben"].role == "sum expert"
    assert len(Pool.open("town").agents["ben"].revisions) == 2
    assert [*agents()] == ["ada", "ben", "cyn"]
    assert not op("prune", "town", "ben", "--keep").asked
    assert [*agents()] == ["ada", "cyn"]


@pytest.mark.usefixtures("shared_world")
def test_without_a_persona_of_use_nothing_is_kept() -> None:
    before = agents()
    assert mas("fork", "town", "ada", "--keep", replies=[Reply(text="well")] * 2).code == 1
    assert agents() == before
