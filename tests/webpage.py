"""An HTML page as a browser's parser takes it: its elements, its texts, and what could act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = frozenset({"meta", "link", "input"})


@dataclass(kw_only=True)
class Element:
    """An element: its attributes, what is in it, and the text of all of that."""

    tag: str
    attributes: dict[str, str]
    inside: list[Element] = field(default_factory=list["Element"])
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def all(self, tag: str = "", **wanted: str) -> list[Element]:
        """Return the elements in it of a tag, with these attributes; `class_` is one of many."""
        return [
            element
            for element in self._within()
            if tag in {"", element.tag} and element.has(**wanted)
        ]

    def _within(self) -> Iterator[Element]:
        waiting = self.inside[::-1]
        while waiting:
            yield (element := waiting.pop())
            waiting += element.inside[::-1]

    def has(self, **wanted: str) -> bool:
        return all(
            value in self.attributes.get("class", "").split()
            if name == "class_"
            else self.attributes.get(name) == value
            for name, value in wanted.items()
        )

    def one(self, tag: str = "", **wanted: str) -> Element:
        (element,) = self.all(tag, **wanted)
        return element


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element(tag="", attributes={})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag=tag, attributes={name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag=tag, attributes={name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parsed(page: str | Path) -> Element:
    """Parse a page; every element must be closed where it should be."""
    parser = _Parser()
    parser.feed(page.read_text(encoding="utf-8") if isinstance(page, Path) else page)
    parser.close()
    assert [element.tag for element in parser.open] == [""]
    return parser.root
