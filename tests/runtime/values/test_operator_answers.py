"""What became of operators' questions: counted, grouped by reason, and warned of."""

from coterie.runtime.values.operator_answers import (
    OperatorAnswers,
    OperatorTally,
    answer_warnings,
    summed_answers,
    useless_answers,
)


def dropped(operator: str, *problems: str, reason: str = "no valid answer.") -> dict[str, object]:
    return {"operator": operator, "reason": reason, "problems": [*problems]}


def tallied() -> OperatorTally:
    tally = OperatorTally()
    tally.take("model_call", {"operator": "coach"})
    tally.take("operator_repair", dropped("coach", "it is not JSON"))
    tally.take("operator_answered", {"operator": "coach"})
    for text in ("'I would'", '"it\'s"'):
        tally.take("operator_dropped", dropped("coach", f"it is not JSON: {text}", "more"))
    for number in range(4):
        tally.take("operator_dropped", dropped("mutate", reason=f"reason {number}."))
    tally.take("operator_dropped", dropped("judge", "x" * 500), judging=True)
    return tally


def test_reasons_are_grouped_without_what_answers_say() -> None:
    answers = tallied().answers
    assert answers["coach"] == OperatorAnswers(useful=1, useless={"it is not JSON: …": 2})
    assert answers["judge"].useless == {"x" * 100: 1}
    [coach, _, mutate] = useless_answers(answers)
    assert coach == "coach: 2 of 3 answers useless: it is not JSON: … (2)"
    assert mutate.endswith("useless: reason 0 (1); reason 1 (1); reason 2 (1); and 1 more")


def test_tallies_add_up() -> None:
    once, twice = tallied().answers, summed_answers([tallied().answers, tallied().answers])
    assert {name: own.questions for name, own in twice.items()} == {
        name: 2 * own.questions for name, own in once.items()
    }
    assert twice["judge"].judging


def test_a_warning_needs_that_nothing_was_of_use() -> None:
    answers = tallied().answers
    assert [*answer_warnings(answers)] == ["nothing was judged: judge had no answer of use."]
    fails = OperatorAnswers(useless={"so": 3})
    judge = OperatorAnswers(useful=1, judging=True)
    every = "every operator answer was useless: 3 of 3."
    assert [*answer_warnings({"coach": fails, "judge": judge})] == [every]
    assert [*answer_warnings({"judge": judge})] == []
    assert [*answer_warnings({})] == []
