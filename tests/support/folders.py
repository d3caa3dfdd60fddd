"""What a folder holds, to see that nothing in it changed."""

from pathlib import Path


def state_of(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return when a folder, and what is in it, was changed, and what its files hold."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (folder, *folder.rglob("*"))
    }
