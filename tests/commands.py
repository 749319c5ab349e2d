"""Commands that run beside a test in a process of their own, and the page as its scripts call it."""

import contextlib
import json
import subprocess
import sys
import threading

import httpx

START_S = 60


@contextlib.contextmanager
def running(folder, environment, *args):
    """Give the first line that a command prints; end it afterwards."""
    command = [sys.executable, "-P", "-m", "mexica_ai", *args]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(command, cwd=folder, env=environment, **options)
    timer = threading.Timer(START_S, process.kill)
    timer.start()
    with process:
        try:
            yield process.stdout.readline().strip()
        finally:
            timer.cancel()
            process.terminate()


@contextlib.contextmanager
def page(folder, environment):
    """Start the page; give a function that calls it and returns JSON, or text."""
    served = running(folder, environment, "web", "--no-open", "--port", "0", "--games", "games")
    with served as url, httpx.Client(base_url=url.partition("/?")[0], timeout=30) as client:

        def call(method, path, data=None):
            body = {} if data is None else {"content": json.dumps(data)}
            answer = client.request(method, path, headers={"Content-Type": "application/json"}, **body)
            assert answer.is_success, answer.text
            return answer.json() if "json" in answer.headers["content-type"] else answer.text

        client.get(url, follow_redirects=True)
        yield call
