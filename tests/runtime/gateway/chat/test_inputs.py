"""What models see besides text: which take it, its form on each API, and what it counts as."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.gateway import CallError, ChatRequest, Gateway
from coterie.runtime.gateway.chat.inputs import inputs_of, most_tokens, with_attachments
from coterie.runtime.values.budget import Budget
from coterie.schema.host.models import Model
from coterie.schema.values.attachments import Attachment
from studies.doubles import ANTHROPIC, DEEPSEEK, OPENAI, OPENAI_RESPONSES, Provider, Said
from studies.providers.shown import PDF, PNG
from studies.providers.trial import trial


def seen(content: bytes) -> Attachment:
    attachment = Attachment.of(content)
    assert attachment is not None
    return attachment


SHOWN = {"plots/a.png": seen(PNG), "b.pdf": seen(PDF)}
IMAGE, DOCUMENT = (base64.b64encode(data).decode() for data in (PNG, PDF))


def model(name: str, **fields: Any) -> Model:
    return Model(alias="default", model=name, **fields)


@pytest.mark.parametrize(
    ("of", "kinds"),
    [
        (model("openai/gpt-4o-mini"), {"image", "pdf"}),
        (model("anthropic/claude-haiku-4-5"), {"image", "pdf"}),
        (model("gemini/gemini-2.5-flash"), {"image"}),
        (model("openai/gpt-3.5-turbo"), set()),
        (model("openai/gpt-4o-mini", inputs=()), set()),
        (model("gpt-4o-mini", api_base="http://127.0.0.1:9/v1"), set()),
        (model("llava", api_base="http://127.0.0.1:9/v1", inputs=("image",)), {"image"}),
        (model("local"), set()),
        (model("openai/of-next-year"), set()),
    ],
)
def test_what_a_model_takes_is_said_or_listed_and_never_guessed(of: Model, kinds: set[str]) -> None:
    assert inputs_of(of) == kinds


def sent(provider: Provider) -> dict[str, Any]:
    """Show both to a provider's model; give what its double read."""

    async def asked() -> dict[str, Any]:
        async with trial(provider, [Said(text="A pixel.")]) as item:
            await item.ask(attachments=SHOWN)
        return {**(item.books[-1].body or {})}

    return asyncio.run(asked())


WORDS = "What is six times seven?"


def test_the_form_of_chat_completions() -> None:
    assert sent(OPENAI)["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
        {
            "type": "file",
            "file": {
                "filename": "b.pdf",
                "file_data": f"data:application/pdf;base64,{DOCUMENT}",
            },
        },
        {"type": "text", "text": WORDS},
    ]


def test_the_form_of_responses() -> None:
    assert sent(OPENAI_RESPONSES)["input"][0]["content"] == [
        {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"},
        {
            "type": "input_file",
            "filename": "b.pdf",
            "file_data": f"data:application/pdf;base64,{DOCUMENT}",
        },
        {"type": "input_text", "text": WORDS},
    ]


def test_the_form_of_anthropic() -> None:
    png = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": DOCUMENT}
    assert sent(ANTHROPIC)["messages"][0]["content"] == [
        {"type": "image", "source": png},
        {"type": "document", "source": pdf, "title": "b.pdf"},
        {"type": "text", "text": WORDS},
    ]


def test_they_stand_in_the_first_message_of_the_user_and_nowhere_else() -> None:
    records = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Two?"},
    ]
    shown = with_attachments(records, SHOWN)
    assert [shown[0], *shown[2:]] == [records[0], *records[2:]]
    assert [part["type"] for part in shown[1]["content"]] == ["image_url", "file", "text"]
    assert with_attachments(records, {}) == records
    assert with_attachments(records[:1], SHOWN) == records[:1]


async def test_what_they_count_as_does_not_depend_on_their_base64() -> None:
    large = {"a.png": seen(PNG + bytes(3 << 20))}
    assert most_tokens(large.values(), "openai/gpt-5") == 12_000
    assert most_tokens(large.values(), "openai/gpt-4o-mini") == 50_000
    assert most_tokens([seen(PDF)], "openai/gpt-5") == 6_000
    assert most_tokens([seen(PDF + bytes(9 << 20))], "openai/gpt-5") == 600_000
    with ScriptedModel("A pixel.") as double:
        of = model("llava", api_base=double.api_base)
        async with Gateway({"default": of}) as gateway:
            budget = Recording()
            request = ChatRequest(
                model="default",
                messages=[{"role": "user", "content": WORDS}],
                attachments=large,
                max_tokens=0,
            )
            await gateway.chat(request, budget=budget)
    assert 12_000 < max(number for number in budget.asked) < 12_200


class Recording(Budget):
    """A budget that keeps what was reserved of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def child(self, *_: Any, **__: Any) -> Recording:
        return self

    async def reserve(self, *, tokens: int, **rest: Any) -> Any:
        self.asked.append(tokens)
        return await super().reserve(tokens=tokens, **rest)


async def test_a_fallback_that_would_not_see_them_does_not_answer() -> None:
    with ScriptedModel("blind") as blind, ScriptedModel("sighted") as sighted:
        models = {
            "default": model(
                "first", api_base="http://127.0.0.1:9/v1", fallback=("blind", "sighted")
            ),
            "blind": model("blind", api_base=blind.api_base),
            "sighted": model("sighted", api_base=sighted.api_base, inputs=("image",)),
        }
        request = ChatRequest(
            model="default",
            messages=[{"role": "user", "content": WORDS}],
            attachments={"a.png": seen(PNG)},
            retries=0,
        )
        async with Gateway(models) as gateway:
            answer = await gateway.chat(request)
        assert answer.alias == "sighted"
        assert (len(blind.calls), len(sighted.calls)) == (0, 1)


async def test_a_model_that_turns_out_not_to_see_says_so_after_one_request() -> None:
    async with trial(DEEPSEEK, [Said(text="A pixel.")]) as item:
        with pytest.raises(CallError, match="unknown variant `image_url`") as caught:
            await item.ask(attachments={"a.png": seen(PNG)}, retries=2)
        assert len(item.books) == 1
    assert (caught.value.kind, caught.value.usage.tokens) == ("rejected", 0)


def test_what_tools_answered_with_stands_behind_their_answers() -> None:
    answered = Attachment.answered(PNG)
    assert answered is not None
    seen = {"a": answered, **SHOWN}
    call = {"role": "assistant", "content": answered.marker, "tool_calls": []}
    result = {"role": "tool", "tool_call_id": "1", "content": f"It is {answered.marker}."}
    other = {"role": "tool", "tool_call_id": "2", "content": "Nothing."}
    fields = {"role": "user", "content": f"Observation: {answered.marker}"}
    end = {"role": "assistant", "content": "I see."}
    shown: list[Any] = with_attachments([{"role": "user", "content": "Why?"}, fields], seen)
    words, *parts = shown[1]["content"]
    assert words == {"type": "text", "text": fields["content"]}
    assert [part["type"] for part in parts] == ["text", "image_url"]
    asked = [{"role": "user", "content": "Why?"}, call, result, other, end, fields]
    shown = with_attachments(asked, {"a": answered})
    assert shown[:4] == asked[:4]
    assert [part["type"] for part in shown[4]["content"]] == ["text", "image_url"]
    assert shown[4]["role"] == "user"
    assert shown[5:] == asked[4:]  # each is shown once
    assert with_attachments(asked[:4], {"a": answered})[-1] == shown[4]
