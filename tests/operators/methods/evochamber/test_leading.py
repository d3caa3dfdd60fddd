"""LeadLearn: which rounds a leader is shown, what it chooses, and what stands in for it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.core.proposal import RejectedProposal
from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.attempts import MemberAttempt
from coterie.operators.methods.evochamber.lead_review import lead_review, review_choice
from coterie.operators.methods.evochamber.leading import (
    Leader,
    StructureChoice,
    choose_structure,
    closest,
    fallback,
    lead,
)
from coterie.operators.methods.evochamber.seating import seated
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.changes import Added, EventNoted
from coterie.pool.population.population import Grown, Population, RankingScore
from coterie.runtime.doubles import Replies, Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Lineage, Task
from coterie.schema.loading.recipe import Recipe

from ...asking import asking
from ...evolution.test_episode import done
from ...rounds import worked
from .test_seating import TEMPLATES

NAMES = [*TEMPLATES]
CHOSEN = {"anchor": "ada", "complement": "ben", "scout": "cyn"}
PEOPLE = {name: Agent(id=name, prompt=f"You are {name}.") for name in CHOSEN.values()}
TASK = Task(id="sum-1", query="What is 3 + 4?", niche="sums", answer="7")
LEADER = Leader(
    agent=PEOPLE["ada"], able={"anchor": 0.9, "complement": 0.5, "scout": 0.25}, names=CHOSEN
)


def a_round(
    structure: str, reward: float, niche: str = "sums", profile: Sequence[float] = (0.5, 0.5, 0.5),
    reflection: str = "",
) -> dict[str, Any]:  # fmt: skip
    return {
        "niche": niche,
        "structure": structure,
        "profile": [*profile],
        "reward": reward,
        "reflection": reflection,
        "task": "t",
        "anchor": "ada",
    }


def test_the_most_similar_rounds_are_those_of_the_niche_and_of_such_teams() -> None:
    rounds = [
        a_round("voting", 1, profile=(0, 0, 0)),
        a_round("debate", 1, niche="films", profile=(1, 0, 0)),
        a_round("decompose", 1, profile=(1, 0, 0)),
    ]
    # The query is (1, 0 | 1, 0, 0), of length sqrt(2).
    result = closest(rounds, (1, 0, 0), "sums", 9)
    assert [item["structure"] for item, _ in result] == ["decompose", "voting", "debate"]
    expected = [
        2 / (math.sqrt(2) * math.sqrt(2)),  # (1, 0 | 1, 0, 0)
        1 / math.sqrt(2),  # (1, 0 | 0, 0, 0)
        1 / (math.sqrt(2) * math.sqrt(2)),  # (0, 1 | 1, 0, 0)
    ]
    assert [similarity for _, similarity in result] == pytest.approx(expected)
    assert closest(rounds, (1, 0, 0), "sums", 1) == result[:1]


def test_of_rounds_that_are_equally_alike_the_later_come_first() -> None:
    rounds = [a_round(name, 1) for name in ("first", "second", "third")]
    result = closest(rounds, (0.5, 0.5, 0.5), "sums", 2)
    assert [item["structure"] for item, _ in result] == ["third", "second"]


def test_a_seat_that_there_is_not_has_no_competence() -> None:
    rounds = [a_round("large", 1, profile=(1, 1, 1, 1)), a_round("small", 1, profile=(1,))]
    result = closest(rounds, (1, 1), "sums", 2)
    # The query is (1 | 1, 1, 0, 0), of length sqrt(3).
    assert [item["structure"] for item, _ in result] == ["small", "large"]
    expected = [2 / math.sqrt(2 * 3), 3 / math.sqrt(5 * 3)]
    assert [similarity for _, similarity in result] == pytest.approx(expected)
    assert closest([], (1,), "sums", 3) == closest(rounds, (1,), "sums", 0) == []


PROFILES = st.lists(st.floats(0, 1), min_size=1, max_size=4)
ROUNDS = st.lists(
    st.builds(a_round, st.sampled_from(NAMES), st.floats(0, 1), st.sampled_from("ab"), PROFILES)
)


@given(ROUNDS, PROFILES, st.sampled_from("abc"), st.integers(1, 5))
def test_similarity_is_the_cosine_of_niche_and_competence(
    rounds: list[dict[str, Any]], profile: list[float], niche: str, k: int
) -> None:
    def cosine(record: Mapping[str, Any]) -> float:
        mine, its = ([q.get(place, 0.0) for place in range(4)] for q in (
            dict(enumerate(profile)), dict(enumerate(record["profile"]))))  # fmt: skip
        dot = (record["niche"] == niche) + math.fsum(a * b for a, b in zip(mine, its, strict=True))
        return dot / (math.hypot(1, *mine) * math.hypot(1, *its))

    result = closest(rounds, profile, niche, k)
    assert len(result) == min(k, len(rounds))
    assert [similarity for _, similarity in result] == pytest.approx([cosine(r) for r, _ in result])
    assert all(0 <= similarity <= 1 for _, similarity in result)
    best = sorted(map(cosine, rounds), reverse=True)[:k]
    assert [similarity for _, similarity in result] == pytest.approx(best)


def test_the_fallback_is_what_did_best_on_the_niche() -> None:
    rounds = [
        a_round("debate", 1.0),
        a_round("debate", 0.0),
        a_round("decompose", 0.75),
        a_round("generator_critic", 1.0, niche="films"),
        a_round("gone", 1.0),
    ]
    assert fallback(rounds, "sums", NAMES) == "decompose"  # 0.75 against a mean of 0.5
    assert fallback(rounds, "films", NAMES) == "generator_critic"
    assert fallback(rounds, "maps", NAMES) == "voting"
    assert fallback(rounds, "", ["debate", "decompose"]) == "debate"
    assert fallback([a_round(name, 0.5) for name in reversed(NAMES)], "sums", NAMES) == "voting"


def test_a_leader_chooses_by_what_it_is_shown() -> None:
    rounds = [a_round("voting", 0.0, reflection="Two guessed the same.\nAlas.")]
    result = closest(rounds, LEADER.profile, "sums", 3)
    asked = asking(
        Reply.json({"reason": "they guess", "structure": "debate"}),
        lambda meta: lead(meta, "lead", TASK, LEADER, TEMPLATES, rounds=result),
    )
    assert asked.result == StructureChoice(
        leader=LEADER, structure="debate", by="leader", reason="they guess"
    )
    [call] = asked.calls
    assert "What is 3 + 4?" in call.text
    assert "You are ada." in call.text
    assert "ada (anchor): 0.90 on sums\nben (complement): 0.50 on sums\n" in call.text
    for name, template in TEMPLATES.items():
        assert f"- {name}: {template.description.partition(',')[0]}" in call.text
    assert (
        "on sums, seats 0.50 0.50 0.50: voting, worth 0. Two guessed the same. Alas." in call.text
    )
    assert '"7"' not in call.text
    assert call.body is not None
    schema = call.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["structure"]["enum"] == NAMES


def test_with_one_structure_nobody_is_asked() -> None:
    only = {"debate": TEMPLATES["debate"]}
    asked = asking(Reply(text="no"), lambda meta: lead(meta, "lead", TASK, LEADER, only))
    assert asked.result == StructureChoice(leader=LEADER, structure="debate", by="nobody")
    assert not asked.calls


def test_a_structure_that_is_not_offered_is_repaired_and_then_dropped() -> None:
    wrong = Reply.json({"reason": "x", "structure": "dictatorship"})
    asked = asking(wrong, lambda meta: lead(meta, "lead", TASK, LEADER, TEMPLATES))
    assert isinstance(asked.result, RejectedProposal)
    assert (asked.result.operator, len(asked.calls)) == ("lead", 2)


def test_a_review_is_a_note_on_one_line_that_is_not_too_long() -> None:
    attempt = MemberAttempt(
        agent="ben", seat="complement", position="complement", answer="7", score=1.0
    )

    def review(note: str) -> Any:
        return asking(
            Reply.json({"note": note}),
            lambda meta: lead_review(
                meta, "r", TASK, LEADER, worked(), structure="voting", reward=0.0,
                attempts=[attempt],
            ),
        )  # fmt: skip

    asked = review(" Ben was\noutvoted. ")
    assert asked.result == "Ben was outvoted."
    text = asked.calls[0].text
    assert "the team's answer: 0\nben's own: 1" in text
    assert "by the structure voting" in text
    assert "work of solver" in text
    assert '"7"' not in text
    assert len(review("long " * 1000).result) == 300
    assert isinstance(review(" … ").result, RejectedProposal)


def population(*rounds: dict[str, Any]) -> Population:
    standing = {name: RankingScore(competence={"sums": 0.5}) for name in CHOSEN.values()}
    return Population(agents=standing, everybody=standing, rounds=Grown(rounds))


def lead_once(
    folder: Path,
    replies: Replies,
    *rounds: dict[str, Any],
    structures: Sequence[str] = NAMES,
    learning: bool = True,
) -> tuple[StructureChoice, Episode, list[Any]]:
    """Have a leader choose in an episode, and review it after a run that came to nothing much."""
    offered = {name: TEMPLATES[name] for name in structures}
    recipe = Recipe(strategy="fixed", settings=PopulationSettings(bank=1))

    async def work(context: EvolutionContext) -> Any:
        for agent in PEOPLE.values():
            if agent.id not in context.pool.agents:
                born = Added(member=agent, lineage=Lineage(operator="genesis"))
                context.pool.commit(born, op=f"born {agent.id}")
        view = context.view()
        episode = Episode(context=context, number=0, task=TASK, view=view, learning=learning)
        choice = await choose_structure(episode, population(*rounds), CHOSEN, offered)
        members = {seat: PEOPLE[name] for seat, name in CHOSEN.items()}
        team = seated(
            offered[choice.structure], members, PopulationSettings(lessons=0), context.catalogue
        )
        run = worked(team.team).run
        await review_choice(episode, choice, team, run, reward=0.25)
        return choice, episode

    with ScriptedModel(replies) as model:
        choice, episode = done(folder, model.api_base, work, recipe)
    return choice, episode, [*model.calls]


def fitting(request: Request) -> Reply:
    fields = request["response_format"]["json_schema"]["schema"]["properties"]
    if "structure" in fields:
        return Reply.json({"reason": "so", "structure": "generator_critic"})
    return Reply.json({"note": "The critic saw it."})


def test_a_round_of_leadership_is_told_with_what_its_leader_noted(tmp_path: Path) -> None:
    choice, episode, calls = lead_once(
        tmp_path, fitting, a_round("voting", 1), a_round("debate", 0)
    )
    assert (choice.structure, choice.by) == ("generator_critic", "leader")
    assert len(calls) == 2
    assert calls[0].text.count("alike: ") == 1  # as many as the recipe says
    fields = {
        **a_round("generator_critic", 0.25, reflection="The critic saw it."),
        "task": "sum-1",
    }
    assert episode.changes == [(EventNoted(what="leadership", about=fields), "leadership")]
    assert episode.rejected == []
    assert {*episode.spent} == {"lead", "lead_review"}
    [line] = episode.story
    assert (line["event"], line["agent"], line["by"]) == ("led", "ada", "leader")
    after = [*population().rounds.with_(fields)]
    assert closest(after, (0.5, 0.5, 0.5), "sums", 1)[0][1] == pytest.approx(1)
    again = lead_once(tmp_path, fitting, a_round("voting", 1), a_round("debate", 0))
    assert again[2] == []  # it is in the journal
    assert again[1].changes == episode.changes


def test_without_an_answer_of_use_the_best_of_the_niche_stands_in(tmp_path: Path) -> None:
    choice, episode, calls = lead_once(
        tmp_path, Reply(text="no"), a_round("voting", 0), a_round("debate", 1)
    )
    assert (choice.structure, choice.by, choice.reason) == ("debate", "fallback", "")
    assert len(calls) == 4
    assert [item.operator for item in episode.rejected] == ["lead", "lead_review"]
    [(report, _)] = episode.changes
    assert isinstance(report, EventNoted)
    assert (report.about["structure"], report.about["reflection"]) == ("debate", "")


def test_where_there_is_no_choice_nobody_is_asked_and_nothing_told(tmp_path: Path) -> None:
    choice, episode, calls = lead_once(tmp_path, fitting, structures=["voting"])
    assert (choice.structure, choice.by) == ("voting", "nobody")
    assert (calls, episode.changes, episode.story) == ([], [], [])


def test_in_a_test_a_leader_chooses_and_nothing_is_told(tmp_path: Path) -> None:
    choice, episode, calls = lead_once(tmp_path, fitting, learning=False)
    assert (choice.by, len(calls), episode.changes) == ("leader", 1, [])


def test_a_leader_is_told_of_a_small_model_in_few_words() -> None:
    from coterie.operators.core.bounds import SMALL

    long = {
        name: replace(template, description="long " * 500) for name, template in TEMPLATES.items()
    }
    rounds = [(a_round("voting", 1, reflection="why " * 500), 0.5)] * 3
    asked = asking(
        Reply.json({"reason": "x", "structure": "voting"}),
        lambda meta: lead(meta, "lead", TASK, LEADER, long, rounds=rounds),
        bounds=SMALL,
    )
    assert isinstance(asked.result, StructureChoice)
    assert all(f"- {name}: long" in asked.calls[0].text for name in NAMES)
    assert len(asked.calls[0].text) < 5_000
