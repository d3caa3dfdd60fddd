"""`when` and `each`: what loads and what does not, how both are written, compared and bounded."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.schema import Each, Team, When, dump, parse_team
from coterie.schema.edits import RemoveAgent, RenameAgent, SetParameter, diff, words
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.picture import FORMATS, draw

from ...support.problems import problems_of
from ..edited import leading, made
from ..strategies import CATALOGUE

FILE = """\
name: desk
agents:
  triage:
    prompt: Sort it.
    output_schema:
      type: object
      properties:
        kind: {type: string, enum: [bug, question]}
        score: {type: number}
        steps: {type: array, items: {type: string}}
  plain: {prompt: Answer it.}
  fixer: {prompt: Fix it.%s}
  tally: {agent_type: Function, function: concat}
  end: {prompt: End it.%s}
topology:
  reports_to: {triage: [fixer], plain: [fixer, tally], fixer: [end], tally: [end]}
execution: {%s}
"""


def loaded(fixer: str = "", end: str = "", execution: str = "") -> Team:
    parts = (f", {part}" if part else "" for part in (fixer, end))
    return parse_team((FILE % (*parts, execution)).encode(), "team.yaml", CATALOGUE)


def told(fixer: str = "", end: str = "", execution: str = "") -> list[str]:
    texts = problems_of(loaded, fixer, end, execution)
    return [name.removeprefix("team.yaml:").replace("error: agents.", "") for name in texts]


def test_a_team_says_when_its_agents_work_and_on_what() -> None:
    when = "when: {agent: triage, field: kind, in: [bug], at_most: 3}"
    with pytest.raises(Exception, match=r"triage\.kind is not a number, but of type string"):
        loaded(when)
    agent = loaded("when: {agent: triage, field: score, is: 1, at_least: 0.5}").agents["fixer"]
    assert agent.when == When(agent="triage", field="score", is_=1, at_least=0.5)
    assert str(agent.when) == "when triage.score is 1 and at least 0.5"
    agent = loaded("each: {agent: triage, field: steps}").agents["fixer"]
    assert agent.each == Each(agent="triage", field="steps", most=10)
    assert loaded("each: {field: files, most: 3}").agents["fixer"].each == Each(
        field="files", most=3
    )


@pytest.mark.parametrize(
    ("fixer", "message"),
    [
        ("when: {agent: triag, is: x}", "12:42: fixer.when.agent: no agent 'triag'."),
        ("when: {agent: end, is: x}", "12:42: fixer.when.agent: 'end' does not work before"),
        ("when: {agent: triage, field: kind}", "12:34: fixer.when: it has no test. Write"),
        ("when: {agent: triage, is: bug}",
         "12:34: fixer.when.field: 'triage' answers with an object. Name one of its"),
        ("when: {agent: triage, field: kin, is: bug}",
         "12:57: fixer.when.field: the answer of 'triage' has no field 'kin'. Did you"),
        ("when: {agent: plain, field: kind, is: bug}",
         "12:56: fixer.when.field: the answer of 'plain' has no field 'kind'. Give it an output_"),
        ("when: {agent: triage, field: kind, in: [bug, buk]}",
         "12:67: fixer.when.in: triage.kind is never 'buk'. It is one of bug, question."),
        ("when: {agent: triage, field: score, is: high}",
         "12:68: fixer.when.is: triage.score is never 'high'. It is of type number."),
        ("when: {agent: triage, field: score, is: true}", "12:68: fixer.when.is: triage.score is"),
        ("when: {agent: triage, field: kind, equals: bug}",
         "12:63: fixer.when.equals: not a field here. Write is."),
        ("reads: {end: {is: x}}", "12:36: fixer.reads.end: 'end' does not report to 'fixer'."),
        ("reads: {plan: {is: x}}", "12:36: fixer.reads.plan: no agent 'plan'."),
        ("reads: {triage: {field: kind, is: buk}}",
         "12:62: fixer.reads.triage.is: triage.kind is never 'buk'."),
        ("reads: {plain: {agent: triage, field:"
        " kind}}", "12:43: fixer.reads.plain: it has no test"),
        ("each: {agent: triage, field: kind}",
         "12:57: fixer.each.field: triage.kind is not a list. Give it type: array"),
        ("each: {agent: plain}", "12:34: fixer.each: plain is not a list."),
        ("each: {field: fils}", "12:42: fixer.each.field: 'fils' is not a list of a task."),
        ("each: {agent: triage, field: steps, most: 101}", "12:70: fixer.each.most: 101 is out of"),
        ("each: {field: files}, agent_type: DefaultAgent",
         "12:28: fixer.each: 'fixer' changes a repository. Leave it out."),
    ],
)  # fmt: skip
def test_what_can_never_hold_does_not_load(fixer: str, message: str) -> None:
    assert any(name.startswith(message) for name in told(fixer)), told(fixer)


def test_the_answer_is_never_left_out_and_a_list_is_tested_by_nobody() -> None:
    assert told(end="when: {agent: fixer, is: x}") == [
        "14:26: end.when: 'end', the output agent, always works. Leave it out."
    ]
    [problem] = told("each: {field: files}", "each: {agent: fixer, field: steps}")
    assert problem.endswith("'fixer' answers with a list. Leave out field.")
    assert loaded("each: {field: files}", "each: {agent: fixer}")


ROUTED = loaded("when: {agent: triage, field: kind, is: bug}, each: {agent: triage, field: steps}")
READS = loaded(
    "reads: {triage: {field: score, at_most: 0.8}, plain: {agent: triage, field: kind, is: bug}}"
)
PLAIN = loaded()
NUMBER = loaded("when: {agent: triage, field: score, at_least: 0.5}, each: {field: files, most: 2}")


@pytest.mark.parametrize("before", [ROUTED, PLAIN, NUMBER, READS])
@pytest.mark.parametrize("after", [ROUTED, PLAIN, NUMBER, READS])
def test_a_difference_of_terms_leads_from_one_team_to_the_other(before: Team, after: Team) -> None:
    edits = leading(before, after)
    assert {type(edit) for edit in edits} <= {SetParameter}
    assert parse_team(dump(after).encode(), "team.yaml", CATALOGUE) == after
    assert (before.content_hash == after.content_hash) == (before == after)


def test_words_say_when_an_agent_works_and_on_what() -> None:
    assert [*words(PLAIN, ROUTED)] == [
        "fixer: always -> when triage.kind is bug, once -> for each of triage.steps, at most 10"
    ]
    assert [*words(ROUTED, PLAIN)] == [
        "fixer: when triage.kind is bug -> always, for each of triage.steps, at most 10 -> once"
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_picture_says_when_an_agent_works_and_on_what(form: str) -> None:
    shown = " ".join(draw(ROUTED, form).split())
    assert "triage.kind" in shown
    assert "triage.steps" in shown
    assert "triage.kind" not in draw(PLAIN, form)


def test_terms_follow_an_agent_to_another_id_and_go_with_it() -> None:
    renamed = made(ROUTED, RenameAgent(agent="triage", id="sorter"))
    assert renamed.agents["fixer"].when == When(agent="sorter", field="kind", is_="bug")
    assert diff(ROUTED, renamed) == (RenameAgent(agent="triage", id="sorter"),)
    renamed = made(READS, RenameAgent(agent="triage", id="sorter"))
    assert renamed.agents["fixer"].reads == {
        "plain": When(agent="sorter", field="kind", is_="bug"),
        "sorter": When(field="score", at_most=0.8),
    }
    assert diff(READS, renamed) == (RenameAgent(agent="triage", id="sorter"),)
    without = made(READS, RemoveAgent(agent="triage"))
    assert without.agents["fixer"].reads == {}
    without = made(ROUTED, RemoveAgent(agent="triage"))
    assert (without.agents["fixer"].when, without.agents["fixer"].each) == (None, None)


def test_items_count_under_the_ceiling() -> None:
    ceiling = CapabilityPolicy.of(PLAIN, NUMBER)
    assert (CapabilityPolicy.of(PLAIN).items, ceiling.items) == (1, 2)
    assert [problem.message for problem in ceiling.problems(ROUTED)] == [
        "10 items; the ceiling allows 2."
    ]
    assert not replace(ceiling, items=None).problems(ROUTED)


@pytest.mark.parametrize(
    ("execution", "why"),
    [
        ("rounds: {most: 2, until: converged, meeting: fixer}", "'fixer' meets. Leave it out."),
        ("recruit: {by: fixer, among: [plain]}", "'fixer' recruits. Leave it out."),
    ],
)
def test_whoever_works_for_all_does_not_work_on_items(execution: str, why: str) -> None:
    assert any(why in name for name in told("each: {field: files}", execution=execution))


@pytest.mark.parametrize(
    ("when", "value", "holds"),
    [
        (When(agent="a", is_=True), True, True),
        (When(agent="a", is_=1), True, False),
        (When(agent="a", is_=1), 1.0, True),
        (When(agent="a", is_=False), None, False),
        (When(agent="a", at_least=1), " 2 ", True),
        (When(agent="a", at_least=1), "two", False),
        (When(agent="a", at_least=1), True, False),
        (When(agent="a", at_most=1), [1], False),
        (When(agent="a", at_most=1), "nan", False),
    ],
)
def test_a_condition_tells_values_apart(when: When, value: Any, holds: bool) -> None:
    assert when.holds(value) is holds
