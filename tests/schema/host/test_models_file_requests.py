"""What models.yaml says of a model's requests."""

from pathlib import Path

import pytest

from coterie.schema import load_models

from ...support.problems import problems_of


def written(tmp_path: Path, *lines: str) -> Path:
    file = tmp_path / "models.yaml"
    file.write_text("\n".join(["models:", "  a:", "    model: openai/m", *lines]) + "\n")
    return file


def test_what_is_said_of_requests_is_loaded(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "    effort: low",
        "    top_p: 0.9",
        "    body: {chat_template_kwargs: {enable_thinking: false}, plugins: [{id: web}]}",
        "    headers: {X-Title: coterie}",
        "    header_env: {Authorization: GATEWAY_TOKEN}",
        '    api_version: "2024-10-21"',
    )
    model = load_models(file)["a"]
    assert (model.effort, model.top_p, model.api_version) == ("low", 0.9, "2024-10-21")
    assert model.body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (model.headers, model.header_env) == (
        {"X-Title": "coterie"},
        {"Authorization": "GATEWAY_TOKEN"},
    )


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("    effort: lots", "4:13", "effort: 'lots' is not one of none, minimal, low, medium"),
        ("    thinking_tokens: 0", "4:22", "thinking_tokens: 0 is out of range (tokens, 1 to"),
        ("    top_p: 2", "4:12", "top_p: 2 is out of range (0 to 1)"),
        ("    body: {messages: []}", "4:12", "'messages' is not the name of a field that nothing"),
        ("    body: {temperature: 1}", "4:12", "'temperature' is not the name of a field"),
        ("    body: {n: 3}", "4:12", "several answers to one request (n) would cost more"),
        ("    headers: {Authorization: x}", "4:15", "is written under header_env"),
        ("    headers: {x-API-key: x}", "4:15", "is written under header_env"),
        ('    headers: {X-A: "a\\nb"}', "4:20", "is not a header: one line of ASCII"),
        ("    headers: {X-A: sk-0123456789abcdefGHIJ}", "4:20", "this looks like a secret key"),
        ("    header_env: {X-A: a-b}", "4:23", "'a-b' is not the name of an environment variable"),
        ("    header_env: {Host: A}", "4:18", "'Host' is not the name of a header that nobody"),
        ('    api_version: "1 2"', "4:18", "'1 2' is not a version"),
        ("    reasoning_effort: low", "4:5", "not a field here. Write effort."),
        ("    extra_body: {}", "4:5", "not a field here. Write body."),
        (
            "    effort: low\n    thinking_tokens: 9",
            "5:5",
            "thinking_tokens: cannot be combined with effort.",
        ),
        (
            "    headers: {X-A: a}\n    header_env: {x-a: A}",
            "5:18",
            "the header 'x-a' is under headers, too. Leave one of them out.",
        ),
    ],
)
def test_nonsense_is_told_by_its_place(tmp_path: Path, line: str, place: str, message: str) -> None:
    file = written(tmp_path, line)
    (problem,) = problems_of(load_models, file)
    assert problem.startswith(f"{file}:{place}: error: models.a.")
    assert message in problem
