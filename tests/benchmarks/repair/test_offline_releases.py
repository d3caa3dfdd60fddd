"""Releases are fetched by a package client, pinned, and unpacked as plain files."""

import hashlib
import io
import stat
import tarfile
from pathlib import Path

import pytest

from coterie.benchmarks.repair import offline
from coterie.benchmarks.repair.offline import Release, make_repository
from coterie.schema.values.errors import InputError

from ...repairs import git


def archive(path: Path) -> str:
    """Write a source distribution with what one may hold; give its checksum."""
    with tarfile.open(path, "w:gz") as target:
        for name, mode in (
            ("pkg-1/a.py", 0o600), ("pkg-1/run.sh", 0o755), ("pkg-1/../../up.py", 0o644),
            ("pkg-1/.git/config", 0o644),
        ):  # fmt: skip
            member = tarfile.TarInfo(name)
            member.mode, member.size = mode, 2
            target.addfile(member, io.BytesIO(b"1\n"))
        link = tarfile.TarInfo("pkg-1/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        target.addfile(link)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A uv that leaves what it is asked for and an archive, as pip does."""
    program = tmp_path / "uv"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" > {tmp_path}/asked\n'
        'while [ "$1" != --dest ]; do shift; done\n'
        f'cat "$4" > {tmp_path}/wanted\n'
        f'cp {tmp_path}/pkg-1.tar.gz "$2"\n',
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("UV", str(program))
    return tmp_path


def test_a_release_becomes_a_repository(client: Path) -> None:
    sha256 = archive(client / "pkg-1.tar.gz")
    folder = client / "repository"
    folder.mkdir()
    make_repository(Release(requirement="pkg==1", sha256=sha256), folder)
    assert git(folder, "ls-files", "--stage").split()[::4] == ["100644", "100755"]
    assert git(folder, "ls-files").split() == ["a.py", "run.sh"]
    assert git(folder, "log", "--format=%s").split() == ["pkg==1"]
    assert not (client / "up.py").exists()
    wanted = (client / "wanted").read_text(encoding="utf-8")
    assert wanted == f"pkg==1 --hash=sha256:{sha256}\n"
    assert "--require-hashes --no-binary pkg" in (client / "asked").read_text(encoding="utf-8")


def test_another_archive_than_the_pinned_one_is_refused(client: Path) -> None:
    archive(client / "pkg-1.tar.gz")
    with pytest.raises(InputError, match="has the wrong sha256"):
        make_repository(Release(requirement="pkg==1", sha256="0" * 64), client / "repository")


def test_a_client_that_fails_is_told(client: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (client / "uv").write_text("#!/bin/sh\necho no network >&2\nexit 1\n", encoding="utf-8")
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(InputError, match=r"pkg==1 could not be fetched:\n.*no network"):
        make_repository(Release(requirement="pkg==1", sha256="0" * 64), client / "repository")


def test_without_a_client_it_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "find_uv", lambda: None)
    monkeypatch.setattr(offline, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"neither uv nor pip is installed\. Install uv"):
        make_repository(Release(requirement="pkg==1", sha256="0"), tmp_path)
