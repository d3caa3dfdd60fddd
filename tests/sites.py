"""Sites as a reader goes through them: every page that a link leads to, and whether links hold."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from coterie.runtime.view import Links, Site, opened
from coterie.runtime.view.pages import document
from coterie.runtime.view.report import made, report

from .webpage import Element, parsed

BASE = "/x/"
_WORDS = """
a article body caption circle code dd del details div dl dt form g h1 h2 h3 h4 head header html
i input ins label li line link main marker meta meter nav ol output p path pre rect script
section span strong style summary svg table tbody td text tfoot th thead title tr ul
"""
ELEMENTS = frozenset(_WORDS.split())
"""What pages are made of, and nothing else."""


def page_at(site: Site, address: str, folder: Path = Path("x")) -> Element:
    """Make a page of a site, as its server does."""
    links = Links(here=address, contents=[*site.contents], base=BASE)
    return parsed(document(site, [(links, made(site, links, folder))]))


def visited(folder: Path, most: int = 200) -> dict[str, Element]:
    """Go to all pages of a folder, or to so many; each link must lead somewhere.

    Returns:
        The pages by their addresses.
    """
    site = opened(folder)
    found: dict[str, Element] = {}
    waiting = [*site.contents]
    while waiting and len(found) < most:
        address = waiting.pop(0)
        if address not in found:
            found[address] = page_at(site, address, folder)
            waiting += holds(found[address])
    return found


def holds(page: Element) -> list[str]:
    """Check ids and links of a page; give the addresses of the pages that it leads to."""
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids)), sorted(one for one in ids if ids.count(one) > 1)[:5]
    addresses = [one.attributes["href"] for one in page.all("a")]
    within = {one[1:] for one in addresses if one.startswith("#")}
    assert within <= set(ids), sorted(within - set(ids))[:5]
    away = [one for one in addresses if not one.startswith("#")]
    assert all(one.startswith(BASE) for one in away), away
    return [unquote(one.removeprefix(BASE).partition("#")[0]) for one in away]


def file_of(folder: Path) -> Element:
    """Make the file of a folder; its links lead to itself alone."""
    page = parsed(report(opened(folder), folder))
    assert holds(page) == []
    return page


def texts(page: Element, tag: str = "td") -> list[str]:
    """Give the texts of all elements of a tag."""
    return [one.text.strip() for one in page.all(tag)]
