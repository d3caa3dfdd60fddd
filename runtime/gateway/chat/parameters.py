"""Find out which request parameter an endpoint refuses, in any provider's words.

Providers report it in many ways: in a field `param`, in the location of a validation error (`loc`),
in quotes, or in prose. `tests/runtime/gateway/chat/parameters.yaml` lists their messages, each with
its source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .fallback import LEFT_OUT, refused_field, refused_form

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet

    from .body import Body
    from .errors import CallError
    from .fallback import ParameterFallback, ParameterForm

STATUSES = frozenset({400, 404, 422})
"""Statuses of a request refused for its content."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "max_tokens": ("max_completion_tokens", "max_output_tokens", "max_tokens", "maxTokens"),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "seed": ("seed", "random_seed"),
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "tool_choice": ("tool_choice", "toolChoice", "tool choice", "tool_config"),
    "parallel_tool_calls": ("parallel_tool_calls", "disable_parallel_tool_use"),
    "thinking": (
        *("thinking.budget_tokens", "budget_tokens", "thinking_budget", "thinkingBudget"),
        *("reasoning.max_tokens", "thinking_config", "thinking.enabled.budget_tokens"),
        *("thinking.type.enabled", "thinking.enabled"),
    ),
    "reasoning_effort": (
        *("reasoning_effort", "reasoningEffort", "reasoning.effort", "reasoning effort"),
        *("output_config.effort", "effort", "reasoning", "thinking", "think"),
    ),
    "response_format": (
        *("response_format.type", "response_format", "responseFormat", "text.format.type"),
        *("text.format", "output_config.format", "output_format", "response_schema"),
        *("responseSchema", "structured_outputs", "json_schema", "json_object"),
        *("structured output", "structured outputs", "json mode", "output format"),
        *("output_config.format.schema", "compiled grammar"),
    ),
    "stream": ("stream_options", "stream"),
    "include": ("include", "reasoning.encrypted_content", "encrypted content"),
    "cache_control": ("cache_control",),
}
"""Names of each parameter: in the APIs that we call, in those behind them, and in prose."""

_PARAMETER_OF = {name.casefold(): parameter for parameter, names in NAMES.items() for name in names}
_ALL = sorted((name for names in NAMES.values() for name in names), key=len, reverse=True)
_ANY = "|".join(map(re.escape, _ALL))
_WRITTEN = "|".join(re.escape(name) for name in _ALL if not re.fullmatch("[a-z ]+", name))
"""Names that cannot occur in prose: with an underscore, a dot or an inner capital."""
_QUOTE = "[\"'`]"
_END = r"(?:\.\w+)*"  # a part of a parameter may be named: `response_format.type`

_NOT_A_REFUSAL = re.compile(
    r"model_not_found|does not exist|not found|context.?length|maximum context"
    r"|content.?(?:policy|filter)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"support|permitted|allowed|unknown|unrecogni[sz]ed|unexpected|invalid|not valid|unavailable"
    r"|not available|must be|should be|expected|deprecated|cannot|can't|may only|may not"
    r"|no endpoints|forbidden|extra|incompatible|not compatible|not enabled|disabled"
    r"|removed|cannot find field|too complex|too large",
    re.IGNORECASE,
)
_FIELD = r"(?:parameter|field|argument|name|keyword|request argument)(?! value)"
_NO_SUCH = (
    rf"(?:unsupported|unknown|unrecogni[sz]ed|unexpected) {_FIELD}"
    r"|not support(?:ed)? (?:the )?(?:parameter|argument|field)"
    r"|(?:extra|additional|extraneous) (?:inputs?|fields?|keys?|properties)"
    r"|argument not supported|cannot find field|deprecated"
)
"""Phrases of a refusal that no other value would avoid."""
_UNKNOWN = re.compile(_NO_SUCH, re.IGNORECASE)
_OF_THE_NAME = re.compile(
    rf"{_NO_SUCH}|invalid {_FIELD}|not permitted"
    r"|(?:is|are) (?:not|no longer) (?:supported|allowed)|unsupported(?! value)|not a supported"
    r"|does not support|doesn't support",
    re.IGNORECASE,
)
_OF_A_VALUE = re.compile(
    r"\bvalues?\b|\bonly\b|must be|should be|may not be|one of|between|at most|at least|\bthis \w+_"
    r"|(?:less|greater|larger|smaller|lower|higher) than|\bwhen\b|\bmode\b|tools with|together",
    re.IGNORECASE,
)
"""Phrases of a refusal that depends on the value or on circumstances."""
_TOGETHER = re.compile(r"both be|cannot both|only one of|use only one|mutually exclusive", re.I)
_PARAM = re.compile(rf"{_QUOTE}param{_QUOTE}\s*:\s*{_QUOTE}([^\"'`]+){_QUOTE}")
_LOC = re.compile(
    rf"{_QUOTE}loc{_QUOTE}\s*:\s*[\[(]\s*{_QUOTE}body{_QUOTE}\s*,\s*{_QUOTE}(\w+){_QUOTE}"
)
_CONTENT = re.compile(r"(?:messages|tools|input|model|system)\b", re.IGNORECASE)
"""Fields without alternative forms: if one is named, its content is at fault."""
_QUOTED = re.compile(rf"{_QUOTE}(?:body\.)?({_ANY}){_END}{_QUOTE}", re.IGNORECASE)
_IDENTIFIER = re.compile(rf"(?<![\w.])({_WRITTEN})(?!\w)")
_OBJECT = re.compile(
    rf"not support(?:ed)?\s+(?:(?:the|this|parameters?:?|for|setting)\s+)*({_ANY})\b",
    re.IGNORECASE,
)
_PROSE = re.compile(
    rf"(?:invalid|unsupported|unknown|deprecated|parameters?:?|this model:)\s+({_ANY})\b"
    rf"|\b({_ANY})\b(?:\s+\w+){{0,3}}\s+(?:is|are|must|may|cannot|can|not|does|do|value|parameter)\b"
    rf"|\b({_ANY})\b\s*:?\s+(?:extra inputs|only)\b",
    re.IGNORECASE,
)
_ECHO = re.compile(r"[\"']input(?:_value)?[\"']\s*:.*?(?=[\"']loc[\"']|$)", re.DOTALL)
"""The part of a validation error that repeats the request, and so may name every parameter."""

_OFFERED = re.compile(
    r"(?:one of|values?(?: are)?|levels?|options?|expected|allowed|must be|should be|supports? only"
    r"|supported)[^.]{0,120}",
    re.IGNORECASE,
)


def refused_by(error: CallError, body: Body, again: Collection[str]) -> frozenset[str]:
    """Return the forms that an endpoint refuses; empty if its message is about something else.

    Args:
        again: Parameters for which this request already tried another form without success. All
            forms of the same field then count as refused, instead of being tried one by one.

    Returns:
        The forms, named by `refused_form`; or the field, named by `refused_field`, if the endpoint
        refuses the parameter whatever its value. The last form of a ladder is never included.
    """
    text = _plain(error.words)
    if error.status not in STATUSES or not _REFUSES.search(text) or _NOT_A_REFUSAL.search(text):
        return frozenset()
    refusable = {
        parameter: out
        for parameter, used in body.forms.items()
        if (out := _out(text, used, body.ladders[parameter], again=parameter in again))
    }
    parameter = _named(text, refusable)
    if parameter is None:
        return frozenset()
    used = body.forms[parameter]
    if _is_of_the_field(text, used, body.ladders[parameter]):
        return frozenset([refused_field(parameter, used.place)])
    return frozenset(refused_form(parameter, form) for form in refusable[parameter])


def _plain(words: str) -> str:
    """Unescape JSON nested in JSON, and remove the repeated request."""
    return _ECHO.sub("", words.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", " "))


def _named(message: str, sent: Collection[str]) -> str | None:
    """Return the parameter that a message names, among those sent that have another form."""
    if places := [item for pattern in (_PARAM, _LOC) for item in pattern.findall(message)]:
        named = [name for name in map(_parameter, places) if name in sent]
        if named or any(_CONTENT.match(place) for place in places):
            return next(iter(named), None)
    for pattern in (_QUOTED, _IDENTIFIER, _OBJECT, _PROSE):
        texts = [next(filter(None, match.groups())) for match in pattern.finditer(message)]
        named = [name for name in map(_parameter, texts) if name in sent]
        if named:
            return named[-1 if _TOGETHER.search(message) else 0]
    return None


def _parameter(name: str) -> str | None:
    """Return the parameter of a name; of a dotted path, that of the longest known beginning."""
    parts = name.casefold().removeprefix("body.").split(".")
    beginnings = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next(
        (_PARAMETER_OF[beginning] for beginning in beginnings if beginning in _PARAMETER_OF), None
    )


def _out(
    message: str, used: ParameterForm, fallback: ParameterFallback, *, again: bool
) -> Collection[ParameterForm]:
    """Return which forms of a parameter are refused, if the message is about this parameter."""
    ahead = fallback[:-1]
    if used not in ahead:
        return ()
    offered = _offered(message, used, fallback)
    if used is LEFT_OUT:
        return [used] if offered else ()
    alike = [form for form in ahead if form.place == used.place]
    if used.name == used.place:  # only its name can be wrong, not its value
        return alike if _OF_THE_NAME.search(message) else ()
    if again or _is_of_the_name(message, used, fallback):
        return alike
    return [form for form in alike if form.name not in offered] if offered else [used]


def _is_of_the_name(message: str, used: ParameterForm, fallback: ParameterFallback) -> bool:
    """Return whether the message refuses the name: it suggests no other form, quotes no value."""
    return not (
        _OF_THE_NAME.search(message) is None
        or _offered(message, used, fallback)
        or _quotes(message, used.name)
    )


def _is_of_the_field(message: str, used: ParameterForm, fallback: ParameterFallback) -> bool:
    """Return whether the field itself is refused, so that no other value would be accepted."""
    if used.place in {"", used.name} or not _is_of_the_name(message, used, fallback):
        return False
    value = rf"(?<![\w.]){re.escape(used.name)}(?![\w.])"
    may_depend = _OF_A_VALUE.search(message) or re.search(value, message)
    return _UNKNOWN.search(message) is not None or not may_depend


def _offered(message: str, used: ParameterForm, fallback: ParameterFallback) -> AbstractSet[str]:
    """Return the other forms that the message suggests."""
    return {form.name for form in fallback if _offers(message, form)} - {used.name}


def _quotes(message: str, name: str) -> bool:
    return re.search(rf"{_QUOTE}{re.escape(name)}{_QUOTE}", message) is not None


def _offers(message: str, form: ParameterForm) -> bool:
    """Return whether the message quotes a form, or lists it among the alternatives."""
    if form.name == form.place or form is LEFT_OUT:
        return False
    listed = " ".join(_OFFERED.findall(message))
    return _quotes(message, form.name) or bool(re.search(rf"\b{re.escape(form.name)}\b", listed))
