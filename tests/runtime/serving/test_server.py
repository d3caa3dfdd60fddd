"""Who may ask a team server, how much it spends, and what becomes of requests that end early."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.serving.keys import Keys
from coterie.schema import HostTools, InputError

from .opened import PAIR, Opened, catalogue, opened, pair

ASKED: dict[str, Any] = {"model": "pair", "messages": [{"role": "user", "content": "3 + 4?"}]}
CHAT = "/v1/chat/completions"
KEY, OTHER = "k" * 20, "o" * 20
PRICED = {"usd_per_mtok_input": 1000.0, "usd_per_mtok_output": 1000.0}


def records(here: Path) -> list[Path]:
    return sorted((here / "runs").glob("*-pair-*"))


def status_of(record: Path) -> str:
    return json.loads((record / "result.json").read_text("utf-8"))["status"]


async def test_only_who_has_a_key_and_our_name_is_answered(
    here: Path, model: ScriptedModel
) -> None:
    async with opened(
        here, catalogue(model), keys=[KEY], origins=["https://ui.example"], largest=1000
    ) as at:

        async def status(path: str = CHAT, body: Any = None, **headers: str) -> int:
            asked = json.dumps(ASKED if body is None else body)
            return (await at.http.post(path, content=asked, headers=headers)).status_code

        assert await status() == 200
        for wrong in ("", "Bearer", f"Bearer {KEY}x", f"Basic {KEY}"):
            assert await status(authorization=wrong) == 401
        for path in ("/v1/responses", "/mcp", "/a2a/pair", "/v1/models", "/nothing"):
            assert await status(path, authorization="Bearer no") == 401
        assert await status(host="evil.example") == 403
        assert await status(origin="https://evil.example") == 403
        assert await status(origin="null") == 403
        assert await status(origin="https://ui.example") == 200
        assert await status(origin="http://localhost:3000") == 200
        assert await status(body={**ASKED, "padding": "x" * 1000}) == 413
        fields = {"role": "user", "content": f"Remember {KEY}."}
        assert await status(body={**ASKED, "messages": [fields]}) == 200
        health = await at.http.get("/healthz", headers={"authorization": ""})
        assert health.json() == {"status": "ok", "at_work": 0, "waiting": 0}
    assert len(records(here)) == 4
    files = [file.read_bytes() for file in (here / "runs").rglob("*") if file.is_file()]
    assert not any(KEY.encode() in content for content in files)


def test_keys_are_read_of_a_file_and_of_the_environment(here: Path) -> None:
    file = here / "keys"
    file.write_text(f"# the bot\n{KEY}\n\n", "utf-8")
    assert Keys.read(file, {"MAS_SERVE_KEYS": OTHER}).texts == {KEY, OTHER}
    for text, why in [("", "no key"), ("short", "at least 16")]:
        file.write_text(text, "utf-8")
        with pytest.raises(InputError, match=why):
            Keys.read(file, {})


BODIES = st.dictionaries(
    st.sampled_from(
        [
            *("messages", "input", "instructions", "n", "previous_response_id"),
            *("response_format", "stream", "text", "tools"),
        ]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "json_schema", "image_url", "file"]),
                inner | st.sampled_from(["user", "image_url", "file", "json_schema"]),
            )
        ),
        max_leaves=6,
    ),
)


async def test_whatever_is_sent_is_answered_or_refused(here: Path, model: ScriptedModel) -> None:
    loop = asyncio.get_running_loop()
    async with opened(here, catalogue(model)) as at:

        @given(body=BODIES, path=st.sampled_from([CHAT, "/v1/responses"]))
        def check(body: dict[str, Any], path: str) -> None:
            posting = at.http.post(path, json={"model": "pair", **body})
            response = asyncio.run_coroutine_threadsafe(posting, loop).result()
            assert response.status_code in {200, 400}

        await asyncio.to_thread(check)


async def test_a_request_ends_at_its_cap_and_a_day_at_its_own(here: Path) -> None:
    """A call costs about 0.1 USD at these prices; a reservation is far larger than that."""
    days = ["2026-11-26"]
    cheap = PAIR.replace('it."', 'it.", max_tokens: 10')
    with ScriptedModel("7") as model:

        async def asked(**caps: Any) -> tuple[int, str]:
            async with opened(here, known, pair(here, cheap), clock=lambda: days[-1], **caps) as at:
                response = await at.http.post(CHAT, json=ASKED)
            return response.status_code, response.text

        known = catalogue(model, **PRICED)
        status, text = await asked(usd=0.001)
        assert (status, len(model.calls)) == (429, 0)
        assert "insufficient_quota" in text
        assert "the request has reached its budget usd=0.001" in text
        assert (await asked(usd_per_day=1))[0] == 200
        spent = sum(
            json.loads((record / "result.json").read_text("utf-8"))["usage"]["usd"]
            for record in records(here)
        )
        # The server was started again, and knows what the day cost before.
        status, text = await asked(usd_per_day=spent)
        assert status == 429
        assert "this server, today, has reached its budget" in text
        days.append("2026-11-27")
        assert (await asked(usd_per_day=1))[0] == 200


async def test_an_unpriced_model_under_a_cap_must_be_allowed(
    here: Path, model: ScriptedModel
) -> None:
    with pytest.raises(InputError, match="price"):
        async with opened(here, catalogue(model), usd=1):
            pass
    async with opened(here, catalogue(model), usd=1, allow_unpriced=True) as at:
        assert (await at.http.post(CHAT, json=ASKED)).status_code == 200


async def test_who_finds_the_queue_full_is_told_when_to_come_again(here: Path) -> None:
    with ScriptedModel(Reply.fault("hang")) as model:
        async with opened(here, catalogue(model), at_once=1, waiting=1) as at:

            async def post() -> httpx.Response:
                return await at.http.post(CHAT, json=ASKED)

            first = [asyncio.create_task(post()) for _ in range(2)]
            await asyncio.to_thread(model.wait_for, bool)
            refused = await post()
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "5"
            for task in first:
                task.cancel()
            await asyncio.gather(*first, return_exceptions=True)


async def hung_up(at: Opened, model: ScriptedModel, body: dict[str, Any]) -> None:
    """Send a request, and hang up once a model is asked."""
    unsent = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> dict[str, Any]:
        if unsent:
            return unsent.pop()
        await asyncio.to_thread(model.wait_for, bool)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        del message

    headers = [(b"host", b"127.0.0.1"), (b"idempotency-key", b"once")]
    await at.app(
        {
            "type": "http", "method": "POST", "path": CHAT, "raw_path": CHAT.encode(),
            "query_string": b"", "headers": headers, "scheme": "http",
            "server": ("127.0.0.1", 80), "asgi": {"version": "3.0"},
        },
        receive,
        send,
    )  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_that_hangs_up_cancels_its_run_only(here: Path, streamed: bool) -> None:
    replies = {"[worker]": [Reply.fault("hang"), "maybe 7"], "[judge]": "It is 7."}
    with ScriptedModel(replies) as model:
        async with opened(here, catalogue(model)) as at:
            asked = {**ASKED, "stream": streamed}
            await hung_up(at, model, asked)
            (record,) = records(here)
            assert status_of(record) == "interrupted"
            health = (await at.http.get("/healthz")).json()
            assert (health["at_work"], health["waiting"]) == (0, 0)
            done = await at.http.post(CHAT, json=asked, headers={"idempotency-key": "once"})
            assert "It is 7." in done.text
            assert records(here) == [record]
            assert status_of(record) == "done"


async def test_a_key_answers_once_for_caller_and_request(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model), keys=[KEY, OTHER]) as at:

        async def asked(key: str, caller: str, body: Any) -> httpx.Response:
            headers = {"idempotency-key": key, "authorization": f"Bearer {caller}"}
            return await at.http.post(CHAT, json=body, headers=headers)

        first, second = await asyncio.gather(asked("a", KEY, ASKED), asked("a", KEY, ASKED))
        assert first.headers["x-run"] == second.headers["x-run"]
        assert first.json()["usage"] == second.json()["usage"]
        assert len(model.calls) == 2
        other = {**ASKED, "messages": [{"role": "user", "content": "5 + 5?"}]}
        reused = await asked("a", KEY, other)
        assert (reused.status_code, reused.json()["error"]["code"]) == (
            400,
            "idempotency_key_reused",
        )
        theirs = await asked("a", OTHER, ASKED)
        assert theirs.headers["x-run"] != first.headers["x-run"]


async def test_a_stopping_server_lets_requests_end_and_takes_no_new_ones(here: Path) -> None:
    with ScriptedModel(Reply.fault("hang")) as model:
        async with opened(here, catalogue(model)) as at:
            asked = asyncio.create_task(at.http.post(CHAT, json=ASKED))
            await asyncio.to_thread(model.wait_for, bool)
            assert not await at.server.stop(0)
            ended = await asked
            assert (ended.status_code, ended.json()["error"]["code"]) == (503, "stopping")
            assert status_of(records(here)[0]) == "interrupted"
            assert (await at.http.post(CHAT, json=ASKED)).status_code == 503
            assert (await at.http.get("/healthz")).status_code == 503


async def test_a_reload_changes_the_team_and_a_broken_file_keeps_it(here: Path) -> None:
    with ScriptedModel({"the new [judge]": "new", "[judge]": "old", "": "hm"}) as model:
        async with opened(here, catalogue(model)) as at:

            async def answer() -> str:
                response = await at.http.post(CHAT, json=ASKED)
                return response.json()["choices"][0]["message"]["content"]

            async def reload(text: str) -> list[str]:
                pair(here, text)
                wrong = await at.server.teams.reload(at.server.services)
                return [str(error) for error in wrong.values()]

            assert await answer() == "old"
            old = asyncio.create_task(answer())
            await asyncio.to_thread(model.wait_for, lambda calls: len(calls) > 2)
            assert await reload(PAIR.replace("You are [judge]", "You are the new [judge]")) == []
            assert await old == "old"
            assert await answer() == "new"
            (wrong,) = await reload(PAIR.replace("prompt:", "promt:", 1))
            assert "pair.yaml:5:12: error: " in wrong
            assert await answer() == "new"
            (wrong,) = await reload(PAIR.replace("name: pair", "name: other"))
            assert "is now called 'other'" in wrong


async def test_two_servers_do_not_share_a_folder_of_runs(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model)):
        with pytest.raises(InputError, match="another server works with this folder"):
            async with opened(here, catalogue(model)):
                pass


READER = """
name: pair
agents:
  reader: {agent_type: ToolCallingAgent, tools: [list_files], prompt: "Look."}
"""


async def first_question(at: Opened, asked: asyncio.Task[httpx.Response]) -> Any:
    """Wait until something waits for the client's answer."""
    while not asked.done():
        if waiting := (await at.http.get("/v1/questions")).json()["data"]:
            return waiting[0]
        await asyncio.sleep(0)
    raise AssertionError(asked.result().text)


@pytest.mark.parametrize("seconds", [0, 60])
async def test_a_call_to_approve_waits_for_the_client_or_is_denied(
    here: Path, seconds: int
) -> None:
    with ScriptedModel([Reply.tool("list_files"), Reply.tool("final_answer", answer="7")]) as model:
        known = catalogue(model).having(HostTools(permissions={"list_files": "ask"}))
        async with opened(here, known, pair(here, READER), keys=[KEY, OTHER]) as at:
            headers = {"coterie-answers": str(seconds)}
            asked = asyncio.create_task(at.http.post(CHAT, json=ASKED, headers=headers))
            if seconds:
                call = await first_question(at, asked)
                assert (call["agent"], call["tool"]) == ("reader", "list_files")
                theirs = {"authorization": f"Bearer {OTHER}"}
                place = f"/v1/questions/{call['id']}"
                for body, head, status in [
                    ({"allow": True}, theirs, 404),
                    ({"allow": "yes"}, {}, 400),
                    ({}, {}, 400),
                    ({"allow": True}, {}, 200),
                ]:
                    answered = await at.http.post(place, json=body, headers=head)
                    assert answered.status_code == status
            assert (await asked).status_code == 200
        events = (records(here)[0] / "events.jsonl").read_text("utf-8").splitlines()
        given = [item for item in map(json.loads, events) if item["type"] == "approval_given"]
        assert [item["allowed"] for item in given] == [bool(seconds)]


async def test_a_person_of_the_team_answers_through_the_client(
    here: Path, model: ScriptedModel
) -> None:
    person = PAIR.replace(
        'judge: {prompt: "You are [judge]. Decide it."}',
        "judge: {agent_type: Person, prompt: Decide it.}",
    )
    async with opened(here, catalogue(model), pair(here, person)) as at:
        headers = {"coterie-answers": "60"}
        asked = asyncio.create_task(at.http.post(CHAT, json=ASKED, headers=headers))
        question = await first_question(at, asked)
        assert "maybe 7" in question["question"]
        place = f"/v1/questions/{question['id']}"
        assert (await at.http.post(place, json={"allow": True})).status_code == 400
        assert (await at.http.post(place, json={"answer": "It is 7."})).status_code == 200
        content = (await asked).json()["choices"][0]["message"]["content"]
        assert content.strip() == "It is 7."
