"""Convert a chat API conversation into the turns of the Messages API.

User and assistant turns alternate, and the user has the first and the last one. No text is blank.
Tool results come first in the turn after their calls, one for each call
(platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ....schema.values.values import is_list, is_mapping
from ..chat.messages import WORDLESS, Message
from .paired import calls_of, is_of_assistant, paired, split_instructions

DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)

Block = dict[str, Any]


def turns_of(messages: Sequence[Message]) -> tuple[str, list[dict[str, Any]]]:
    """Return the instructions at the start of a conversation, and its turns.

    Args:
        messages: The conversation, with the kept fields of the assistant's thinking.
    """
    leading, result = split_instructions(messages)
    instructions = "\n\n".join(block["text"] for message in leading for block in _content(message))
    turns: list[dict[str, Any]] = []
    for is_assistant, group in _alternating(paired(result)):
        blocks = [block for message in group for block in _blocks(message)]
        role = "assistant" if is_assistant else "user"
        turns.append({"role": role, "content": blocks or [_words(WORDLESS)]})
    return instructions, turns


def _alternating(messages: Iterable[Message]) -> list[tuple[bool, list[Message]]]:
    """Join consecutive turns of one speaker; begin and end with the user."""
    turns = [(who, list(group)) for who, group in itertools.groupby(messages, is_of_assistant)]
    if not turns or turns[0][0]:
        turns.insert(0, (False, []))
    if turns[-1][0]:
        turns.append((False, []))
    return turns


def _blocks(message: Message) -> list[Block]:
    if message["role"] == "tool":
        return [_result(message)]
    return _original_blocks(message) or [
        *map(_given_back, message.get("thinking_blocks") or ()),
        *_content(message),
        *map(_use, calls_of(message)),
    ]


def _original_blocks(message: Message) -> list[Block]:
    """Return the blocks whose order must stay, if they belong to this message's calls."""
    blocks: Sequence[Mapping[str, Any]] = message.get("content_blocks") or ()
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    is_same = ids == [call["id"] for call in calls_of(message)]
    return [_given_back(block) for block in blocks] if is_same else []


def _given_back(block: Mapping[str, Any]) -> Block:
    return {key: item for key, item in block.items() if key != "cache_control"}


def _use(call: Mapping[str, Any]) -> Block:
    function: Mapping[str, Any] = call["function"]
    arguments = function.get("arguments") or "{}"
    try:
        value: Any = json.loads(arguments)
    except (ValueError, TypeError, RecursionError):
        value = arguments
    fields = value if is_mapping(value) else {"arguments": value}
    return {"type": "tool_use", "id": call["id"], "name": function["name"], "input": fields}


def _result(message: Message) -> Block:
    content = list(_content(message))
    fields = {"content": content} if content else {}
    return {"type": "tool_result", "tool_use_id": message["tool_call_id"], **fields}


def _content(message: Message) -> Iterator[Block]:
    """Return the blocks of a content, which is a text or a list of parts."""
    content: Any = message.get("content")
    parts = content if is_list(content) else [_words(str(content or ""))]
    for part in parts:
        if part["type"] == "image_url":
            yield {"type": "image", "source": _source(part["image_url"]["url"])}
        elif part["type"] == "file":
            yield _document(part["file"])
        elif part["type"] != "text":
            yield _given_back(part)
        elif part["text"].strip():
            yield _words(part["text"])


def _words(text: str) -> Block:
    return {"type": "text", "text": text}


def _document(file: Mapping[str, Any]) -> Block:
    """Return the block of a PDF (anthropic-sdk-python, `document_block_param.py`)."""
    title = {"title": file["filename"]} if "filename" in file else {}
    return {"type": "document", "source": _source(file["file_data"]), **title}


def _source(url: str) -> Block:
    if data := DATA_URL.fullmatch(url):
        return {"type": "base64", "media_type": data[1], "data": data[2]}
    return {"type": "url", "url": url}
