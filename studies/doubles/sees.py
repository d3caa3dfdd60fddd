"""What a model takes besides text, and how it is refused."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.schema.values.attachments import Attachment
from coterie.schema.values.values import is_list

from .said import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coterie.schema.values.attachments import Kind

    from .said import Body

NO_IMAGE = Refusal(
    status=400,
    message="You uploaded an unsupported image. Please make sure your image is valid.",
    code="invalid_image_format",
)
"""OpenAI's words, for whatever is not what it says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sees:
    """The parts of a user's message that a model takes.

    Attributes:
        parts: What each type of part is, besides text and what tools gave.
        otherwise: What is answered to any other, with the `{index}` of the message and the
            `{type}`; None where nobody has written it down.
    """

    parts: Mapping[str, Kind]
    otherwise: Refusal | None = None

    def objection(self, body: Body) -> Refusal | None:
        """Refuse a part that the model does not take, or that is not what it says."""
        for index, part in _parts(body):
            if (kind := self.parts.get(part["type"])) is None:
                return self.otherwise and self.otherwise.about(index=index, type=part["type"])
            seen = Attachment.of(_content(part))
            if seen is None or seen.kind != kind:
                return NO_IMAGE
        return None


WORDS = frozenset({"text", "input_text", "tool_result"})


def _parts(body: Body) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the parts of what the user says that are no words, each with its message's place."""
    messages: Any = body.get("messages") or body.get("input")
    for index, message in enumerate(messages if is_list(messages) else ()):
        content = message.get("content") if message.get("role") == "user" else None
        for part in content if is_list(content) else ():
            if part["type"] not in WORDS:
                yield index, part


def _content(part: Mapping[str, Any]) -> bytes:
    """Return the bytes in a part; none where they cannot be read."""
    source, file, image = part.get("source"), part.get("file", part), part.get("image_url")
    url = image["url"] if isinstance(image, dict) else image or file.get("file_data") or ""
    data = source["data"] if source else url.partition(";base64,")[2]
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return b""
