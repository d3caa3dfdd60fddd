"""A code review, a model of Ollama, a killed run, a chat and an image: sections 1, 5, 10 to 12."""

import re
from threading import Event
from typing import Any

from coterie.runtime.doubles import Reply
from studies.providers.shown import PNG

from ..support.newcomer import Newcomer
from ..support.processes import KILLED, Child
from ..support.repositories import run_git
from .conftest import SECTIONS, Play


def test_a_team_reviews_the_changes_of_a_repository(newcomer: Newcomer, play: Play) -> None:
    model = play(
        {
            "Write the review": "calc.py:2 returns a - b, not a + b.",
            "are wrong": "The minus is wrong.",
            "has no test": "Nothing is tested.",
        }
    )
    file = newcomer.folder / "calc.py"
    file.write_text("def add(a, b):\n    return a + b\n")
    run_git(newcomer.folder, "init", "-q")
    run_git(newcomer.folder, "add", "calc.py")
    file.write_text("def add(a, b):\n    return a - b\n")
    newcomer.follow(SECTIONS[1])
    assert all("-    return a + b\n+    return a - b" in call.text for call in model.calls)
    for report in ("The minus is wrong.", "Nothing is tested."):
        assert report in model.calls[-1].text


def test_an_address_of_ollama_needs_no_path(newcomer: Newcomer, play: Play) -> None:
    model = play("42")
    (address,) = re.findall(r"@(http://\S+)", SECTIONS[5])
    newcomer.here[address] = model.api_base.removesuffix("/v1")
    newcomer.follow(SECTIONS[5])
    assert [call.body["model"] for call in model.calls] == ["qwen3"]


def test_a_killed_run_resumes_and_pays_for_no_answer_twice(newcomer: Newcomer, play: Play) -> None:
    reached = Event()

    def critic(_: Any) -> Reply | str:
        if reached.is_set():
            return "A better story."
        reached.set()
        return Reply.fault("hang")

    model = play({"Improve the story": critic, "Write a story": "A story."})
    command = re.findall(r"^\$ (mas-run chain.*)$", SECTIONS[10], re.MULTILINE)[0]

    def killed() -> str:
        child = Child(lambda: newcomer.ran(command))
        while not reached.wait(0.05):
            assert not child.has_ended()
        child.kill()
        assert child.wait() == KILLED
        return "Killed"

    newcomer.plays[command] = killed
    newcomer.follow(SECTIONS[10])
    assert ["Improve" in call.text for call in model.calls] == [False, True, True]


def test_a_chat_and_a_later_question_know_what_was_said(newcomer: Newcomer, play: Play) -> None:
    model = play({"The Tana.": "About 1,000 km.", "Name a river in Kenya.": "The Tana."})
    newcomer.follow(SECTIONS[11])
    asked = ["How long is it?" in call.text for call in model.calls]
    assert asked == [False, True, False, True]


def test_an_image_is_shown_to_a_model(newcomer: Newcomer, play: Play) -> None:
    model = play("12.50")
    (newcomer.folder / "receipt.png").write_bytes(PNG)
    newcomer.follow(SECTIONS[12])
    (call,) = model.calls
    assert "data:image/png;base64," in str(call.body["messages"])
