"""Tool calls that a model wrote as text, in the form of its chat template.

An endpoint without the right parser passes them on as text. They are read only at the end of an
answer, outside of any code. An unsupported form is reported by its name.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...schema.values.json_text import DECODER, dumps, loads
from ...schema.values.values import is_list, is_mapping
from ..gateway import ToolRequest


def _deep(words: str) -> str:
    """Return a DeepSeek tag, which has full-width bars, and low blocks for spaces."""
    bar, space = "\uff5c", "\u2581"
    return f"<{bar}{words.replace(' ', space)}{bar}>"


ENDS = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>", "<|call|>", _deep("end of sentence"))
"""Tokens that may end an answer."""
MOST_STARTS = 20
"""The most lines to try as the beginning of a JSON object."""
_START = re.compile(r"^(?:Action:)?[ \t]*(?=[\[{])", re.MULTILINE)
_PYTHONIC = re.compile(r"\[?(?P<name>\w+)\(")
_NAMED = re.compile(r"\s*(?:functions\.)?(?P<name>[\w.-]+?)(?::\d+)?\s*\Z")
HOW = "Call tools by the tool calls of the API, not in text."


class _CallFormat(NamedTuple):
    """The call format of a family of models.

    Attributes:
        name: Its name in messages.
        read: Parses all calls of a text that begins with the tag; raises ValueError if it cannot.
    """

    name: str
    sign: str
    read: Callable[[str, Mapping[str, Any]], Iterable[ToolRequest]]


def calls_in(
    text: str, tools: Mapping[str, Mapping[str, Any]]
) -> tuple[str, tuple[ToolRequest, ...], str]:
    """Extract the calls at the end of a text.

    Returns:
        The text before them, the calls, and why they cannot be read, as a sentence.
    """
    words = _without_end(text)
    for form in FORMS:
        ahead, sign, _ = words.partition(form.sign)
        if not sign or _is_quoted(ahead):
            continue
        try:
            calls = tuple(form.read(words[len(ahead) :], tools))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return text, (), f"a call in the form of {form.name} cannot be read: {error}. {HOW}"
        return ahead.strip(), calls, ""
    pythonic = _PYTHONIC.match(words)
    if pythonic and pythonic["name"] in tools and words.endswith((")", ")]")):
        return text, (), f"a call written as Python is not read. {HOW}"
    return _plain(words) or (text, (), "")


def _without_end(text: str) -> str:
    words = text.rstrip()
    while sign := next((sign for sign in ENDS if words.endswith(sign)), ""):
        words = words.removesuffix(sign).rstrip()
    return words


def _is_quoted(ahead: str) -> bool:
    """Return whether the text before a call merely quotes it, or has it in code."""
    line = ahead.rpartition("\n")[2]
    return bool(ahead.count("```") % 2 or line.count("`") % 2 or line.count('"') % 2)


def _plain(text: str) -> tuple[str, tuple[ToolRequest, ...], str] | None:
    """Read a call written as a JSON object on separate lines at the end of the text."""
    for start in itertools.islice(_START.finditer(text), MOST_STARTS):
        try:
            value, end = DECODER.raw_decode(text, start.end())
            if text[end:].strip() in {"", "```"}:
                return text[: start.start()].strip(), tuple(_listed(value)), ""
        except json.JSONDecodeError as error:
            if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
                return None  # values inside it are not separate calls
        except (ValueError, RecursionError, TypeError):
            continue
    return None


def _listed(value: Any) -> Iterator[ToolRequest]:
    calls = value.get("tool_calls", value) if is_mapping(value) else value
    for item in calls if is_list(calls) and calls else [calls]:
        yield _call(item)


def _call(value: Any) -> ToolRequest:
    """Read a call from an object with a name and arguments."""
    if not is_mapping(value):
        raise TypeError("it is not a JSON object")
    function = value.get("function")
    inner = function if is_mapping(function) else value
    name = inner.get("name", function)
    keys = [key for key in ("arguments", "parameters", "input") if key in inner]
    if not isinstance(name, str) or len(keys) > 1 or not (keys or "name" in inner):
        raise ValueError("it has no name with arguments")
    return _request(name, inner[keys[0]] if keys else {})


def _request(name: str, arguments: Any) -> ToolRequest:
    text = arguments if isinstance(arguments, str) else dumps(arguments, ensure_ascii=False)
    return ToolRequest(id="", name=name, arguments=text)


def _between(text: str, opening: str, closing: str, *, may_be_open: bool = False) -> Iterator[str]:
    """Yield the texts between tags, with nothing but space around the tags.

    Args:
        text: Begins with the opening tag.
        may_be_open: Whether the last closing tag may be missing, because some endpoints stop at it.
    """
    parts = text.split(opening)
    if parts[0].strip():
        raise ValueError(f"{parts[0].strip()[:40]!r} stands between calls")
    for number, part in enumerate(parts[1:], start=2):
        body, sign, rest = part.partition(closing)
        if not sign and not (may_be_open and number == len(parts)):
            raise ValueError(f"{closing} is missing")
        if rest.strip():
            raise ValueError(f"{rest.strip()[:40]!r} follows it")
        yield body


def _hermes(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    if not text.rstrip().endswith("</tool_call>") and "<arg_key>" in text:
        raise ValueError("</tool_call> is missing")
    for body in _between(text, "<tool_call>", "</tool_call>", may_be_open=True):
        inner = body.strip()
        if inner.startswith(("{", "[")):
            yield from _listed(loads(inner))
        elif inner.startswith("<function="):
            yield from _coder(inner, tools)
        else:
            yield _glm(inner, tools)


def _glm(body: str, tools: Mapping[str, Any]) -> ToolRequest:
    name, _, rest = body.partition("<arg_key>")
    pairs: dict[str, str] = {}
    for pair in _between(f"<arg_key>{rest}" if rest else "", "<arg_key>", "</arg_value>"):
        key, sign, value = pair.partition("</arg_key>")
        ahead, opened, value = value.partition("<arg_value>")
        if not sign or not opened or ahead.strip():
            raise ValueError("an argument has no value")
        pairs[key.strip()] = value
    return _typed(name.strip(), pairs, tools)


def _coder(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    for body in _between(text, "<function=", "</function>"):
        name, _, rest = body.partition(">")
        if rest.strip().startswith("{"):  # Llama's
            yield _request(name.strip(), rest.strip())
            continue
        pairs: dict[str, str] = {}
        for pair in _between(rest, "<parameter=", "</parameter>"):
            key, _, value = pair.partition(">")
            pairs[key.strip()] = value.removeprefix("\n").removesuffix("\n")
        yield _typed(name.strip(), pairs, tools)


def _typed(name: str, pairs: Mapping[str, str], tools: Mapping[str, Any]) -> ToolRequest:
    """Parse an unquoted argument; keep it as text if the tool wants a text."""
    fields = tools.get(name, {}).get("properties") or {}
    values: dict[str, Any] = {}
    for key, text in pairs.items():
        schema = fields.get(key)
        wants_text = not is_mapping(schema) or schema.get("type", "string") == "string"
        values[key] = text if wants_text else _loaded(text)
    return _request(name, values)


def _loaded(text: str) -> Any:
    try:
        return loads(text.strip())
    except ValueError:
        return text


def _deepseek(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del tools
    inner = text.removeprefix(_deep("tool calls begin")).strip()
    inner = inner.removesuffix(_deep("tool calls end"))
    for body in _between(inner, _deep("tool call begin"), _deep("tool call end")):
        first, _, second = body.partition(_deep("tool sep"))
        name, arguments = (first, second)
        if first.strip() == "function":
            name, _, arguments = second.partition("\n")
            arguments = _unfenced(arguments)
        yield _request(name.strip(), arguments.strip())


def _unfenced(text: str) -> str:
    inner = text.strip()
    return (
        inner.removeprefix("```json").removesuffix("```") if inner.startswith("```json") else text
    )


def _kimi(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del tools
    inner = text.removeprefix("<|tool_calls_section_begin|>").strip()
    inner = inner.removesuffix("<|tool_calls_section_end|>")
    for body in _between(inner, "<|tool_call_begin|>", "<|tool_call_end|>"):
        first, _, arguments = body.partition("<|tool_call_argument_begin|>")
        named = _NAMED.match(first)
        yield _request(named["name"] if named else first.strip(), arguments.strip())


def _llama(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del tools
    at, end = len("<|python_tag|>"), len(text)
    while at < end:
        at += len(text) - at - len(text[at:].lstrip(" \t\r\n;"))
        value, at = DECODER.raw_decode(text, at)
        yield from _listed(value)
        if text[at:].strip() and text[at:].lstrip()[0] not in ";{":
            raise ValueError(f"{text[at:].strip()[:40]!r} follows it")


def _mistral(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del tools
    for part in text.split("[TOOL_CALLS]")[1:]:
        if part.lstrip().startswith(("[", "{")):
            yield from _listed(loads(part.strip()))
        else:
            name, _, arguments = part.partition("[ARGS]")
            yield _request(name.strip(), arguments.strip())


def _granite(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del tools
    for body in _between(text, "<|tool_call|>", "<|/tool_call|>", may_be_open=True):
        yield from _listed(loads(body.strip()))


def _unread(text: str, tools: Mapping[str, Any]) -> Iterator[ToolRequest]:
    del text, tools
    raise ValueError("this form is not read")


FORMS = (
    _CallFormat("Hermes", "<tool_call>", _hermes),
    _CallFormat("Qwen-coder", "<function=", _coder),
    _CallFormat("DeepSeek", _deep("tool calls begin"), _deepseek),
    _CallFormat("DeepSeek", _deep("tool call begin"), _deepseek),
    _CallFormat("Kimi", "<|tool_calls_section_begin|>", _kimi),
    _CallFormat("Llama", "<|python_tag|>", _llama),
    _CallFormat("Mistral", "[TOOL_CALLS]", _mistral),
    _CallFormat("DeepSeek 3.2", _deep("DSML")[:-1], _unread),
    _CallFormat("Anthropic's XML", "<invoke name=", _unread),
    _CallFormat("Harmony", "<|channel|>commentary to=", _unread),
    _CallFormat("Granite", "<|tool_call|>", _granite),
    _CallFormat("Cohere", "<|START_ACTION|>", _unread),
    _CallFormat("InternLM", "<|action_start|>", _unread),
    _CallFormat("Apertus", "<|tools_prefix|>", _unread),
    _CallFormat("Phi", "functools[", _unread),
    _CallFormat("OLMo", "<function_calls>", _unread),
    _CallFormat("XML", "<function_call>", _unread),
    _CallFormat("XML", "<tool_calls>", _unread),
    _CallFormat("Gemma", "```tool_code", _unread),
    _CallFormat("ReAct", "\nAction Input:", _unread),
)
"""The formats by their opening tags, from chat templates: the file `chat_template.jinja` of
NousResearch/Hermes-3-Llama-3.1-8B, Qwen/Qwen3-Coder-30B-A3B-Instruct, zai-org/GLM-4.5,
deepseek-ai/DeepSeek-V3.1, moonshotai/Kimi-K2-Instruct, meta-llama/Llama-3.1-8B-Instruct,
mistralai/Mistral-Small-3.2-24B-Instruct-2506 and openai/gpt-oss-20b at huggingface.co."""
