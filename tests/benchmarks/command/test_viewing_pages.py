"""`mas-view` on evaluations: the pages say what the folders say, down to the run of a trial."""

import json
import re
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.pages import ResultsSite, open_results
from coterie.benchmarks.pages.many import front
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.record.journal import Journal
from coterie.runtime.view import NoPage, opened
from coterie.runtime.view.plots import PlotPoint
from coterie.schema.values.terminal import visible

from ...attacks import attacks
from ...sites import ELEMENTS, file_of, holds, page_at, texts, visited
from ...support.commands import invoked
from .conftest import Cli, adds


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text())


def rows(address: str, folder: Path) -> list[str]:
    """Return the tasks of a page of samples."""
    return texts(page_at(opened(folder), address).one("tbody"), "th")


def unsure(request: Request) -> Reply:
    """Be wrong where the question ends in an even number."""
    n = int(re.findall(r"How much is (\d+) \+", message_text(request))[-1])
    return Reply(text="The answer is: unknown") if n % 2 else adds(request)


def test_an_evaluation_is_shown_as_its_files_tell_it(cli: Cli) -> None:
    folder = cli.evaluated("--trials", "2")
    pages = visited(folder)
    first, figures = pages[""], told(folder)
    facts = dict(zip(texts(first, "dt"), texts(first, "dd"), strict=True))
    low, high = figures["headline"]["interval"]
    assert facts[figures["headline"]["name"]] == (
        f"{figures['headline']['value']:.3f} [{low:.3f}, {high:.3f}]"
    )
    assert facts["Tasks x trials"] == "24 x 2"
    assert facts["Model calls"] == "48"
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert len(samples) == 48
    for sample in samples:
        page = pages[f"sample/{sample['trial']}/{sample['task']}"]
        assert sample["answer"] in texts(page, "pre")
        assert sample["question"] in texts(page, "pre")
        verdicts = {badge.text.split()[-1] for badge in page.all("span", class_="badge")}
        assert ("right" if sample["score"] else "wrong") in verdicts
    assert len(texts(pages["samples"].one("tbody"), "th")) == 48
    wrong = [item["task"] for item in samples if not item["score"]]
    assert sorted(rows("samples/wrong/1", folder)) == sorted(wrong)
    niche = samples[0]["niche"]
    of_niche = [item["task"] for item in samples if item["niche"] == niche]
    assert sorted(rows(f"samples/niche {niche}/1", folder)) == sorted(of_niche)


def test_it_is_one_file_whose_links_lead_to_itself(cli: Cli) -> None:
    assert cli.run().code == 0
    file = cli.folder / "report.html"
    result = invoked(mas_view, [str(cli.results[0]), "-o", str(file)], "mas-view")
    assert (result.code, file.exists()) == (0, True), result.err
    page = file_of(cli.results[0])
    assert "Samples of" in page.text
    assert len(page.all("tr")) > 24


def test_several_are_compared_down_to_the_task(cli: Cli) -> None:
    assert cli.run().code == cli.run(team="pair", replies=unsure).code == 0
    site = opened(cli.folder / "results")
    folders = sorted(cli.results, key=lambda path: path.name)
    names = [folder.name for folder in folders]
    teams = [told(folder)["team"] for folder in folders]
    assert texts(page_at(site, "").all("tbody")[0], "th") == teams
    between = f"compare/{names[0]}/{names[1]}"
    compared = page_at(site, f"{between}/same/0")
    scores = {
        name: {
            item["task"]: item["score"]
            for item in map(json.loads, (folder / "samples.jsonl").read_text().splitlines())
        }
        for name, folder in zip(names, folders, strict=True)
    }
    changes = {task: scores[names[1]][task] - before for task, before in scores[names[0]].items()}
    assert any(changes.values())
    shown = {row.one("th").text: row.all("td")[-1].text for row in compared.one("tbody").all("tr")}
    assert shown == {task: f"{change:+.3g}" for task, change in changes.items()}
    for kind, sign in {"worse": -1, "better": 1}.items():
        wanted = sorted(task for task, change in changes.items() if change * sign > 0)
        page = page_at(site, f"{between}/{kind}/1")
        shown = [name for body in page.all("tbody") for name in texts(body, "th")]
        assert sorted(shown) == wanted
    samples = {f"{name}/sample/1/{task}" for name in names for task in changes}
    assert samples <= {*holds(compared)}
    assert len(visited(cli.folder / "results", most=20)) == 20


def test_one_that_was_killed_shows_what_there_is(cli: Cli) -> None:
    folder = cli.evaluated()
    (folder / "results.json").unlink()
    (folder / "samples.jsonl").unlink()
    assert len(rows("samples", folder)) == 24
    assert "done" in visited(folder, most=1)[""].text


def test_one_under_way_changes_its_state_and_is_told_so(cli: Cli) -> None:
    assert cli.run().code == 0
    site = open_results(cli.results[0])
    assert isinstance(site, ResultsSite)
    assert site.state == ""
    with Journal.open(cli.results[0]):
        before = site.state
        assert "under way" in page_at(site, "").text
        (cli.results[0] / "samples.jsonl").write_text("{}\n")
        assert before != site.state != ""


def test_what_was_edited_is_a_sentence_and_the_others_are_shown(cli: Cli) -> None:
    assert cli.run().code == cli.run(team="pair").code == 0
    path = cli.results[0] / "results.json"
    path.write_text(path.read_text().replace('"samples": 24', '"samples": 23'))
    file = cli.folder / "report.html"
    result = invoked(mas_view, [str(cli.results[0]), "-o", str(file)], "mas-view")
    assert (result.code, file.exists()) == (2, False)
    assert "It was edited" in result.err
    page = page_at(opened(cli.folder / "results"), "")
    assert "It was edited" in page.one("p", class_="problem").text
    assert texts(page.all("tbody")[0], "th") == ["pair"]


def test_results_of_another_version_are_told(cli: Cli) -> None:
    assert cli.run().code == 0
    path = cli.results[0] / "results.json"
    path.write_text(path.read_text().replace('"version": 2', '"version": 1'))
    result = invoked(mas_view, [str(cli.results[0]), "-o", "x.html"], "mas-view")
    assert (result.code, "version 1 is not supported, only 2" in result.err) == (2, True), (
        result.err
    )


LONG = "9" * 5_000
"""A number that Python does not read."""


def test_an_address_of_nothing_is_no_page(cli: Cli) -> None:
    assert cli.run().code == 0
    for site in (opened(cli.results[0]), opened(cli.folder / "results")):
        for address in (
            *("x", "x/y", "samples/no/1", "samples/all/x", f"samples/all/{LONG}", "sample/1/"),
            *("sample/x/t", f"sample/{LONG}/t", "compare/a/b/same/0"),
        ):
            with pytest.raises(NoPage):
                page_at(site, address)


def test_a_trial_whose_data_is_gone_is_told(cli: Cli) -> None:
    assert cli.run().code == 0
    task = rows("samples", cli.results[0])[0]
    shutil.rmtree(cli.folder / "data")
    from coterie.schema import InputError

    with pytest.raises(InputError, match="data"):
        page_at(opened(cli.results[0]), f"sample/1/{task}")


def test_hostile_questions_answers_and_niches_are_text(cli: Cli, nightly: bool) -> None:
    lines = attacks()[:: 1 if nightly else 4]
    tasks = [
        {"id": f"t{n}", "query": name, "answer": "7", "niche": f"n {name[:60]}"}
        for n, name in enumerate(lines)
        if name.strip()
        and not any(unicodedata.category(sign) in {"Cc", "Cf", "Cs"} for sign in name)
    ]
    assert len(tasks) >= (190 if nightly else 47)  # others are refused as tasks
    (cli.folder / "own.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    words = ["run", "own.jsonl", "--team", "solo.yaml", "--scorer", "exact", "--quiet"]

    def echo(request: Request) -> Reply:
        return Reply(text=str(request["messages"][-1]["content"]))

    assert cli.bench(*words, replies=echo).code == 0
    (folder,) = cli.results
    page = file_of(folder)
    assert {element.tag for element in page.all()} <= ELEMENTS
    assert not any(name.startswith("on") for element in page.all() for name in element.attributes)
    written = texts(page)
    for fields in tasks:
        assert any(
            visible(" ".join(str(fields["query"])[:100].split())) in cell for cell in written
        )
    sample = page_at(opened(folder), "sample/1/t5")
    assert visible(lines[5]) in texts(sample, "pre")


def test_the_front_has_what_nothing_at_most_as_dear_beats() -> None:
    points = [PlotPoint(x=x, y=y) for x, y in [(3, 0.5), (1, 0.2), (2, 0.5), (4, 0.9), (2, 0.1)]]
    assert [(item.x, item.y) for item in front(points)] == [(1, 0.2), (2, 0.5), (4, 0.9)]
