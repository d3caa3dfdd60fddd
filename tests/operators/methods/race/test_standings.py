"""Standings: what is believed follows from scores, beside others in the same slots."""

import random
from collections.abc import Sequence

from coterie.operators.methods.race.standings import Contender, Standings
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Team

TEAM = Team(name="solo", agents={"one": Agent(id="one", prompt="Answer.")})


def standings(*scores: Sequence[float | None], tokens: Sequence[int] = ()) -> Standings:
    candidates = [
        Contender(
            number=number,
            team=TEAM,
            parent=0 if number else None,
            kind="hypothesis" if number else "",
            scores=[*own],
            usage=Usage(prompt_tokens=tokens[number] if tokens else 0),
        )
        for number, own in enumerate(scores)
    ]
    result = Standings(candidates=candidates)
    result.refresh()
    return result


def test_more_runs_are_believed_more() -> None:
    result = standings([0.0, 1.0] * 20, [1.0], [1.0] * 20)
    once, often = (result.belief(candidate) for candidate in result.candidates[1:])
    assert once.mean < often.mean
    assert once.spread > often.spread
    assert result.leader.number == 2


def test_a_proposal_that_was_not_tried_is_expected_to_do_harm() -> None:
    result = standings([0.5] * 20, [])
    original, child = (result.belief(candidate) for candidate in result.candidates)
    assert child.mean < original.mean < child.mean + 2 * child.spread


def test_who_ran_on_hard_tasks_alone_is_not_thought_worse() -> None:
    chance = random.Random(1)
    easy = [chance.random() < 0.5 for _ in range(40)]
    levels = [0.9 if is_easy else 0.1 for is_easy in easy]
    noisy = [[level + chance.gauss(0, 0.02) for level in levels] for _ in range(4)]
    hard_first = sorted(range(40), key=lambda slot: easy[slot])
    full = [[scores[slot] for slot in hard_first] for scores in noisy]
    result = standings(*full[:3], full[3][:8])  # the last one ran on hard tasks only
    assert result.candidates[3].mean < 0.2
    assert (
        abs(result.belief(result.candidates[3]).mean - result.belief(result.candidates[0]).mean)
        < 0.1
    )


def test_of_equal_candidates_the_cheaper_leads() -> None:
    assert standings([1.0] * 9, [], [1.0] * 9, tokens=[900, 0, 90]).leader.number == 0
    result = standings([0.2] * 30, [1.0] * 30, [1.0] * 30, tokens=[9, 900, 90])
    assert result.leader.number == 2


def test_proposals_change_who_seems_to_gain() -> None:
    result = standings([0.2] * 20, [0.2] * 20, [1.0] * 20)
    bases = [result.base(candidate).number for candidate in result.candidates]
    assert bases == [0, 0, 2]


def test_kinds_that_gained_are_expected_to_gain() -> None:
    result = standings([0.2] * 20, [1.0] * 20)
    assert result.gain(["hypothesis"]).mean > result.gain(["vote"]).mean
    assert result.gain(["hypothesis"]).spread < result.gain(["vote"]).spread


def test_unknown_scores_count_nowhere() -> None:
    known, unknown = standings([0.5, 0.7]), standings([0.5, 0.7, None])
    assert known.belief(known.leader) == unknown.belief(unknown.leader)


def test_steps_that_gain_nothing_are_left_out_in_the_end() -> None:
    chance = random.Random(1)

    def drawn(mean: float) -> list[float]:
        return [float(chance.random() < mean) for _ in range(40)]

    result = standings(drawn(0.2), drawn(0.8), [])
    result.candidates[2].parent = 1
    result.candidates[2].scores = [*result.candidates[1].scores[::-1]]
    result.refresh()
    assert result.finalist.number == 1
    result.candidates[2].scores = [1.0] * 40
    result.refresh()
    assert (result.leader.number, result.finalist.number) == (2, 2)


def test_a_run_tells_of_all_candidates_that_share_a_step() -> None:
    result = standings([0.4] * 20, [0.8] * 20, [0.8] * 20, [])
    result.candidates[3].parent, result.candidates[3].partner = 1, 2
    result.refresh()
    merge, better = (result.belief(result.candidates[number]) for number in (3, 1))
    assert merge.mean > better.mean + 0.2  # both gains, before it ever ran
    result.candidates[3].scores = [0.2] * 40
    result.refresh()
    assert result.belief(result.candidates[1]).mean < better.mean
    assert result.leader.number in {1, 2}
