"""What a pool has learnt from is known by id and by words, with the line that says so."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from unicodedata import normalize

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated, EventNoted, Learnt
from coterie.pool.ledger.learnt import LONGEST_TASK
from coterie.pool.memory.learnt_tasks import LearntTasks
from coterie.runtime import run
from coterie.runtime.command.run import main
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import InputError, Task

from ...canned import seeds
from ...support.commands import ran
from ..edited_teams import pool_of, vote

TASK = Task(id="case_7", query="Which fever is it?", context="He was in the tropics.")
EXPERIENCE = Learnt(kind="experience", task=TASK.text, text="Look at the blood.", niche="fevers")


@pytest.fixture
def pool(here: Path) -> Pool:
    return pool_of(here / "pool", vote())


def places(pool: Pool, *tasks: Task) -> list[tuple[str, str]]:
    return [(meeting.before, meeting.by) for meeting in LearntTasks.by(pool.folder).meetings(tasks)]


def test_a_task_is_known_by_the_words_of_what_was_learnt_from_it(pool: Pool) -> None:
    pool.commit(EXPERIENCE, op="one")
    renamed = replace(TASK, id="other", query="WHICH fever\n is  it?")
    assert places(pool, renamed) == [(f"{pool.folder}/ledger.jsonl:3", "words")]
    assert places(pool, replace(renamed, context="")) == []


def test_a_task_is_known_by_the_case_that_an_entry_names(pool: Pool) -> None:
    pool.commit(replace(EXPERIENCE, task="Of fevers.", case=TASK.id), op="one")
    assert places(pool, TASK) == [(f"{pool.folder}/ledger.jsonl:3", "id")]


def test_a_task_is_known_by_the_case_that_an_event_tells(pool: Pool) -> None:
    pool.commit(EventNoted(what="utterances", about={"case": TASK.id, "outcome": 1.0}), op="one")
    pool.commit(EventNoted(what="other", about={"case": 7}), op="two")
    assert places(pool, TASK) == [(f"{pool.folder}/ledger.jsonl:3", "id")]


WORDS = (
    "Film", "film's", "was", "good", "don't", "naïve", "café", "well-known", "Straße", "Ångström",
    "1", "2.5", "1,000", "10:30", "x-ray", "(a", "+", "b)", "2*3", "3!", "what", "señor",
    "\ufb01ne", "“so”", "e-mail", "7%", "f(x)", "A.B.", "CO₂", "東京", "Москва", "[1,2]", "-5",
    "<3",
)  # fmt: skip
QUOTES = ("“{}”", "«{}»", "'{}'", '"{}"', "`{}`", "„{}“", "**{}**", "__{}__", "「{}」")
SPACES = (" ", "\n", "\t", "\u00a0", "  ", "\u2009", "\u3000", " \u200b", "\r\n", "\u2028 ")


def spaced(chance: Random, text: str) -> str:
    return "".join(chance.choice(SPACES) if char == " " else char for char in f" {text} ")


REWRITES: dict[str, Callable[[Random, str], str]] = {
    "case": lambda chance, text: chance.choice([str.upper, str.lower, str.title])(text),
    "white space": spaced,
    "form": lambda chance, text: normalize(chance.choice(["NFC", "NFD", "NFKC", "NFKD"]), text),
    "end": lambda chance, text: (
        text.rstrip(".?") + chance.choice(["", ".", " ?", "...", "…", "。"])
    ),
    "begin": lambda chance, text: chance.choice(["¿", "¡", "— ", "\ufeff"]) + text,
    "quotes": lambda chance, text: chance.choice(QUOTES).format(text),
    "apostrophe": lambda chance, text: text.replace(
        "'", chance.choice(["\u2019", "", "\u02bc", "`", "\u2018"])
    ),
    "hyphen": lambda chance, text: text.replace("-", chance.choice(["\u2010", "\u2011", "\u2212"])),
    "marks": lambda _, text: text.replace(" was ", ", was ").replace(" good ", " good; "),
    "dash": lambda chance, text: text.replace(
        " was ", chance.choice([" \u2013 was ", " \u2014 was "])
    ),
    "no width": lambda _, text: text.replace("good", "go\u00adod").replace("Film", "Fi\u200blm"),
}


def test_marks_case_and_spaces_make_no_other_task(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance = Random(seed)
        words = chance.choices(WORDS, k=chance.randint(3, 9))
        sentence = " ".join(words) + chance.choice([".", "?", ""])
        near = sentence
        for name in chance.sample(sorted(REWRITES), chance.randint(1, 3)):
            near = REWRITES[name](chance, near)
        seen = LearntTasks.of([Task(id="t", query=sentence)])
        meetings = seen.meetings([Task(id="v", query=near)])
        assert [meeting.by for meeting in meetings] == ["words"], (sentence, near)
        other = sentence.replace(words[chance.randrange(len(words))], "otherwise", 1)
        assert not [*seen.meetings([Task(id="v", query=other)])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1.5 + 2", "15 + 2"), ("x - y", "x * y"), ("x - y", "x y"),
        ("(a or b) and c", "a or (b and c)"), ("a < b", "a > b"), ("-5", "5"),
        ("3!", "3"), ("[ ( ) ]", "[ ( ] )"), ("!!!", "..."), ("10:30", "10 30"),
    ],
)  # fmt: skip
def test_what_is_asked_otherwise_is_another_task(first: str, second: str) -> None:
    assert not [*LearntTasks.of([Task(id="t", query=first)]).meetings([Task(id="v", query=second)])]


def test_what_was_a_test_teaches_nothing(pool: Pool) -> None:
    trial = Trial(task=TASK.id, score=1.0, split="test")
    pool.commit(Evaluated(member="vote", trial=trial), op="test")
    assert places(pool, TASK) == []
    pool.commit(Evaluated(member="vote", trial=replace(trial, split="evolve")), op="evolve")
    assert places(pool, TASK) == [(f"{pool.folder}/ledger.jsonl:4", "id")]


def test_where_there_is_no_pool_nothing_was_seen(tmp_path: Path) -> None:
    assert LearntTasks.by(tmp_path / "none") == LearntTasks()


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@given(texts, st.sampled_from([str.upper, str.lower, str.swapcase, str.split]))
def test_words_are_the_same_however_they_are_spaced_and_capital(text: str, how: object) -> None:
    plain = text.encode("ascii", "ignore").decode() or "x"
    said = " \n ".join(plain.split()) if how is str.split else how(plain)  # type: ignore[operator]
    seen = LearntTasks.of([Task(id="a", query=plain)])
    assert [meeting.by for meeting in seen.meetings([Task(id="b", query=said or " ")])] == ["words"]


def test_a_long_task_is_known_by_its_beginning(pool: Pool) -> None:
    long = Task(id="long", query="word " * LONGEST_TASK)
    pool.commit(replace(EXPERIENCE, task=long.text[:LONGEST_TASK]), op="one")
    assert len(places(pool, long)) == 1


RECALLING = "name: one\nagents:\n  solver: {prompt: Solve it., recall: {k: 1}}\n"
PLAIN = "name: one\nagents:\n  solver: {prompt: Solve it.}\n"


def mas_run(*words: str) -> Result:
    return ran(main, *words, "--quiet", "--embedder", "hashing")


def test_nobody_recalls_what_was_learnt_from_the_very_task(pool: Pool) -> None:
    pool.commit(EXPERIENCE, op="one")
    Path("team.yaml").write_text(RECALLING)
    Path("plain.yaml").write_text(PLAIN)
    other = {"id": "new", "query": TASK.query.upper(), "context": TASK.context}
    Path("task.json").write_text(json.dumps(other))
    with ScriptedModel("malaria") as model:
        chosen = ("--pool", "pool", "--model", f"m@{model.api_base}")
        refused = mas_run("team.yaml", "task.json", *chosen)
        assert (refused.exit_code, len(model.calls)) == (2, 0)
        assert "task 'new' (task.json:1) is pool/ledger.jsonl:3 by its words" in refused.stderr
        assert not Path("runs").exists()
        with pytest.raises(InputError, match=r"\(task.json:1\) is pool/ledger.jsonl:3 by"):
            run("team.yaml", "task.json", model=[chosen[-1]], pool="pool", embedder="hashing")
        assert mas_run("plain.yaml", "task.json", *chosen).stdout == "malaria\n"
        assert mas_run("team.yaml", "-q", "What is a rash?", *chosen).stdout == "malaria\n"


def test_a_run_is_not_gone_on_with_once_its_task_was_learnt_from(pool: Pool) -> None:
    pool.commit(replace(EXPERIENCE, task="Which rash is it?"), op="one")
    Path("team.yaml").write_text(RECALLING.replace("k: 1", "k: 1, by: draft"))
    Path("task.json").write_text(json.dumps({"id": "new", "query": TASK.text}))
    with ScriptedModel("malaria") as model:
        chosen = ("--pool", "pool", "--model", f"m@{model.api_base}")
        stopped = mas_run("team.yaml", "task.json", *chosen, "--budget", "calls=1")
        assert (stopped.exit_code, len(model.calls)) == (3, 1), stopped.stderr
        [folder] = Path("runs").iterdir()
        pool.commit(EXPERIENCE, op="two")
        refused = mas_run("--resume", str(folder), *chosen, "--budget", "calls=2")
        assert (refused.exit_code, len(model.calls)) == (2, 1)
    assert f"task 'new' ({folder}/task.json:1) is " in refused.stderr
    assert "pool/ledger.jsonl:4 by its words" in refused.stderr


def test_a_folder_that_is_no_pool_may_have_links_and_has_seen_nothing(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/elsewhere").symlink_to("/")
    assert LearntTasks.by(tmp_path) == LearntTasks()
    (tmp_path / "ledger.jsonl").symlink_to("/dev/null")
    with pytest.raises(InputError, match="is a link"):
        LearntTasks.by(tmp_path)
