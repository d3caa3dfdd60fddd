"""Sites as a reader goes through them: every page that a link leads to, and whether links hold."""

from pathlib import Path
from urllib.parse import unquote

from coterie.runtime.view import Links, Site, opened
from coterie.runtime.view.pages import document
from coterie.runtime.view.report import make_page, report

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
    return parsed(document(site, [(links, make_page(site, links, folder))]))


def visited(folder: Path, most: int = 200) -> dict[str, Element]:
    """Go to all pages of a folder, or to so many; each link must lead somewhere.

    Returns:
        The pages by their addresses.
    """
    site = opened(folder)
    fields: dict[str, Element] = {}
    waiting = [*site.contents]
    while waiting and len(fields) < most:
        address = waiting.pop(0)
        if address not in fields:
            fields[address] = page_at(site, address, folder)
            waiting += holds(fields[address])
    return fields


def holds(page: Element) -> list[str]:
    """Check ids and links of a page; give the addresses of the pages that it leads to."""
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids)), sorted(name for name in ids if ids.count(name) > 1)[:5]
    addresses = [element.attributes["href"] for element in page.all("a")]
    within = {address[1:] for address in addresses if address.startswith("#")}
    assert within <= set(ids), sorted(within - set(ids))[:5]
    away = [address for address in addresses if not address.startswith("#")]
    assert all(name.startswith(BASE) for name in away), away
    return [unquote(name.removeprefix(BASE).partition("#")[0]) for name in away]


def file_of(folder: Path) -> Element:
    """Make the file of a folder; its links lead to itself alone."""
    page = parsed(report(opened(folder), folder))
    assert holds(page) == []
    return page


def texts(page: Element, tag: str = "td") -> list[str]:
    """Return the texts of all elements of a tag."""
    return [element.text.strip() for element in page.all(tag)]
