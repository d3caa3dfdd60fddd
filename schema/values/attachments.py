"""Images and PDFs that a model sees itself, from a task or from a tool's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

Kind = Literal["image", "pdf"]
"""The kinds of input besides text that a model may accept."""

MOST_BYTES = 10 << 20
"""Maximum bytes of one attachment."""
MOST_IN_ALL = 20 << 20
"""Maximum bytes of all attachments of a task: in base64 they are 28 MB, and Anthropic accepts
requests of 32 MB (platform.claude.com/docs/en/api/overview)."""

FORMATS = "PNG, JPEG, GIF, WebP, PDF"
"""The formats that are recognised by content."""
BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A file of a task, or a part of a tool's answer, that is not text.

    Attributes:
        media_type: Its MIME type, by its content, not by its name.
        sha256: The digest of its content, which represents it in logs and files.
        marker: The text that introduces it in a tool's answer; empty: it is shown with the
            question.
    """

    media_type: str
    sha256: str
    content: bytes = field(repr=False)
    marker: str = ""

    @classmethod
    def of(cls, content: bytes) -> Self | None:
        """Return the attachment for a file's content; None if it is no supported image or PDF."""
        from hashlib import sha256

        if (media_type := _media_type(content)) is None:
            return None
        digest = sha256(content).hexdigest()
        return cls(media_type=media_type, sha256=digest, content=content)

    @classmethod
    def answered(cls, content: bytes) -> Self | None:
        """Return the attachment for a tool's answer, as `of` does; a text represents it there."""
        if (result := cls.of(content)) is None or len(content) > MOST_BYTES:
            return None
        words = f"[{result.kind} {result.sha256[:8]}, {result.media_type}, {len(content)} bytes]"
        return replace(result, marker=words)

    @property
    def kind(self) -> Kind:
        """The kind of input that a model must accept to see it."""
        return "pdf" if self.media_type == "application/pdf" else "image"

    def described(self, name: str) -> dict[str, Any]:
        """Return its description for a trace, without its bytes."""
        size = len(self.content)
        return {"name": name, "kind": self.kind, "bytes": size, "sha256": self.sha256}


def named(attachments: Mapping[str, Attachment]) -> str:
    """Describe attachments by name and kind, for a reader."""
    return ", ".join(
        f"{name} ({attachment.kind})" for name, attachment in sorted(attachments.items())
    )


def _media_type(content: bytes) -> str | None:
    """Return a content's MIME type by its first bytes (mimesniff.spec.whatwg.org, 6.1 and 7.1)."""
    if content.startswith(b"RIFF") and content[8:14] == b"WEBPVP":
        return "image/webp"
    return next((kind for begins, kind in BEGINNINGS.items() if content.startswith(begins)), None)
