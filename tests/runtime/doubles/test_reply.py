import json
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest

from coterie.runtime.doubles import FAULTS, Fault, Reply, ScriptedCall


def test_json_answers_with_a_document() -> None:
    assert json.loads(Reply.json({"answer": "é"}).text or "") == {"answer": "é"}


def test_code_stands_between_the_tags_of_a_code_agent() -> None:
    assert Reply.code("final_answer(6 * 7)").text == "<code>\nfinal_answer(6 * 7)\n</code>"


def test_a_tool_may_have_an_argument_called_name() -> None:
    reply = Reply.tool("greet", name="Ada")

    assert reply.tool_calls == (ScriptedCall(name="greet", arguments='{"name": "Ada"}'),)
    assert reply.finish_reason == "tool_calls"


def test_bash_is_the_tool_of_mini_swe_agent() -> None:
    assert Reply.bash("ls") == Reply.tool("bash", command="ls")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (429, "rate_limit_error"),
        (503, "server_error"),
    ],
)
def test_an_error_has_the_document_that_clients_read(status: int, kind: str) -> None:
    reply = Reply.error(status, code="why")

    assert json.loads(reply.body or "")["error"] == {
        "message": f"The script answers this call with status {status}.",
        "type": kind,
        "param": None,
        "code": "why",
    }


@pytest.mark.parametrize(
    ("retry_after", "header"),
    [
        (2, "2"),
        (10**9, "1000000000"),
        ("soon", "soon"),
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "Wed, 02 Jan 2030 03:04:05 GMT"),
        (
            datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
            "Wed, 02 Jan 2030 01:04:05 GMT",
        ),
    ],
)
def test_retry_after_takes_every_form(retry_after: int | str | datetime, header: str) -> None:
    assert Reply.error(429, retry_after=retry_after).headers == {"retry-after": header}


def test_every_fault_has_a_reply() -> None:
    assert set(get_args(Fault)) == set(FAULTS)
    assert all(Reply.fault(name) is FAULTS[name] for name in get_args(Fault))


def test_a_wrong_fault_names_the_right_ones() -> None:
    with pytest.raises(ValueError, match=r"no fault is named 'hangs'; use one of .*hang"):
        Reply.fault("hangs")  # pyright: ignore[reportArgumentType]


def test_a_reply_is_varied_without_changing_the_original() -> None:
    slow = Reply.fault("hang").replace(latency=2)

    assert slow.latency == 2
    assert Reply.fault("hang").latency == 0
