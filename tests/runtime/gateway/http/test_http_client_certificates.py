"""Certificates of one's own authority are trusted where the environment says so."""

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.runtime.gateway import CallError, Gateway

from ....provider import model, request
from ....served import serving

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="this machine has no openssl to make certificates with"
)

SCRIPT = """
import asyncio, sys
from coterie.runtime.gateway import ChatRequest, Gateway
from coterie.schema import Model

async def main():
    spec = Model(alias="default", model="m", api_base=sys.argv[1])
    async with Gateway({"default": spec}, environment={}) as gateway:
        hello = {"role": "user", "content": "hi"}
        print((await gateway.chat(ChatRequest(model="default", messages=[hello]))).text)

asyncio.run(main())
"""
SAID = {"choices": [{"message": {"content": "four"}}]}
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


def openssl(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """A folder with `ca.pem`, the same as `trusted/` has it, and a server's `host.pem`."""
    asked = ("req", "-x509", *NEW_KEY)
    openssl(tmp_path, *asked, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ours")
    name = ("-subj", "/CN=host", "-addext", "subjectAltName=IP:127.0.0.1")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key")
    openssl(tmp_path, *asked, "-keyout", "host.key", "-out", "host.pem", *name, *signed)
    (tmp_path / "trusted").mkdir()
    hashed = openssl(tmp_path, "x509", "-hash", "-noout", "-in", "ca.pem")
    shutil.copy(tmp_path / "ca.pem", tmp_path / "trusted" / f"{hashed}.0")
    return tmp_path


def certified(authority: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "host.pem", authority / "host.key")
    return context


async def said(address: str, **variables: str) -> str:
    """Ask in a process of its own: certificates are read once, with the library."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SCRIPT, f"{address}/v1"),
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, complaint = await process.communicate()
    return output.decode().strip() or complaint.decode()


async def test_a_file_or_a_folder_of_authorities_is_trusted(authority: Path) -> None:
    async with serving((200, SAID), tls=certified(authority)) as served:
        assert [
            await said(served.address, SSL_CERT_FILE=str(authority / "ca.pem")),
            await said(served.address, SSL_CERT_DIR=str(authority / "trusted")),
        ] == ["four", "four"]


async def test_an_authority_that_nobody_named_is_told_with_what_names_it(authority: Path) -> None:
    async with serving((200, SAID), tls=certified(authority)) as served:
        spec = model(api_base=f"{served.address}/v1")
        async with Gateway({"default": spec}, environment={}) as gateway:
            with pytest.raises(CallError, match="Set SSL_CERT_FILE to a file") as caught:
                await gateway.chat(request(retries=0))
            assert served.bodies == []
            error = caught.value
    assert "certificate verify failed" in str(error)
    assert (error.kind, error.may_be_billed) == ("down", False)
