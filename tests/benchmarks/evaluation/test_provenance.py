"""Identities: whatever shapes an answer, of a task, a model or a request, makes another digest."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.benchmarks.evaluation.provenance import digest_of
from coterie.benchmarks.evaluation.trials import Trials
from coterie.operators.evolution.folder import _model, task_digest
from coterie.runtime.calls.calls import _Call
from coterie.runtime.gateway import ChatRequest
from coterie.runtime.record.journal import digest
from coterie.schema import Model, ScorerChoice, Task
from coterie.schema.values.attachments import Attachment

from ...support.repositories import run_git

PNG = Attachment.of(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
assert PNG is not None
TASKS: Mapping[str, Any] = {
    "id": "u",
    "query": "Why not?",
    "context": "Long ago.",
    "briefs": {"teacher": "Ben guesses."},
    "niche": "sums",
    "fields": {"tier": "gold"},
    "files": {"a.txt": "text"},
    "attachments": {"a.png": PNG},
    "commit": "b" * 40,
    "history": True,
    "answer": "8",
    "scorer": ScorerChoice(name="number", options={"tolerance": 0.1}),
}
MODELS: Mapping[str, Any] = {
    "model": "openai/other",
    "api": "responses",
    "api_base": "http://h/v1",
    "fallback": ("second",),
    "fallback_on_refusal": True,
    "effort": "low",
    "thinking_tokens": 100,
    "top_p": 0.5,
    "body": {"route": "b"},
    "headers": {"X-Route": "b"},
    "header_env": {"X-Tenant": "TENANT"},
    "api_version": "2026-01-01",
    "notes": "Good at sums.",
}
REQUESTS: Mapping[str, Any] = {
    "messages": [{"role": "user", "content": "Why not?"}],
    "attachments": {"a.png": PNG},
    "max_tokens": 7,
    "temperature": 0.5,
    "top_p": 0.5,
    "effort": "low",
    "seed": 7,
    "stop": ("x",),
    "tools": [{"type": "function"}],
    "tool_choice": "auto",
    "schema": {"type": "object"},
}
NO_SHAPE = {
    Task: {"origin", "repo"},  # of a repository its content shapes: see below
    Model: {"alias", "key_env", "concurrency", "timeout", "stream", "inputs", "origin"},
    ChatRequest: {"model", "retries", "patience", "source"},
}
"""The fields that shape no answer."""


class Tried(Trials):
    """Trials that are never made."""

    @property
    def subject(self) -> str:
        return "team"

    async def make_sample(self, task: Task, trial: int, trace: Any = None) -> Any:
        raise NotImplementedError


def asked(task: Task) -> str:
    journal: Any = None
    return Tried(tasks=(), trials=1, workers=1, journal=journal)._question(task)


def in_manifest(model: Model) -> str:
    recipe: Any = SimpleNamespace(beta=1.0, cost_unit="usd")
    return digest(_model(model, recipe, batch=True))


def question(request: ChatRequest, model: Model) -> str:
    calls: Any = SimpleNamespace(gateway=SimpleNamespace(models={"default": model}))
    call = _Call(calls, request, lambda *_, **__: None, None, trim=False, on_words=None)
    return call._question()


REQUEST = ChatRequest(model="default", messages=[{"role": "user", "content": "Why?"}])
MODEL = Model(alias="default", model="openai/m")
TASK = Task(id="t", query="Why?", answer="7")


@pytest.mark.parametrize(
    ("kind", "others"), [(Task, TASKS), (Model, MODELS), (ChatRequest, REQUESTS)]
)
def test_each_field_is_declared_as_shaping_or_not(kind: Any, others: Mapping[str, Any]) -> None:
    prices = ("usd_", "batch_price")
    names = {field.name for field in fields(kind) if not field.name.startswith(prices)}
    assert names == {*others} | NO_SHAPE[kind]
    assert not {*others} & NO_SHAPE[kind]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("identity", [task_digest, asked, lambda task: digest_of([task])])
def test_another_task_has_another_digest(identity: Callable[[Task], str], name: str) -> None:
    if identity is asked and name == "niche":
        pytest.skip("a niche is of the figures, not of a trial")
    assert identity(replace(TASK, **{name: TASKS[name]})) != identity(TASK)
    assert identity(replace(TASK, origin=Path("x"))) == identity(TASK)


@pytest.mark.parametrize("name", MODELS)
def test_another_model_has_another_digest(name: str) -> None:
    other = replace(MODEL, **{name: MODELS[name]})
    assert in_manifest(other) != in_manifest(MODEL)
    # No answer of a fallback is kept for others.
    if name not in {"fallback", "fallback_on_refusal", "notes"}:
        assert question(REQUEST, other) != question(REQUEST, MODEL)


@pytest.mark.parametrize("name", REQUESTS)
def test_another_request_has_another_digest(name: str) -> None:
    other = replace(REQUEST, **{name: REQUESTS[name]})
    assert question(other, MODEL) != question(REQUEST, MODEL)


def test_a_price_counts_where_rewards_are_made_of_it() -> None:
    assert in_manifest(replace(MODEL, usd_per_mtok_input=1.0)) != in_manifest(MODEL)
    assert in_manifest(replace(MODEL, batch_price=0.9)) != in_manifest(MODEL)


def test_a_local_model_is_known_by_its_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    local = replace(MODEL, model=f"local:{path}")
    path.write_bytes(b"GGUF one")
    before = in_manifest(local), question(REQUEST, local)
    shutil.copy(path, tmp_path / "moved.gguf")
    assert question(REQUEST, replace(MODEL, model=f"local:{tmp_path / 'moved.gguf'}")) == before[1]
    path.write_bytes(b"GGUF another")
    after = in_manifest(local), question(REQUEST, local)
    assert (before[0] == after[0], before[1] == after[1]) == (False, False)


@pytest.mark.parametrize("identity", [task_digest, asked, lambda task: digest_of([task])])
def test_a_repository_is_its_content(identity: Callable[[Task], str], tmp_path: Path) -> None:
    repo = tmp_path / "one"
    repo.mkdir()
    run_git(repo, "init", "--quiet")
    (repo / "a.txt").write_text("one\n")
    run_git(repo, "add", ".")
    run_git(repo, "commit", "--quiet", "-m", "one")
    task = replace(TASK, repo=repo)
    before = identity(task)
    assert before != identity(TASK)
    shutil.copytree(repo, tmp_path / "two")
    assert identity(replace(TASK, repo=tmp_path / "two")) == before
    (repo / "new.txt").write_text("untracked\n")
    assert identity(task) != before
    (repo / "new.txt").unlink()
    named = replace(task, commit="HEAD")
    at_first = identity(named)
    (repo / "a.txt").write_text("two\n")
    assert identity(task) != before
    assert identity(named) == at_first
    run_git(repo, "commit", "--quiet", "-am", "two")
    assert identity(named) != at_first


def test_a_digest_is_the_same_in_every_process_or_there_is_none() -> None:
    assert digest({"b", "a"}) == digest(["a", "b"]) == digest(frozenset("ba"))
    with pytest.raises(TypeError, match="object is not a JSON value"):
        digest(object())
