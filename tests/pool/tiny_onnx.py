"""A sentence model of a few bytes: looks each token up in a table, and does nothing else."""

from array import array
from collections.abc import Sequence

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
FLOAT, INT64 = 1, 7


def table_lookup(table: Sequence[Sequence[float]]) -> bytes:
    """Encode a model for ONNX whose output is a row of the table per token."""
    rows = array("f", [value for row in table for value in row]).tobytes()
    sizes = _field(1, len(table)) + _field(1, len(table[0]))
    weights = sizes + _field(2, FLOAT) + _field(8, b"table") + _field(9, rows)
    names = (b"table", b"input_ids")
    node = b"".join(_field(1, name) for name in names) + _field(2, b"states")
    graph = _field(1, node + _field(4, b"Gather")) + _field(2, b"tiny") + _field(5, weights)
    graph += b"".join(_field(11, _value(name.encode(), INT64, 2)) for name in INPUTS)
    graph += _field(12, _value(b"states", FLOAT, 3))
    return _field(1, 8) + _field(8, _field(2, 13)) + _field(7, graph)


def _value(name: bytes, kind: int, rank: int) -> bytes:
    shape = b"".join(_field(1, _field(2, b"%d" % axis)) for axis in range(rank))
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _field(number: int, value: int | bytes) -> bytes:
    """Encode a field of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
