"""Whatever a file holds: a value or problems, never another exception, and soon."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import ConfigError, dump, parse_team
from coterie.schema.loading.loading import check_team, parse_task, shape_only
from coterie.schema.team.writing import canonical
from coterie.schema.values.yaml_text import read_yaml

from ..strategies import CATALOGUE, teams

SIGNS = st.text(
    "\n\n  -:#?\t'\"|>{}[],&*!%@`~\\.\r\x85\ufeff" + "ab01eE+_é漢\x00\x1b", max_size=120
)
ANY_BYTES = st.binary(max_size=200) | SIGNS.map(str.encode)


@st.composite
def torn(draw: st.DrawFn) -> bytes:
    """A team file with some bytes replaced by others."""
    content = dump(draw(teams())).encode()
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(start + 40, len(content))))
    return content[:start] + draw(ANY_BYTES) + content[end:]


@given(ANY_BYTES | torn())
def test_any_bytes_are_a_team_or_problems_with_places(content: bytes) -> None:
    _, problems = check_team(content, "team.yaml", CATALOGUE)
    lines = content.count(b"\n") + content.count(b"\r") + content.count(b"\xc2\x85") + 2
    lines += content.count(b"\xe2\x80\xa8") + content.count(b"\xe2\x80\xa9")
    assert all(1 <= problem.place.line <= lines for problem in problems)
    assert all("\n" not in str(problem) for problem in problems)
    assert problems == sorted(problems)


@given(torn())
def test_what_loads_can_be_put_into_canonical_form_and_loads_as_the_same(content: bytes) -> None:
    document, problems = shape_only(*read_yaml(content, "team.yaml"), "team")
    if problems or check_team(content, "team.yaml", CATALOGUE)[1]:
        return
    text = canonical(document, content.decode("utf-8-sig"))
    assert parse_team(text.encode(), "t", CATALOGUE) == parse_team(content, "t", CATALOGUE)


@given(ANY_BYTES, st.sampled_from(["task.json", "task.yaml"]))
def test_any_bytes_are_a_task_or_problems(content: bytes, name: str) -> None:
    try:
        parse_task(content, name, Path("/nowhere"), CATALOGUE)
    except ConfigError as error:
        assert error.problems  # noqa: PT017 - that there are some is all that is asked


FEW = 'name: t\nagents: {a: {prompt: "Be brief."}}\n'


def chain(agents: int) -> str:
    """A team in which every agent reports to all that come after it."""
    members = "".join(f'  a{i}: {{prompt: "Be brief."}}\n' for i in range(agents))
    edges = "".join(
        f"    a{i}: [{', '.join(f'a{j}' for j in range(i + 1, agents))}]\n"
        for i in range(agents - 1)
    )
    return f"name: t\nagents:\n{members}topology:\n  reports_to:\n{edges}"


COSTLY: dict[str, Callable[[], str]] = {
    "aliases of aliases": lambda: "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10) if i else 'x'}]\n" for i in range(30)
    ),
    "open brackets": lambda: "[" * 1_000_000,
    "open braces": lambda: "{a: " * 250_000,
    "keys of keys": lambda: "? " * 500_000,
    "lists in lists": lambda: "- " * 500_000,
    "an endless quote": lambda: 'a: "' + "x" * 1_000_000,
    "an endless block": lambda: "a: |\n" + "  x\n" * 250_000,
    "empty lines": lambda: "\n" * 1_000_000 + "a",
    "comments": lambda: "# x\n" * 250_000 + FEW,
    "many values": lambda: f"{FEW}x: [{'a, ' * 300_000}]",
    "many unknown fields": lambda: FEW + "".join(f"k{i}: 1\n" for i in range(4_000)),
    "many duplicates": lambda: FEW + "k: 1\n" * 4_000,
    "many tools of many kinds": lambda: (
        FEW + f"b: {{tools: [{', '.join(f'{i}, t{i}' for i in range(4_000))}]}}"
    ),
    "a list of many repeated names": lambda: (
        f"{FEW}topology: {{reports_to: {{a: [{', '.join(['a'] * 4_000)}]}}}}"
    ),
    "a prompt of slashes": lambda: FEW.replace("Be brief.", "/" * 60_000 + " x"),
    "a name of hyphens": lambda: FEW.replace("name: t", f"name: {'-a' * 30_000}"),
    "half a private key": lambda: FEW.replace("Be brief.", "-----BEGIN A " * 4_000),
    "an endless key": lambda: FEW.replace("Be brief.", "sk-" * 20_000),
    "a dense graph": lambda: chain(120),
}


@pytest.mark.parametrize("name", COSTLY)
def test_the_check_of_no_file_goes_on_and_on(name: str) -> None:
    content = COSTLY[name]().encode()[: 1 << 20]
    check_team(content, "team.yaml", CATALOGUE)
