"""What a model sees itself: images and PDFs of a task, or of a tool's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

Kind = Literal["image", "pdf"]
"""What a model takes, or does not, besides text."""

MOST_BYTES = 10 << 20
"""Bytes of one."""
MOST_IN_ALL = 20 << 20
"""Bytes of all of a task: in base64 they are 28 MB, and Anthropic takes requests of 32 MB
(platform.claude.com/docs/en/api/overview)."""

FORMATS = "PNG, JPEG, GIF, WebP, PDF"
"""What is told apart by its content."""
BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A file of a task, or a part of a tool's answer, that is no text.

    Attributes:
        media_type: What it is, as MIME has it; its content says so, whatever its name does.
        sha256: The digest of its content, which stands for it wherever something is written down.
        marker: The words behind which it is shown, where a tool answered with it; empty: it is
            shown with the question.
    """

    media_type: str
    sha256: str
    content: bytes = field(repr=False)
    marker: str = ""

    @classmethod
    def of(cls, content: bytes) -> Self | None:
        """Take the content of a file; None where it is no image and no PDF that models take."""
        from hashlib import sha256

        if (media_type := _media_type(content)) is None:
            return None
        digest = sha256(content).hexdigest()
        return cls(media_type=media_type, sha256=digest, content=content)

    @classmethod
    def answered(cls, content: bytes) -> Self | None:
        """Take what a tool answered with, as `of` does; text stands for it in the answer."""
        if (result := cls.of(content)) is None or len(content) > MOST_BYTES:
            return None
        words = f"[{result.kind} {result.sha256[:8]}, {result.media_type}, {len(content)} bytes]"
        return replace(result, marker=words)

    @property
    def kind(self) -> Kind:
        """What a model must take to see it."""
        return "pdf" if self.media_type == "application/pdf" else "image"

    def described(self, name: str) -> dict[str, Any]:
        """Return what it is, for a trace: everything but its bytes."""
        size = len(self.content)
        return {"name": name, "kind": self.kind, "bytes": size, "sha256": self.sha256}


def named(attachments: Mapping[str, Attachment]) -> str:
    """Name attachments and what they are, for whoever reads it."""
    return ", ".join(
        f"{name} ({attachment.kind})" for name, attachment in sorted(attachments.items())
    )


def _media_type(content: bytes) -> str | None:
    """Return what a content is by how it begins (mimesniff.spec.whatwg.org, 6.1 and 7.1)."""
    if content.startswith(b"RIFF") and content[8:14] == b"WEBPVP":
        return "image/webp"
    return next((kind for begins, kind in BEGINNINGS.items() if content.startswith(begins)), None)
