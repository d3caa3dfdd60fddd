"""Worlds of codes: in some a convention is hidden that can be learnt, in others nothing helps.

Operators answer by the form that they are asked for, no prompt of theirs is read: whatever they
write has the convention in it. So an agent is better off just where it reads what was learnt.

One form asks for a whole team file, and only the text in it. The answer is the file that the
question shows between its first fences, with the convention as the prompt of its last agent.
Nothing else in it changes: operators of this world have no ideas about structure.

Some forms of MIPROv2 ask for nothing but a description of data, the program or an agent, and get
one that helps nobody. The summary of these descriptions has the convention, as the summaries of
other methods have: it reaches no agent. So has the instruction that it asks for at last.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.runtime.doubles import Reply
from coterie.schema.team.writing import write_team_yaml
from coterie.schema.values.yaml_text import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coterie.runtime.doubles.script import Request

CONVENTION = "Codes begin with c"
ANSWER = "answer"
TEAM_FILE = "team_file"
DESCRIPTIONS = ("observations", "program_description", "module_description")
DESCRIBED = "Items have codes."
FENCED = re.compile(r"```\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A world of codes.

    Attributes:
        name: What its chance depends on, beside what is asked.
        untaught: How often an agent is right that does not read the convention.
        taught: How often one is right that reads it.
        is_sure: Whether chance depends on the task alone, so that nothing else differs.
        ideas: How many conventions operators think of, one as likely as the other; one is right.
    """

    name: str
    untaught: float = 0.3
    taught: float = 0.9
    is_sure: bool = False
    ideas: int = 1

    def __call__(self, request: Request) -> Reply:
        """Answer an operator by the form that it asks for, an agent with a code.

        It is the code of the first item in the user's message, which begins with the task. An
        agent may be held to a form, too: it has an answer in free words and nothing else.
        """
        form = request.get("response_format", {}).get("json_schema", {}).get("schema")
        text = json.dumps(request["messages"])
        is_held = form is not None and _is_of_an_answer(form)
        if form is not None and not is_held:
            idea = int(self.ideas * _drawn(f"{self.name} {text} {request.get('seed')}"))
            written = json.dumps(_written(request, form))
            return Reply(text=written.replace(CONVENTION, CONVENTION[:-1] + "cdefg"[idea]))
        of_users = [each["content"] for each in request["messages"] if each["role"] == "user"]
        code = re.findall(r"item (\d+)", json.dumps(of_users))[0]
        drawn = _drawn(f"{self.name} {code if self.is_sure else text}")
        is_right = drawn < (self.taught if CONVENTION in text else self.untaught)
        answer = f"{'c' if is_right else 'x'}{code}"
        return Reply(text=json.dumps({ANSWER: answer}) if is_held else answer)


def _drawn(text: str) -> float:
    """Return a number in [0, 1) that a text alone decides."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


def tasks(first: int, count: int) -> str:
    """Return tasks as the lines of a file; those of other numbers are others."""
    each = (
        {"id": f"item-{n}", "query": f"What is the code of item {n}?", "answer": f"c{n}"}
        for n in range(first, first + count)
    )
    return "".join(f"{json.dumps({**task, 'niche': 'codes'})}\n" for task in each)


def _is_of_an_answer(form: Mapping[str, Any]) -> bool:
    parts = form.get("properties", {})
    return [*parts] == [ANSWER] and "enum" not in parts[ANSWER]


def _written(request: Request, form: Mapping[str, Any]) -> Any:
    """Return what an operator writes into a form."""
    match [*form.get("properties", {})]:
        case [key] if key == TEAM_FILE:
            return {key: _revised(request)}
        case [key] if key in DESCRIPTIONS:
            return {key: DESCRIBED}
        case _:
            return _filled(form)


def _revised(request: Request) -> str:
    """Return the file that a question shows, with the convention as its last agent's prompt."""
    shown = "\n".join(message["content"] for message in request["messages"])
    document, _ = read_yaml(FENCED.findall(shown)[0].encode(), "team.yaml")
    *_, last = document.value["agents"].values()
    last["prompt"] = CONVENTION
    return write_team_yaml(document.value)


def _filled(form: Mapping[str, Any]) -> Any:
    """Fill in a form with few items and low numbers, in favour of the last agent of a team."""
    if options := form.get("anyOf", form.get("oneOf")):
        return _filled(options[0])
    if choices := form.get("enum", [form["const"]] if "const" in form else []):
        return choices[0 if form.get("type") == "number" else -1]
    return MAKERS.get(form.get("type", ""), _text)(form)


def _text(form: Mapping[str, Any]) -> str:
    return CONVENTION if re.search(form.get("pattern", ""), CONVENTION) else "convention"


MAKERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "object": lambda form: {key: _filled(part) for key, part in form.get("properties", {}).items()},
    "array": lambda form: [_filled(form["items"])] * min(form.get("maxItems", 1), 1),
    "boolean": lambda _form: False,
    "integer": lambda form: form.get("minimum", 0),
    "number": lambda form: form.get("minimum", 0),
}
