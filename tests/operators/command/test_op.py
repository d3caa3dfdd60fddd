"""`mas op` as people use it: a proposal is looked at before anything is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coterie.operators.command.op import main as mas_op
from coterie.pool.changes import Tried
from coterie.pool.pool import Pool
from coterie.pool.statistics import Trial
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Replies, Reply, ScriptedModel
from coterie.schema import Lineage, load_team

from ...came import Came, invoked_in

COMMANDS = {"op": mas_op, "run": mas_run}
TEAM = """\
name: pair
agents:
  worker: {role: worker, prompt: "You are [worker]. Solve it."}
  judge: {role: judge, prompt: "You are [judge]. Decide it."}
topology:
  reports_to: {worker: [judge]}
"""
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "sevenish", "niche": "sums"}
PROMPT = {
    "reason": "It guessed.",
    "edits": [{"set_prompt": {"agent": "judge", "prompt": "Count on your fingers."}}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pair.yaml").write_text(TEAM)
    (tmp_path / "other.yaml").write_text(TEAM.replace("pair", "other").replace("it.", "this."))
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    return tmp_path


def mas(folder: Path, *arguments: str, replies: Replies | None = None, command: str = "op") -> Came:
    """Run a command; every model is the scripted one."""

    def run(*chosen: str) -> Came:
        return invoked_in(folder, COMMANDS[command], [*arguments, *chosen], f"mas {command}")

    if replies is None:
        return run()
    with ScriptedModel(replies) as model:
        done = run("--model", f"scripted@{model.api_base}")
        done.asked = list(model.calls)
        return done


def test_without_a_component_the_model_chooses_one_first(folder: Path) -> None:
    replies = [Reply.json({"reason": "It guessed.", "change": "prompts"}), Reply.json(PROMPT)]
    done = mas(folder, "mutate", "pair.yaml", "-t", "task.json", "--dry-run", replies=replies)
    assert done.code == 0, done.err
    assert "Count on your fingers." in done.out
    first, _ = done.asked
    form = first.body["response_format"]["json_schema"]["schema"]["properties"]["change"]
    assert "prompts" in form["enum"]
    assert "crossover" not in form["enum"]


def test_a_dry_run_shows_the_difference_and_writes_nothing(folder: Path) -> None:
    before = sorted(folder.iterdir())
    arguments = ["mutate", "pair.yaml", "-t", "task.json", "--component", "prompts", "--dry-run"]
    done = mas(folder, *arguments, replies=Reply.json(PROMPT))
    assert done.code == 0, done.err
    assert done.out == (
        "judge: prompt You are [judge]. Decide it. -> Count on your fingers.\nreason: It guessed.\n"
    )
    assert sorted(folder.iterdir()) == before
    assert "sevenish" not in done.asked[0].text


def test_a_child_that_was_looked_at_is_kept_without_asking_again(folder: Path) -> None:
    arguments = ["mutate", "pair.yaml", "-t", "task.json", "--component", "prompts"]
    arguments += ["--cache", "answers"]
    with ScriptedModel([Reply.json(PROMPT)]) as model:  # it has one answer and no other
        arguments += ["--model", f"scripted@{model.api_base}"]
        looked_at = mas(folder, *arguments, "--dry-run")
        kept = mas(folder, *arguments, "-o", "child.yaml")
        assert len(model.calls) == 1
    assert (looked_at.code, kept.code) == (0, 0), kept.err
    assert looked_at.out == kept.err
    assert load_team(folder / "child.yaml").agents["judge"].prompt == "Count on your fingers."


def test_the_child_is_written_with_its_lineage(folder: Path) -> None:
    arguments = ["mutate", "pair.yaml", "-t", "task.json", "--component", "prompts"]
    done = mas(folder, *arguments, "-o", "counting.yaml", replies=Reply.json(PROMPT))
    assert (done.code, done.out) == (0, "")
    assert "Count on your fingers." in done.err
    child = load_team(folder / "counting.yaml")
    assert child.name == "counting"
    assert child.lineage == Lineage(
        operator="mutate",
        parents=("pair",),
        edits=("judge: prompt You are [judge]. Decide it. -> Count on your fingers.",),
        reason="It guessed.",
        task="sum",
    )
    assert (folder / "pair.yaml").read_text() == TEAM


def test_without_a_file_the_child_goes_to_standard_output(folder: Path) -> None:
    arguments = ["mutate", "pair.yaml", "-q", "Why?", "--component", "prompts"]
    done = mas(folder, *arguments, replies=Reply.json(PROMPT))
    (folder / "Child 1.yaml").write_text(done.out)
    assert load_team(folder / "Child 1.yaml").agents["judge"].prompt == "Count on your fingers."
    arguments = [*arguments, "-o", "Child 2.yaml"]  # no name of a team
    assert mas(folder, *arguments, replies=Reply.json(PROMPT)).code == 0
    assert load_team(folder / "Child 2.yaml").name == "pair"


def test_no_valid_proposal_is_1_with_its_problems(folder: Path) -> None:
    wrong = {"reason": "", "edits": [{"set_prompt": {"agent": "jugde", "prompt": "a b"}}]}
    arguments = ["mutate", "pair.yaml", "-t", "task.json", "--component", "prompts"]
    done = mas(folder, *arguments, "-o", "child.yaml", replies=Reply.json(wrong))
    assert done.code == 1
    assert "error: mutate: the model gave no valid answer, also after one repair." in done.err
    assert "no agent 'jugde'. Did you mean 'judge'?" in done.err
    assert not (folder / "child.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mutate", "pair.yaml"], "give the task"),
        (["mutate", "pair.yaml", "-t", "task.json", "-q", "x"], "one of them"),
        (["mutate", "none.yaml", "-q", "x"], "no file"),
        (["mutate", "seed:none", "-q", "x"], "no seed team"),
        (["mutate", "pair.yaml", "-q", "x", "--run", ".", "--run", "."], "2 runs for 1 team"),
        (["mutate", "pair.yaml", "-q", "x", "--run", "."], "no run that came to its end"),
        (["mutate", "pair.yaml", "-q", "x", "--policy", "task.json"], "task.json"),
        (["mutate", "pair.yaml", "-q", "x", "--budget", "sdu=1"], "no cap is named 'sdu'"),
        (["mutate", "pair.yaml", "-q", "x", "--meta-model", "gpt"], "no model 'gpt'"),
        (["mutate", "pair.yaml", "-q", "x", "--component", "roster"], "roster"),
        (["select", ".", "-q", "x"], "no pool in"),
        (["consolidate", ".", "-q", "x"], "no pool in"),
        (["chance", "pair.yaml"], "--component"),
    ],
)
def test_bad_input_is_2(folder: Path, arguments: list[str], said: str) -> None:
    done = mas(folder, *arguments, replies="never asked")
    assert done.code == 2, done.err
    assert said in done.err
    assert done.asked == []


def test_a_run_is_evidence_and_brings_its_task(folder: Path) -> None:
    script = {"[judge]": "I say 8", "[worker]": "maybe 7"}
    done = mas(folder, "pair.yaml", "task.json", replies=script, command="run")
    assert done.code == 0, done.err
    [run] = (folder / "runs").iterdir()
    arguments = ["mutate", "pair.yaml", "--run", str(run), "--component", "prompts", "--dry-run"]
    done = mas(folder, *arguments, replies=Reply.json(PROMPT))
    assert done.code == 0, done.err
    [call] = done.asked
    assert "What is 3 + 4?" in call.text
    assert "judge: done\n  output: I say 8" in call.text
    assert "score: 0" in call.text
    assert "sevenish" not in call.text


def test_a_policy_says_what_a_child_may_ask_for(folder: Path) -> None:
    (folder / "policy.yaml").write_text("ceiling: {max_tokens: 4096, models: [default, gpt]}\n")
    model = {"reason": "", "edits": [{"set_model": {"agent": "judge", "model_id": "gpt"}}]}
    common = ["-t", "task.json", "--component", "model_id", "--model", "gpt=openai/gpt-4o"]
    done = mas(
        folder, "mutate", "pair.yaml", *common, "--policy", "policy.yaml", "--dry-run",
        replies=Reply.json(model),
    )  # fmt: skip
    assert done.out.startswith("judge: model default -> gpt\n")
    (folder / "policy.yaml").write_text("ceiling: {max_tokens: 4096}\n")
    done = mas(folder, "mutate", "pair.yaml", *common, "--policy", "policy.yaml", replies="")
    assert done.code == 1
    assert "nothing to change about model_id" in done.err


def test_a_crossover_has_the_topology_of_one(folder: Path) -> None:
    positions = {"worker": "agent of second", "judge": "agent of first"}
    script = [
        Reply.json({"reason": "either", "topology": "first"}),
        Reply.json({"reason": "it does", "positions": positions}),
    ]
    done = mas(
        folder, "crossover", "pair.yaml", "other.yaml", "-t", "task.json", "--dry-run",
        replies=script,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == (
        "worker: prompt You are [worker]. Solve it. -> You are [worker]. Solve this.\n"
        "reason: it does\n"
    )


def test_an_instantiation_may_leave_a_team_as_it_is(folder: Path) -> None:
    script = Reply.json({"reason": "it fits", "edits": []})
    done = mas(folder, "instantiate", "pair.yaml", "-t", "task.json", "--dry-run", replies=script)
    assert (done.code, done.out) == (0, "reason: it fits\n")


def test_chance_needs_no_model_and_no_task(folder: Path) -> None:
    arguments = ["chance", "pair.yaml", "--component", "prompts", "--seed", "3"]
    first, again = mas(folder, *arguments), mas(folder, *arguments)
    assert first.code == 0, first.err
    assert first.out == again.out
    assert "reason: Drawn at random." in first.err
    other = mas(folder, *arguments[:-1], "4", "--dry-run")
    assert other.out
    nothing = mas(folder, "chance", "pair.yaml", "--component", "tools")
    assert nothing.code == 1
    assert "there is nothing to change about tools" in nothing.err


@pytest.fixture
def pool(folder: Path) -> Pool:
    """A pool of two seeds and a child that was made on the task."""
    pool = Pool.init(folder / "pool", [folder / "pair.yaml", folder / "other.yaml"])
    child = load_team(folder / "pair.yaml")
    child = type(child)(name="pair", agents={"judge": child.agents["judge"]})
    made = Lineage(operator="mutate", parents=("pair",), reason="less is more", task="sum")
    name = pool.add(child, made, op="child").name
    for one, score in ((name, 1.0), ("pair", 0.5)):
        trial = Trial(task="sum", score=score, niche="sums")
        pool.commit(Tried(member=one, trial=trial), op=f"trial {one}")
    return pool


def test_select_names_teams_of_a_pool(folder: Path, pool: Pool) -> None:
    child = list(pool.members)[-1]
    arguments = ["select", "pool", "-t", "task.json", "-k", "1"]
    done = mas(folder, *arguments, "--no-model")
    assert (done.code, done.out) == (0, f"{child}\n"), done.err
    done = mas(folder, *arguments, replies=Reply.json({"reason": "new", "selected": ["other"]}))
    assert (done.out, done.err) == ("other\n", "reason: new\n")
    done = mas(folder, *arguments, replies="no idea")
    assert done.code == 1


def test_consolidate_puts_what_was_learnt_into_the_memory(folder: Path, pool: Pool) -> None:
    arguments = ["consolidate", "pool", "-t", "task.json"]
    done = mas(folder, *arguments, "--no-model", "--dry-run")
    assert done.code == 0, done.err
    assert "1. select of pair in the pool: reward 0.5.\n" in done.out
    assert "2. mutate of step 1: reward 1, +0.5. agents: -worker;" in done.out
    assert "because less is more" in done.out
    assert not Pool.open(folder / "pool").learnt
    learnt = Reply.json({"summary": "One judge is enough."})
    done = mas(folder, *arguments, replies=learnt)
    assert (done.code, done.out) == (0, "One judge is enough.\n")
    again = mas(folder, *arguments, replies=learnt)
    assert "the memory has this entry already" in again.err
    [entry] = Pool.open(folder / "pool").learnt.values()
    assert (entry.text, entry.niche, entry.reward) == ("One judge is enough.", "sums", 1)
    mutation = ("mutate", "pair.yaml", "-t", "task.json", "--component", "prompts", "--dry-run")
    told = ("--memory", "pool", "--embedder", "hashing")
    [call] = mas(folder, *mutation, *told, replies=Reply.json(PROMPT)).asked
    assert "One judge is enough." in call.text
    [call] = mas(folder, *mutation, replies=Reply.json(PROMPT)).asked
    assert "One judge is enough." not in call.text
    done = mas(folder, *arguments, replies="no idea")
    assert done.code == 1
    done = mas(folder, "select", "pool", "-t", "task.json", "--no-model", "--embedder", "hashing")
    assert done.code == 0, done.err
    nothing = mas(folder, "consolidate", "pool", "-q", "x", "--no-model")
    assert nothing.code == 2
    assert "no team was made on task 'query'" in nothing.err
