"""A browser for tests of the page: Debian's Chromium, driven by Playwright."""

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest
from pages import Process

# What a browser does by itself is none of the tests' business.
FLAGS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parent / "vendor" / "axe.min.js"


def pytest_itemcollected(item):
    # These fixtures start a process that serves the page, or a browser.
    if {"browser", "page", "post", "site", "start"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.real("processes", "ports"))


def _missing(what):
    if os.environ.get("MEXICA_AI_REQUIRE_BROWSER") == "1":
        pytest.fail(f"MEXICA_AI_REQUIRE_BROWSER=1, but there is no {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture
def start(tmp_path):
    """Start processes of the page that share a folder of games."""
    started = []

    def begin(*options, **more):
        started.append(Process(tmp_path, *options, **more))
        return started[-1]

    yield begin
    for process in started:
        process.close()


@pytest.fixture(autouse=True)
def no_loop_runs(request):
    """Let tests without the browser run loops: that of Playwright in the same worker counts as running all along."""
    if "browser" in request.fixturenames:
        yield
        return
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture(scope="session")
def browser():
    """The browser; skipped without one."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _missing("playwright (extra test-web)")
    path = os.environ.get("MEXICA_AI_BROWSER") or shutil.which("chromium")
    if path is None:
        _missing("Chromium")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS + as_root)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A process that serves the page."""
    process = Process(tmp_path_factory.mktemp("site"))
    yield process
    process.close()


class Visit:
    """A page in a context of its own, with what went wrong in it."""

    def __init__(self, page, site, url=None):
        self.page, self.site, self.wrong = page, site, []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._note)
        page.set_default_timeout(30_000)
        page.goto(url or site.url)

    def _note(self, message):
        if message.type == "error" or "Content Security Policy" in message.text:
            self.wrong.append(message.text)

    def game(self, snapshot, mode=""):
        """Go to a game; return when its picture is there."""
        self.page.goto(f"{self.site.base}/g/{snapshot['id']}{mode and '#' + mode}")
        self.page.wait_for_selector(".picture svg")
        return self.page

    def target(self, name):
        return self.page.locator(f'.target[data-target="{name}"]')

    def take(self, *names):
        """Click targets that can be clicked."""
        for name in names:
            self.page.locator(f':is(.target.can, .target.lit)[data-target="{name}"]').click()

    def until(self, expression, argument=None):
        """Wait until something is so in the page. Its policy forbids what Playwright's own waiting does."""
        end = time.monotonic() + 30
        while not self._is_so(expression, argument):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def _is_so(self, expression, argument):
        from playwright.sync_api import Error

        try:
            return self.page.evaluate(expression, argument)
        except Error as error:
            if "navigation" in str(error):
                return False
            raise

    def chips(self, *actions):
        """Wait until the turn has these actions."""
        self.until(
            "wanted => JSON.stringify([...document.querySelectorAll('.chips .chip')].map(chip => chip.title))"
            " === JSON.stringify(wanted)",
            list(actions),
        )

    def check_accessible(self):
        """Axe finds nothing."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
            ".then(result => result.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))]))"
        )
        assert found == []


@pytest.fixture
def visit(browser, site):
    """Make visits; afterwards nothing has gone wrong in any of them."""
    visits = []

    def begin(width=1360, height=900, *, process=site, url=None, **options):
        options.setdefault("reduced_motion", "reduce")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        visits.append(Visit(context.new_page(), process, url))
        return visits[-1]

    yield begin
    for one in visits:
        one.page.context.close()
    assert [words for one in visits for words in one.wrong] == []
