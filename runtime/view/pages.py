"""Pages as HTML: their templates, and the document around them, in which nothing foreign runs."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema.values.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2
    from markupsafe import Markup

    from .links import Links
    from .site import Site

FOLDER = Path(__file__).with_name("pages")
LONGEST = 50_000
"""Characters of one text that a page shows; it says how many are left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page without what is around it.

    Attributes:
        body: Its HTML, as `Templates.render` gives it.
    """

    title: str
    body: Markup


@dataclass(frozen=True, kw_only=True)
class Templates:
    """Templates of a folder, beside those of the kit (`kit.html`).

    Every value is text unless it is `Markup`: it is escaped, and what nobody would see of it, such
    as what turns the direction of writing, stands there by its number.
    """

    folder: Path

    @cached_property
    def _environment(self) -> jinja2.Environment:
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader([self.folder, FOLDER]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_text,
        )
        environment.filters["shortened"] = shortened
        return environment

    def page(self, title: str, name: str, links: Links, /, **values: Any) -> Page:
        """Fill in a template as a page; see `render`."""
        return Page(title=title, body=self.render(name, links, **values))

    def render(self, name: str, links: Links, /, **values: Any) -> Markup:
        """Fill in a template.

        Args:
            links: Names the page's parts; the template calls it `links`.

        Raises:
            jinja2.TemplateError: The template is wrong, or lacks a value.
        """
        from markupsafe import Markup

        template = self._environment.get_template(name)
        return Markup(template.render(links=links, **values))  # noqa: S704 - autoescaped


def shortened(text: str) -> str:
    """Leave out the middle of a text that no page has room for, and say how much it was."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    gap = f"{len(text) - 2 * half:,} characters left out; mas-view --text --full has them"
    return f"{text[:half]}\n\n[… {gap} …]\n\n{text[-half:]}"


def _text(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def document(site: Site, pages: Sequence[tuple[Links, Page]], *, live: str = "") -> str:
    """Write a document that needs nothing else: one page of a server, or all in a file.

    Args:
        live: The address that tells of changes; empty, where nothing tells.
    """
    links, first = pages[0]
    return Templates(folder=FOLDER).render(
        "document.html",
        links,
        site=site,
        pages=pages,
        first=first,
        live=live,
        policy=policy(),
        style=_part("style.css"),
        script=_part("script.js"),
    )


@cache
def policy() -> str:
    """Return what a document may do: its own script and style, by hash, and ask its own server."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash('script.js')}'",
            f"style-src '{_hash('style.css')}'",
            "img-src data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


@cache
def _part(name: str) -> Markup:
    from markupsafe import Markup

    return Markup((FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of ours


def _hash(name: str) -> str:
    digest = hashlib.sha256(_part(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
