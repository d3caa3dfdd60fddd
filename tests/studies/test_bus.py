"""The benchmark of what messages of an open roster cost: agents talk, and a table is printed."""

from click.testing import CliRunner

from studies.bus import HEAD, main


def test_prints_what_messages_cost() -> None:
    result = CliRunner().invoke(main, ["--agents", "4", "--quick"])
    assert result.exit_code == 0, result.output
    head, _, *rows = result.output.splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [*HEAD]
    assert [row.split("|")[1].strip() for row in rows] == ["10", "20"]
