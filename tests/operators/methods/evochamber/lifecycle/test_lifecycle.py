"""The lifecycle in an episode: personas are asked for, and the roster changes, each change once."""

from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.lifecycle.heritage import MOST_FUSED
from coterie.operators.methods.evochamber.lifecycle.lifecycle import live
from coterie.pool import Pool
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.ledger.ledger import Ledger
from coterie.pool.population.population import Grown, Population, RankingScore
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ....building import Killed
from ....evolving import asked
from ..town import MEMBERS, OTHERS, Lived, lived

SETTINGS: dict[str, Any] = {"pool_size": 5, "largest": 9, "prune_tasks": 3, "tau": 4}


def standing(total: int, rolling: float, **given: Any) -> RankingScore:
    return RankingScore(tasks={"sums": total}, rewards=(rolling,) * min(total, 10), **given)


LIKE = {"sums": 0.5, "law": 0.4}
TOWN: dict[str, RankingScore] = {
    "ada": standing(12, 0.9, competence={"sums": 0.9}),
    "ben": standing(12, 0.5, competence=LIKE),
    "cyn": standing(12, 0.6, competence=LIKE),
    "dan": standing(5, 0.1, competence={"sums": 0.2}, lagging=3),
    "eve": standing(4, 0.5, competence={"sums": 0.85}),
}
"""Ada is forked, ben and cyn are merged, dan is pruned, and eve is specialized."""


def population(agents: dict[str, RankingScore] | None = None) -> Population:
    agents = TOWN if agents is None else agents
    rolling = {name: agent.rolling or 0.0 for name, agent in agents.items()}
    history = Grown(["sums", "art"])
    return Population(agents=agents, everybody=agents, rolling=rolling, history=history)


def writer(request: Request) -> Reply:
    """Write personas; whoever fuses two texts puts them beside each other."""
    wanted = asked(request)
    if "persona" in wanted:
        fields = {"title": "expert", "persona": f"You are new, after {len(wanted)} looks."}
        return Reply.json({"reason": "so it is", **fields})
    return Reply.json({"text": "Carry the one, always."}) if "text" in wanted else Reply(text="7")


def useless(request: Request) -> Reply:
    return Reply.json({"nonsense": 1}) if asked(request) else Reply(text="7")


async def look(episode: Episode) -> None:
    await live(episode, population())


def after(folder: Path, replies: Any = writer, **given: Any) -> Lived:
    return lived(folder, replies, look, **{**SETTINGS, **given})


def lines(pool: Pool) -> list[dict[str, Any]]:
    """What happened in the episode, in order."""
    result = Ledger(pool.folder / "ledger.jsonl").read()
    return [{**item.value, "op": item.op} for item in result if "/000000/" in item.op]


def told(pool: Pool) -> list[dict[str, Any]]:
    return [line["about"] for line in lines(pool) if line["kind"] == "told"]


def roster(of: Lived) -> list[str]:
    """Those that live, but for who is in the pool and was not there when the roster was seen."""
    idle = {*MEMBERS, *OTHERS} - TOWN.keys()
    return [name for name in of.pool.agents if name not in idle]


def test_all_that_is_due_happens_in_the_fixed_order_and_is_told(tmp_path: Path) -> None:
    result = after(tmp_path)
    kinds = [(line["kind"], line.get("agent")) for line in lines(result.pool)]
    assert kinds == [
        *[("born", "ada_1"), ("told", None)],
        *[("born", "cyn_1"), ("retired", "cyn"), ("retired", "ben"), ("told", None)],
        *[("retired", "dan"), ("told", None)],
        *[("born", "solver"), ("told", None)],
        *[("revised", "eve"), ("told", None)],
    ]
    assert roster(result) == ["ada", "eve", "ada_1", "cyn_1", "solver"]
    events = told(result.pool)
    assert [(event["operator"], event["agents"], event.get("niche")) for event in events] == [
        ("fork", ["ada"], "sums"),
        ("merge", ["cyn", "ben"], None),
        ("prune", ["dan"], None),
        ("genesis", [], "art"),
        ("specialize", ["eve"], "sums"),
    ]
    assert events[2]["why"].startswith("3 tasks in a row with a rolling reward below 0.8 x")
    assert events[2]["numbers"]["lagging"] == 3
    assert {event["task"] for event in events} == {"sum-1"}
    assert result.line["told"] == dict.fromkeys(
        ("fork", "genesis", "merge", "prune", "specialize"), 1
    )
    assert [item["operator"] for item in result.line["story"]] == [
        event["operator"] for event in events
    ]


def test_each_says_where_it_comes_from_and_why(tmp_path: Path) -> None:
    pool = after(tmp_path).pool
    fork, merged, fresh = (pool.agents[name].lineage for name in ("ada_1", "cyn_1", "solver"))
    assert (fork.operator, fork.parents, fork.task, fork.run) == (
        *("fork", ("ada",), "sum-1", "evolution"),
    )
    assert fork.reason.startswith("rolling reward 0.9 over 10 tasks, among the best 1 of 4")
    assert fork.reason.endswith(". so it is")
    assert (merged.operator, merged.parents) == ("merge", ("cyn", "ben"))
    assert (fresh.operator, fresh.parents) == ("genesis", ())
    assert fresh.reason.startswith("'art', 1 of the last 2 tasks, and nobody has met it")
    assert pool.agents["eve"].revisions[-1].reason.startswith("competence 0.85 in 'sums'")
    assert pool.agents["eve"].agent.prompt == "You are new, after 3 looks."
    assert pool.all_agents["dan"].retired.startswith("pruned: 3 tasks in a row")  # type: ignore[union-attr]


def test_the_paper_s_founder_s_form_of_answers_stays_with_who_is_made_anew(tmp_path: Path) -> None:
    prompt = after(tmp_path).pool.agents["solver"].agent.prompt
    persona, rest = prompt.split("\n\n", 1)
    assert persona == "You are new, after 3 looks."
    assert "`Answer:`" in rest


def test_where_nobody_writes_a_persona_only_merging_and_pruning_happen(tmp_path: Path) -> None:
    result = after(tmp_path, useless)
    assert [fields["operator"] for fields in told(result.pool)] == ["merge", "prune"]
    assert roster(result) == ["ada", "eve", "cyn_1"]
    assert result.pool.agents["cyn_1"].agent.prompt == "You are called cyn."
    assert result.pool.rejections == {"fork": 1, "merge": 1, "genesis": 1, "specialize": 1}
    assert [item["operator"] for item in result.line["dropped"]] == [
        *("fork", "merge", "genesis", "specialize"),
    ]
    assert result.line["told"]["fork"] == 0
    lost = [line.get("parents") for line in lines(result.pool) if line["kind"] == "rejected"]
    assert lost == [["ada"], ["cyn", "ben"], None, ["eve"]]


def test_an_heir_has_both_archives_and_what_they_said_twice_once(tmp_path: Path) -> None:
    known = [
        entry("cyn", "Always carry the one when you add."),
        entry("ben", "Always carry the one when you add up."),
        entry("ben", "Bring a hat."),
        entry("ben", "Always carry the one when you add!", niche="law"),
    ]
    result = after(tmp_path, known=known)
    archive = [item.text for item in result.pool.learnt.archive("cyn_1")]
    assert archive == [
        "Bring a hat.",
        "Always carry the one when you add!",
        "Carry the one, always.",
    ]
    [merged] = [fields for fields in told(result.pool) if fields["operator"] == "merge"]
    assert (merged["numbers"]["fused"], merged["numbers"]["left"]) == (1, 0)
    assert len(result.pool.learnt.archive("ben")) == 3


def test_a_fork_has_its_parent_s_archive(tmp_path: Path) -> None:
    result = after(tmp_path, known=[entry("ada", "Count twice."), entry("dan", "Guess.")])
    assert [item.text for item in result.pool.learnt.archive("ada_1")] == ["Count twice."]
    assert result.pool.learnt.archive("solver") == []
    assert [item.text for item in result.pool.learnt.archive("dan")] == ["Guess."]


def test_no_more_than_a_few_are_fused_at_a_merge_and_the_rest_is_told(tmp_path: Path) -> None:
    many = [f"Rule {word}: always carry the one when you add." for word in "abcdefghijklmnopq"]
    known = [entry(*pair) for text in many for pair in (("ben", text), ("cyn", f"{text} So."))]
    result = after(tmp_path, known=known)
    [merged] = [fields for fields in told(result.pool) if fields["operator"] == "merge"]
    assert (merged["numbers"]["fused"], merged["numbers"]["left"]) == (MOST_FUSED, 7)
    assert len(result.pool.learnt.archive("cyn_1")) == MOST_FUSED + 14


def test_what_both_say_in_the_same_words_is_made_one_without_asking(tmp_path: Path) -> None:
    known = [entry("cyn", "Carry the one."), entry("ben", "Carry the one.")]
    result = after(tmp_path, known=known)
    assert [item.text for item in result.pool.learnt.archive("cyn_1")] == ["Carry the one."]
    assert not [call for call in result.model.calls if "takes the place of both" in call.text]


def test_texts_of_which_nothing_is_made_stay_two(tmp_path: Path) -> None:
    known = [entry("cyn", "Carry the one."), entry("ben", "Carry the one!")]

    def no_fuse(request: Request) -> Reply:
        return useless(request) if "text" in asked(request) else writer(request)

    result = after(tmp_path, no_fuse, known=known)
    assert [item.text for item in result.pool.learnt.archive("cyn_1")] == [
        item.text for item in known
    ]
    assert result.pool.rejections == {"fuse": 1}


def entry(owner: str, text: str, niche: str = "sums") -> Learnt:
    return Learnt(kind="lesson", task="What is 1 + 1?", text=text, niche=niche, owner=owner)


def test_who_writes_for_a_niche_sees_tasks_of_it(tmp_path: Path) -> None:
    art = Learnt(kind="lesson", task="Who painted it?", text="Look.", niche="art", owner="eve")
    calls = after(tmp_path, known=[art]).model.calls
    [genesis] = [call.text for call in calls if "no experience yet" in call.text]
    assert "Who painted it?" in genesis
    assert "What is 3 + 4?" not in genesis
    [fork] = [call.text for call in calls if "It gets a twin" in call.text]
    assert "What is 3 + 4?" in fork


@pytest.mark.parametrize("given", [{"is_test": True}, {"lifecycle": False}])
def test_nothing_happens_where_nothing_is_learnt_or_wanted(tmp_path: Path, given: Any) -> None:
    result = after(tmp_path, **given)
    assert [*result.pool.agents] == [*MEMBERS, *OTHERS]
    assert told(result.pool) == []


def dying(left: int) -> Any:
    """Return a `Pool.commit` that does so many changes of the episode, and then no more."""
    commit = Pool.commit

    def until_then(pool: Pool, change: Any, *, op: str) -> Any:
        nonlocal left
        if "/000000/" in op:
            if not left:
                raise Killed
            left -= 1
        return commit(pool, change, op=op)

    return until_then


def test_killed_between_any_two_changes_it_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    whole = after(tmp_path / "whole")
    expected = lines(whole.pool)
    for place in range(0, len(expected), 1 if nightly else 4):
        folder = tmp_path / str(place)
        with monkeypatch.context() as patched:
            patched.setattr(Pool, "commit", dying(place))
            with pytest.raises(Killed):
                after(folder)
        again = after(folder, "nobody is asked again")
        assert not again.model.calls
        assert lines(again.pool) == expected
        assert [*again.pool.agents] == [*whole.pool.agents]
