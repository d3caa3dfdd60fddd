"""`mas-evolve`: what is known beforehand is said beforehand, and what was begun is gone on with."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.starting import prepare_start
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool import Pool
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import Catalogue, Model
from coterie.schema.loading.recipe import Recipe
from coterie.schema.values.errors import InputError, StorageError

from ...support.failpoints import armed
from ..evolving import TEAMS
from .conftest import RECIPE, TASKS, Lab, thinking

Change = Callable[[Lab], None]


@dataclass(eq=False, kw_only=True)
class Embedded:
    """Stands in for an embedded server, which may not start."""

    api_base: str
    error: str = ""
    key = ""

    async def start(self) -> None:
        if self.error:
            raise InputError(self.error)

    async def stop(self) -> None:
        """Stop it."""


FORGETFUL = SearchSettings(memory=0)


def manifest(lab: Lab, pool: str = "pool") -> dict[str, Any]:
    return json.loads((lab.folder / pool / "evolutions/recipe/evolution.json").read_text())


def other_task(**fields: Any) -> Change:
    return lambda lab: lab.tasks("tasks.jsonl", [TASKS[0], {**TASKS[1], **fields}, *TASKS[2:]])


@pytest.mark.parametrize(
    ("change", "label"),
    [
        (other_task(answer="8"), "another answer of task 't1'"),
        (other_task(scorer="contains"), "another scorer of task 't1'"),
        (other_task(niche="sums"), "another niche of task 't1'"),
        (other_task(query="What is two and five?"), "another question of task 't1'"),
        (other_task(id="t9"), "another stream (task 't1', now 't9' in its place)"),
        (lambda lab: lab.tasks("tasks.jsonl", TASKS[:1]), "another stream (2 tasks, now 1"),
        (
            lambda lab: lab.write("recipe.yaml", RECIPE.replace("steps: 1", "steps: 2")),
            "another recipe (settings.steps: 1, now 2)",
        ),
    ],
)
def test_another_evolution_of_one_name_is_refused(lab: Lab, change: Change, label: str) -> None:
    lab.evolved(2)
    change(lab)
    result = lab.evolve("--limit", "2")
    assert (result.code, result.calls, result.out) == (2, 0, "")
    assert label in result.err
    assert "Use what it began with, or choose another --name." in result.err


@pytest.mark.parametrize("write", [1, 2])
def test_a_pool_cut_short_at_its_first_teams_begins_with_all_seeds(lab: Lab, write: int) -> None:
    seeds = ["solo.yaml", "pair.yaml"]
    with armed(f"files.append.after:{write}:raise-eio"), pytest.raises(StorageError):
        Pool.init("pool", seeds)
    lab.evolve("--limit", "1").ended(0)
    assert lab.evolve("--limit", "1", pool="whole").code == 0
    assert lab.ledger() == lab.ledger("whole")


def test_another_model_is_refused_and_the_same_one_at_another_address_is_not(lab: Lab) -> None:
    assert lab.evolve("--limit", "1", name="small").code == 0
    result = lab.evolve("--limit", "1", name="large")
    assert (result.code, result.calls) == (2, 0)
    assert "another model 'default' (model: 'small', now 'large')" in result.err
    assert lab.evolve("--limit", "2", name="small").code == 0


@pytest.mark.parametrize("option", ["--seeds", "--repeats", "--test-workers"])
def test_more_than_any_machine_can_do_is_refused(lab: Lab, option: str) -> None:
    assert "is not in the range 1<=x<=" in lab.evolve(option, "10000000000").ended(2, calls=0).err


def test_another_embedder_is_refused(lab: Lab) -> None:
    lab.write("recipe.yaml", RECIPE.replace("memory: 0", "memory: 1"))
    assert lab.evolve("--limit", "1", "--embedder", "hashing").code == 0
    path = lab.folder / "pool/evolutions/recipe/evolution.json"
    path.write_text(path.read_text().replace("hashing-1024-v1", "another-one"))
    result = lab.evolve("--limit", "1", "--embedder", "hashing")
    assert (result.code, result.calls) == (2, 0)
    assert "another embedder (another-one, now hashing-1024-v1)" in result.err


def test_an_evolution_of_another_version_is_said_to_be_one(lab: Lab) -> None:
    lab.evolved(1)
    path = lab.folder / "pool/evolutions/recipe/evolution.json"
    path.write_text('{"recipe": "0f", "tasks": "1e"}')
    result = lab.evolve("--limit", "1")
    assert (result.code, result.calls) == (2, 0)
    assert "was begun by another version of coterie" in result.err
    assert lab.evolve("--limit", "1", "--name", "again").code == 0


def test_the_folder_says_with_what_it_was_made_and_by_which_command(lab: Lab) -> None:
    lab.evolved(1)
    fields = manifest(lab)
    assert fields["commands"] == ["mas-evolve recipe.yaml tasks.jsonl"]
    assert fields["recipe"]["seeds"] == ["solo.yaml", "pair.yaml"]
    assert fields["recipe"]["settings"]["parents"] == 2
    assert fields["models"]["default"]["model"] == "m"
    assert fields["ceiling"]["agents"] == 2
    assert list(fields["tasks"]) == ["t0"]


def test_a_key_in_the_command_is_not_kept(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-proj-0123456789abcdef0123456789abcdef"
    monkeypatch.setattr("sys.argv", ["mas-evolve", "--model", f"m@http://x:{key}@127.0.0.1/v1"])
    lab.evolved(1)
    assert key not in (lab.folder / "pool/evolutions/recipe/evolution.json").read_text()


def test_a_prolonged_stream_comes_to_what_it_would_have_come_to_at_once(lab: Lab) -> None:
    at_once = lab.evolve(pool="at_once")
    first, then = lab.evolve("--limit", "2"), lab.evolve()
    assert (first.code, then.code) == (0, 0)
    assert first.calls + then.calls == at_once.calls
    assert lab.turns() == lab.turns("at_once")
    assert lab.ledger() == lab.ledger("at_once")
    assert "resuming after 2 of 6 tasks" in then.err
    assert "    3 of 6  t2: " in then.err
    assert list(manifest(lab)["tasks"]) == [task["id"] for task in TASKS]


@pytest.mark.parametrize(
    ("recipe", "words", "message"),
    [
        ("policy: gone.yaml\n", (), "gone.yaml"),
        ("models: [ghost]\n", (), "models[0]: no model 'ghost' on this host"),
        ("judge_model: ghost\n", (), "judge_model: no model 'ghost' on this host"),
        ("", ("--budget", "calls=none"), "calls is 'none'"),
        ("", ("--name", "a/b"), "'a/b' cannot name an evolution"),
        ("", ("--budget", "usd=1"), "the price of model"),
        ("", ("--embedder", "ghost"), "no embedder 'ghost'"),
        ("", ("--test", "test.jsonl", "--beside", "seed:ghost"), "no seed team 'seed:ghost'"),
        ("", ("--test", "gone.jsonl"), "gone.jsonl"),
        ("score: answer\n", ("--test", "open.jsonl"), "task 'open' has no answer"),
    ],
)
def test_a_start_that_fails_leaves_nothing_behind_and_the_mended_command_works(
    lab: Lab, recipe: str, words: tuple[str, ...], message: str
) -> None:
    text = RECIPE.replace("memory: 0", "memory: 1") if "--embedder" in words else RECIPE
    lab.write("recipe.yaml", text + recipe)
    lab.tasks("open.jsonl", [{"id": "open", "query": "What is good?"}])
    result = lab.evolve(*words)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err
    assert not (lab.folder / "pool").exists()
    lab.write("recipe.yaml", RECIPE)
    lab.evolved(1)


def test_an_unfetchable_embedder_costs_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: object, texts: object) -> None:
        raise InputError("the embedder is not on this machine")

    monkeypatch.setattr("coterie.pool.embedding.HashingEmbedder.embed", missing)
    lab.write("recipe.yaml", RECIPE.replace("memory: 0", "memory: 1"))
    result = lab.evolve("--embedder", "hashing")
    assert (result.code, result.calls) == (2, 0)
    assert not (lab.folder / "pool").exists()


def test_a_model_at_whose_address_nothing_answers_is_said_at_once(lab: Lab) -> None:
    words = ("recipe.yaml", "tasks.jsonl", "--pool", "pool", "--model", "m@http://127.0.0.1:9/v1")
    result = lab.command(*words).ended(1)
    assert "nothing answers at http://127.0.0.1:9/v1/chat/completions" in result.err
    assert "Is the endpoint running?" in result.err
    assert not (lab.folder / "pool").exists()


def test_a_model_that_does_not_start_is_said(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made by a first command, and no team is scored by a later one."""
    lab.write("tiny.gguf", "GGUF")
    monkeypatch.setattr("coterie.runtime.local.server.LocalServer", lambda _: embedded)
    words = ("recipe.yaml", "tasks.jsonl", "--pool", "pool", "--model", "local:tiny.gguf")
    with ScriptedModel(thinking) as model:
        embedded = Embedded(api_base=model.api_base, error="llama.cpp cannot load it")
        first = lab.command(*words)
        assert (first.code, first.err) == (2, "error: llama.cpp cannot load it\n")
        assert not (lab.folder / "pool").exists()
        embedded.error = ""
        assert lab.command(*words, "--limit", "1").code == 0
        before = (lab.turns(), lab.ledger(), len(model.calls))
        embedded.error = "llama.cpp cannot load it"
        later = lab.command(*words, "--limit", "2")
        assert (later.code, later.err.splitlines()[-1]) == (2, "error: llama.cpp cannot load it")
        assert (lab.turns(), lab.ledger(), len(model.calls)) == before
        embedded.error = ""
        assert lab.command(*words, "--limit", "2").code == 0
    assert len(lab.turns()) == 2


def test_one_that_is_done_shows_its_report_without_a_model(lab: Lab) -> None:
    done = lab.evolve("--limit", "1")
    words = ("recipe.yaml", "tasks.jsonl", "--pool", "pool", "--limit", "1")
    result = lab.command(*words, "--model", "m@http://127.0.0.1:9/v1")
    assert (result.code, result.out) == (0, done.out)


def test_all_bad_lines_of_a_stream_are_told_with_their_places(lab: Lab) -> None:
    lines = ['{"id": "a"}', '{"id": "b", "query": "q", "answer": 1}', "", "nonsense"]
    lab.write("tasks.jsonl", "\n".join([*lines, lines[1]]))
    result = lab.evolve().ended(2)
    texts = result.err.splitlines()
    assert [line.split(" ")[0] for line in texts] == [
        "tasks.jsonl:1:1:",
        "tasks.jsonl:4:1:",
        "tasks.jsonl:5:1:",
    ]
    assert "two tasks have the id 'b'" in texts[-1]


def start(recipe: Recipe, tmp_path: Path, models: tuple[str, ...] = ("default",)) -> Any:
    known = {model: Model(alias=model, model=f"openai/{model}") for model in models}
    for name, text in TEAMS.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return prepare_start(
        recipe_file=tmp_path / "recipe.yaml",
        recipe=recipe,
        tasks=(),
        pool_folder=tmp_path / "pool",
        host=Catalogue.of_host(models=known),
    )


def test_children_may_use_models_of_the_seeds_and_of_the_recipe(tmp_path: Path) -> None:
    recipe = Recipe(strategy="evomas", settings=FORGETFUL, seeds=("solo.yaml",), meta_model="meta")
    host = ("default", "meta", "expensive")
    assert start(recipe, tmp_path, host).ceiling.models == {"default"}
    named = Recipe(
        strategy="evomas", settings=FORGETFUL, seeds=("solo.yaml",), models=("expensive",)
    )
    assert start(named, tmp_path, host).ceiling.models == {"default", "expensive"}


def test_without_seeds_one_agent_begins_and_may_grow_to_the_default_seeds(tmp_path: Path) -> None:
    phi = start(Recipe(strategy="evomas", settings=FORGETFUL, seeds=()), tmp_path)
    usual = start(Recipe(strategy="evomas", settings=FORGETFUL), tmp_path)
    assert [(team.name, len(team.agents)) for team in phi.written] == [("single_agent", 1)]
    assert phi.ceiling.agents == usual.ceiling.agents > 1
    assert phi.ceiling.edges == usual.ceiling.edges > 0
    assert phi.outlook is None
    phi.open_pool()
    again = start(Recipe(strategy="evomas", settings=FORGETFUL, seeds=()), tmp_path)
    assert again.ceiling == phi.ceiling


def test_seeds_that_leave_children_no_room_to_grow_say_how_to_allow_more(lab: Lab) -> None:
    lab.write("recipe.yaml", RECIPE.replace("[solo.yaml, pair.yaml]", "[solo.yaml]"))
    result = lab.evolve("--limit", "1")
    assert "children may have at most 1 agent, 0 edges, no tools" in result.err
    assert "seeds: [], or a policy in the recipe allow more" in result.err
    lab.write("recipe.yaml", RECIPE)
    assert "at most" not in lab.evolve("--limit", "1", pool="other").err


def test_a_scorer_of_ones_own_is_part_of_what_an_evolution_is_made_with(lab: Lab) -> None:
    lab.write("own.py", "def mine(answer, reference):\n    return answer == reference\n")
    lab.tasks("tasks.jsonl", [{**task, "scorer": {"python": "own.py:mine"}} for task in TASKS])
    refused = lab.evolve("--limit", "1")
    assert (refused.code, "'own.py:mine' runs only if you allow it" in refused.err) == (2, True)
    assert lab.evolve("--limit", "1", "--scorer", "own.py:mine").code == 0
    lab.write("own.py", "def mine(answer):\n    return True\n")
    changed = lab.evolve("--limit", "1", "--scorer", "own.py:mine")
    assert (changed.code, changed.calls) == (2, 0)
    assert "another scorer of task 't0'" in changed.err
