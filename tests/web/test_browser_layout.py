"""Where things are on the page: the board stays in sight beside what speaks of it, in windows of three widths."""

from pathlib import Path

import pytest
from pages import PERSON

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = [(1360, 860), (900, 700), (390, 800)]
PHONE = {"width": 390, "height": 800, "has_touch": True, "is_mobile": True}

# Runs in the page: whether the whole of an element is in the window, and nothing lies over its middle.
IS_SEEN = """selector => {
  const one = typeof selector === 'string' ? document.querySelector(selector) : selector;
  const {left, top, right, bottom} = one.getBoundingClientRect();
  const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return left >= -1 && top >= -1 && right <= innerWidth + 1 && bottom <= innerHeight + 1 && right > left && bottom > top
    && (one.contains(at) || at?.contains(one)) || JSON.stringify([selector, left, top, right, bottom, at?.className]);
}"""
# The sizes of the texts of a picture in pixels.
TEXT_SIZES = """selector => [...document.querySelectorAll(`${selector} text`)].map(
  text => Number(text.getAttribute('font-size')) * text.getScreenCTM().a)"""
SMALLEST = """selector => {
  const size = text => Number(text.getAttribute('font-size')) * text.getScreenCTM().a;
  const [first] = [...document.querySelectorAll(`${selector} text`)].sort((one, other) => size(one) - size(other));
  const {left, top, width, height} = first.getBoundingClientRect();
  return [left + width / 2, top + height / 2, size(first)];
}"""
# Two frames; a browser that has nothing to draw may let one wait.
FRAME = """() => new Promise(done => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
  setTimeout(() => done(true), 2000);
})"""


class Window:
    """A visit whose window changes its size."""

    def __init__(self, one):
        self.one, self.page = one, one.page

    def resize(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate("() => { scrollTo(0, 0); document.querySelector('.side').scrollTo(0, 0); }")
        self.page.evaluate(FRAME)
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width

    def sees(self, *selectors):
        for selector in selectors:
            assert self.page.evaluate(IS_SEEN, selector) is True

    def sees_beside_board(self, locator):
        """Both are in the window once a person has gone to one of them."""
        locator.focus()
        self.page.evaluate(FRAME)
        assert locator.evaluate(IS_SEEN) is True
        self.sees(".stage" if self.page.locator(".stage").count() else ".scroll")


@pytest.fixture
def window(visit, site):
    """A window on a game from an example, with hints; the seats are persons."""

    def begin(example, *, mode="", width=1360, height=860, record=None, **options):
        kept = {"hints": {"play": "all", "review": "all"}, "seconds": 0, "fits": not options.get("is_mobile")}
        one = visit(width, height, kept=kept, **options)
        data = {"example": example} if record is None else {"text": record}
        game = site.call("POST", "/api/games", data, 201)
        if record is None:
            seats = [PERSON] * game["players"]
            game = site.call("POST", "/api/games", {**data, "seats": seats, "open": True}, 201)
        one.game(game, mode)
        return Window(one)

    return begin


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_the_board_the_tools_and_the_candidates_are_in_sight(window, game):
    seen = window(f"{game}_midgame.json")
    page = seen.page
    page.get_by_role("button", name="Analyse").click()
    seen.one.until("document.querySelectorAll('.candidate').length > 4")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Analyse").wait_for()  # the search has ended
    for width, height in SIZES:
        seen.resize(width, height)
        seen.sees(".stage", ".finish", ".tools button")
        if width >= 900:
            assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            assert game == "coatl" or page.evaluate(
                "document.querySelector('.panel').getBoundingClientRect().width > 280"
            )
        rows = page.locator(".candidate")
        for index in (0, 2, rows.count() - 1):
            seen.sees_beside_board(rows.nth(index))
            assert rows.nth(index).bounding_box()["height"] < 50
            seen.one.until("document.querySelector('.picture').dataset.path.includes('actions=')")
            seen.one.until("document.querySelectorAll('.picture .new, .picture .way').length > 0")
    # The bar covers nothing of the board.
    bottom, top = (page.locator(name).bounding_box() for name in (".stage", ".tools"))
    assert bottom["y"] + bottom["height"] <= top["y"]


def test_own_stocks_are_in_sight(window):
    seen = window("tzolkin_midgame.json")
    boxes = "[...document.querySelectorAll('.panel text')].map(text => text.getBoundingClientRect().bottom)"
    seen.one.until("document.querySelectorAll('.panel text').length > 10")
    assert max(seen.page.evaluate(boxes)) < 860
    assert min(seen.page.evaluate(TEXT_SIZES, ".panel")) >= 11


def test_a_review_has_the_board_the_graph_and_the_turns_in_sight(window):
    record = (EXAMPLES / "mexica_game.jsonl").read_text().splitlines()[0]
    seen = window(None, record=record, mode="review")
    page = seen.page
    page.get_by_role("button", name="Annotate").click()
    seen.one.until("document.querySelectorAll('.graph .turn').length > 1")
    page.get_by_role("button", name="Stop").click()
    for width, height in SIZES:
        seen.resize(width, height)
        seen.sees(".stage", ".review [type=range]")
        if width >= 900:
            seen.sees(".graph svg")
        page.evaluate("() => document.querySelector('.graph').scrollIntoView({block: 'nearest'})")
        seen.sees(".stage", ".graph .turn")
        for row in (page.locator(".journal button.link").nth(1), page.locator(".journal button.link").last):
            seen.sees_beside_board(row)


def test_the_editor_has_its_picture_its_brushes_and_its_faults_in_sight(visit):
    one = visit(1360, 860)
    page = one.go("/edit")
    page.wait_for_selector(".editor .picture svg")
    for brush, target in (("Canal", "C3"), ("Bridge", "D3")):
        page.get_by_role("button", name=brush, exact=True).click()
        page.locator(f'.target[data-target="{target}"]').click()
    page.locator(".faults button").first.wait_for()
    seen = Window(one)
    for width, height in SIZES:
        seen.resize(width, height)
        seen.sees(".scroll", ".brushes [aria-pressed=true]")
        seen.sees_beside_board(page.locator(".faults button").first)
        seen.sees_beside_board(page.locator(".editor [data-path]").first)


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_small_text_is_enlarged_under_a_resting_pointer(window, game):
    seen = window(f"{game}_midgame.json")
    page = seen.page
    x, y, size = page.evaluate(SMALLEST, ".picture")
    assert size < 11  # else nothing has to be enlarged
    page.wait_for_load_state("networkidle")
    page.mouse.move(x, y)
    page.locator(".zoom").wait_for()
    assert max(page.evaluate(TEXT_SIZES, ".zoom")) > 1.8 * size
    assert min(page.evaluate(TEXT_SIZES, ".zoom")) >= 11
    box = page.locator(".zoom").bounding_box()
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= 1360
    assert box["y"] + box["height"] <= 860
    # It takes no clicks, and goes when the pointer does.
    assert page.evaluate("([x, y]) => !document.elementFromPoint(x, y).closest('.zoom')", [box["x"] + 9, box["y"] + 9])
    page.mouse.move(5, 5)
    page.locator(".zoom").wait_for(state="detached")
    # The keyboard has it, too, with the words of the target.
    cell = page.locator('.cells [tabindex="0"]')
    cell.focus()
    page.keyboard.press("z")
    assert page.locator(".zoom p").last.inner_text() == cell.get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert page.locator(".zoom").count() == 0


def test_a_phone_shows_what_is_ones_own_and_enlarges_under_a_long_press(window):
    seen = window("mexica_midgame.json", **PHONE)
    page = seen.page
    status, fit = (page.locator(name).bounding_box() for name in (".turnbar .status", ".fit"))
    assert status["x"] + status["width"] <= fit["x"]
    assert page.evaluate(IS_SEEN, '.target[data-target="U7"]') is True
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    page.wait_for_load_state("networkidle")
    touch("touchStart", (200, 300))
    page.locator(".zoom").wait_for()
    touch("touchEnd")
    assert min(page.evaluate(TEXT_SIZES, ".zoom")) >= 11
    assert page.locator(".menu").count() == 0
    page.get_by_role("button", name="Canal of two").tap()
    assert page.locator(".zoom").count() == 0
    back = page.get_by_role("button", name="Back", exact=True)
    assert page.evaluate(IS_SEEN, ".touch") is True
    back.tap()
    seen.one.until("!document.querySelector('.tools [aria-pressed=true]')")
    assert back.is_disabled()
    # A finger that moves scrolls the page, also from the board on.
    touch("touchStart", (200, 300))
    for y in range(290, 100, -20):
        touch("touchMove", (200, y))
    touch("touchEnd")
    seen.one.until("scrollY > 60")
    assert page.locator(".zoom").count() == 0
    seen.sees(".stage", ".finish", ".now")
    seen.one.check_accessible()


def test_what_can_be_taken_is_outlined_and_keeps_its_colours(window):
    seen = window("mexica_midgame.json")
    page = seen.page
    page.keyboard.press("c")
    page.locator(".rings .ring.usual").wait_for(state="attached")
    fills = "[...new Set([...document.querySelectorAll('.target.lit')].map(one => getComputedStyle(one).fillOpacity))]"
    lines = "[...document.querySelectorAll('.rings path')].map(one => getComputedStyle(one).stroke)"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(fills) == ["0"]
        dark, bright = page.evaluate(lines)
        assert (dark, bright) == ("rgb(28, 23, 18)", "rgb(255, 225, 77)")  # one of them stands out on any ground
    seen.one.take("P7")
    page.locator(".rings .taken").first.wait_for(state="attached")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.locator(".rings .faint").first.wait_for(state="attached")
