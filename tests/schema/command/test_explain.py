import json

import pytest
from jsonschema import Draft202012Validator

from coterie.schema.explain.reference import reference
from coterie.schema.host.fields import DOCUMENTS

from ...support.commands import mas, printed, refused


def test_a_path_is_explained() -> None:
    out = printed(mas("dev", "explain", "agents.w2.max_tokens"))
    assert out.endswith("  default   4096\n  example   max_tokens: 4096\n")


def test_without_a_path_there_is_the_whole_tree() -> None:
    done = mas("dev", "explain")
    assert done.stdout.startswith("team  ")
    assert done.stdout.endswith("\n* must be written\n")


def test_a_wrong_path_ends_with_2_and_what_may_be_meant() -> None:
    done = mas("dev", "explain", "agents.maxtokens")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == ("error: no field 'maxtokens' in agents. Did you mean 'max_tokens'?\n")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_schema_is_printed_for_editors(document: str) -> None:
    schema = json.loads(mas("dev", "explain", "--schema", document).stdout)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:coterie:{document}:1"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_page_is_printed_as_it_stands_in_docs(document: str) -> None:
    assert mas("dev", "explain", "--markdown", document).stdout == reference(document)


def test_two_wishes_at_once_are_refused() -> None:
    assert "give only one of PATH" in refused(mas("dev", "explain", "agents", "--schema", "team"))
