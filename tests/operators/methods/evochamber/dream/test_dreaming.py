"""CoDream: when a team dreams, what is asked then, what is kept, and who has it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.dream.dreaming import dream, known_niches
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema.team.task import Task

from .....pool.populations import folded, town, worked
from .....support.journals import written
from ....evolving import asked
from ..town import MEMBERS, OTHERS, TASK, Lived, lived, ran, seated, tried

INSIGHT = {"strategy": 1, "text": "Add on paper.", "level": "subdomain", "niche": "sums"}
SPLIT: Mapping[str, float | None] = {"ada": 1.0, "ben": 0.0, "cyn": 0.0}
OPERATORS = ("reflect", "contrast", "imagine", "debate", "crystallize")


def dreamers(
    *insights: Mapping[str, Any], keep: Callable[[str], bool] = lambda _text: True
) -> Callable[[Request], Reply]:
    """Members who dream in form; with an insight that says to add, they come to 7."""

    idea = {"difference": 1, "strategy": "Use paper.", "niches": ["sums"]}
    fields: Mapping[str, Any] = {
        "diagnosis": {"diagnosis": "It was guessed."},
        "difference": {"difference": "It was added on paper."},
        "ideas": {"ideas": [idea, {**idea, "strategy": "Ask."}]},
        "insights": {"insights": [*(insights or (INSIGHT,))]},
        "text": {"text": "Both in one."},
    }

    def answer(request: Request) -> Reply:
        wanted, text = asked(request), message_text(request)
        if "strategy_1" in wanted:
            return Reply.json({name: {"reason": "so", "keep": keep(text)} for name in wanted})
        if wanted:
            return Reply.json(fields[next(iter(wanted))])
        return Reply(text="7" if "Add" in text.split("may not hold here", 1)[-1] else "8")

    return answer


def dreamt(
    folder: Path,
    replies: Any = None,
    *,
    scores: Mapping[str, float | None] = SPLIT,
    reward: float = 0.0,
    task: Task = TASK,
    said: str = "",
    **how: Any,
) -> Lived:
    """Let a team dream after a task, in a population whose trial of it is taken in."""

    async def work(episode: Episode) -> None:
        sat = seated()
        trial = worked(MEMBERS, task.niche, reward)
        population = folded([*town(*MEMBERS, *OTHERS), trial])
        answers = tried(sat, scores, **({"ada": said} if said else {}))
        await dream(episode, population, sat, ran(sat), answers, reward=reward)

    return lived(folder, replies or dreamers(), work, tasks=(task,), **how)


def calls(of: Lived, name: str) -> list[str]:
    """What the model was asked by an operator."""
    texts = {
        "dream_reflect": "see nobody else's work",
        "dream_contrast": "Two agents worked on the same task.",
        "dream_imagine": "Imagine strategies for later tasks",
        "dream_debate": "look at strategies that were imagined",
        "dream_crystallize": "Make insights of them",
        "fuse": "Two of them say almost the same",
        "again": "may not hold here",
    }
    return [call.text for call in of.model.calls if texts[name] in call.text]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """A dream in which ada tells the two who failed."""
    return dreamt(tmp_path_factory.mktemp("usual"))


def test_what_one_knew_goes_to_those_below_the_median_in_one_line(usual: Lived) -> None:
    [entry] = usual.pool.learnt.values()
    assert entry == Learnt(
        id="evolution/000000/insight 1",
        kind="lesson",
        task="What is 3 + 4?",
        text="Add on paper.",
        niche="sums",
        to=("ben", "cyn"),
        giver="ada",
        level="subdomain",
        case="sum-1",
        credit=1.0,
        run="evolution",
    )
    assert usual.of("ben", "lesson") == usual.of("cyn", "lesson") == ["Add on paper."]
    assert not any(usual.of(word, "lesson") for word in ("ada", *OTHERS))


def test_the_event_tells_it_all(usual: Lived) -> None:
    result = usual
    assert result.event("dream") == {
        "task": "sum-1",
        "niche": "sums",
        "reward": 0.0,
        "mean": 1 / 3,
        "why": "reward",
        "scores": {"ada": 1.0, "ben": 0.0, "cyn": 0.0},
        "abstained": False,
        "shared_failure": False,
        "differences": 2,
        "ideas": 2,
        "survived": 2,
        "came": 1,
        "verified": 1,
        "givers": ["ada"],
        "insights": [
            {
                "level": "subdomain",
                "niche": "sums",
                "giver": "ada",
                "by": "ben",
                "before": 0.0,
                "after": 1.0,
                "verified": True,
                "to": 2,
            }
        ],
    }
    assert {name: number for name, number in result.line["told"].items() if number} == {
        "dreams": 1,
        "dream insights tried": 1,
        "dream insights verified": 1,
        "dream insights written into archives": 2,
    }
    asked_of = {name: usage["calls"] for name, usage in result.line["spent"].items()}
    phases = dict(zip(OPERATORS, (3, 2, 1, 3, 1), strict=True))
    assert asked_of == {f"dream_{name}": number for name, number in phases.items()}
    assert result.line["usage"]["calls"] == 3  # the pair's two, and the attempt with the insight
    assert result.line["runs"] == ["dream/verify 1", "run"]


def test_after_a_crash_nothing_is_asked_again_and_the_same_comes_of_it(tmp_path: Path) -> None:
    first = dreamt(tmp_path)
    ledger = (tmp_path / "pool" / "ledger.jsonl").read_text()
    (tmp_path / "evolution" / "turns.jsonl").unlink()  # killed before its first line
    again = dreamt(tmp_path)
    assert (tmp_path / "pool" / "ledger.jsonl").read_text() == ledger
    assert (again.lines, len(again.model.calls)) == (first.lines, 0)
    paths = {entry.path for entry in written(tmp_path / "evolution")}
    dreams = {path for path in paths if "/dream/" in path}
    questions = ("contrast/ben ada", "contrast/cyn ada", "imagine", "crystallize")
    members = (f"{phase}/{name}" for phase in ("reflect", "debate") for name in MEMBERS)
    asked_for = {f"task 000000/dream/{name}/call 1" for name in (*questions, *members)}
    assert asked_for <= dreams
    assert "task 000000/dream/verify 1/outcome" in dreams


def test_each_phase_sees_what_it_is_to_see_and_nobody_the_reference_answer(tmp_path: Path) -> None:
    task = Task(id="sum-1", query="What is 3 + 4?", niche="sums", answer="seventh heaven")
    result = dreamt(tmp_path, task=task)
    assert not [call for call in result.model.calls if "seventh heaven" in call.text]
    private = calls(result, "dream_reflect")
    assert ["I, ben, think so." in name for name in private] == [False, True, False]
    assert ["You are called ben." in name for name in private] == [False, True, False]
    first, second = calls(result, "dream_contrast")
    assert "ben failed, and ada succeeded" in first
    assert "cyn failed, and ada succeeded" in second
    for shown in ("I, ben, think so.", "I, ada, think so.", "It was guessed.", "answer: 1\n"):
        assert shown in first
    assert "I, cyn" not in first
    [imagined] = calls(result, "dream_imagine")
    assert imagined.count("It was added on paper.") == 2
    debated = calls(result, "dream_debate")
    assert all("Use paper.\nFor: sums" in name for name in debated)
    assert "You are called cyn." in debated[2]
    assert "I, cyn, think so." not in debated[2]
    [last] = calls(result, "dream_crystallize")
    assert "- so\n- so\n- so" in last


def test_who_attempts_it_again_reads_the_insight_and_nothing_of_the_others(usual: Lived) -> None:
    [again] = calls(usual, "again")
    assert "You are called ben.\n\nSolve the task on your own." in again
    assert "Add on paper." in again
    for hidden in ("ada", "cyn", "think so", "guessed"):
        assert hidden not in again


def test_an_insight_that_does_not_help_is_dropped_and_counted(tmp_path: Path) -> None:
    result = dreamt(tmp_path, dreamers({**INSIGHT, "text": "Guess."}, INSIGHT))
    assert result.of("ben", "lesson") == ["Add on paper."]
    event = result.event("dream")
    assert (event["came"], event["verified"]) == (2, 1)
    assert [(insight["verified"], insight["to"]) for insight in event["insights"]] == [
        (False, 0),
        (True, 2),
    ]


def test_an_insight_for_all_tasks_is_of_no_niche(tmp_path: Path) -> None:
    result = dreamt(tmp_path, dreamers({**INSIGHT, "level": "cross_domain"}))
    [entry] = result.pool.learnt.values()
    assert (entry.kind, entry.niche, entry.level) == ("insight", None, "cross_domain")
    assert entry.to == ("ben", "cyn", *OTHERS)


def test_one_for_the_task_is_for_those_who_failed(tmp_path: Path) -> None:
    scores = {"ada": 1.0, "ben": None, "cyn": 0.0}
    other = {**INSIGHT, "level": "task", "niche": "sums"}
    [entry] = dreamt(tmp_path, dreamers(other), scores=scores).pool.learnt.values()
    assert (entry.to, entry.niche, entry.level) == (("cyn",), "sums", "task")


def test_the_ablation_tells_everybody_but_the_giver(tmp_path: Path) -> None:
    [entry] = dreamt(tmp_path, transfer="symmetric").pool.learnt.values()
    assert entry.to == ("ben", "cyn", *OTHERS)


def test_who_gets_nothing_new_is_told_in_the_event(tmp_path: Path) -> None:
    """Right, but of two minds: on the first task nobody is below the median."""
    scores = {"ada": 1.0, "ben": 1.0, "cyn": 0.0}
    result = dreamt(tmp_path, scores=scores, reward=0.5, deficit="niche")
    event = result.event("dream")
    assert (event["why"], event["verified"], event["insights"][0]["to"]) == ("disagreement", 1, 0)
    assert not result.pool.learnt
    assert event["givers"] == ["ada"]


# Nothing happens, and is counted


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ({"ada": 0.0, "ben": 0.0, "cyn": 0.0}, "nobody succeeded"),
        ({"ada": None, "cyn": 0.0}, "nobody succeeded"),
        ({}, "nobody has an attempt"),
    ],
)
def test_a_team_in_which_nobody_succeeded_abstains(
    tmp_path: Path, scores: dict[str, float | None], why: str
) -> None:
    result = dreamt(tmp_path, scores=scores, shared_failure="abstain")
    event = result.event("dream")
    assert result.line["told"][f"dreams abstained, {why}"] == 1
    assert (event["abstained"], event["because"]) == (True, why)
    assert [event[name] for name in ("differences", "came", "verified")] == [0, 0, 0]
    assert event["insights"] == []
    assert result.line["spent"] == {}
    assert len(result.model.calls) == 2  # the pair's


def test_of_a_shared_failure_each_finds_its_fault_and_what_helps_is_kept(tmp_path: Path) -> None:
    """EvoChamber App. J: insights from a score of 0 of 3."""
    scores: Mapping[str, float | None] = dict.fromkeys(MEMBERS, 0.0)
    result = dreamt(tmp_path, dreamers(INSIGHT, {**INSIGHT, "text": "Guess."}), scores=scores)
    event = result.event("dream")
    assert (event["abstained"], event["shared_failure"], event["differences"]) == (False, True, 3)
    assert calls(result, "dream_contrast") == []
    [imagined] = calls(result, "dream_imagine")
    assert imagined.count("It was guessed.") == 3
    assert "All agents of a team failed" in imagined
    assert [insight["verified"] for insight in event["insights"]] == [True, False]
    [entry] = result.pool.learnt.values()
    assert (entry.text, entry.to) == ("Add on paper.", MEMBERS)
    assert result.line["told"]["dreams from shared failure"] == 1


def test_of_a_shared_failure_that_nobody_can_explain_nothing_is_imagined(tmp_path: Path) -> None:
    def replies(request: Request) -> Reply:
        return Reply.json(7) if "diagnosis" in asked(request) else dreamers()(request)

    result = dreamt(tmp_path, replies, scores={"ada": 0.0, "ben": 0.0, "cyn": None})
    assert (result.event("dream")["differences"], calls(result, "dream_imagine")) == (0, [])


def test_an_insight_has_to_help_in_every_attempt_that_the_recipe_wants(tmp_path: Path) -> None:
    again = 0

    def replies(request: Request) -> Reply:
        nonlocal again
        if "may not hold here" not in message_text(request):
            return dreamers()(request)
        again += 1
        return Reply(text="7" if again == 1 else "8")  # by chance

    kept = dreamt(tmp_path / "once", replies).event("dream")
    again = 0
    result = dreamt(tmp_path / "twice", replies, reattempts=2)
    dropped = result.event("dream")
    assert (kept["verified"], dropped["verified"]) == (1, 0)
    assert result.line["runs"] == ["dream/verify 1", "dream/verify 1.2", "run"]
    assert not result.pool.learnt


def test_so_does_one_in_which_nobody_failed(tmp_path: Path) -> None:
    scores: Mapping[str, float | None] = dict.fromkeys(MEMBERS, 1.0)
    event = dreamt(tmp_path, scores=scores, reward=1.0, said="seven").event("dream")
    assert (event["why"], event["abstained"]) == ("disagreement", True)
    assert event["because"] == "nobody failed"


@pytest.mark.parametrize(
    "how",
    [
        {"codream": False},
        {"is_test": True},
        {"scores": dict.fromkeys(MEMBERS, 1.0), "reward": 1.0},
        {"scores": {"cyn": 0.0}, "reward": 0.6},
    ],
)
def test_a_team_that_did_well_does_not_dream(tmp_path: Path, how: dict[str, Any]) -> None:
    result = dreamt(tmp_path, **how)
    assert [entry for entry in result.pool.entries() if entry.value["kind"] == "told"] == []
    assert len(result.model.calls) == 2
    assert not any(result.line["told"].values())
    assert ("dreams" in result.line["told"]) == ("scores" in how)


@pytest.mark.parametrize(
    ("useless", "lost", "numbers"),
    [
        ("difference", 2, (0, 0, 0, 0)),
        ("ideas", 1, (2, 0, 0, 0)),
        ("insights", 1, (2, 2, 2, 0)),
        ("diagnosis", 3, (2, 2, 2, 1)),
        ("strategy_1", 3, (2, 2, 2, 1)),
    ],
)
def test_an_operator_of_no_use_costs_what_would_have_come_of_it_and_is_counted(
    tmp_path: Path, useless: str, lost: int, numbers: tuple[int, ...]
) -> None:
    def replies(request: Request) -> Reply:
        return Reply.json(7) if useless in asked(request) else dreamers()(request)

    result = dreamt(tmp_path, replies)
    event = result.event("dream")
    names = ("differences", "ideas", "survived", "came")
    assert tuple(event[name] for name in names) == numbers
    assert len(result.line["dropped"]) == sum(result.pool.rejections.values()) == lost


def test_what_most_others_would_drop_is_gone(tmp_path: Path) -> None:
    def keep(text: str) -> bool:
        return "agent called ada" in text

    event = dreamt(tmp_path, dreamers(keep=keep)).event("dream")
    names = ("ideas", "survived", "came", "abstained")
    assert [event[name] for name in names] == [2, 0, 0, False]


def test_a_judge_without_a_score_verifies_nothing(tmp_path: Path) -> None:
    task = Task(id="sum-1", query="What is 3 + 4?", niche="sums")

    def replies(request: Request) -> Reply:
        if "score" not in asked(request):
            return dreamers()(request)
        return Reply.json(1 if "\n7\n" in message_text(request) else {"reason": "r", "score": 0.5})

    result = dreamt(tmp_path, replies, task=task)
    event = result.event("dream")
    assert (event["came"], event["verified"], event["insights"][0]["after"]) == (1, 0, None)
    assert "judge" in [item["operator"] for item in result.line["dropped"]]


# Archives that know it already


def lesson(text: str, **fields: Any) -> Learnt:
    given: dict[str, Any] = {"niche": "sums", **fields}
    return Learnt(kind="lesson", task="Old.", text=text, **given)


def test_who_knows_almost_the_same_has_one_entry_of_both(tmp_path: Path) -> None:
    known = [lesson("Add on paper!", owner="ben"), lesson("Add on paper.", owner="dan")]
    result = dreamt(tmp_path, known=known)
    assert result.of("ben", "lesson") == ["Both in one."]
    assert result.of("cyn", "lesson") == ["Add on paper."]
    [first, second] = [item for item in result.pool.learnt.values() if item.giver]
    assert (first.to, first.replaces, second.to, second.replaces) == (
        ("ben",),
        ("known 0",),
        ("cyn",),
        (),
    )
    [asked_once] = calls(result, "fuse")
    assert "Add on paper!" in asked_once


def test_recipients_of_the_same_entry_share_a_question_and_a_line(tmp_path: Path) -> None:
    result = dreamt(tmp_path, known=[lesson("Add on paper!", to=("ben", "cyn", "eve"))])
    assert len(calls(result, "fuse")) == 1
    [entry] = [item for item in result.pool.learnt.values() if item.giver]
    assert (entry.to, entry.replaces) == (("ben", "cyn"), ("known 0",))
    assert result.of("eve", "lesson") == ["Add on paper!"]


def test_where_nothing_comes_of_both_the_new_one_is_kept_beside_the_old(tmp_path: Path) -> None:
    def replies(request: Request) -> Reply:
        return Reply.json({}) if "text" in asked(request) else dreamers()(request)

    result = dreamt(tmp_path, replies, known=[lesson("Add on paper!", owner="ben")])
    assert result.of("ben", "lesson") == ["Add on paper!", "Add on paper."]
    assert result.pool.rejections == {"fuse": 1}


def test_an_equal_text_takes_the_place_of_the_old_one_and_nobody_is_asked(tmp_path: Path) -> None:
    result = dreamt(tmp_path, known=[lesson("Add on paper.", owner="ben")])
    assert result.of("ben", "lesson") == ["Add on paper."]
    assert calls(result, "fuse") == []


@pytest.mark.parametrize("other", [{"niche": "code"}, {"kind": "insight", "niche": None}])
def test_what_is_of_another_place_stays_there(tmp_path: Path, other: dict[str, Any]) -> None:
    given: dict[str, Any] = {"kind": "lesson", "owner": "ben", **other}
    result = dreamt(tmp_path, known=[Learnt(task="Old.", text="Add on paper.", **given)])
    assert all(not item.replaces for item in result.pool.learnt.values())


def test_two_insights_of_one_dream_that_say_almost_the_same_become_one(tmp_path: Path) -> None:
    again = {**INSIGHT, "text": "Add on paper!"}
    result = dreamt(tmp_path, dreamers(INSIGHT, again))
    assert result.of("ben", "lesson") == result.of("cyn", "lesson") == ["Both in one."]
    last = [*result.pool.learnt.values()][-1]
    assert last.replaces == ("evolution/000000/insight 1",)


# Bounds


def test_an_insight_that_gives_the_answer_away_is_none(tmp_path: Path) -> None:
    task = Task(id="sum-1", query="What is 30 + 40?", niche="sums", answer="70")

    replies = dreamers({**INSIGHT, "text": "Add, and say 70."})
    result = dreamt(tmp_path, replies, task=task, said="Answer: 70")
    assert result.event("dream")["came"] == 0
    assert "gives away" in result.line["dropped"][0]["problems"][0]


def test_kinds_of_task_that_may_be_named_are_the_tasks_own_and_the_newest() -> None:
    tasks = [worked("a", f"n{number}", 1.0) for number in range(40)]
    population = folded([*town("a"), worked("a", "", 1.0), *tasks])
    named = known_niches(population, "n3")
    assert named[:3] == ("n3", "n39", "n38")
    assert len(named) == len({*named}) == 32
    assert known_niches(folded(town("a")), None) == ()


def test_tasks_of_no_kind_lead_to_insights_for_the_task_or_for_all(tmp_path: Path) -> None:
    def replies(request: Request) -> Reply:
        wanted = asked(request)
        if "ideas" in wanted:
            assert "niches" not in json.dumps(wanted)
            return Reply.json({"ideas": [{"difference": 1, "strategy": "Use paper."}]})
        if "insights" in wanted:
            assert "subdomain" not in json.dumps(wanted)
            fields = {"strategy": 1, "text": "Add.", "level": "task"}
            return Reply.json({"insights": [fields]})
        return dreamers()(request)

    task = Task(id="sum-1", query="What is 3 + 4?", answer="7")
    [entry] = dreamt(tmp_path, replies, task=task).pool.learnt.values()
    assert (entry.niche, entry.level, entry.to) == (None, "task", ("ben", "cyn"))
