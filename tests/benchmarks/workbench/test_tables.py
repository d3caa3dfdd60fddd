"""Reading the workplace's files, and the table that holds them."""

import math
from pathlib import Path

import pytest

from coterie.benchmarks.workbench import Tables, find_folder, load_tables
from coterie.benchmarks.workbench.table import MISSING, Table, is_missing
from coterie.schema.values.errors import InputError

from .conftest import write_workplace


def test_the_files_are_found_in_a_folder_below_it_and_from_its_data(folder: Path) -> None:
    assert find_folder(folder) == folder
    assert find_folder(folder / "data") == folder
    below = write_workplace(folder.parent / "all" / "workbench")
    assert find_folder(below.parent) == below


def test_a_folder_without_the_files_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="clone"):
        find_folder(tmp_path)
    with pytest.raises(InputError, match="WorkBench needs its files"):
        find_folder(None)


def test_every_cell_is_text_or_missing_and_read_once(folder: Path, tables: Tables) -> None:
    assert load_tables(folder) is tables
    assert tables.events.records()[0]["duration"] == "30"
    assert is_missing(tables.customers.records()[0]["customer_phone"])
    assert [row["user_engaged"] for row in tables.visits.records()] == [True, False, False]
    assert (len(tables.plots), tables.plots.columns) == (0, ("file_path",))
    assert tables.directory[0] == "ada.low@firm.com"


@pytest.mark.parametrize("text", ["", "a,b\n1\n", "a\n\xff"])
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    folder = write_workplace(tmp_path)
    (folder / "data" / "processed" / "emails.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"emails\.csv"):
        load_tables(folder)


TABLE = Table.of(["id", "n"], [("a", "1"), ("b", MISSING)])


def test_a_change_gives_a_new_table_that_shares_the_other_rows() -> None:
    changed = TABLE.updated([0], "n", "2")
    assert TABLE.cells("n")[0] == "1"
    assert changed.cells("n")[0] == "2"
    assert changed.rows[1] is TABLE.rows[1]


def test_missing_cells_equal_nothing() -> None:
    assert TABLE.where("n", math.nan) == []
    assert TABLE.where("n", None) == []
    assert TABLE.where("id", "b") == [1]
    assert TABLE.where("id", ["b", "b"]) == [1]
    with pytest.raises(ValueError, match="cannot be compared"):
        TABLE.where("id", ["b"])


def test_a_column_of_numbers_holds_floats_until_text_comes() -> None:
    table = TABLE.updated([0], "new", 5).updated([1], "new", 7)
    assert [type(cell) for cell in table.cells("new")] == [float, float]
    assert table.updated([0], "new", "x").updated([1], "new", 8).cells("new") == ["x", 8]
