"""A small model file in a package of its own, and a package client that has nothing else."""

import hashlib
import os
import select
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from coterie.runtime.local import package_client, weights
from coterie.runtime.local.package_client import Watch
from coterie.runtime.local.packaged import PackagedFile
from coterie.runtime.local.weights import Weights

CLIENT = """#!{python}
import os, signal, sys
from pathlib import Path

Path({log!r}).open("a").write(" ".join(sys.argv[1:]) + "\\n")
match os.environ.get("FAKE_CLIENT"):
    case "offline":
        sys.exit("error: no route to the package index")
    case "stuck" | "slow" as mode:
        target = Path(sys.argv[sys.argv.index("--target") + 1], {member!r})
        target.parent.mkdir(parents=True)
        target.write_bytes(Path({source!r}).read_bytes()[:100])
        Path({started!r}).write_text(str(os.getpid()))
        if mode == "stuck":
            signal.pause()
        Path({resume!r}).read_text()  # blocks until the test writes
target = Path(sys.argv[sys.argv.index("--target") + 1], {member!r})
target.parent.mkdir(parents=True, exist_ok=True)
target.write_bytes(Path({source!r}).read_bytes())
"""


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Where the tests' model comes from.

    Attributes:
        weights: The model, pinned.
        source: The published file.
        cache: Where model files are kept.
        log: The package client's command lines.
        started: A pipe in which a slow client says that it has written half.
        resume: A pipe in which it waits for a word to go on.
    """

    weights: Weights
    source: Path
    cache: Path
    log: Path
    started: Path
    resume: Path

    def calls(self) -> int:
        """How often the client was used."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def wait_for_half(self) -> int:
        """Wait until a slow client has written half, and give its process number."""
        pipe = os.open(self.started, os.O_RDWR)
        try:
            assert select.select([pipe], [], [], 30)[0], "the client was not started"
            return int(os.read(pipe, 20))
        finally:
            os.close(pipe)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Weights]:
    """A GGUF file with a 4-bit and a 32-bit tensor, and the pins that fit it."""
    gguf = pytest.importorskip("gguf", reason="needs the extra `local`")
    import numpy as np

    from coterie.runtime.local._requantise import requantise

    folder = tmp_path_factory.mktemp("published")
    source, converted = folder / "tiny.Q4_1.gguf", folder / "tiny.Q8_0.gguf"
    numbers = np.linspace(-1, 1, 4 * 64, dtype=np.float32).reshape(4, 64)
    kind = gguf.GGMLQuantizationType.Q4_1
    writer = gguf.GGUFWriter(source, "llama")
    writer.add_file_type(3)
    writer.add_name("tiny")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_tensor("blocks", gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    writer.add_tensor("norm", np.ones(64, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    requantise(source, converted)
    return source, Weights(
        name="tiny",
        licence="none",
        published=PackagedFile(
            requirement="tiny==1.0",
            member="tiny/tiny.Q4_1.gguf",
            bytes=source.stat().st_size,
            sha256=_sha256(source),
        ),
        bytes=converted.stat().st_size,
        sha256=_sha256(converted),
    )


@pytest.fixture
def converting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Convert a model in this process: most tests are about no process that does."""
    from coterie.runtime.local._requantise import requantise

    def run(command: list[str], folder: Path, watch: Watch) -> None:
        *_, module, source, target = command
        if module != requantise.__module__:
            package_client.run_watched(command, folder, watch)
        else:
            requantise(Path(source), Path(target))

    monkeypatch.setattr(weights, "run_watched", run)


@pytest.fixture
def shop(tmp_path: Path, published: tuple[Path, Weights], monkeypatch: pytest.MonkeyPatch) -> Shop:
    """An empty cache, and a `uv` that has one package."""
    source, pinned = published
    shop = Shop(
        weights=pinned,
        source=source,
        cache=tmp_path / "cache",
        log=tmp_path / "log",
        started=tmp_path / "started",
        resume=tmp_path / "resume",
    )
    os.mkfifo(shop.started)
    os.mkfifo(shop.resume)
    client = tmp_path / "uv"
    text = CLIENT.format(
        python=sys.executable,
        log=str(shop.log),
        member=pinned.published.member,
        source=str(source),
        started=str(shop.started),
        resume=str(shop.resume),
    )
    client.write_text(text, encoding="utf-8")
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("UV", str(client))
    monkeypatch.setenv("MAS_MODEL_CACHE", str(shop.cache))
    monkeypatch.delenv("FAKE_CLIENT", raising=False)
    return shop


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
