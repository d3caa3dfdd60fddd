"""The union of two ledgers: each operation once, in the order of either side, whoever asks."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.git.union import Contradiction, UnionSide, union_of, united
from coterie.pool.ledger.ledger import line_of
from coterie.pool.ledger.state import first_line
from coterie.schema.values.errors import StorageError

FOLDER = Path("pool")
IDENTITY, HASH = "0" * 32, "0" * 64


def side(*lines: tuple[str, dict[str, Any]], name: str = "one", shared: bool = True) -> UnionSide:
    begun = line_of(first_line(shared=shared), "pool")
    return UnionSide.of(name, begun + b"".join(line_of(value, op) for op, value in lines))


def born(name: str, *parents: str) -> tuple[str, dict[str, Any]]:
    lineage = {"operator": "mutate", "parents": list(parents)}
    value = {"kind": "born", "team": name, "identity": IDENTITY, "content_hash": HASH}
    return f"born {name}", {**value, "lineage": lineage}


def tried(op: str, name: str, score: float = 1) -> tuple[str, dict[str, Any]]:
    return op, {"kind": "evaluated", "team": name, "task": "t", "score": score}


def told(op: str) -> tuple[str, dict[str, Any]]:
    return op, {"kind": "told", "what": "x", "about": {}}


def ops(lines: Any) -> list[str]:
    return [line.op for line in lines]


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Two lists of operations that share some, in orders that may disagree."""
    common = [f"both {number}" for number in range(draw(st.integers(0, 5)))]
    textses: list[list[str]] = []
    for name in ("a", "b"):
        own = [f"{name} {number}" for number in range(draw(st.integers(0, 5)))]
        textses.append(draw(st.permutations([*common, *own])))
    return textses[0], textses[1]


@given(two_sides())
def test_each_operation_is_there_once_in_any_order(both: tuple[list[str], list[str]]) -> None:
    item, other = (side(*map(told, each), name=each[0] if each else "") for each in both)
    lines = united(item, other)
    assert b"".join(x.text for x in lines) == b"".join(x.text for x in united(other, item))
    assert sorted(ops(lines)) == sorted({"pool", *both[0], *both[1]})
    assert ops(united(UnionSide(name="", lines=tuple(lines)), item)) == ops(lines)


@st.composite
def branches(draw: st.DrawFn) -> tuple[list[bytes], dict[str, set[str]]]:
    """Three copies of a pool that went on and merged each other, and what each line came after."""
    sides = [side()] * 3
    seen: dict[str, set[str]] = {}
    for number in range(draw(st.integers(0, 15))):
        count, other = draw(st.permutations(range(3)))[:2]
        if draw(st.booleans()):
            sides[count] = UnionSide(name="", lines=tuple(united(sides[count], sides[other])))
            continue
        before = ops(sides[count].lines)
        op = draw(st.sampled_from((f"{number}", "import/a", "import/b")))
        if op not in before:
            seen.setdefault(op, set()).update(before if op not in seen else ())
            clock = 1 + max(line.entry.clock for line in sides[count].lines)
            text = b"".join(line.text for line in sides[count].lines)
            sides[count] = UnionSide.of("", text + line_of(told(op)[1], op, clock=clock))
    return [b"".join(line.text for line in each.lines) for each in sides], seen


@given(branches(), st.permutations(range(3)))
def test_copies_come_to_one_ledger_whoever_merges_whom_first(
    drawn: tuple[list[bytes], dict[str, set[str]]], order: list[int]
) -> None:
    def merged(data: bytes, other: bytes) -> bytes:
        return b"".join(x.text for x in united(UnionSide.of("", data), UnionSide.of("", other)))

    (a, b, c), seen = drawn
    ends = merged(merged(a, b), c)
    first, second, third = ((a, b, c)[place] for place in order)
    assert merged(merged(first, second), third) == ends
    assert merged(third, merged(second, first)) == ends
    assert merged(ends, first) == merged(ends, ends) == ends
    places = {op: number for number, op in enumerate(ops(UnionSide.of("", ends).lines))}
    for op, before in seen.items():
        assert op.startswith("import/") or all(places[x] < places[op] for x in before)


@given(two_sides())
def test_each_sides_own_lines_stay_in_order(both: tuple[list[str], list[str]]) -> None:
    places = {op: n for n, op in enumerate(ops(united(*(side(*map(told, x)) for x in both))))}
    for each, mark in zip(both, ("a ", "b "), strict=True):
        for number, op in enumerate(each):
            if op.startswith(mark):
                assert all(places[before] < places[op] for before in each[:number])


def test_what_the_side_says_that_went_on_further_comes_last() -> None:
    base = (born("vote"), told("base"))
    short, long = side(*base, told("z")), side(*base, told("a"), told("b"))
    for item, other in ((short, long), (long, short)):
        lines, notes = union_of(item, other, FOLDER)
        assert ops(lines) == ["pool", "born vote", "base", "a", "z", "b"]
        assert notes == ()


def test_lines_of_a_side_that_stand_too_early_are_put_in_order() -> None:
    early = side(tried("trial", "vote"), born("vote"))
    lines, _ = union_of(early, side(born("vote"), told("x")), FOLDER)
    assert ops(lines).index("born vote") < ops(lines).index("trial")


def test_a_pool_is_shared_if_either_side_says_so() -> None:
    item, other = side(told("a"), told("b"), shared=False), side(told("c"))
    for mine, theirs in ((item, other), (other, item)):
        lines, _ = union_of(mine, theirs, FOLDER)
        assert lines[0].entry.value == {"kind": "pool", "v": 2, "shared": True}
        assert ops(lines).count("pool") == 1
    alone, _ = union_of(item, side(told("c"), shared=False), FOLDER)
    assert "shared" not in alone[0].entry.value


def test_one_operation_that_says_two_things_names_both() -> None:
    item = side(born("vote"), tried("town/1", "vote", 1), tried("town/2", "vote"), name="A")
    other = side(born("vote"), tried("town/1", "vote", 0), tried("town/2", "vote", 0), name="B")
    with pytest.raises(Contradiction) as caught:
        union_of(item, other, FOLDER)
    text = str(caught.value)
    assert "'town/1' differs between A (line 3, evaluated vote on 't' with 1)" in text
    assert "and B (line 3, evaluated vote on 't' with 0)" in text
    assert "1 more operation" in text
    assert "mas-pool import" in text


def test_two_members_of_one_name_are_named_with_both_births() -> None:
    op, value = born("vote")
    item, other = side((op, value), name="A"), side((f"other {op}", value), name="B")
    with pytest.raises(Contradiction, match=r"two members are called 'vote'") as caught:
        union_of(item, other, FOLDER)
    assert "'born vote' in A (line 2, born vote)" in str(caught.value)
    assert "'other born vote' in B (line 2, born vote)" in str(caught.value)


def test_a_team_that_one_side_imported_and_the_other_had_a_twin_of_is_born_once() -> None:
    lineage = {"operator": "import"}
    twin = ("import/1", {"kind": "twin", "team": "vote", "lineage": lineage})
    birth = ("import/1", born("vote_abcdef")[1])
    item, other = side(born("vote"), twin, told("a")), side(born("vote"), birth, told("b"))
    result = [union_of(item, other, FOLDER)[0], union_of(other, item, FOLDER)[0]]
    assert result[0] == result[1]
    (line,) = [line for line in result[0] if line.op == "import/1"]
    assert line.entry.value["kind"] == "born"
    come = [("import/1", {"kind": "retired", "team": "vote", "reason": x}) for x in "ab"]
    item, other = (side(born("vote"), line) for line in come)
    assert ops(union_of(item, other, FOLDER)[0]) == ["pool", "born vote", "import/1"]
    item, other = (side(("import/1", born(name)[1])) for name in ("a", "b"))
    with pytest.raises(Contradiction):
        union_of(item, other, FOLDER)


def test_what_both_sides_revised_is_told_with_the_one_that_counts() -> None:
    agent = {"kind": "born", "agent": "ada", "value": {"prompt": "x"}}
    birth = ("ada", {**agent, "lineage": {"operator": "seed"}})
    revised = [(x, {"kind": "revised", "agent": "ada", "value": {"prompt": x}}) for x in "abc"]
    item = side(birth, revised[0], name="A")
    other = side(birth, *revised[1:], name="B")
    lines, (note,) = union_of(item, other, FOLDER)
    assert ops(lines)[-3:] == ["a", "b", "c"]
    assert "both sides revised the agent 'ada'. The operation 'c' of B now applies" in note
    heads = [(x, {"kind": "told", "what": "pool.head", "about": {"team": "vote"}}) for x in "ab"]
    item, other = (side(born("vote"), head) for head in heads)
    _, (note,) = union_of(item, other, FOLDER)
    assert "chose the head" in note


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[:-10] + b'00000000"}\n', "A: line 2: does not match its checksum"),
        (lambda text: line_of({}, "x").replace(b'"op"', b'"po"'), "line 2: does not match"),
        (lambda text: text + line_of({"kind": "told"}, "born vote"), "differs between A"),
    ],
)
def test_a_side_that_is_damaged_is_named(spoil: Any, message: str) -> None:
    begun = line_of(first_line(), "pool")
    _, value = born("vote")
    with pytest.raises((StorageError, Contradiction), match=message):
        UnionSide.of("A", begun + spoil(line_of(value, "born vote")))


def test_a_line_that_no_ledger_has_is_damage_of_its_side() -> None:
    fine, odd = side(told("x")), side(tried("trial", "nobody"), name="B")
    for item, other in ((fine, odd), (odd, fine)):
        with pytest.raises(StorageError, match=r"B: line 2: no team 'nobody' was born before"):
            union_of(item, other, FOLDER)
    old = UnionSide.of("old", line_of({"kind": "pool", "v": 1}, "pool"))
    with pytest.raises(StorageError, match="old: line 1: the pool has format 1"):
        union_of(old, old, FOLDER)


def test_the_unfinished_line_of_a_crash_counts_for_nothing() -> None:
    whole = line_of(first_line(), "pool") + line_of(told("x")[1], "x")
    assert ops(UnionSide.of("A", whole + b'{"op": "y"').lines) == ["pool", "x"]
    assert ops(UnionSide.of("A", whole + whole).lines) == ["pool", "x"]
