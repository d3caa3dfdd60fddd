"""The gate before an act: no tool runs on anything but arguments that fit its schema."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator, validators

from coterie.runtime.gateway import ChatAnswer, ToolRequest
from coterie.runtime.repository.workspace import Workspace
from coterie.runtime.tools import GrantedTool, Tool, ToolError
from coterie.runtime.tools.fitting import fitted
from coterie.runtime.tools.requested import Requests, requested
from coterie.schema import AgentError

from ...canned import seeds

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "depth": {"type": "integer", "minimum": 0},
        "force": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "where": {"type": ["string", "null"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}
INTEGERS = Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)
STRICT = validators.extend(Draft202012Validator, type_checker=INTEGERS)(SCHEMA)
TEXTS = [
    "/srv/data/build",
    "a b",
    'say "hi"',
    "it's",
    "```",
    "{",
    "}",
    "\u6f22",
    "\n",
    "null",
    "42",
]
LIMIT = "length"


async def nothing(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
    del arguments, workspace
    return "done"


REMOVE = Tool(name="remove", description="Remove it.", parameters=SCHEMA, run=nothing)


def checked(*arguments: str, reason: str = "tool_calls", tool: str = "remove") -> ChatAnswer:
    calls = tuple(ToolRequest(id="", name=tool, arguments=argument) for argument in arguments)
    answer = ChatAnswer(text="", tool_calls=calls, finish_reason=reason)
    return requested(answer, [REMOVE.definition])


def value(chance: Random) -> dict[str, Any]:
    given: dict[str, Any] = {"path": chance.choice(TEXTS)}
    optional = {
        "depth": chance.randint(0, 9),
        "force": chance.random() < 0.5,
        "names": chance.sample(TEXTS, chance.randint(0, 3)),
        "where": chance.choice([None, *TEXTS]),
    }
    for name in chance.sample([*optional], chance.randint(0, 4)):
        given[name] = optional[name]
    return given


def wrong(chance: Random) -> Any:
    given: Any = value(chance)
    chance.choice(
        [
            lambda: given.pop("path"),
            lambda: given.update(path=None),
            lambda: given.update(path=["/"]),
            lambda: given.update(depth=str(chance.randint(0, 99))),
            lambda: given.update(depth=2.0),
            lambda: given.update(depth=True),
            lambda: given.update(force="false"),
            lambda: given.update(names="a"),
            lambda: given.update(names=[None]),
            lambda: given.update(other=1),
        ]
    )()
    return given


def cut(chance: Random, text: str) -> str:
    return text[: chance.randrange(1, len(text))]


def typo(chance: Random, text: str) -> str:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(["", *'{}[]",:\\x0']) + text[at + 1 :]


def twice(chance: Random, text: str) -> str:
    return text[:-1] + f', "path": {json.dumps(chance.choice(TEXTS))}}}'


SPOILT: Mapping[str, Callable[[Random, str], str]] = {
    "cut": cut,
    "fenced": lambda _, text: f"```json\n{text}\n```",
    "single quotes": lambda _, text: repr(json.loads(text)),
    "trailing comma": lambda _, text: text[:-1] + ",}",
    "double encoded": lambda _, text: json.dumps(text),
    "prose": lambda _, text: f"I will call it with {text}",
    "prose after": lambda _, text: f"{text} as you asked.",
    "raw": lambda chance, _: chance.choice(TEXTS),
    "listed": lambda _, text: f"[{text}]",
    "two": lambda _, text: text + text,
    "twice": twice,
    "typo": typo,
    "comment": lambda _, text: text[:-1] + " // all}",
    "nan": lambda _, text: text[:-1] + ', "depth": NaN}',
    "wrong": lambda chance, _: json.dumps(wrong(chance)),
}
NEVER = {"fenced", "single quotes", "trailing comma", "double encoded", "prose", "prose after"}
"""What is never JSON, so that nothing at all may run."""


def is_fit(text: str) -> bool:
    try:
        return STRICT.is_valid(json.loads(text))
    except ValueError:
        return False


@pytest.mark.parametrize("kind", SPOILT)
async def test_only_fitting_arguments_run_a_tool(
    kind: str, workspace: Workspace, nightly: bool
) -> None:
    ran: list[Any] = []

    async def noted(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
        del workspace
        ran.append(arguments)

    tool = Tool(name="remove", description="", parameters=SCHEMA, run=noted)
    granted = GrantedTool(tool=tool, workspace=workspace, emit=lambda *_, **__: None)
    for seed in range(7_000 if nightly else 200):
        chance = Random(seed)
        whole = json.dumps(value(chance), ensure_ascii=chance.random() < 0.5)
        spoilt = SPOILT[kind](chance, whole)
        answer = checked(spoilt)
        assert bool(answer.tool_calls) != bool(answer.refused), spoilt
        assert is_fit(spoilt) or answer.refused or null_is_left_out(spoilt, answer), spoilt
        for call in answer.tool_calls:
            await granted.call(json.loads(call.arguments))
        assert not (kind in NEVER and answer.tool_calls), spoilt
        assert not checked(whole, spoilt).tool_calls or answer.tool_calls, "all, or none"
        assert not checked(whole, reason=LIMIT).tool_calls
        assert checked(whole).tool_calls
    assert all(map(STRICT.is_valid, ran))


def null_is_left_out(text: str, answer: ChatAnswer) -> bool:
    """Whether only optional fields that are null were taken out of the arguments."""
    given, result = json.loads(text), json.loads(answer.tool_calls[0].arguments)
    missing = {name: item for name, item in given.items() if name not in result}
    return set(missing.values()) <= {None} and {**result, **missing} == given


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"path": "/srv/data/bui', "end in the middle of the JSON"),
        ('```json\n{"path": "/"}\n```', "stand in a fence of code"),
        ("{'path': '/'}", "JSON has double quotes"),
        ('"{\\"path\\": \\"/\\"}"', "a text in quotes"),
        ('Sure: {"path": "/"}', "do not begin with {"),
        ('{"path": "/"} {"path": "/etc"}', 'go on after the JSON object: {"path": "/etc"}'),
        ('{"path": "/", "path": "/etc"}', "say one name twice"),
        ('{"path": "/", "depth": "42"}', "depth: '42' is not of type 'integer'. Write 42 without"),
        ('["/"]', "no JSON object"),
        ("", "'path' is a required property"),
    ],
)
def test_the_model_is_shown_what_is_wrong(arguments: str, words: str) -> None:
    answer = checked(arguments)
    assert words in answer.refused
    assert answer.refused.endswith(" Nothing was executed.")
    assert arguments in answer.text
    assert not answer.tool_calls


def test_a_tool_that_is_not_there_is_not_called() -> None:
    assert "there is no tool 'rmove'. Did you mean 'remove'?" in checked("{}", tool="rmove").refused


def test_an_optional_field_takes_null_and_a_required_one_does_not() -> None:
    [call] = checked('{"path": "/", "depth": null, "where": null}').tool_calls
    assert json.loads(call.arguments) == {"path": "/"}
    assert fitted({"path": "/", "where": None}, SCHEMA)[0] == {"path": "/", "where": None}
    assert "path: None is not of type 'string'" in checked('{"path": null}').refused


def test_a_mistake_is_shown_once() -> None:
    requests = Requests()
    call = ToolRequest(id="", name="remove", arguments='{"path": 42}')
    answer = ChatAnswer(text="", tool_calls=(call,))
    good = replace(answer, tool_calls=(replace(call, arguments='{"path": "/"}'),))
    assert requests.checked(answer, [REMOVE.definition]).refused
    assert requests.checked(good, [REMOVE.definition]) == good
    assert requests.checked(answer, [REMOVE.definition]).refused
    with pytest.raises(AgentError, match="was shown its mistake and repeats it: remove: path"):
        requests.checked(answer, [REMOVE.definition])


def test_without_tools_an_answer_is_what_it_is() -> None:
    answer = ChatAnswer(text='{"name": "remove", "arguments": {"path": "/"}}')
    assert requested(answer, []) is answer


def hermes(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': given})}\n</tool_call>\n"
        for name, given in calls
    )


def llama(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "<|python_tag|>" + "; ".join(
        json.dumps({"type": "function", "name": name, "parameters": given}) for name, given in calls
    )


def coder(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "\n".join(
        f"<tool_call>\n<function={name}>\n"
        + "".join(
            f"<parameter={key}>\n{written(item)}\n</parameter>\n" for key, item in given.items()
        )
        + "</function>\n</tool_call>"
        for name, given in calls
    )


def glm(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "".join(
        f"<tool_call>{name}\n"
        + "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{written(item)}</arg_value>\n"
            for key, item in given.items()
        )
        + "</tool_call>"
        for name, given in calls
    )


def written(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)


def deep(words: str) -> str:
    return f"<\uff5c{words.replace(' ', chr(0x2581))}\uff5c>"


def deepseek(calls: list[tuple[str, dict[str, Any]]]) -> str:
    inner = "\n".join(
        f"{deep('tool call begin')}function{deep('tool sep')}{name}\n"
        f"```json\n{json.dumps(given)}\n```{deep('tool call end')}"
        for name, given in calls
    )
    return deep("tool calls begin") + inner + deep("tool calls end") + deep("end of sentence")


def newer_deepseek(calls: list[tuple[str, dict[str, Any]]]) -> str:
    inner = "".join(
        f"{deep('tool call begin')}{name}{deep('tool sep')}{json.dumps(given)}"
        f"{deep('tool call end')}"
        for name, given in calls
    )
    return deep("tool calls begin") + inner + deep("tool calls end")


def kimi(calls: list[tuple[str, dict[str, Any]]]) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>{json.dumps(given)}"
        "<|tool_call_end|>"
        for at, (name, given) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def mistral(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "[TOOL_CALLS]" + json.dumps(
        [{"name": name, "arguments": given} for name, given in calls]
    )


def newer_mistral(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return "".join(f"[TOOL_CALLS]{name}[ARGS]{json.dumps(given)}" for name, given in calls)


def granite(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return mistral(calls).replace("[TOOL_CALLS]", "<|tool_call|>")


def older_granite(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return f"{mistral(calls).replace('[TOOL_CALLS]', '<tool_call>')}</tool_call>"


def whole_message(calls: list[tuple[str, dict[str, Any]]]) -> str:
    return f'{{"tool_calls": {mistral(calls).removeprefix("[TOOL_CALLS]")}}}'


def plain(calls: list[tuple[str, dict[str, Any]]]) -> str:
    listed = [{"name": name, "arguments": given} for name, given in calls]
    return f"Action:\n{json.dumps(listed if len(listed) > 1 else listed[0], indent=1)}"


LOOK = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "near": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [Tool(name=name, description="", parameters=LOOK, run=nothing) for name in ("look", "ask")]
FORMS = (
    hermes, llama, coder, glm, deepseek, newer_deepseek, kimi, mistral, newer_mistral, granite,
    older_granite, whole_message, plain,
)  # fmt: skip
CITIES = ["Oslo", "Rome", "42", "true", "S\u00e3o Paulo", "a {b}", "it's", 'New "York"']


@pytest.mark.parametrize("form", FORMS)
def test_calls_written_as_text_are_read_whole(form: Callable[..., str], nightly: bool) -> None:
    definitions = [tool.definition for tool in TOOLS]
    for seed in seeds(nightly):
        chance = Random(seed)
        calls: list[tuple[str, dict[str, Any]]] = []
        for _ in range(chance.randint(1, 3)):
            given: dict[str, Any] = {"city": chance.choice(CITIES)}
            if chance.random() < 0.5:
                given["days"] = chance.randint(0, 9)
            if chance.random() < 0.3:
                given["near"] = chance.sample(CITIES, 2)
            calls.append((chance.choice(["look", "ask"]), given))
        ahead = chance.choice(["", "I will look it up.\n", "First, this:\n\n"])
        text = ahead + form(calls)
        answer = requested(ChatAnswer(text=text), definitions)
        assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == calls, (
            text
        )
        assert not requested(ChatAnswer(text=text, finish_reason="length"), definitions).tool_calls
        assert not requested(ChatAnswer(text=f"{text}\nThat is how."), definitions).tool_calls
        broken = cut(chance, form(calls))
        read = requested(ChatAnswer(text=ahead + broken), definitions).tool_calls
        whole = [(item.name, json.loads(item.arguments)) for item in read]
        assert whole == calls[: len(whole)], broken


@pytest.mark.parametrize(
    "text",
    [
        deep("DSML")[:-1] + 'function_calls>\n<invoke name="look">',
        '<invoke name="look"><parameter name="city">Oslo</parameter></invoke>',
        '<|channel|>commentary to=functions.look <|message|>{"city": "Oslo"}<|call|>',
        '<|START_ACTION|>[{"tool_name": "look"}]<|END_ACTION|>',
        '<|action_start|><|plugin|>{"name": "look"}<|action_end|>',
        '<|tools_prefix|>[{"look": {"city": "Oslo"}}]<|tools_suffix|>',
        'functools[{"name": "look", "arguments": {"city": "Oslo"}}]',
        "<function_calls>\nlook(city='Oslo')\n</function_calls>",
        '<function_call>{"name": "look"}</function_call>',
        '<tool_calls>[{"name": "look"}]</tool_calls>',
        "```tool_code\nlook(city='Oslo')\n```",
        'Thought: where?\nAction: look\nAction Input: {"city": "Oslo"}',
        "look(city='Oslo')",
        '[look(city="Oslo"), look(city="Rome")]',
    ],
)
def test_a_form_that_is_not_read_is_named(text: str) -> None:
    answer = requested(ChatAnswer(text=text), [TOOLS[0].definition])
    assert not answer.tool_calls
    assert "not read" in answer.refused
    assert "Call tools by the tool calls of the API" in answer.refused


@pytest.mark.parametrize(
    "text",
    [
        'The page says `<tool_call>{"name": "look", "arguments": {"city": "Oslo"}}</tool_call>`',
        '```\n<tool_call>{"name": "look", "arguments": {"city": "Oslo"}}</tool_call>\n```',
        'It answered "<|python_tag|>{\\"name\\": \\"look\\"}" and stopped.',
        'I would say {"name": "look", "arguments": {"city": "Oslo"}} in such a case.',
        "Oslo it is.",
    ],
)
def test_what_speaks_of_a_call_is_none(text: str) -> None:
    assert requested(ChatAnswer(text=text), [TOOLS[0].definition]).tool_calls == ()


def test_a_tool_that_code_calls_is_checked_as_well(workspace: Workspace) -> None:
    granted = GrantedTool(tool=REMOVE, workspace=workspace, emit=lambda *_, **__: None)
    with pytest.raises(ToolError, match="Write 42 without quotes"):
        asyncio.run(granted.call({"path": "/", "depth": "42"}))
    assert asyncio.run(granted.call({"path": "/", "depth": None})) == "done"
