"""The demo page with its worker replaced by a scripted one: no Python, no GPU."""

from __future__ import annotations

import io
import json
from http.server import SimpleHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from PIL import Image
from playwright.sync_api import Page

WORKER = "**/job_worker.js"

BOX = [[10, 10], [60, 10], [60, 30], [10, 30]]
LOWER_BOX = [[10, 50], [90, 50], [90, 70], [10, 70]]
RESULTS: dict[str, dict[str, Any]] = {
    "read": {
        "lines": [{"text": "Espresso", "score": 0.99, "box": BOX}, {"text": "2.40", "score": 0.9, "box": LOWER_BOX}],
        "ms": {"detect": 20.0, "recognize": 10.0, "gpu": 12.5},
    },
    "classify": {
        "top": [
            {"label": label, "score": score}
            for label, score in [("espresso", 0.9), ("cup", 0.05), ("eggnog", 0.02), ("bowl", 0.01), ("hat", 0.001)]
        ],
        "ms": {"model": 5.0},
    },
    "faces": {
        "faces": [{"box": [10, 20, 60, 80], "score": 0.97, "points": [[20, 40], [50, 40], [35, 55]]}],
        "ms": {"model": 4.0},
    },
}

# Answers request number i as SCRIPT[min(i, last)] says, and tells the server about each request.
FAKE_WORKER = """
const SCRIPT = %s;
const RESULTS = %s;
let count = 0;
self.onmessage = async ({ data: { id, job, width, height, pixels } }) => {
  const step = SCRIPT[Math.min(count++, SCRIPT.length - 1)];
  await fetch(`/log?job=${job}&width=${width}&height=${height}&bytes=${pixels.length}&pixel=${pixels.slice(0, 4)}`);
  for (const message of step.messages ?? []) postMessage({ id, ...message });
  await new Promise((resolve) => setTimeout(resolve, step.wait ?? 0));
  if (step.error) postMessage({ type: "error", id, message: "", ...step.error });
  else if (!step.silent) postMessage({ type: "result", id, result: step.result ?? RESULTS[job] });
};
"""


class Handler(SimpleHTTPRequestHandler):
    """Files of a folder, and /log, which is noted down."""

    requests_seen: list[dict[str, str]]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path != "/log":
            super().do_GET()
            return
        self.requests_seen.append({name: values[0] for name, values in parse_qs(url.query).items()})
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep test output quiet."""


class Demo:
    """The page under test, with a scripted worker and what it was asked."""

    def __init__(self, page: Page, url: str, requests: list[dict[str, str]]) -> None:
        self.page = page
        self.url = url
        self.requests = requests

    def open(self, *script: dict[str, Any]) -> Page:
        """Open the page; its worker answers request i as script[i] says, the last entry for ever."""
        self.set_worker(FAKE_WORKER % (json.dumps(script or [{}]), json.dumps(RESULTS)))
        self.page.goto(self.url)
        return self.page

    def set_worker(self, source: str, status: int = 200) -> None:
        """What the server answers, from now on, when the page asks for its worker."""
        self.page.unroute(WORKER)
        self.page.route(WORKER, lambda route: route.fulfill(status=status, body=source, content_type="text/javascript"))

    def jobs_asked(self) -> list[str]:
        return [request["job"] for request in self.requests]


def picture_file(size: tuple[int, int], *, name: str = "own.png", **options: Any) -> dict[str, Any]:
    """A picture as Playwright's set_input_files takes it: white, its left upper quarter red."""
    picture = Image.new("RGB", size, "white")
    picture.paste("red", (0, 0, max(1, size[0] // 2), max(1, size[1] // 2)))
    data = io.BytesIO()
    picture.save(data, name.rsplit(".", 1)[1].replace("jpg", "jpeg"), **options)
    return {"name": name, "mimeType": f"image/{name.rsplit('.', 1)[1]}", "buffer": data.getvalue()}
