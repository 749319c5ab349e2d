"""Start the page of an installed package, and check that it answers with every static file and offers every example.

Usage: check_page.py COMMAND STATIC EXAMPLES; the two folders are those of the checkout.
"""

import http.cookiejar
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

command, static, examples = sys.argv[1:]
with tempfile.TemporaryDirectory() as games:
    process = subprocess.Popen(
        [command, "web", "--no-open", "--port", "0", "--games", games], stdout=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip()
        base = url.split("/?")[0]
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        get = urllib.request.build_opener(cookies).open
        shell = get(url, timeout=10).read()
        if shell != (Path(static) / "index.html").read_bytes():
            sys.exit("check_page: the page is not index.html")
        files = [path for path in Path(static).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in files:
            name = path.relative_to(static).as_posix()
            if get(f"{base}/static/{name}", timeout=10).read() != path.read_bytes():
                sys.exit(f"check_page: {name} is another file")
        info = json.load(get(f"{base}/api/info", timeout=10))
        offered = {example["name"] for game in info["games"] for example in game["examples"]}
        if offered != {path.name for path in Path(examples).glob("*.json*")}:
            sys.exit(f"check_page: the examples are {', '.join(sorted(offered))}")
    finally:
        process.terminate()
        if process.wait(timeout=10) != 0:
            sys.exit(f"check_page: the exit code is {process.returncode}")
print(f"check_page: {len(files)} files and {len(offered)} examples")
