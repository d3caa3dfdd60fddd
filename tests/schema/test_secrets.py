"""What looks like a key, and what does not."""

from __future__ import annotations

import pytest

from coterie.schema.secrets import looks_secret, scrubbed

LETTERS = "abcdEFGH1234"


@pytest.mark.parametrize(
    "key",
    [
        f"sk-{LETTERS * 4}",
        f"sk-proj-{LETTERS * 2}_{LETTERS}",
        f"sk-ant-api03-{LETTERS * 3}-{LETTERS}",
        f"gsk_{LETTERS * 4}",
        f"hf_{LETTERS * 3}",
        f"r8_{LETTERS * 3}",
        f"xai-{LETTERS * 4}",
        f"pplx-{LETTERS * 4}",
        "AKIA" + "ABCD1234EFGH5678",
        f"AIza{LETTERS * 3}",
        f"ghp_{LETTERS * 3}",
        f"github_pat_{LETTERS * 3}",
        f"xoxb-{LETTERS}",
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "-----BEGIN " + "PRIVATE KEY-----",
    ],
)
def test_the_forms_of_keys_are_found_anywhere(key: str) -> None:
    text = f"Use '{key}', please."
    assert looks_secret(text)
    assert scrubbed(text) == "Use '[secret]', please."


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-pipelines-are-made-of-estimators",
        "a task-oriented-dialogue-with-many-turns-and-2-agents",
        "hf_hub_download_file_with_progress_v2",
        "sk-short1",
        "OPENAI_API_KEY",
        "-----BEGIN CERTIFICATE-----",
        "default",
    ],
)
def test_words_are_no_keys(text: str) -> None:
    assert not looks_secret(text)
    assert scrubbed(text) == text
