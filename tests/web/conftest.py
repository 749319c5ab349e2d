"""A browser for tests of the page: Debian's Chromium, driven by Playwright."""

import asyncio
import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from pages import Process

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


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


@pytest.fixture(scope="session")
def browser():
    """The browser; skipped without one."""
    try:
        from playwright import sync_api
    except ModuleNotFoundError:
        _missing("playwright (extra test-web)")
    if not (os.environ.get("MEXICA_AI_BROWSER") or shutil.which("chromium")):
        _missing("Chromium")
    sys.path.append(str(BENCHMARKS))
    import web_browser

    sync_api.expect.set_options(timeout=PATIENCE_MS)
    with web_browser.browser() as started:
        running = asyncio._get_running_loop()
        yield started
        asyncio._set_running_loop(running)  # the last test may have been one without the browser


@pytest.fixture(scope="session")
def shared_site(tmp_path_factory):
    """A process that serves the page to all tests of a worker."""
    process = Process(tmp_path_factory.mktemp("site"))
    yield process
    process.close()


@pytest.fixture
def site(shared_site):
    """The process of a worker, with room for the games of a test: those of tests before are deleted in time."""
    if len(os.listdir(shared_site.folder)) > 50:  # a page holds 100
        for game in shared_site.call("GET", "/api/games")["games"]:
            shared_site.call("DELETE", f"/api/games/{game['id']}", status=204)
    return shared_site


PATIENCE_MS = 60_000  # for what comes; a busy machine is slow
USUAL = {"reduced_motion": "reduce", "color_scheme": "light"}


class Tab:
    """A page of the browser for one test after the other, whose scripts are loaded and compiled already."""

    def __init__(self, browser, site):
        self.page = browser.new_context(**USUAL).new_page()
        self.visit = None
        _listen(self.page, self)
        self.page.goto(site.url)  # its token gives the cookie

    def note(self, words):
        if self.visit:
            self.visit.note(words)

    def begin(self, visit, size, **options):
        """Make the page as good as new for a visit."""
        self.page.set_viewport_size(size)
        self.page.emulate_media(**{"media": "null", **USUAL, **options})
        self.visit = visit

    def end(self):
        self.visit = None  # what the page says when it is left is of no interest
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.mouse.move(0, 0)  # where nothing is, for the next page
        self.page.goto("about:blank")


def _listen(page, visit):
    def hear(message):
        if message.location.get("url", "").endswith("/favicon.ico"):
            return  # Chromium asks for it where a document names no icon
        if message.type == "error" or "Content Security Policy" in message.text:
            visit.note(message.text)

    page.on("pageerror", lambda error: visit.note(str(error)))
    page.on("console", hear)
    page.set_default_timeout(PATIENCE_MS)


class Visit:
    """A page, with what went wrong in it; nothing is loaded yet."""

    def __init__(self, page, site):
        self.page, self.site, self.wrong = page, site, []

    def note(self, words):
        self.wrong.append(words)

    def keep(self, settings):
        """Let the browser keep these settings of the page, and no others."""
        self.go("/static/palette.css")  # the smallest
        self.page.evaluate("() => localStorage.clear()")
        if settings:
            self.page.evaluate("kept => localStorage.setItem('mexica-ai', kept)", json.dumps(settings))

    def go(self, path):
        self.page.goto(self.site.base + path)
        return self.page

    def home(self):
        """Go to the page that begins games."""
        return self.go("/")

    def game(self, snapshot, mode=""):
        """Go to a game; return when its picture is there."""
        self.go(f"/g/{snapshot['id']}{mode and '#' + mode}")
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
        end = time.monotonic() + PATIENCE_MS / 1000
        while not self._is_so(expression, argument):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def _is_so(self, expression, argument):
        from playwright.sync_api import Error

        try:
            return self.page.evaluate(expression, argument)
        except Error as error:
            if "navigation" in str(error) or "Cannot read properties of" in str(error):  # what is read is not there yet
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
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate(
            "axe.run(document, {resultTypes: ['violations'], iframes: false,"
            " runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
            ".then(result => result.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))]))"
        )
        assert found == []


@pytest.fixture(scope="session")
def tabs():
    """The tab that all tests of a worker use, once there is one."""
    return []


@pytest.fixture
def visit(browser, site, tabs):
    """Make visits; afterwards nothing has gone wrong in any of them.

    The first is in the tab that all tests share, unless it needs a context of its own: with other options than those
    that a page can change, with another process, or `fresh`.
    """
    visits, contexts = [], []

    def begin(width=1360, height=900, *, process=site, url=None, fresh=False, kept=None, **options):
        size = {"width": width, "height": height}
        is_shared = not (visits or fresh or url or process is not site or options.keys() - USUAL.keys())
        if is_shared:
            if not tabs:
                tabs.append(Tab(browser, site))
            visits.append(Visit(tabs[0].page, site))
            tabs[0].begin(visits[-1], size, **options)
        else:
            contexts.append(browser.new_context(viewport=size, **{**USUAL, **options}))
            visits.append(Visit(contexts[-1].new_page(), process))
            _listen(visits[-1].page, visits[-1])
            if url:
                visits[-1].page.goto(url)
            else:
                cookies = process.client.cookies.items()
                contexts[-1].add_cookies(
                    [{"name": name, "value": value, "url": process.base} for name, value in cookies]
                )
        if is_shared or kept:
            visits[-1].keep(kept)
        return visits[-1]

    yield begin
    wrong = [words for one in visits for words in one.wrong]
    for context in contexts:
        context.close()
    if tabs and tabs[0].visit:
        try:
            tabs[0].end()
        except Exception:  # what a failed test has left
            tabs.pop().page.context.close()
    assert wrong == []
