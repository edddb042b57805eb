# SPDX-License-Identifier: MIT
"""Drives a headless Chromium over two pipes (--remote-debugging-pipe): messages end with a NUL.

No port is opened and no package is needed. `Page.problems` holds what the page complained of.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9}

# Two red pixels.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4z8AARAAI/gH/xp559wAAAABJRU5ErkJggg==")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    def __init__(self, path, size=(1400, 1000)):
        self.folder = tempfile.mkdtemp(prefix="passtally-browser-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # The browser reads from 3 and writes to 4, whatever numbers these are here.
        words = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec 3<&{to_read} 4>&{back_write}; exec "$@"', "sh", *words],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.rest, self.last, self.events = b"", 0, []

    def close(self):
        try:
            self.call("Browser.close", timeout=10)
        except (OSError, RuntimeError, TimeoutError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise RuntimeError("the browser ended")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, timeout=120, **params):
        self.last += 1
        call = {"id": self.last, "method": method, "params": params}
        if session:
            call["sessionId"] = session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + timeout
        while True:
            m = self.message(deadline)
            if m.get("id") == self.last:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            if "method" in m:
                self.events.append(m)

    def page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session)


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("window.passtally && passtally.renders > 0", 60)

    def js(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise AssertionError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def wait(self, expression, seconds=120):
        deadline = time.monotonic() + seconds
        while not self.js(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise AssertionError(f"never true: {expression}; problems: {self.problems()}")
            time.sleep(0.05)

    def box(self, selector):
        box = self.js(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                      "const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
        if not box or box[2] <= 0:
            raise AssertionError(f"{selector}: not to be seen")
        return box

    def mouse(self, kind, x, y, clicks=1):
        down = kind != "mouseReleased" and clicks
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=clicks,
                  button="left" if clicks else "none", buttons=1 if down else 0)

    def click(self, selector, right=0.5):
        x, y, w, h = self.box(selector)
        # As a hand does: a chart learns from the pointer's path which point is meant.
        self.mouse("mouseMoved", x + right * w, y + h / 2, 0)
        self.mouse("mousePressed", x + right * w, y + h / 2)
        self.mouse("mouseReleased", x + right * w, y + h / 2)

    def drag(self, selector, begin, end):
        x, y, w, h = self.box(selector)
        at = y + h * 0.4
        self.mouse("mousePressed", x + begin * w, at)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (begin + (end - begin) * step / 5) * w, at)
        self.mouse("mouseReleased", x + end * w, at)

    def key(self, key):
        code = KEYS.get(key, 0)
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        self.js(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
                "e.dispatchEvent(new Event('change')); })()")

    def picture(self, path, whole=True):
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as out:
            out.write(base64.b64decode(got["data"]))

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefers(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def problems(self):
        """Errors and warnings of the console, of scripts and of the browser; pages asked for."""
        out = list(self.js("window.passtally ? passtally.problems : []"))
        # Pages of earlier tests, whose files are gone, may still load.
        for e in (e for e in self.browser.events if e.get("sessionId") == self.session):
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                out.append(p["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                out.append(p["entry"]["text"])
            elif e["method"] == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "blob:")):
                out.append(f"fetches {p['request']['url']}")
        # dygraphs 2.2 says so of points above a limit that the page has set.
        return [text for text in out if " points out of Y bounds:" not in text]
