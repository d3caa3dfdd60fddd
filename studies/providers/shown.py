"""What models are shown besides text: an image and a PDF, as small as they can be."""

from __future__ import annotations

import base64
from types import MappingProxyType
from typing import TYPE_CHECKING

from coterie.schema.values.attachments import Attachment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.schema.values.attachments import Kind

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One pixel."""
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n%%EOF\n"


def _shown() -> Mapping[Kind, Attachment]:
    taken = (Attachment.of(content) for content in (PNG, PDF))
    return MappingProxyType({item.kind: item for item in taken if item is not None})


SHOWN = _shown()
"""Both, by what they are."""
