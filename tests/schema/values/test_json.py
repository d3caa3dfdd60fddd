"""JSON with the place of every value."""

from coterie.schema.values._json import read_json


def test_places_count_characters_of_lines() -> None:
    document, problems = read_json('\ufeff{\n  "é": [1, {"b": null}],\n"c": -0.5e1}'.encode(), "f")
    assert problems == []
    assert document.value == {"é": [1, {"b": None}], "c": -5.0}
    assert {path: (place.line, place.column) for path, place in document.places.items()} == {
        (): (1, 1),
        ("é",): (2, 8),
        ("é", 0): (2, 9),
        ("é", 1): (2, 12),
        ("é", 1, "b"): (2, 18),
        ("c",): (3, 6),
    }


def test_numbers_have_a_length_that_people_write() -> None:
    document, problems = read_json(f"[{'9' * 41}, {'9' * 40}, -1]".encode(), "f")
    assert document.value == [None, int("9" * 40), -1]
    assert [str(problem) for problem in problems] == [
        "f:1:2: error: [0]: a number of 41 characters; at most 40 are read."
    ]
