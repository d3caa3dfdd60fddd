"""Draws quoting: an agent copies the sentence that contains the answer, and then answers.

The sentence is found in the task: if the reference answer occurs in one sentence only, the
example quotes that sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .....schema.edits import SetParameter, SetPrompt, is_tied
from .....schema.edits.offer.strict import closed
from .....schema.values.json_text import dumps, loads
from .answer_form import forms
from .answering import ANSWER, agents_that_answer, is_free, plain_answer, prompt_text
from .choosing import LEAST_SHOWN, Example, choices, with_examples
from .examples import reference_examples
from .source import DrawnFrom, Sketch

LEAST_QUOTED = 0.5
"""The share of tasks whose text must contain the answer."""
QUOTE = "quote"
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")


def quote(source: DrawnFrom) -> Iterator[Sketch]:
    """Let the answering agents first copy the sentence that contains the answer."""
    agents = [agent for agent in agents_that_answer(source.team) if is_free(agent)]
    answers = [answer for trial in source.trials if (answer := plain_answer(trial.task))]
    form = next(forms(answers), None)
    if len(agents) != 1 or form is None or not is_tied(source.team):
        return
    (agent,) = agents
    plain = reference_examples(source, replace(agent, output_schema=None))
    is_text = form.schema["type"] == "string"
    known = [quoted for example in plain for quoted in _quoted(example, is_text=is_text)]
    distinct = len({sentence_with(example.label, example.query) for example in known})
    if distinct < max(LEAST_SHOWN, LEAST_QUOTED * len(source.trials)):
        return  # A sentence that all tasks have, such as a list of labels, is no evidence.
    longest = max(len(example.answer) for example in known)
    fields = {QUOTE: {"type": "string", "maxLength": longest}, ANSWER: form.schema}
    held = SetParameter(agent=agent.id, field="output_schema", value=closed(**fields))
    for chosen in choices(known, source.chance):
        prompt = with_examples(prompt_text(agent, source.catalogue), chosen)
        reason = f"Let {agent.id} quote the sentence that has the answer before it answers"
        edits = (held, SetPrompt(agent=agent.id, prompt=prompt))
        yield edits, f"{reason}, as {len(chosen)} examples show."


def _quoted(example: Example, *, is_text: bool) -> Iterator[Example]:
    """Return the example with the sentence that contains its answer, if there is exactly one."""
    answer = example.answer
    if (sentence := sentence_with(answer, example.query)) is not None:
        value = {QUOTE: sentence, ANSWER: answer if is_text else loads(answer)}
        yield replace(example, answer=dumps(value, ensure_ascii=False))


def sentence_with(answer: str, text: str) -> str | None:
    """Return the only sentence of a text that contains an answer as a word; else None."""
    word = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.IGNORECASE)
    sentences: Sequence[str] = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    having = [sentence for sentence in sentences if word.search(sentence)]
    return having[0] if len(having) == 1 and having[0] != answer else None
