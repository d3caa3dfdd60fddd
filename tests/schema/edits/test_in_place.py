"""A team's file that is rewritten in place says the team, and its diff is the edits alone."""

import difflib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from coterie.schema import ConfigError, Lineage, Team, dump, load_team, parse_team
from coterie.schema.edits import AddAgent, SetPrompt
from coterie.schema.edits.in_place import rewritten
from coterie.schema.team.rewriting import exactly
from coterie.schema.values.yaml_text import read_yaml

from ..edited import made
from ..strategies import CATALOGUE, fewer, teams
from .strategies import exact, relatives
from .test_applying import llm

TEXT = """\
# yaml-language-server: $schema=../team.schema.json
name: front_desk   # the one of the house
defaults:
  max_tokens: 60  # short
agents:
  reader:
    role: "reads"
    # Keep it short.
    prompt: |
      Say what the customer wants.
      Write dates as they come.
  clerk:
    prompt: clerk_prompt
    temperature: 0.0
topology: {reports_to: {reader: [clerk]}}
lineage:
  operator: seed
"""


def load(text: str, folder: Path | None = None) -> Team:
    if folder is None:
        return parse_team(text.encode(), "team.yaml", CATALOGUE)
    (folder / "team.yaml").write_text(text)
    return load_team(folder / "team.yaml", CATALOGUE)


def changed(team: Team, agent: str, **fields: Any) -> Team:
    agents = {**team.agents, agent: replace(team.agents[agent], **fields)}
    return replace(team, agents=agents)


def lines_that_differ(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(lines)[2:] if not line.startswith("@@")]


def commented(team: Team) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """A team's text with a comment and perhaps a blank line above each field; whose each is."""
    text = dump(team)
    fields = {place.line: path for path, place in read_yaml(text.encode(), "t")[0].keys.items()}
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if number in fields and line.lstrip(" ")[:2] != "- ":
            indentation = line[: len(line) - len(line.lstrip(" "))]
            lines += [""] * (number % 3 == 0 and "|+" not in text)
            lines.append(f"{indentation}# line {number}")
        lines.append(line)
    return "\n".join(lines), {f"# line {number}": path for number, path in fields.items()}


def is_there(path: tuple[Any, ...], text: str) -> bool:
    is_field = not any(isinstance(name, int) for name in path)
    return is_field and path in read_yaml(text.encode(), "t")[0].keys


@fewer(4)
@given(relatives())
def test_rewriting_loads_and_keeps_comments_of_fields_that_stay(drawn: tuple[Team, Team]) -> None:
    before, after = drawn
    text, fields = commented(before)
    assert exact(load(text)) == exact(before)
    assert rewritten(text, before, CATALOGUE) == text
    result = rewritten(text, after, CATALOGUE)
    there = load(result)
    assert exact(there) == exact(after)
    assert there.content_hash == after.content_hash
    assert there.lineage == before.lineage
    staying = {comment for comment, path in fields.items() if is_there(path, result)}
    staying &= {*re.findall(r"# line \d+$", text, re.MULTILINE)}
    assert staying <= {*re.findall(r"# line \d+$", result, re.MULTILINE)}


@fewer(4)
@given(teams())
def test_a_changed_line_of_a_prompt_is_a_changed_line_of_the_file(team: Team) -> None:
    agents = {
        item: agent if agent.function else replace(agent, prompt="Read it.\n\nSay it.\nEnd.\n")
        for item, agent in team.agents.items()
    }
    team = replace(team, agents=agents)
    agent = next((item for item in agents.values() if not item.function), None)
    if agent is None:
        return
    edited = made(team, SetPrompt(agent=agent.id, prompt="Read it.\n\nSay more.\nEnd.\n"))
    text, _ = commented(team)
    differing = lines_that_differ(text, rewritten(text, edited, CATALOGUE))
    assert [line[0] + line[1:].lstrip() for line in differing] == ["-Say it.", "+Say more."]


def test_defaults_prompt_files_and_the_lineage_of_the_file_stay(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/clerk_prompt.md").write_text("Choose the department.\n")
    team = load(TEXT, tmp_path)
    there = CATALOGUE.beside(tmp_path).prompt("clerk_prompt")
    assert there is not None
    child = changed(team, "reader", temperature=0.5, max_tokens=90)
    child = changed(child, "clerk", prompt=there, temperature=None, max_tokens=4096)
    child = replace(child, lineage=Lineage(operator="rewrite"))
    result = rewritten(TEXT, child, CATALOGUE, folder=tmp_path)
    assert lines_that_differ(TEXT, result) == [
        "+    max_tokens: 90",
        "+    temperature: 0.5",
        "-    temperature: 0.0",
        "+    max_tokens: 4096",
    ]
    now = load(result, tmp_path)
    assert now == changed(child, "clerk", prompt="clerk_prompt")
    assert now.lineage == team.lineage
    new = changed(team, "clerk", prompt="Choose.")
    assert lines_that_differ(TEXT, rewritten(TEXT, new, CATALOGUE, folder=tmp_path)) == [
        "-    prompt: clerk_prompt",
        "+    prompt: Choose.",
    ]


def test_a_new_agent_says_what_it_does_not_share() -> None:
    text = TEXT.replace("clerk_prompt", "Choose one.")
    team = load(text)
    edits = [
        AddAgent(agent=llm("a"), before="clerk", reports_to=("clerk",), receives_from=("reader",)),
        AddAgent(agent=replace(llm("b"), max_tokens=60), before="clerk", reports_to=("clerk",)),
    ]
    child = made(team, *edits)
    result = rewritten(text, child, CATALOGUE)
    assert exact(load(result)) == exact(child)
    assert "    max_tokens: 4096\n  b:\n" in result
    assert result.count("max_tokens") == 2
    assert "topology: {reports_to: {reader: [a, clerk], a: [clerk], b: [clerk]}}" in result


def test_an_agent_file_stays_and_what_changed_is_written_beside_it(tmp_path: Path) -> None:
    (tmp_path / "critic.yaml").write_text("prompt: Find the mistake.\nrole: critic\n")
    text = "name: t\nagents:\n  solver:\n    prompt: Solve it.\n  critic:\n    use: critic.yaml\n"
    text += "topology:\n  reports_to:\n    solver: [critic]\n"
    team = load(text, tmp_path)
    assert rewritten(text, team, CATALOGUE, folder=tmp_path) == text
    child = changed(team, "critic", prompt="Find two mistakes.")
    result = rewritten(text, child, CATALOGUE, folder=tmp_path)
    assert lines_that_differ(text, result) == ["+    prompt: Find two mistakes."]
    assert load(result, tmp_path) == child
    bare = changed(team, "critic", role="")  # which no file says
    result = rewritten(text, bare, CATALOGUE, folder=tmp_path)
    assert load(result, tmp_path) == bare
    with pytest.raises(ConfigError, match="beside a team file"):
        rewritten(text, team, CATALOGUE)


def test_a_file_in_another_form_is_written_anew_with_its_comments() -> None:
    text = '{"name": "t", "agents": {"a": {"prompt": "Go on."}}}  # all\n'
    team = load(text)
    child = changed(team, "a", max_tokens=5)
    assert rewritten(text, team, CATALOGUE) == text
    result = rewritten(text, child, CATALOGUE)
    assert exact(load(result)) == exact(child)
    assert "# all" in result


def test_a_byte_order_mark_stays() -> None:
    text = "\ufeff" + dump(load(TEXT.replace("clerk_prompt", "Choose one.")))
    team = load(text)
    assert rewritten(text, team, CATALOGUE) == text
    result = rewritten(text, replace(team, name="desk"), CATALOGUE)
    assert result == text.replace("name: front_desk", "name: desk")
    assert exactly(read_yaml(result.encode(), "t")[0].value["name"]) == '"desk"'
