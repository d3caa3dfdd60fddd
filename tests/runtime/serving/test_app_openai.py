"""The OpenAI API of served teams, as OpenAI's own client speaks it."""

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel

from .opened import Opened, catalogue, opened, pair

PNG = b"\x89PNG\r\n\x1a\n and so on"
ASK: Any = [{"role": "user", "content": "What is 3 + 4?"}]


async def test_a_chat_is_answered_by_a_recorded_run(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model)) as at:
        listed = [item.id async for item in at.openai.models.list()]
        assert listed == ["pair"]
        assert (await at.openai.models.retrieve("pair")).id == "pair"
        done = await at.openai.chat.completions.create(model="pair", messages=ASK)
    assert done.choices[0].message.content == "It is 7."
    assert done.choices[0].finish_reason == "stop"
    run = here / "runs" / (done.model_extra or {})["coterie"]["run"]
    result = json.loads((run / "result.json").read_text("utf-8"))
    assert (result["status"], result["answer"]) == ("done", "It is 7.")
    usage = result["usage"]
    assert done.usage is not None
    assert usage["calls"] == 2
    assert done.usage.prompt_tokens == usage["prompt_tokens"] > 0
    assert done.usage.total_tokens == usage["prompt_tokens"] + usage["completion_tokens"]


async def test_a_streamed_chat_shows_who_works_then_an_answer(
    here: Path, model: ScriptedModel
) -> None:
    async with opened(here, catalogue(model)) as at:
        stream = await at.openai.chat.completions.create(
            model="pair", messages=ASK, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "It is 7."
    shown = "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas)
    lines = ["worker works", "worker is done", "judge works", "judge is done"]
    assert shown.splitlines() == lines
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 0


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_response_may_be_streamed(here: Path, model: ScriptedModel, streamed: bool) -> None:
    async with opened(here, catalogue(model)) as at:
        asked: dict[str, Any] = {"model": "pair", "input": "What is 3 + 4?"}
        if streamed:
            async with at.openai.responses.stream(**asked) as stream:
                kinds = [event.type async for event in stream]
                done: Any = await stream.get_final_response()
            assert kinds[0] == "response.created"
            assert "response.reasoning_summary_text.delta" in kinds
            assert kinds[-1] == "response.completed"
        else:
            done = await at.openai.responses.create(**asked)
    assert done.output_text == "It is 7."
    assert done.status == "completed"
    assert done.usage.input_tokens > 0


async def test_a_conversation_and_its_files_become_the_task(here: Path) -> None:
    def data(content: bytes) -> str:
        return f"data:application/octet-stream;base64,{base64.b64encode(content).decode()}"

    question: list[dict[str, Any]] = [
        {"type": "text", "text": "And now?"},
        {"type": "file", "file": {"filename": "notes.txt", "file_data": data(b"It rains.")}},
        {"type": "image_url", "image_url": {"url": data(PNG)}},
    ]
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it dry?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": question},
    ]
    with ScriptedModel("wet") as model:
        async with opened(here, catalogue(model, inputs=("image",))) as at:
            await at.openai.chat.completions.create(model="pair", messages=messages)
    (run,) = (here / "runs").glob("*-pair-*")
    task = json.loads((run / "task.json").read_text("utf-8"))
    assert task["query"] == "And now?"
    assert task["context"].endswith("Be brief.")
    assert re.search(
        r"<asked \S+>\nIs it dry\?\n</asked \S+>\n<answered \S+>\nYes\.", task["context"]
    )
    assert task["files"]["notes.txt"] == "It rains."
    (image,) = (run / "files").iterdir()
    assert image.read_bytes() == PNG


def said(*parts: Any, role: str = "user") -> dict[str, Any]:
    """A request whose last message has these parts."""
    return {"messages": [{"role": role, "content": [*parts]}]}


def a_file(data: str) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data}}


TEXT = {"type": "text", "text": "See this."}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n": 2}, "one answer"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "their own tools"),
    ({"response_format": {"type": "json_object"}}, "output_schema"),
    ({"messages": []}, "a list of messages"),
    (said(TEXT, role="assistant"), "the last message"),
    (said(TEXT, role="tool"), "the role 'tool'"),
    (said({"type": "text", "text": " "}), "no text"),
    (said(TEXT, IMAGE), "URLs are not fetched"),
    (said(TEXT, {"type": "input_audio"}), "'input_audio' are not supported"),
    (said(TEXT, a_file("no base64!")), "not valid base64"),
    (said(TEXT, a_file(base64.b64encode(b"\xff\xfe").decode())), "neither UTF-8 text"),
    (said(TEXT, a_file("AAAA" * (4 << 20))), "the limit is"),
    (said(TEXT, a_file(base64.b64encode(PNG).decode())), "no agent in pair can read"),
]


async def test_what_no_team_can_do_is_refused_before_spending(
    here: Path, model: ScriptedModel
) -> None:
    import openai

    async with opened(here, catalogue(model)) as at:
        for fields, why in REFUSED:
            asked: dict[str, Any] = {"model": "pair", "messages": ASK, **fields}
            with pytest.raises(openai.BadRequestError, match=why):
                await at.openai.chat.completions.create(**asked)
        for content, why in [(b"{", "not JSON"), (b"[]", "not a JSON object")]:
            response = await at.http.post("/v1/responses", content=content)
            assert response.status_code == 400
            assert why in response.json()["error"]["message"]
        for path, status in [("/v1/embeddings", 404), ("/v1/models", 405)]:
            response = await at.http.post(path)
            assert (response.status_code, response.json()["error"]["param"]) == (status, None)
    assert not model.calls
    assert not [*(here / "runs").glob("*-pair-*")]


async def test_a_response_is_continued_by_its_client_later(
    here: Path, model: ScriptedModel
) -> None:
    import openai

    keys = ["k" * 16, "o" * 16]

    async def asked(at: Opened, query: str, *, key: str = keys[0], **fields: Any) -> Any:
        client = at.openai.with_options(default_headers={"Authorization": f"Bearer {key}"})
        return await client.responses.create(model="pair", input=query, **fields)

    async with opened(here, catalogue(model), keys=keys) as at:
        first = await asked(at, "What is 3 + 4?", instructions="Be brief.")
    async with opened(here, catalogue(model), keys=keys) as at:
        second = await asked(at, "And twice that?", previous_response_id=first.id)
        third = await asked(at, "Sure?", previous_response_id=second.id, store=False)
        for fields in (
            {"previous_response_id": third.id},
            {"previous_response_id": "resp_0"},
            {"previous_response_id": first.id, "key": keys[1]},
        ):
            with pytest.raises(openai.BadRequestError, match="no response"):
                await asked(at, "Hm?", **fields)
    run = here / "runs" / third.coterie["run"]
    task = json.loads((run / "task.json").read_text("utf-8"))
    assert task["query"] == "Sure?"
    turns = re.findall(r"<asked \S+>\n(.*)", task["context"])
    assert turns == ["What is 3 + 4?", "And twice that?"]


async def test_files_of_one_name_are_all_kept(here: Path, model: ScriptedModel) -> None:
    def note(text: str) -> dict[str, Any]:
        data = base64.b64encode(text.encode()).decode()
        return {"type": "input_file", "filename": "../a/note.txt", "file_data": data}

    async with opened(here, catalogue(model)) as at:
        parts: Any = [{"type": "input_text", "text": "Go."}, note("one"), note("two")]
        first: Any = [{"type": "input_text", "text": "Hi"}, note("0")]
        talk: Any = [{"role": "user", "content": said} for said in (first, parts)]
        await at.openai.responses.create(model="pair", instructions="Be brief.", input=talk)
    (run,) = (here / "runs").glob("*-pair-*")
    task = json.loads((run / "task.json").read_text("utf-8"))
    assert sorted(task["files"].values()) == ["0", "one", "two"]
    assert not any("/" in name for name in task["files"])


async def test_an_unknown_team_is_named_with_those_there(here: Path, model: ScriptedModel) -> None:
    import openai

    async with opened(here, catalogue(model)) as at:
        with pytest.raises(openai.NotFoundError, match="Did you mean 'pair'"):
            await at.openai.chat.completions.create(model="pear", messages=ASK)
        with pytest.raises(openai.NotFoundError):
            await at.openai.responses.create(model="pear", input="x", stream=True)


async def test_a_form_that_the_team_has_is_answered_in(here: Path) -> None:
    import openai

    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    fields = {"prompt": "Answer.", "output_schema": schema}
    team = json.dumps({"name": "form", "agents": {"one": fields}})
    with ScriptedModel(Reply.json({"answer": "7"})) as model:
        async with opened(here, catalogue(model), pair(here, team)) as at:

            def form(schema: dict[str, Any]) -> Any:
                return {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}

            async def asked(form: Any) -> str | None:
                done = await at.openai.chat.completions.create(
                    model="form", messages=ASK, response_format=form
                )
                return done.choices[0].message.content

            assert json.loads(await asked(form(schema)) or "") == {"answer": "7"}
            assert json.loads(await asked({"type": "json_object"}) or "") == {"answer": "7"}
            with pytest.raises(openai.BadRequestError, match="has another one"):
                await asked(form({**schema, "required": []}))


async def test_a_team_that_fails_says_why_and_is_not_asked_again_by_itself(here: Path) -> None:
    import openai

    with ScriptedModel({"[worker]": Reply.error(400, message="no such thing")}) as model:
        async with opened(here, catalogue(model)) as at:
            with pytest.raises(openai.APIStatusError) as failed:
                await at.openai.chat.completions.create(model="pair", messages=ASK)
            assert failed.value.status_code == 503
            assert "worker" in failed.value.message
            assert failed.value.response.headers["x-should-retry"] == "false"
            stream = await at.openai.chat.completions.create(
                model="pair", messages=ASK, stream=True
            )
            with pytest.raises(openai.APIError, match="worker"):
                _ = [chunk async for chunk in stream]


async def test_hundreds_at_once_are_all_answered(
    here: Path, model: ScriptedModel, nightly: bool
) -> None:
    many = 200 if nightly else 20
    alone = 'name: alone\nagents:\n  judge: {prompt: "You are [judge]."}\n'
    async with opened(here, catalogue(model), pair(here, alone), at_once=16) as at:

        async def one(number: int) -> str | None:
            asked: Any = [{"role": "user", "content": f"What is {number} - 1?"}]
            done = await at.openai.chat.completions.create(model="alone", messages=asked)
            return done.choices[0].message.content

        answers = await asyncio.gather(*map(one, range(many)))
    assert answers == ["It is 7."] * many
    assert len(model.calls) == many
    assert len([*(here / "runs").glob("*-alone-*/result.json")]) == many
