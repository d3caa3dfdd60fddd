"""A model that answers by the request alone, and teams that ask it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.runtime.doubles import ScriptedModel, message_text

FORM = "Answer with one JSON value that fits this JSON Schema, and nothing else:\n"
QUERY = "What is 6 times 7? It costs $3."
CHAIN = "name: chain\nagents:\n{}topology:\n  reports_to:\n{}".format(
    "".join(f"  a{i}: {{prompt: Say on number {i}.}}\n" for i in range(30)),
    "".join(f"    a{i}: [a{i + 1}]\n" for i in range(29)),
)


def number(request: Mapping[str, Any]) -> int:
    return int(hashlib.sha256(message_text(request).encode()).hexdigest(), 16)


def instance(schema: Mapping[str, Any], seed: int) -> Any:
    """Return a value of a schema, which differs from seed to seed."""
    match schema.get("type"):
        case "object":
            fields: Mapping[str, Any] = schema.get("properties", {})
            return {name: instance(part, seed) for name, part in fields.items()}
        case "array":
            return [instance(schema["items"], seed)]
        case "integer" | "number":
            return seed % 3
        case "boolean":
            return seed % 2 == 0
        case _:
            return (
                schema["enum"][seed % len(schema["enum"])]
                if "enum" in schema
                else f"{seed % 9} + 1"
            )


def answers(request: Mapping[str, Any]) -> str:
    """Answer by the request alone: prose where JSON is asked for, and JSON after the repair."""
    seed, system = number(request), request["messages"][0]["content"]
    if FORM not in system:
        return f"I think so.\nAnswer: {seed % 3}"
    if len(request["messages"]) == 2 and seed % 2:
        return "I would rather say it in prose."
    schema = json.JSONDecoder().raw_decode(system.partition(FORM)[2])[0]
    return f"Here it is:\n```json\n{json.dumps(instance(schema, seed))}\n```"


def asked(model: ScriptedModel, since: int = 0) -> Counter[str]:
    """Count the conversations that a model was asked to go on with."""
    return Counter(conversation(call.body["messages"]) for call in model.calls[since:])


def conversation(messages: Sequence[Mapping[str, str]]) -> str:
    """Return messages as one text."""
    return json.dumps([(message["role"], message["content"]) for message in messages])


TEAMS = {
    "finalized": """\
name: t
agents:
  writer: {prompt: Write it.}
  judge:
    prompt: Judge it.
    output_schema:
      type: object
      properties: {final: {type: boolean}, why: {type: string}}
      required: [final, why]
  editor: {prompt: Give it its last form.}
topology:
  reports_to: {writer: [judge, editor], judge: [editor]}
execution: {rounds: {most: 5, until: finalized, closing: [editor]}}
""",
    "never, with an opening": """\
name: t
agents:
  scout: {prompt: Look., role: scout}
  writer: {prompt: Write it.}
  critic: {prompt: Find faults., role: 'the "hard" critic'}
topology:
  reports_to: {scout: [writer, critic], critic: [writer]}
  output: writer
execution: {rounds: {most: 4, until: never, opening: [scout]}, context: ancestors}
""",
    "one that never answers": """\
name: t
agents:
  mute:
    prompt: Say nothing.
    output_schema: {type: object, properties: {x: {type: string, maxLength: 1}}, required: [x]}
  talker: {prompt: Talk.}
  judge: {prompt: Judge.}
topology:
  reports_to: {mute: [judge], talker: [judge]}
execution: {on_error: degrade, max_retries: 1}
""",
    "a team that reads everything": """\
name: newsroom
description: Writes "news".
constitution: Say only what you know.
agents:
  scout: {role: the "scout", prompt: Find facts about the task., temperature: 0.7}
  poet: {prompt: "Write a verse.\\nOr two.", max_tokens: 99}
  editor:
    role: editor
    prompt: solve_step_by_step
    notes: {patches: {short: Be short.}, teammates: {scout: Often right.}}
  judge: {role: judge, prompt: Give the verdict.}
topology:
  reports_to: {scout: [poet, editor], poet: [judge], editor: [judge]}
execution: {context: all, parallel_workers: 2}
""",
    "votes and sums": """\
name: t
agents:
  a: {prompt: Guess.}
  b:
    prompt: Guess.
    output_schema: {type: object, properties: {answer: {type: string}}, required: [answer]}
  sum: {agent_type: Function, function: calculate}
  vote: {agent_type: Function, function: vote}
  majority: {agent_type: Function, function: majority}
  both: {agent_type: Function, function: concat}
topology:
  reports_to:
    {a: [vote, majority], b: [vote, majority, sum], vote: [both], majority: [both], sum: [both]}
""",
    "a long chain": CHAIN,
}
