"""What an endpoint wants back goes to it alone, and to no other reader."""

from typing import Any

from coterie.runtime.gateway import ChatAnswer, ToolRequest, bare
from coterie.runtime.gateway.chat.given_back import marked, meant_for

CALL: dict[str, Any] = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SIGNED = {**CALL, "extra_content": {"google": {"thought_signature": "s"}}}


def said(kept: dict[str, Any], model: str, *calls: Any) -> dict[str, Any]:
    answer = marked(ChatAnswer(text="so", kept=kept), model)
    return {"role": "assistant", "content": "so", "tool_calls": [*calls], **answer.kept}


def test_a_model_gets_back_what_it_said_and_another_does_not() -> None:
    message = said({"reasoning_content": "hm"}, "deep", SIGNED)
    plain = {"role": "assistant", "content": "so", "tool_calls": [CALL]}
    back = {**plain, "tool_calls": [SIGNED], "reasoning_content": "hm"}
    assert meant_for([message], "deep") == [back]
    assert meant_for([message], "other") == [plain] == [bare(message)]


def test_what_another_model_said_between_has_the_field_that_is_wanted_of_all() -> None:
    own, other = (
        said({"reasoning_content": "hm"}, "deep", CALL),
        said({"reasoning": "no"}, "x", CALL),
    )
    result, words = {"role": "tool", "content": "r"}, {"role": "assistant", "content": "so"}
    back = meant_for([own, result, other, words], "deep")
    assert [item.get("reasoning_content") for item in back] == ["hm", None, "", None]
    assert "reasoning" not in back[2]
    assert not [item for item in meant_for([own, other], "x") if "reasoning_content" in item]


def test_a_signature_of_a_call_is_kept_for_its_model_too() -> None:
    call = ToolRequest(id="1", name="f", arguments="{}", extra={"extra_content": {}})
    answer = marked(ChatAnswer(text="", tool_calls=(call,)), "gem")
    assert answer.kept == {"kept_for": "gem"}


def test_an_answer_with_nothing_to_keep_stays_as_it_is() -> None:
    answer = ChatAnswer(text="four")
    assert marked(answer, "m") is answer
    message = {"role": "assistant", "content": "<think>a</think>b", "prefix": True}
    assert meant_for([message], "m") == [message]


def test_thinking_within_a_content_is_the_text_alone_for_others() -> None:
    hm = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [hm, {"type": "text", "text": "so"}]
    assert meant_for([said({"content": content}, "m")], "m")[0]["content"] == content
    assert bare(said({"content": content}, "m"))["content"] == "so"
    assert bare(said({"content": "<think>hm</think>"}, "m"))["content"] is None
