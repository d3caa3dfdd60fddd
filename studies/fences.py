"""What stands in the fences of a prompt, for programs that read prompts in a model's place."""

from __future__ import annotations

import re

__all__ = ["FENCED", "fenced_texts"]

FENCED = re.compile(
    r"^<(?P<kind>\w+) (?P<sign>\w+)(?P<of>[^>\n]*)>\n(?P<text>.*?)\n</(?P=kind) (?P=sign)>",
    re.DOTALL | re.MULTILINE,
)
"""A fence of `kind`, with what it is titled `of` and the text in it."""


def fenced_texts(text: str, *kinds: str) -> list[tuple[str, str]]:
    """Find the texts in fences of some kinds, each with all that its fence is titled with."""
    return [
        (one["of"].strip().strip('"'), one["text"])
        for one in FENCED.finditer(text)
        if one["kind"] in kinds
    ]
