"""Repositories of every honest kind are read, copied and committed to as git itself would."""

from pathlib import Path

import pytest

from coterie.runtime.repository.repository import Repository
from coterie.schema import AgentError

from ...strangers.repositories import git, honest


def copied(source: Path, folder: Path) -> Path:
    with Repository.open(source) as repository:
        repository.copy(folder)
    return folder


def commit(pool: Path) -> None:
    with Repository.around(pool) as repository:
        assert repository is not None
        repository.commit(pool, "evolved")


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_copy_has_the_working_copy_as_it_stands(form: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "--quiet", f"--object-format={form}", "--initial-branch=feature/#1+ü")
    (source / ".gitignore").write_text("*.log\nforced\n")
    for name in ("kept", "changed", "removed", "run.sh", "sparse", "forced"):
        (source / name).write_text(f"{name}\n")
    (source / "run.sh").chmod(0o755)
    (source / "link").symlink_to("kept")
    git(source, "add", "--all", "--force")
    git(source, "commit", "--quiet", "--message", "first")
    git(source, "update-index", "--skip-worktree", "sparse")
    (source / "sparse").unlink()
    (source / "removed").unlink()
    (source / "changed").write_bytes(b"\r\nbytes\0\xff")
    (source / "new").mkdir()
    (source / "new/file").write_text("new\n")
    (source / "build.log").write_text("ignored\n")
    copy = copied(source, tmp_path / "ours")
    assert (copy / "changed").read_bytes() == b"\r\nbytes\0\xff"
    assert (copy / "new/file").read_text() == "new\n"
    assert (copy / "sparse").read_text() == "sparse\n"
    assert (copy / "link").readlink() == Path("kept")
    assert (copy / "run.sh").stat().st_mode & 0o111
    assert (copy / "forced").exists()
    assert not (copy / "removed").exists()
    assert not (copy / "build.log").exists()
    assert git(copy, "status", "--porcelain") == ""
    assert git(copy, "rev-parse", "HEAD~").strip() == git(source, "rev-parse", "HEAD").strip()
    assert git(copy, "symbolic-ref", "HEAD").strip() == "refs/heads/feature/#1+ü"
    git(copy, "fsck", "--strict")


def test_a_further_working_copy_is_read_and_committed_to(tmp_path: Path) -> None:
    source = honest(tmp_path / "source")
    git(source, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree/here").write_text("here\n")
    copy = copied(tmp_path / "tree", tmp_path / "ours")
    assert (copy / "here").read_text() == "here\n"
    assert (copy / "src/code.py").read_text() == "two\n"
    before = git(source, "rev-parse", "main")
    (tmp_path / "tree/pool").mkdir()
    (tmp_path / "tree/pool/ledger.jsonl").write_text("{}\n")
    commit(tmp_path / "tree/pool")
    assert git(tmp_path / "tree", "log", "-1", "--format=%s other %D").startswith("evolved other")
    assert git(source, "rev-parse", "main") == before


def test_packed_refs_and_shallow_clones_are_read(tmp_path: Path) -> None:
    source = honest(tmp_path / "source")
    git(source, "pack-refs", "--all")
    git(source, "gc", "--quiet")
    git(tmp_path, "clone", "--quiet", "--depth=1", source.as_uri(), "shallow")
    for number, path in enumerate((source, tmp_path / "shallow")):
        copy = copied(path, tmp_path / f"ours-{number}")
        assert (copy / "read.me").read_text() == "two\n"


@pytest.mark.parametrize("detached", [False, True])
def test_a_commit_takes_the_pool_alone_and_no_staged_file(detached: bool, tmp_path: Path) -> None:
    source = honest(tmp_path / "source")
    if detached:
        git(source, "checkout", "--quiet", "--detach")
    git(source, "add", "new.txt")
    pool = source / "pool"
    pool.mkdir()
    (pool / "ledger.jsonl").write_text("{}\n")
    commit(pool)
    assert git(source, "show", "--format=", "--name-only").split() == ["pool/ledger.jsonl"]
    assert git(source, "diff", "--cached", "--name-only").split() == ["new.txt"]
    assert git(source, "diff", "--name-only").split() == ["src/code.py"]
    head = git(source, "rev-parse", "HEAD")
    commit(pool)
    assert git(source, "rev-parse", "HEAD") == head
    (pool / "ledger.jsonl").unlink()
    commit(pool)
    assert git(source, "show", "--format=", "--name-status").split() == ["D", "pool/ledger.jsonl"]
    git(source, "fsck", "--strict")


def test_a_branch_that_moved_meanwhile_is_left(tmp_path: Path) -> None:
    source = honest(tmp_path / "source")
    (source / "pool").mkdir()
    (source / "pool/ledger.jsonl").write_text("{}\n")
    with Repository.around(source / "pool") as repository:
        assert repository is not None
        git(source, "commit", "--quiet", "--all", "--message", "somebody else's")
        head = git(source, "rev-parse", "HEAD")
        with pytest.raises(AgentError, match="changed in the meantime"):
            repository.commit(source / "pool", "evolved")
    assert git(source, "rev-parse", "HEAD") == head
    assert not (source / ".git/refs/heads/main.lock").exists()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda source: (source / ".git/HEAD").write_text("nonsense"), "HEAD names neither"),
        (lambda source: (source / ".git/HEAD").unlink(), "No such file"),
        (
            lambda source: (source / ".git/config").write_text(
                "[core]\nrepositoryformatversion=1\n[extensions]\nrefstorage=reftable\n"
            ),
            "stored as 'reftable'",
        ),
        (lambda source: (source / ".git/refs/heads/main").unlink(), "has no commit 'HEAD'"),
    ],
)
def test_what_cannot_be_read_is_said(spoil: object, message: str, tmp_path: Path) -> None:
    source = honest(tmp_path / "source")
    assert callable(spoil)
    spoil(source)
    with pytest.raises(AgentError, match=message):
        copied(source, tmp_path / "ours")
