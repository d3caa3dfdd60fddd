"""Errors as providers write them: their words, what they are about, and how long to wait."""

import json
from typing import Any

import pytest

from coterie.runtime.gateway.chat.errors import Kind, kind_of
from coterie.runtime.gateway.http.refusals import wait_of, words_of
from studies.doubles import PROVIDERS, Provider, Refusal

EACH = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda item: item.name)
MODEL = {"model": "no-such-model", "size": 9_000, "most": 8_000}


def written(provider: Provider, refusal: Refusal) -> bytes:
    return json.dumps(provider.envelope(refusal)).encode()


@EACH
def test_every_provider_is_understood(provider: Provider) -> None:
    cases: list[tuple[Kind, Refusal | None]] = [
        ("denied", provider.wrong_key),
        ("unknown", provider.unknown_model),
        ("overflow", provider.overflow),
    ]
    for kind, refusal in cases:
        if refusal is not None:
            report = refusal.about(**MODEL)
            words = words_of(written(provider, report))
            assert " ".join(report.message.split()) in words
            assert not words.startswith(("{", "["))
            assert kind_of(report.status, words) == kind


@EACH
def test_who_asks_to_wait_is_heard(provider: Provider) -> None:
    if provider.busy is not None:
        headers = {name.title(): value for name, value in provider.busy.headers.items()}
        wait = wait_of(headers, written(provider, provider.busy))
        assert wait == (provider.busy.wait or None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no explanation"),
        (b"<html>\n<title>Bad gateway</title>", "<html> <title>Bad gateway</title>"),
        (b'{"error": "Unauthorized"}', "Unauthorized"),
        (b'{"error": {"message": null}}', '{"error": {"message": null}}'),
        (b"[" * 9_000, "[" * 200),
        (b"7", "7"),
    ],
)
def test_what_is_no_error_document_is_shown_as_it_is(content: bytes, words: str) -> None:
    assert words_of(content) == words


@pytest.mark.parametrize("delay", ["soon", "-3s", None, 3, "1e9s"])
def test_a_wait_that_is_none_is_not_said(delay: Any) -> None:
    body = [{"error": {"details": [{"retryDelay": delay}]}}]
    assert wait_of({}, json.dumps(body).encode()) is None


def test_a_user_who_writes_of_keys_is_not_refused_for_one() -> None:
    assert kind_of(400, "messages.1: text content blocks must be non-empty") == "rejected"


def test_what_fastapi_refuses_is_told_by_its_place() -> None:
    refused = {"detail": [{"loc": ["body", "max_tokens"], "msg": "too large", "type": "value"}]}
    assert words_of(json.dumps(refused).encode()) == "too large body max_tokens value"
