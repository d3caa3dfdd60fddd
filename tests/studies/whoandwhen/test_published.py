"""What is read of traces, what is odd in them, and what is refused."""

from pathlib import Path

import pytest

from coterie.schema.values.errors import InputError
from studies.whoandwhen.published import Labelled, digest_of, read_folder, revision_of, spread
from studies.whoandwhen.quirks import QUIRKS, having


def test_traces_are_read_by_source_and_number(labels: tuple[Labelled, ...], folder: Path) -> None:
    assert [label.id for label in labels] == [
        "algorithm-generated/1",
        "algorithm-generated/2",
        "hand-crafted/1",
        "hand-crafted/2",
        "hand-crafted/10",
    ]
    assert read_folder(folder / "Who&When") == labels


def test_a_speaker_is_a_name_or_a_role_that_owns_the_step(labels: tuple[Labelled, ...]) -> None:
    generated, crafted = labels[0], labels[3]
    assert generated.agents == (
        "Hall_Expert",
        "Half-Door_Expert",
        "Computer_terminal",
        "Checker_Expert",
    )
    assert crafted.agents == ("Orchestrator", "WebSurfer")
    assert [(entry.agent, entry.where) for entry in crafted.history] == [
        ("human", ""),
        ("Orchestrator", "thought"),
        ("Orchestrator", "-> WebSurfer"),
        ("WebSurfer", ""),
    ]


def test_a_method_reads_the_trace_without_its_label(labels: tuple[Labelled, ...]) -> None:
    blind, report = (labels[4].trace(with_answer=known) for known in (False, True))
    assert (blind.expected, report.expected) == ("", "four")
    assert blind.agents == ("Orchestrator", "WebSurfer")
    assert [(step.number, step.agent) for step in blind.steps] == [
        (0, "human"),
        (1, "Orchestrator"),
        (2, "WebSurfer"),
    ]


def test_what_is_odd_is_counted(labels: tuple[Labelled, ...]) -> None:
    fields = {
        quirk: [labelled.id for labelled in having(labels, quirk)]
        for quirk in QUIRKS
        if having(labels, quirk)
    }
    assert fields == {
        "the labelled agent's name is capitalised otherwise where it speaks": ["hand-crafted/2"],
        "the original's verdict on the agent can never be right": [
            "algorithm-generated/2",
            "hand-crafted/2",
        ],
        "the labelled step is another agent's than the labelled one": ["hand-crafted/10"],
        "the original takes a wrong step for the labelled one": ["hand-crafted/1"],
        "an agent is named in the file and never speaks": [
            "algorithm-generated/1",
            "algorithm-generated/2",
        ],
        "a step is empty": ["algorithm-generated/2"],
        "a person speaks, who is never labelled": [
            "hand-crafted/1",
            "hand-crafted/2",
            "hand-crafted/10",
        ],
    }


def test_other_traces_have_another_digest(labels: tuple[Labelled, ...]) -> None:
    assert revision_of(labels) is None
    assert digest_of(labels) != digest_of(labels[1:])


def test_a_few_traces_are_spread_over_all(labels: tuple[Labelled, ...]) -> None:
    assert [labelled.id for labelled in spread(labels, 2)] == [
        "algorithm-generated/1",
        "hand-crafted/1",
    ]
    assert spread(labels, 9) == spread(labels, None) == labels


def test_a_folder_without_traces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no traces of Who & When.* clone https"):
        read_folder(tmp_path)
    with pytest.raises(InputError, match="no folder is named"):
        read_folder(None)


@pytest.mark.parametrize("content", ["[", "[]", '{"history": [{"content": "x"}]}', "{}"])
def test_a_file_that_is_no_trace_is_named(folder: Path, content: str) -> None:
    path = folder / "Who&When" / "Hand-Crafted" / "2.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"2\.json is no trace of Who & When"):
        read_folder(folder)
