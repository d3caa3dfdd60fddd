import re

import pytest

from coterie.schema import InputError
from coterie.schema.explain.explanation import explain, kind, outline
from coterie.schema.host.fields import DOCUMENTS, find, root, walk


def test_a_field_is_explained_in_full() -> None:
    assert explain("agents.w2.max_tokens") == (
        "agents.<id>.max_tokens\n"
        "\n"
        "The most tokens that the model may write in one answer.\n"
        "\n"
        "  type      integer, 1 to 1000000 tokens\n"
        "  default   4096\n"
        "  example   max_tokens: 4096\n"
    )


def test_an_object_shows_its_fields() -> None:
    assert explain("topology").endswith(
        "               every agent must lead to the output agent.\n"
        "  output       The agent whose output is the team's answer.\n"
    )


def test_a_collection_shows_the_fields_of_its_members() -> None:
    text = explain("agents")
    assert "\neach agents.<id>: One agent: a role, a model, a prompt and tools.\n  use " in text


def test_a_file_of_one_collection_shows_what_is_in_it() -> None:
    text = explain("models")
    assert "each models.<alias>: One model.\n  model * " in text
    assert text.endswith("  * must be written\n")


def test_a_field_that_must_be_written_says_so() -> None:
    assert "  default   none: it must be written\n" in explain("task.query")


def test_examples_stand_as_they_would_in_the_file() -> None:
    assert "  example   reports_to:\n              worker_1: [aggregator]\n" in explain(
        "topology.reports_to"
    )
    assert '  example   "query": "How many apples are left?"\n' in explain("task.query")
    assert '  example   {\n              "id": "apples_1",\n' in explain("task")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("execution.on_error", "one of fail, skip, degrade"),
        ("execution.timeout", "number, above 0 to 604800 seconds"),
        ("execution.parallel_workers", "true or false or integer, 1 to 1024 agents"),
        ("agents.temperature", "number, 0 to 2"),
        ("agents.role", "text, 1 to 200 characters"),
        ("description", "text, at most 65536 characters"),
        ("agents.tools", "list, at most 64 tools"),
        ("agents", "mapping, 1 to 256 agents"),
        ("agents.tools[]", "text, the name of a tool"),
        ("backend", "text, the name of a backend, for instance llm, function, person, smolagents,"
         " mini-swe-agent, swe-agent"),
        ("task.answer", "any value"),
        ("topology", "mapping"),
    ],
)  # fmt: skip
def test_kind_says_what_may_stand_there(path: str, expected: str) -> None:
    assert kind(find(path)) == expected


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_field_is_explained_on_lines_that_a_terminal_holds(document: str) -> None:
    for field in walk(root(document)):
        lines = explain(field.name).splitlines()
        assert lines[0] in {field.name, document, field.schema.get("x-as")}
        assert max(map(len, lines)) <= 100


def test_a_wrong_path_is_an_error_of_the_user() -> None:
    with pytest.raises(InputError) as caught:
        explain("agents.maxtokens")
    assert caught.value.exit_code == 2


def test_the_outline_has_every_file_and_fits_a_terminal() -> None:
    lines = outline().splitlines()
    tops = [line.split()[0] for line in lines if line and not line.startswith((" ", "*"))]
    assert tops == list(DOCUMENTS)
    assert max(map(len, lines)) <= 100
    assert any(
        re.match(r"      max_tokens +The most tokens that the model may write", line)
        for line in lines
    )
