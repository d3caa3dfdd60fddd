"""Rewrites YAML to hold another value and keeps all unchanged parts byte for byte.

A mapping or a list in block style consists of parts, which are whole lines: each field or item with
the comments above it, and a gap before the next. Unchanged parts are copied. In a changed part,
only the value is rewritten; in a nested collection, only its changed parts. A value whose text
can't be kept in part, such as one in flow style, is rewritten as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import yaml

from ..values.values import equal_numbers_alike, is_list, is_mapping
from ..values.yaml_text import read_yaml
from .writing import WIDTH, block_text, fits_block, scalar, write_yaml

Span = tuple[int, int, str]
"""The begin and end of a replaced text, and its replacement."""

_REMARK = re.compile(r"\s*:?\s*(?:[|>][-+0-9]*)?\s*(#.*)?")
"""Matches the text between a name, or a value, and a comment on its line."""
_UNNAMED = '""'
"""The empty key, as YAML writes it."""
_BLANK = re.compile(r"\s*?\n")
_LITERAL = re.compile(r"\|[-+]?(?=\s)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """A field of a mapping, or an item of a list.

    Attributes:
        key: The node of the field's name, or of the item.
        begin: The index where its lines begin, with the comments above it.
        gap: The lines between this part and the next; None after the last.
    """

    key: Any
    node: Any
    begin: int
    end: int
    gap: str | None


def rewritten_yaml(text: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Rewrite the YAML text of the mapping `old` so that it holds `new`, in the order of `new`.

    Args:
        text: YAML that our reader reads without problems.

    Returns:
        The new text; None if the text's form allows no partial rewriting.
    """
    added = "" if text.endswith("\n") else "\n"
    source = _SourceText(text=text + added, newline="\r\n" if "\r\n" in text else "\n")
    root: Any = yaml.compose(source.text, yaml.CSafeLoader)
    if (span := source.collection(root, old, new)) is None:
        return None
    begin, end, body = span
    result = source.text[:begin] + body + source.text[end:]
    if added and result.endswith(source.text[source.parts(root)[-1].begin :]):
        result = result.removesuffix(added)
    document, problems = read_yaml(result.encode(), "")
    return None if problems or exactly(document.value) != exactly(new) else result


def exactly(value: Any) -> str:
    """Return a text that is equal only for values that are equal in content and order."""
    return json.dumps(equal_numbers_alike(value))


@dataclass(frozen=True, kw_only=True, slots=True)
class _SourceText:
    """A text that ends with a line break, and its line ending."""

    text: str
    newline: str

    def parts(self, node: Any) -> Sequence[_Part]:
        """Divide a collection into parts; empty if it is in flow style, or parts share lines."""
        column, pairs = node.start_mark.column, _pairs(node)
        starts = [self._line(key.start_mark.index) for key, _ in pairs]
        sign = "-" if isinstance(node, yaml.SequenceNode) else ""
        for start, (key, _) in zip(starts, pairs, strict=True):
            ahead = self.text[start : key.start_mark.index]
            if not ahead.startswith(" " * column + sign) or ahead.strip() != sign:
                return []
        begins = [self._with_comments_above(start, column) for start in starts]
        if column == 0:
            begins[:1] = starts[:1]  # Comments above the first field are about the file.
        ends = [self._with_comments_within(self._end(item), column) for _, item in pairs]
        gaps = [self.text[end:begin] for end, begin in zip(ends, begins[1:], strict=False)]
        rows = zip(pairs, begins, ends, [*gaps, None], strict=False)
        return [
            _Part(key=key, node=item, begin=begin, end=end, gap=gap)
            for (key, item), begin, end, gap in rows
        ]

    def collection(self, node: Any, old: Any, new: Any) -> Span | None:
        """Rewrite a mapping or a list part by part; None if that is impossible."""
        if not new or not (parts := self.parts(node)):
            return None
        column = node.start_mark.column
        if is_mapping(old) and is_mapping(new):
            lines = self._fields(parts, column, old, new)
        elif is_list(old) and is_list(new):
            lines = self._items(parts, column, old, new)
        else:
            return None
        return parts[0].begin, parts[-1].end, _joined(parts, lines)

    def _fields(
        self, parts: Sequence[_Part], column: int, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> list[tuple[_Part | None, str]]:
        fields, names = dict(zip(old, parts, strict=True)), _names(old, new)
        return [
            (fields[name], self._field(fields[name], key, old[name], item))
            if (name := names.get(key)) is not None
            else (None, self._lines(_yaml_lines({key: item}), column))
            for key, item in new.items()
        ]

    def _items(
        self, parts: Sequence[_Part], column: int, old: Sequence[Any], new: Sequence[Any]
    ) -> list[tuple[_Part | None, str]]:
        lines: list[tuple[_Part | None, str]] = []
        for rest, added in _aligned([*map(exactly, old)], [*map(exactly, new)]):
            lines += [(part, self.text[part.begin : part.end]) for part in parts[rest]]
            lines += [(None, self._lines(_item_lines(item), column)) for item in new[added]]
        return lines

    def _field(self, part: _Part, name: str, old: Any, new: Any) -> str:
        """Rewrite a field, with its new name if it was renamed."""
        begin, end = part.key.start_mark.index, part.key.end_mark.index
        key = self.text[begin:end] if name == part.key.value else scalar(name, in_flow=True)
        head = self.text[part.begin : begin] + key
        if exactly(old) == exactly(new):
            return head + self.text[end : part.end]
        span = self.collection(part.node, old, new) or self._single(part.node, old, new)
        start, stop, value = span or self._anew(part, new)
        return head + self.text[end:start] + value + self.text[stop : part.end]

    def _single(self, node: Any, old: Any, new: Any) -> Span | None:
        """Rewrite a value without parts in place; None if that is impossible."""
        begin, end = node.start_mark.index, node.end_mark.index
        if isinstance(old, str) and node.style == "|":
            return self._block(node, new)
        if type(old) is type(new) and _is_flow(node):
            value = self._flowing(node, old, new)
            fits = "\n" in value or node.start_mark.column + len(value) <= WIDTH
            return (begin, end, value) if fits else None
        in_lines = "\n" in self.text[begin:end] or (isinstance(new, str) and "\n" in new)
        if begin == end or in_lines or _is_block(node) or isinstance(new, dict | list):
            return None
        return begin, end, _styled(new, node.style)

    def _flowing(self, node: Any, old: Any, new: Any) -> str:
        """Rewrite a value in flow style; in a mapping with unchanged names, only changed values."""
        begin, end = node.start_mark.index, node.end_mark.index
        if exactly(old) == exactly(new):
            return self.text[begin:end]
        if isinstance(node, yaml.ScalarNode) and not isinstance(new, dict | list):
            return _styled(new, node.style, in_flow=True)
        if not (is_mapping(old) and is_mapping(new) and [*old] == [*new]):
            return _flow(new)
        value, place = "", begin
        for name, (_, item) in zip(old, node.value, strict=True):
            start = item.start_mark.index
            value += self.text[place:start] + self._flowing(item, old[name], new[name])
            place = item.end_mark.index
        return value + self.text[place:end]

    def _block(self, node: Any, new: Any) -> Span | None:
        begin, end = node.start_mark.index, self._end(node)
        first = self._next_line(begin)
        header = _LITERAL.match(self.text, begin)
        there, old = self.text[first:end].split("\n")[:-1], node.value.split("\n")
        old = old[:-1] if old[-1] == "" else old
        indented = next((line for line in there if line.strip()), None)
        if not (fits_block(new) and header and indented and len(old) == len(there)):
            return None
        indentation = indented[: len(indented) - len(indented.lstrip(" "))]
        sign, *lines = block_text(new)
        if header[0] == "|+" and new.endswith("\n"):
            sign = "|+"
        elif sign == "|+":  # Its header would include the blank lines that follow.
            return None
        value = sign + self.text[header.end() : first]
        for rest, added in _aligned(old, lines):
            value += "".join(f"{line}\n" for line in there[rest])
            value += self._lines(lines[added], len(indentation))
        return begin, end, value

    def _anew(self, part: _Part, new: Any) -> Span:
        """Write a value again, with the comment beside it."""
        begin, node = part.key.end_mark.index, part.node
        is_inline = node.start_mark.index < node.end_mark.index and not _is_block(node)
        place = node.end_mark.index if is_inline else begin
        remark = _REMARK.match(self.text[place : self._next_line(place)].rstrip())
        first, *lines = _yaml_lines({"": new})
        if first.endswith("|+"):
            first, lines = f"{_UNNAMED}: {scalar(new)}", []
        beside = f"  {remark[1]}" if remark and remark[1] else ""
        value = f"{first.removeprefix(_UNNAMED)}{beside}{self.newline}"
        return begin, self._end(node), value + self._lines(lines, part.key.start_mark.column)

    def _lines(self, lines: Iterable[str], column: int) -> str:
        indented = (" " * column + line if line else "" for line in lines)
        return "".join(line + self.newline for line in indented)

    def _line(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def _next_line(self, index: int) -> int:
        return self.text.index("\n", index) + 1

    def _end(self, node: Any) -> int:
        """Return the index after the last line of a value, excluding blank lines that follow."""
        begin, end = node.start_mark.index, node.end_mark.index
        if not _is_block(node):
            return self._next_line(end)
        if not isinstance(node, yaml.ScalarNode):
            return self._end(_pairs(node)[-1][1])
        if "+" in self.text[begin : begin + 3]:
            return end
        return self._next_line(begin + len(self.text[begin:end].rstrip()))

    def _with_comments_above(self, start: int, column: int) -> int:
        while start and self._comment_column(above := self._line(start - 1)) == column:
            start = above
        return start

    def _with_comments_within(self, end: int, column: int) -> int:
        while self._comment_column(end) > column:
            end = self._next_line(end)
        return end

    def _comment_column(self, start: int) -> int:
        """Return the column of a comment that fills the line; -1 if the line is no comment."""
        line = self.text[start : self.text.find("\n", start)]
        text = line.lstrip(" ")
        return len(line) - len(text) if text.startswith("#") else -1


def _pairs(node: Any) -> Sequence[tuple[Any, Any]]:
    """Return the key and value nodes of a block collection; an item is its own key."""
    if isinstance(node, yaml.ScalarNode) or _is_flow(node):
        return []
    return [(item, item) for item in node.value] if node.id == "sequence" else node.value


def _is_flow(node: Any) -> bool:
    return not isinstance(node, yaml.ScalarNode) and node.flow_style


def _is_block(node: Any) -> bool:
    return node.style in {"|", ">"} if isinstance(node, yaml.ScalarNode) else not _is_flow(node)


def _names(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the old names of remaining fields by their new names; equal values mean a rename."""
    removed = [name for name in old if name not in new]
    names: dict[str, str] = {}
    for name, item in new.items():
        same = (key for key in removed if exactly(old[key]) == exactly(item))
        before = name if name in old else next(same, None)
        if before is not None:
            names[name] = before
            removed = [key for key in removed if key != before]
    return names


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield, from start to end, a slice of kept old items and the slice of new items after it."""
    for tag, begin, end, first, last in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        is_equal = tag == "equal"
        yield slice(begin, end if is_equal else begin), slice(first, first if is_equal else last)


def _joined(parts: Sequence[_Part], lines: Sequence[tuple[_Part | None, str]]) -> str:
    """Join kept and new parts in their new order.

    Blank lines separate a new part only if they separate all existing ones.
    """
    blanks = [blank[0] for part in parts if (blank := _BLANK.match(part.gap or ""))]
    usual = blanks[0] if blanks and len(blanks) == len(parts) - 1 else ""
    text, gaps = _gaps(parts, {part.begin for part, _ in lines if part is not None})
    before = ""
    for index, (part, body) in enumerate(lines):
        text += (usual if index and part is None else before) + body
        if part is not None:
            gap = gaps[part.begin]
            before = usual if gap is None else gap
        elif not index:
            before = usual
    comments = before.rstrip()
    return text + (before[: before.index("\n", len(comments)) + 1] if comments else "")


def _gaps(parts: Sequence[_Part], staying: Set[int]) -> tuple[str, Mapping[int, str | None]]:
    """Return the leading comments, and the gap after each kept part; no comment is lost."""
    lead, owner = "", -1
    gaps: dict[int, str | None] = {}
    for part in parts:
        if part.begin in staying:
            owner, gaps[part.begin] = part.begin, part.gap
        elif part.gap is not None and part.gap.strip():
            if owner in gaps:
                gaps[owner] = f"{gaps[owner]}{part.gap}"
            else:
                lead += part.gap
    return lead, gaps


def _flow(value: Any) -> str:
    if is_mapping(value):
        fields = (f"{scalar(key, in_flow=True)}: {_flow(item)}" for key, item in value.items())
        return f"{{{', '.join(fields)}}}"
    if is_list(value):
        return f"[{', '.join(map(_flow, value))}]"
    return scalar(value, in_flow=True)


def _styled(value: Any, style: str | None, *, in_flow: bool = False) -> str:
    """Write a value on one line, with the given kind of quotation marks if any."""
    text = scalar(value, in_flow=in_flow)
    if not isinstance(value, str) or not value.isprintable():
        return text
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=False) if style == '"' else text


def _yaml_lines(value: Mapping[str, Any]) -> list[str]:
    return write_yaml(value).split("\n")[:-1]


def _item_lines(item: Any) -> Iterable[str]:
    if is_mapping(item) and item:
        first, *lines = _yaml_lines(item)
        return f"- {first}", *(f"  {line}" if line else "" for line in lines)
    first, *lines = _yaml_lines({"": item})
    return f"-{first.removeprefix(_UNNAMED)[1:]}", *lines
