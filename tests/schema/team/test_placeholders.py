"""Placeholders in prompts: told as likely mistakes, and nothing that only has braces is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema.command import validate
from coterie.schema.team.placeholders import placeholders_in

from ...support.commands import printed, ran, refused

ROOT = Path(__file__).parents[3]
TEAM = """\
name: t
constitution: Be kind.
agents:
  one:
    prompt: |
      You write.
      Research {topic} well.
  two: {prompt: asks}
  three: {prompt: "Solve it. Answer with {\\"answer\\": 3}."}
topology: {reports_to: {one: [three], two: [three]}}
"""


@pytest.mark.parametrize(
    "text",
    [
        "Research {topic}.",
        "Topic: {topic}",
        "{{ query }}",
        "Answer {{question}} now",
        "{{- context | trim }}",
        "Use {task_input}, please.",
    ],
)
def test_a_placeholder_is_found(text: str) -> None:
    assert [line for line, _ in placeholders_in(f"First.\n{text}\n")] == [2]


@pytest.mark.parametrize(
    "text",
    [
        'Answer with {"answer": "x", "sure": true}.',
        'Answer with {"points": {"x": 1}}.',
        "{ }, {}, {1, 2}, {n}, {a, b}",
        r"\frac{numerator}{denominator} and \boxed{result} and x_{index} and x^{power}",
        "Write `{topic}` or `{{ topic }}`.",
        "```python\nprint(f'{topic}')\n```",
        "~~~\n{topic}\n",
        "import {useState} from 'react'",
        'f"{topic}"',
        "${HOME}",
        "Answer: {answer}",
        "{{{triple}}}",
        "function() {return}",
    ],
)
def test_what_only_has_braces_is_left_alone(text: str) -> None:
    assert [*placeholders_in(text)] == []


@given(st.text("{}ab`~\n \\|.-", max_size=300))
def test_any_text_is_read_to_its_end(text: str) -> None:
    lines = text.splitlines()
    for line, result in placeholders_in(text):
        assert result in lines[line - 1]


def test_a_likely_mistake_is_a_warning_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "asks.md").write_text("Ask.\n\nThe question: {{ query }}\n")
    file = tmp_path / "team.yaml"
    file.write_text(TEAM)
    done = ran(validate.main, str(file))
    assert (done.exit_code, done.stdout) == (0, "1 file: no problems.\n")
    first, second = done.stderr.splitlines()
    assert first.startswith(f"{file}:5:13: warning: agents.one.prompt: '{{topic}}' in line 2 of")
    assert "prompts are not templates" in first
    assert second.startswith(f"{file}:8:17: warning: agents.two.prompt: the prompt file asks.md: ")
    out = printed(ran(validate.main, str(file), "--format", "json"))
    assert out.count('"severity": "warning"') == 2
    as_github = ran(validate.main, str(file), "--format", "github")
    assert as_github.stdout.startswith("::warning file=")


def test_an_agent_file_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "writer.yaml").write_text('role: writer\nprompt: "Write on {topic}."\n')
    done = ran(validate.main, str(tmp_path / "writer.yaml"))
    assert done.exit_code == 0
    assert "writer.yaml:2:9: warning: prompt: '{topic}'" in done.stderr


def test_prompts_of_seeds_and_examples_have_no_such_mistake() -> None:
    for file in (*ROOT.glob("seeds/**/*.md"), *ROOT.glob("examples/**/*.yaml")):
        assert [*placeholders_in(file.read_text(encoding="utf-8"))] == [], file


def test_a_prompt_file_that_is_no_text_is_an_error_and_no_bug(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "asks.md").write_bytes(b"You are \xe5[")
    file = tmp_path / "team.yaml"
    file.write_text(TEAM)
    assert "UTF-8" in refused(ran(validate.main, str(file)))
