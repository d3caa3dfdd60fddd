"""The benchmark of what a population costs by itself: it works on tasks, and prints a table."""

from click.testing import CliRunner

from studies.population import AFTER, BEFORE, main


def test_prints_what_each_step_takes_as_tasks_go_by() -> None:
    result = CliRunner().invoke(main, ["--embedder", "hashing", "--quick"])
    assert result.exit_code == 0, result.output
    head, _, *rows = [line for line in result.output.splitlines() if line.startswith("|")]
    assert all(f"| {step} |" in head for step in (*BEFORE, *AFTER))
    assert [row.split("|")[1:3] for row in rows] == [[" 4 ", " 12 "]] * 2
    assert [row.split("|")[4].strip() for row in rows] == ["2", "4"]
    assert {row.count("|") for row in rows} == {head.count("|")}
