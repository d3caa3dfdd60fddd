import re
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, load_script
from coterie.schema import ConfigError, InputError


def load(folder: Path, text: str) -> Any:
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return load_script(path)


def test_a_text_is_the_only_answer(tmp_path: Path) -> None:
    assert load(tmp_path, '"42"') == Reply(text="42")


def test_a_list_keeps_its_order(tmp_path: Path) -> None:
    assert load(tmp_path, "[one, two]") == [Reply(text="one"), Reply(text="two")]


def test_a_mapping_has_phrases_and_patterns_in_its_order(tmp_path: Path) -> None:
    script = load(tmp_path, 'the judge: A\n/worker_\\d/: [B, C]\n"": D\n')

    assert script == {
        "the judge": Reply(text="A"),
        re.compile(r"worker_\d"): [Reply(text="B"), Reply(text="C")],
        "": Reply(text="D"),
    }
    assert next(iter(script)) == "the judge"


@pytest.mark.parametrize(
    ("written", "reply"),
    [
        ("text: hello", Reply(text="hello")),
        ("json: {answer: 42}", Reply.json({"answer": 42})),
        ("code: final_answer(42)", Reply.code("final_answer(42)")),
        ("bash: ls", Reply.bash("ls")),
        ("tool: {name: look}", Reply.tool("look")),
        (
            "tool: {name: final_answer, arguments: {answer: 42}}",
            Reply.tool("final_answer", answer=42),
        ),
        ("error: {status: 429, retry_after: 2}", Reply.error(429, retry_after=2)),
        ("error: {status: 400, code: odd}", Reply.error(400, code="odd")),
        ("fault: hang", Reply.fault("hang")),
        (
            "{fault: drip, interval: 0.5, latency: 1}",
            Reply.fault("drip").replace(interval=0.5, latency=1),
        ),
        (
            "{text: cut, finish_reason: length, usage: missing, headers: {x-run: a}}",
            Reply(text="cut", finish_reason="length", usage="missing", headers={"x-run": "a"}),
        ),
        ("{text: a, usage: {prompt_tokens: -1}}", Reply(text="a", usage={"prompt_tokens": -1})),
    ],
)
def test_every_reply_can_be_written(tmp_path: Path, written: str, reply: Reply) -> None:
    item = written if written.startswith("{") else f"{{{written}}}"

    assert load(tmp_path, f"- {item}") == [reply]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 42", "1:3: error: [0]: 42 is not text or a mapping. Write one of them."),
        ("a:\n  - no\n  - true", "3:5: error: a[1]: true is not text or a mapping."),
        ("- {}", "1:3: error: [0]: a reply has one of text, json, code, bash, tool, error, fault;"),
        ("- {text: a, code: b}", "1:3: error: [0]: a reply has one of"),
        ("- {text: 42}", "1:10: error: [0].text: 42 is not text."),
        ("- {text: a, latency: slow}", "[0].latency: 'slow' is not a number."),
        ("- {text: a, delay: 1}", "1:13: error: [0].delay: unknown field. Fields here: finish_r"),
        ("- {tool: look}", "[0].tool: 'look' is not a mapping."),
        ("- {tool: {arguments: {}}}", "[0].tool: name is missing."),
        ("- {error: {status: x}}", "[0].error.status: 'x' is not an integer."),
        ("- {error: {state: 429}}", "[0].error: status is missing."),
        ("- {fault: hangs}", "[0].fault: 'hangs' is not one of bad_tool_json,"),
        ("/(/: a", "'/(/': not a regular expression: "),
        ("a: [b", "error: not YAML"),
    ],
)
def test_a_wrong_script_says_where_and_why(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)

    assert problem in str(caught.value)


def test_all_problems_are_told_in_their_order(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "a: 1\nb: {fault: none}\nc: {text: 2, latncy: 3}\n")

    assert [problem.path for problem in caught.value.problems] == [
        "a",
        "b.fault",
        "c.text",
        "c.latncy",
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file "):
        load_script(tmp_path / "script.yaml")
