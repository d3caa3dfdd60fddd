"""A real browser without a screen: Debian's Chromium, driven over its DevTools protocol."""

import asyncio
import base64
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TROUBLE = frozenset({"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"})


class Tab:
    """A tab of the browser.

    Attributes:
        requests: All addresses that were asked for since it opened.
        troubles: What the console was told: errors, refusals of the policy, words of a script.
    """

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self._socket = socket
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()

    async def listen(self) -> None:
        """Take what the browser says, until it ends."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                break
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
            else:
                self._heard(said["method"], said["params"])

    def _heard(self, method: str, fields: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(fields["request"]["url"])
        elif method in TROUBLE:
            self.troubles.append(f"{method}: {fields}")
        elif method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Page.javascriptDialogOpening":
            self.troubles.append(f"a dialog: {fields}")

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something of the protocol; give its result."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        words = {"id": self._number, "method": method, "params": parameters}
        await self._socket.send_json(words)
        said = await asyncio.wait_for(answer, 300)
        assert "error" not in said, said
        return said["result"]

    async def open(self, address: str) -> None:
        """Open an address, and wait for all of it."""
        self._loaded.clear()
        await self.ask("Page.navigate", url=address)
        await asyncio.wait_for(self._loaded.wait(), 300)

    async def run(self, script: str) -> Any:
        """Run a script on the page, as a person at the console would; give its value."""
        done = await self.ask(
            "Runtime.evaluate",
            expression=script, awaitPromise=True, returnByValue=True, userGesture=True,
            allowUnsafeEvalBlockedByCSP=False,
        )  # fmt: skip
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until a script gives something true."""
        async with asyncio.timeout(300):
            while not await self.run(script):  # noqa: ASYNC110 - the page tells nobody
                await asyncio.sleep(0.05)

    async def look(self, *, width: int, height: int, dark: bool = False) -> None:
        """Set the size of the window in pixels, and light or dark."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self, file: Path) -> None:
        """Write what is seen as a PNG."""
        shot = await self.ask("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(shot["data"]))


@asynccontextmanager
async def browser(folder: Path) -> AsyncGenerator[Tab]:
    """Start the browser with a profile in a folder; afterwards it is gone."""
    assert CHROMIUM is not None
    process = subprocess.Popen(  # noqa: ASYNC220 - it starts in no time
        [
            CHROMIUM, "--headless=new", "--disable-gpu", "--remote-debugging-port=0",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={folder}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []), "about:blank",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        port = await _port(folder / "DevToolsActivePort")
        async with ClientSession() as client:
            async with client.put(f"http://127.0.0.1:{port}/json/new") as answer:
                address = (await answer.json())["webSocketDebuggerUrl"]
            async with client.ws_connect(address, max_msg_size=0) as socket:
                tab = Tab(socket)
                listening = asyncio.create_task(tab.listen())
                for domain in ("Page", "Network", "Runtime", "Log"):
                    await tab.ask(f"{domain}.enable")
                yield tab
                listening.cancel()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def _port(file: Path) -> int:
    async with asyncio.timeout(300):
        while not (text := _told(file)):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.05)
    return int(text)


def _told(file: Path) -> str:
    """Return the first line of a file, once it is whole."""
    first, end, _ = (file.read_text() if file.exists() else "").partition("\n")
    return first if end else ""
