"""Non-text inputs: which models accept them, and how a conversation carries them."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from ..prices import listed
from ..providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ....schema.host.models import Model
    from ....schema.values.attachments import Attachment, Kind
    from .messages import Message

LISTED: Mapping[Kind, str] = {"image": "supports_vision", "pdf": "supports_pdf_input"}
"""The keys of litellm's list that say which inputs a model accepts."""
PDF_AT = frozenset({"openai", "anthropic"})
"""Providers whose API documents how to send a PDF; litellm sends PDFs to its own providers.
Gemini's compatible address documents images only (ai.google.dev/gemini-api/docs/openai)."""

IMAGES: Mapping[str, str] = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WebP",
}
"""The formats that OpenAI and Anthropic accept
(developers.openai.com/api/docs/guides/images-vision,
platform.claude.com/docs/en/build-with-claude/vision)."""
NOT_AT: Mapping[str, frozenset[str]] = dict.fromkeys(
    ("gemini", "vertex_ai"), frozenset({"image/gif"})
)
"""Formats that a provider does not accept (ai.google.dev/gemini-api/docs/image-understanding)."""

IMAGE_TOKENS = 12_000
"""The most tokens that an image counts as: 10,000 patches at OpenAI, billed with a fifth on top
(developers.openai.com/api/docs/guides/images-vision)."""
DEAR_IMAGES: Mapping[str, int] = {"gpt-4o-mini": 50_000}
"""The model that counts more: 2,833 tokens, and 5,667 for each of at most eight tiles."""
PAGE_TOKENS = 6_000
"""The most tokens that a PDF page usually counts as: 3,000 for its text, and as many for its image
(platform.claude.com/docs/en/build-with-claude/pdf-support)."""
PAGES = 100
"""The most pages that a PDF may have for most models (same page)."""
PAGE_BYTES = 2_000
"""The least bytes that a PDF page takes, in practice."""


def inputs_of(model: Model) -> frozenset[Kind]:
    """Return the inputs besides text that a model accepts.

    models.yaml takes precedence; then litellm's list, for a model at its provider's own address.
    Otherwise nothing is known, and a guess would cost a call.
    """
    if model.inputs is not None:
        return frozenset(model.inputs)
    if model.is_embedded or model.api_base is not None:
        return frozenset()
    fields, provider = listed(model), model.model.partition("/")[0]
    own = PROVIDERS.get(provider)
    sends_pdf = provider in PDF_AT or own is None or not own.wire
    return frozenset(
        kind for kind, name in LISTED.items() if fields.get(name) and (kind != "pdf" or sends_pdf)
    )


def takes(model: Model, attachment: Attachment) -> bool:
    """Return whether a model accepts an image or a PDF, as far as its provider is known."""
    return attachment.kind in inputs_of(model) and attachment.media_type not in _refused(model)


def formats_of(model: Model) -> str:
    """Return the formats besides text that a model accepts: `PNG, JPEG, WebP`."""
    kinds, refused = inputs_of(model), _refused(model)
    names = [
        name
        for media_type, name in IMAGES.items()
        if "image" in kinds and media_type not in refused
    ]
    return ", ".join([*names, *(["PDF"] if "pdf" in kinds else [])]) or "text alone"


def _refused(model: Model) -> frozenset[str]:
    return NOT_AT.get(model.model.partition("/")[0], frozenset())


def with_attachments(
    messages: Sequence[Message], attachments: Mapping[str, Attachment]
) -> list[Message]:
    """Add attachments to the user's first message, before its text.

    An attachment from a tool's answer follows its marker instead: in the same user message, or in a
    user message after the tools' answers.

    The parts have the chat API's form; the wires of other APIs convert them. Images come before the
    question about them, as Anthropic advises
    (platform.claude.com/docs/en/build-with-claude/vision).
    """
    if not attachments:
        return [*messages]
    first_of_all = {
        name: attachment for name, attachment in attachments.items() if not attachment.marker
    }
    parts = [_part(name, attachment) for name, attachment in first_of_all.items()]
    result = _marked(
        messages, [attachment for attachment in attachments.values() if attachment.marker]
    )
    roles = [message["role"] for message in result]
    if not parts or "user" not in roles:
        return result
    first = roles.index("user")
    content: Any = result[first]["content"]
    words = [{"type": "text", "text": content}] if isinstance(content, str) else content
    result[first] = {**result[first], "content": [*parts, *words]}
    return result


def _marked(messages: Sequence[Message], waiting: list[Attachment]) -> list[Message]:
    """Add the attachments of tool answers next to those answers."""
    shown: list[Message] = []
    behind: list[dict[str, Any]] = []
    for message in messages if waiting else ():
        if behind and message["role"] != "tool":
            shown.append({"role": "user", "content": behind})
            behind = []
        here = [attachment for attachment in waiting if _holds(message, attachment.marker)]
        waiting = [attachment for attachment in waiting if attachment not in here]
        parts = [
            part
            for attachment in here
            for part in (
                {"type": "text", "text": f"{attachment.marker}:"},
                _part(_named(attachment), attachment),
            )
        ]
        if message["role"] == "tool":
            behind += parts
        elif parts:
            content: Any = message["content"]
            words = [{"type": "text", "text": content}] if isinstance(content, str) else content
            shown.append({**message, "content": [*words, *parts]})
            continue
        shown.append(message)
    if behind:
        shown.append({"role": "user", "content": behind})
    return shown or list(messages)


def _holds(message: Message, marker: str) -> bool:
    """Return whether a tool's answer, even if a library wrapped it, holds a marker."""
    if message["role"] not in {"tool", "user"}:
        return False
    content: Any = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part.get("text") or "" for part in content]
    return any(marker in text for text in texts)


def _named(attachment: Attachment) -> str:
    """Return a file name for an attachment without one."""
    return f"{attachment.sha256[:8]}.{attachment.kind}"


def _part(name: str, attachment: Attachment) -> dict[str, Any]:
    """Return an attachment as a part of a message.

    The form is that of openai-python, `chat_completion_content_part_param.py`.
    """
    url = f"data:{attachment.media_type};base64,{b64encode(attachment.content).decode()}"
    if attachment.kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": name.rpartition("/")[2], "file_data": url}}


def encoded_bytes(attachments: Iterable[Attachment]) -> int:
    """Return the bytes that attachments take in a request, in base64."""
    return sum(4 * -(-len(attachment.content) // 3) for attachment in attachments)


def most_tokens(attachments: Iterable[Attachment], model: str) -> int:
    """Estimate the tokens of attachments; the estimate must not be too low."""
    image = next((most for name, most in DEAR_IMAGES.items() if name in model), IMAGE_TOKENS)
    return sum(
        image
        if attachment.kind == "image"
        else PAGE_TOKENS * min(PAGES, 1 + len(attachment.content) // PAGE_BYTES)
        for attachment in attachments
    )
