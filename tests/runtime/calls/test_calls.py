"""Model calls by their path: the journal answers first, then the cache, then the model."""

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Calls, Gateway, Journal
from coterie.runtime.calls.cache import Cache
from coterie.runtime.calls.calls import seed_of
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest
from coterie.schema import InputError, Model


def asked(model: ScriptedModel, *paths: str, text: str = "hi", **options: Any) -> list[ChatAnswer]:
    """Ask the scripted model once under each path; `folder` has a journal, `cache` a cache."""
    models = {"default": Model(alias="default", model="m", api_base=model.api_base)}
    folder, cache = options.pop("folder", None), options.pop("cache", None)
    events = options.pop("events", [])
    messages = options.pop("messages", [{"role": "user", "content": text}])
    sampling = options.pop("sampling", {})

    async def all_of_them(calls: Calls) -> list[ChatAnswer]:
        request = ChatRequest(model="default", messages=messages, **sampling)

        def tell(event: str, /, **fields: Any) -> None:
            events.append((event, fields))

        return [await calls.chat(path, request, tell, **options) for path in paths]

    async def until_done() -> list[ChatAnswer]:
        with ExitStack() as stack:
            calls = Calls(
                gateway=Gateway(models, seed=0),
                journal=stack.enter_context(Journal.open(folder)) if folder else None,
                cache=stack.enter_context(Cache.open(cache)) if cache else None,
                scrub=lambda text: text.replace("hunter2", "[secret]"),
            )
            async with calls.gateway:
                return await all_of_them(calls)

    return asyncio.run(until_done())


def test_the_journal_answers_before_the_model(tmp_path: Path) -> None:
    events: list[Any] = []
    with ScriptedModel([Reply(text="one", finish_reason="length"), "two"]) as model:
        (first,) = asked(model, "a/call 1", folder=tmp_path)
        (again,) = asked(model, "a/call 1", folder=tmp_path, events=events)
        (other,) = asked(model, "a/call 2", folder=tmp_path)
    assert (first.text, again, other.text) == ("one", first, "two")
    assert len(model.calls) == 2
    assert [(name, fields["source"]) for name, fields in events] == [("model_call", "journal")]


def test_what_a_model_refuses_is_told_kept_and_asked_for_only_once(tmp_path: Path) -> None:
    """An answer that is paid stays one, whatever was said otherwise to get it."""
    events: list[Any] = []
    refusal = Reply.error(400, message="'temperature' is not supported, says hunter2")
    with ScriptedModel([refusal, "one"]) as model:
        hot: dict[str, Any] = {"sampling": {"temperature": 0.5}, "folder": tmp_path}
        (first,) = asked(model, "a/call 1", events=events, **hot)
        (again,) = asked(model, "a/call 1", events=events, **hot)
        assert len(model.calls) == 2
    assert first.adapted == again.adapted == {"temperature": "left out"}
    assert [name for name, _ in events] == ["parameter_adapted", "model_call", "model_call"]
    report = events[0][1]
    assert (report["parameter"], report["asked"], report["instead"]) == (
        "temperature",
        "0.5",
        "left out",
    )
    assert "hunter2" not in report["words"]
    assert events[2][1]["adapted"] == {"temperature": "left out"}


def test_another_effort_is_another_question(tmp_path: Path) -> None:
    efforts = ({}, {"effort": "low"}, {"effort": "high"}, {"top_p": 0.5}, {"effort": "low"})
    with ScriptedModel(["1", "2", "3", "4"]) as model:
        texts = [asked(model, "a", cache=tmp_path, sampling=effort)[0].text for effort in efforts]
    assert texts == ["1", "2", "3", "4", "2"]


def test_a_failed_call_is_asked_again(tmp_path: Path) -> None:
    with ScriptedModel([Reply.error(401), "yes"]) as model:
        with pytest.raises(CallError):
            asked(model, "a/call 1", folder=tmp_path)
        assert asked(model, "a/call 1", folder=tmp_path)[0].text == "yes"


def test_the_cache_has_a_sample_for_each_time_that_the_same_is_asked(tmp_path: Path) -> None:
    with ScriptedModel(["1", "2", "3"]) as model:
        first = asked(model, "a", "b", cache=tmp_path)
        second = asked(model, "x", "y", "z", cache=tmp_path)
    assert [item.text for item in first] == ["1", "2"]
    assert [item.text for item in second] == ["1", "2", "3"]
    assert [item.usage.cached_calls for item in second] == [1, 1, 0]
    assert [item.usage.calls for item in second] == [0, 0, 1]
    assert sum(item.usage.tokens for item in second[:2]) == 0


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_resumed_run_gives_nobody_the_sample_that_another_has(tmp_path: Path, order: str) -> None:
    """Whoever is asked first: one voter is answered by the journal, and one is live."""
    places: dict[str, Any] = {"folder": tmp_path, "cache": tmp_path / "cache"}
    with ScriptedModel(["1", "2"]) as model:
        asked(model, "a", **places)
        again = asked(model, *order, **places)
        assert [one.text for one in again] == [{"a": "1", "b": "2"}[path] for path in order]
        assert [one.text for one in asked(model, "x", "y", cache=places["cache"])] == ["1", "2"]


def test_another_question_is_another_entry_of_the_cache(tmp_path: Path) -> None:
    with ScriptedModel(["1", "2"]) as model:
        texts = [asked(model, "a", cache=tmp_path, text=text)[0].text for text in ("p", "q", "p")]
    assert texts == ["1", "2", "1"]


def test_errors_are_never_cached(tmp_path: Path) -> None:
    with ScriptedModel([Reply.error(401), "yes"]) as model:
        with pytest.raises(CallError):
            asked(model, "a", cache=tmp_path)
        assert asked(model, "a", cache=tmp_path)[0].text == "yes"


def test_an_answer_from_the_journal_is_a_sample_too(tmp_path: Path) -> None:
    journal, cache = tmp_path / "run", tmp_path / "cache"
    journal.mkdir()
    with ScriptedModel(["1", "2"]) as model:
        asked(model, "a", folder=journal, cache=cache)
        resumed = asked(model, "a", "b", folder=journal, cache=cache)
    assert [item.text for item in resumed] == ["1", "2"]


def test_a_folder_that_is_no_cache_is_said(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_text("not a database, however long it may be" * 9)
    with pytest.raises(InputError, match="not a cache"):
        Cache.open(tmp_path)
    with pytest.raises(InputError, match="the cache cannot be created"):
        Cache.open(tmp_path / "answers.sqlite")


def test_the_hosts_secrets_do_not_come_back_from_a_model() -> None:
    with ScriptedModel("it is hunter2") as model:
        assert asked(model, "a")[0].text == "it is [secret]"


THOUGHT = json.dumps(
    {
        "choices": [
            {
                "message": {
                    "content": "so",
                    "reasoning_content": "hm, hunter2",
                    "tool_calls": [
                        {
                            "id": "1",
                            "function": {"name": "f", "arguments": "{}"},
                            "extra_content": {"google": {"thought_signature": "hunter2"}},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ]
    }
)


def test_thinking_is_journaled_cached_and_traced_without_secrets(tmp_path: Path) -> None:
    events: list[Any] = []
    options: dict[str, Any] = {"cache": tmp_path / "cache", "events": events}
    with ScriptedModel(Reply(body=THOUGHT)) as model:
        (first,) = asked(model, "a", folder=tmp_path, **options)
        (again,) = asked(model, "a", folder=tmp_path, **options)
        (other,) = asked(model, "b", **options)
    assert len(model.calls) == 1
    for answer in (first, again, other):
        assert (answer.text, answer.thinking) == ("so", "hm, [secret]")
        assert answer.kept == {"reasoning_content": "hm, [secret]", "kept_for": "m"}
        assert answer.tool_calls[0].extra == {
            "extra_content": {"google": {"thought_signature": "[secret]"}}
        }
    assert [fields["thinking"] for _, fields in events] == ["hm, [secret]"] * 3
    assert {str(fields["tool_calls"]) for _, fields in events} == {
        "[{'id': '1', 'name': 'f', 'arguments': '{}'}]"
    }


def test_what_is_given_back_of_thinking_is_not_traced_again() -> None:
    events: list[Any] = []
    back = {"role": "assistant", "content": "so", "reasoning_content": "hm", "kept_for": "m"}
    with ScriptedModel("yes") as model:
        asked(model, "a", events=events, messages=[{"role": "user", "content": "hi"}, back])
        sent = (model.calls[0].body or {})["messages"]
        assert sent[1] == {name: item for name, item in back.items() if name != "kept_for"}
    assert events[0][1]["messages"][1] == {"role": "assistant", "content": "so"}
    assert "thinking" not in events[0][1]


def test_thinking_without_end_is_cut_in_the_trace_only() -> None:
    events: list[Any] = []
    with ScriptedModel(f"<think>{'a' * 200_000}</think>so") as model:
        (answer,) = asked(model, "a", events=events)
    assert (answer.text, len(answer.thinking)) == ("so", 200_000)
    assert len(events[0][1]["thinking"]) <= 100_000


def test_a_conversation_that_is_too_long_is_trimmed_where_that_is_declared(tmp_path: Path) -> None:
    overflow = Reply.fault("context_overflow")
    events: list[Any] = []
    with ScriptedModel([overflow, overflow, "short enough"]) as model:
        with pytest.raises(CallError):
            asked(model, "a", text="x" * 9_000)
        options: dict[str, Any] = {"text": "x" * 9_000, "trim": True, "folder": tmp_path}
        (answer,) = asked(model, "a", events=events, **options)
        (again,) = asked(model, "a", events=events, **options)
    assert (answer.text, again.text) == ("short enough", "short enough")
    report = [fields["left_out"] for name, fields in events if name == "trimmed"]
    assert report == [4_500, 4_500]
    assert "4,500 characters left out" in str(model.calls[-1].body["messages"])


def test_seeds_follow_from_the_path() -> None:
    assert seed_of(None, "a") is None
    assert seed_of(1, "a") == seed_of(1, "a") != seed_of(1, "b")
    assert seed_of(2, "a") != seed_of(1, "a")
