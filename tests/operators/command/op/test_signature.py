"""The commands that are made from operators' parameters: the same is true of all of them."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.op.command import main as mas_op
from coterie.operators.command.op.signature import SCALES, command_of
from coterie.operators.core.operator import Operator, OperatorSetting, operator_of
from coterie.runtime.doubles import Replies, Reply
from coterie.schema.host.catalogue import installed
from coterie.schema.values.errors import InputError

from ....support.commands import invoked
from ...added_strategy import ADVISE
from ...consulting import doctors
from ...methods.meta_team.looking import model
from ..acting import (
    DIFFERENCE,
    IDEA,
    OPINION,
    RUN,
    TASKED,
    files,
    judgement,
    mas,
    noted,
    structured,
    voting,
)

PERSONA = structured(reason="it adds", title="sum expert", persona="You love sums.")
JUDGED = ("--judged", "judged.json")
DRY = "--dry-run"


@dataclass(frozen=True)
class Case:
    """What an operator is given, and what comes of it.

    Attributes:
        words: What a person says after its name.
        replies: What the model answers.
        out: What is printed, or the end of it.
        scale: What it works on.
        asks: Whether it asks a model.
    """

    words: tuple[str, ...]
    replies: Replies
    out: Any
    scale: str = "team"
    asks: bool = True


PROMPT = structured(
    reason="It guessed.", edits=[{"set_prompt": {"agent": "judge", "prompt": "Count."}}]
)
CASES: Mapping[str, Case] = {
    "appraise": Case(("ward_run",), doctors, None),
    "chance": Case(
        ("trio.yaml", "--component", "prompts", DRY), "", "reason: Drawn at random.\n", asks=False
    ),
    "coach": Case(
        ("trio.yaml", "solver", *RUN, *JUDGED, DRY),
        structured(wrong="You guessed.", plan="Count."),
        "reason: You guessed.\n",
        "agent",
    ),
    "consolidate": Case(
        ("pool", *TASKED, DRY), structured(summary="One will do."), "One will do.\n"
    ),
    "contributions": Case(("trio.yaml", *RUN), Reply.json(judgement()), judgement()),
    "crossover": Case(
        ("pair.yaml", "other.yaml", *TASKED, DRY),
        [
            structured(reason="either", topology="first"),
            structured(
                reason="it does",
                positions={"worker": "agent of second", "judge": "agent of first"},
            ),
        ],
        "worker: prompt You are [worker]. Solve it. -> You are [worker]. Solve this.\n"
        "reason: it does\n",
    ),
    "distil": Case(
        ("ward_run", "heart", "--judged", "scores.json"),
        doctors,
        "When: Two numbers, heart.\nDo: Add.\nWhy: It was right.\n",
        "agent",
    ),
    "dream_contrast": Case(
        ("trio.yaml", "solver", "writer", *RUN),
        structured(difference="It counted."),
        DIFFERENCE,
        "pair",
    ),
    "dream_crystallize": Case(
        ("--ideas", "ideas.json", "--opinions", "opinions.json", *TASKED),
        structured(
            insights=[{"strategy": 1, "text": "Count.", "level": "subdomain", "niche": "sums"}]
        ),
        [{"text": "Count.", "level": "subdomain", "niche": "sums", "of": DIFFERENCE}],
    ),
    "dream_debate": Case(
        ("trio.yaml", "planner", *RUN, "--ideas", "ideas.json"),
        structured(strategy_1={"reason": "too short", "keep": True}),
        OPINION,
        "agent",
    ),
    "dream_imagine": Case(
        ("difference.json", *TASKED),
        structured(ideas=[{"difference": 1, "strategy": "Count.", "niches": ["sums"]}]),
        [IDEA],
    ),
    "dream_reflect": Case(
        ("trio.yaml", "solver", *RUN), structured(diagnosis="A guess."), "A guess.\n", "agent"
    ),
    "enlist": Case(
        ("trio.yaml", *TASKED, DRY),
        structured(reason="it is a sum", agents=["solver", "verifier"], edges=[]),
        "reason: it is a sum\n",
        "roster",
    ),
    "fork": Case(("town", "ada"), PERSONA, "it adds\n", "roster"),
    "fuse": Case(
        ("Count.", "Count twice."), structured(text="Count, twice."), "Count, twice.\n", "agent"
    ),
    "genesis": Case(("town",), PERSONA, "it adds\n", "roster"),
    "instantiate": Case(
        ("pair.yaml", *TASKED, DRY), structured(reason="it fits", edits=[]), "reason: it fits\n"
    ),
    "lead": Case(
        ("town", "cyn", "ada", *TASKED),
        structured(reason="it helped", structure="debate"),
        "debate\n",
    ),
    "lead_review": Case(
        ("town", "VOTING", "--run", "vote_run"),
        structured(note="All said the same."),
        "All said the same.\n",
    ),
    "merge": Case(("town", "ben", "ada"), PERSONA, "", "roster"),
    "mutate": Case(
        ("pair.yaml", *TASKED, "--component", "prompts", DRY),
        PROMPT,
        "judge: prompt You are [judge]. Decide it. -> Count.\nreason: It guessed.\n",
    ),
    "prune": Case(
        ("town", "ben"),
        "",
        "ben: retired, pruned: asked for by a person (ben: it has not worked yet)\n",
        "roster",
        asks=False,
    ),
    "reflect": Case(
        ("trio.yaml", "solver", *RUN),
        structured(lesson="Count.", insight="Überlege."),
        {"lesson": "Count.", "insight": "Überlege."},
        "agent",
    ),
    "reorganise": Case(
        ("trio.yaml", *RUN, DRY, "--scheme", "centralised"), model(), "reason: Nothing follows.\n"
    ),
    "restructure": Case(
        ("trio.yaml", *RUN, *JUDGED, DRY),
        structured(reason="as it is", agents=[], edges=[]),
        "reason: as it is\n",
        "roster",
    ),
    "retrospect": Case(
        ("trio.yaml", "solver", *RUN, DRY),
        model({"notes": noted()}),
        "reason: I guessed.\n",
        "agent",
    ),
    "select": Case(
        ("pool", *TASKED, "-k", "1"), structured(reason="new", selected=["other"]), "other\n"
    ),
    "settle": Case(
        ("trio.yaml", "writer", "solver", *RUN, DRY),
        model({"profile": {"reason": "x", "profile": "Guesses.", "together": ""}}),
        "reason: solver and writer worked together.\n",
        "pair",
    ),
    "specialize": Case(("town", "ada"), PERSONA, "it adds\n", "agent"),
}
ASKING = [name for name, case in CASES.items() if case.asks]


def words_of(name: str) -> list[str]:
    return [name, *(voting() if word == "VOTING" else word for word in CASES[name].words)]


def test_every_operator_is_tried() -> None:
    assert {*CASES, "attribute"} == {*installed("operators")}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_acts_on_files_and_changes_none(shared_world: Path, name: str) -> None:
    case, before = CASES[name], files(shared_world)
    result = mas(*words_of(name), replies=case.replies).ended(0)
    if isinstance(case.out, str):
        assert result.out.endswith(case.out)
    elif case.out is not None:
        assert result.json == case.out
        assert "\\u" not in result.out
    assert bool(result.asked) == case.asks
    assert not any("sevenish" in call.text for call in result.asked)
    assert files(shared_world) == before
    assert operator_of(name).scale == case.scale


@pytest.mark.usefixtures("shared_world")
@pytest.mark.parametrize("name", sorted({*ASKING} - {"reorganise"}))
def test_an_answer_of_no_use_ends_with_1_and_its_problems(name: str) -> None:
    result = mas(*words_of(name), replies="no idea").ended(1)
    assert f"error: {name}: the model gave no valid answer, also after one repair." in result.err
    assert result.out == ""


@pytest.mark.usefixtures("shared_world")
@pytest.mark.parametrize("name", ASKING)
def test_a_model_that_is_not_there_is_2(name: str) -> None:
    result = mas(*words_of(name), "--meta-model", "gpt")
    assert (result.code, result.asked) == (2, [])
    assert "no model 'gpt'" in result.err


@pytest.mark.usefixtures("shared_world")
@pytest.mark.parametrize("name", CASES)
def test_an_operator_without_what_it_is_to_be_given_is_2(name: str) -> None:
    result = mas(name)
    assert (result.code, result.asked) == (2, [])
    assert "error: " in result.err.lower()


@pytest.mark.parametrize("name", CASES)
def test_each_says_what_it_does_and_what_it_is_given(name: str) -> None:
    result = mas(name, "--help")
    text = " ".join(result.out.split())
    assert operator_of(name).about.replace(" ", "") in text.replace(" ", "")
    head, scale, _ = text.partition(f"{SCALES[operator_of(name).scale]} ")
    assert scale
    for word, about in {
        "TEAM": "TEAM is a team file, or seed:NAME.",
        "AGENT": "AGENT is the id of one of its agents.",
        "POOL": "POOL is the folder of a pool.",
    }.items():
        assert (f" {word} " in head) == (about in text)


def test_the_list_has_the_first_sentence_of_each() -> None:
    listed = " ".join(invoked(mas_op, ["--help"], "mas dev op").out.split())
    for name in CASES:
        first = operator_of(name).about.partition(". ")[0].rstrip(".")
        assert f" {name} {first}." in listed


def given(operator: Operator, *words: str) -> str:
    """What the command of an operator printed that gives words."""
    result = invoked(command_of(operator), words, operator.name).ended(0)
    return result.out


async def counting(
    meta: Any,
    path: str,
    team: Any,
    *,
    most: int = 3,
    share: float = 0.5,
    loudly: bool = False,
    kinds: tuple[str, ...] = (),
    left: str = "as it is",
) -> Any:
    return [path, team.name, most, share, loudly, [*kinds], left]


COUNTING = Operator(
    name="counting",
    scale="team",
    act=counting,
    about="Count.",
    inputs={
        "most": OperatorSetting(about="How many.", least=1, most=9),
        "share": OperatorSetting(about="How much.", least=0, most=1),
        "loudly": OperatorSetting(about="Aloud."),
        "kinds": OperatorSetting(about="Which.", choices=("a", "b"), several=True, option="--kind"),
    },
    asks="nobody",
    gives="words",
)


@pytest.mark.usefixtures("shared_world")
def test_settings_are_options_of_the_types_and_with_the_defaults_of_parameters() -> None:
    assert json.loads(given(COUNTING, "trio.yaml")) == [
        "counting", "trio", 3, 0.5, False, [], "as it is",
    ]  # fmt: skip
    words = ("--most", "9", "--share", "1", "--loudly", "--kind", "b", "--kind", "a")
    assert json.loads(given(COUNTING, "trio.yaml", *words))[2:6] == [9, 1.0, True, ["b", "a"]]
    for wrong in (
        ("--most", "10"),
        ("--most", "x"),
        ("--share", "2"),
        ("--kind", "c"),
        ("--left", "x"),
    ):
        assert invoked(command_of(COUNTING), ("trio.yaml", *wrong), "counting").code == 2


@pytest.mark.usefixtures("shared_world")
def test_a_plugin_s_operator_has_a_command_without_code() -> None:
    words = ("pair.yaml", "judge", *TASKED, DRY)
    result = mas(*words, replies=structured(advice="Count."), command=command_of(ADVISE)).ended(0)
    assert "judge: coaching none -> Count." in result.out
    result = mas("pair.yaml", "jugde", *TASKED, command=command_of(ADVISE))
    assert (result.code, result.asked) == (2, [])
    assert "no agent 'jugde' in pair. Did you mean 'judge'?" in result.err


def test_a_parameter_that_nobody_can_fill_in_is_named() -> None:
    async def odd(meta: Any, path: str, moon: Any) -> Any: ...

    operator = Operator(name="odd", scale="team", act=odd, about="Odd.")
    with pytest.raises(InputError, match="odd: its parameter 'moon' is not an input of mas dev op"):
        command_of(operator)


def test_an_unimportable_operator_is_listed_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coterie.operators.methods.search.mutate", None)
    listed = invoked(mas_op, ["--help"], "mas dev op").ended(0)
    assert "mutate (coterie.operators.methods.search.mutate:MUTATE" in " ".join(listed.out.split())
    result = invoked(mas_op, ["mutate", "pair.yaml"], "mas dev op").ended(2)
    assert "cannot be imported" in result.err
