"""The editor of positions in a browser: by mouse, keyboard and touch, its faults, its JSON, and what axe finds."""

import json
import re
import time
from pathlib import Path

import pytest

try:
    from playwright.sync_api import expect
except ModuleNotFoundError:
    expect = None  # the fixture `browser` skips the tests, or fails

EXAMPLES = Path(__file__).parents[2] / "examples"


class Editor:
    """The page of the editor, and what a person does with it."""

    def __init__(self, visit):
        self.visit, self.page = visit, visit.page
        self.text = self.page.get_by_label("Position as JSON or in the compact form")
        self.heading = self.page.locator("#faults")

    def open(self):
        self.visit.go("/edit")
        expect(self.page.locator(".editor .picture svg")).to_be_visible()

    def paste(self, text):
        self.text.evaluate("field => field.closest('details').open = true")
        self.text.fill(text)

    def load(self, name):
        self.paste((EXAMPLES / name).read_text())
        expect(self.heading).to_have_text("No errors")
        expect(self.play).to_be_enabled()

    def target(self, name):
        return self.page.locator(f'.target[data-target="{name}"]')

    def cell(self, name):
        return self.page.locator(f'[data-cell="{name}"]')

    def brush(self, label):
        self.page.get_by_role("button", name=label, exact=True).click()

    def drag(self, start, end):
        for place, act in ((start, self.page.mouse.down), (end, self.page.mouse.up)):
            box = self.target(place).bounding_box()
            self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
            act()

    def await_position(self, is_so):
        """Wait until the text field has a position of which something is so; return it."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                data = json.loads(self.text.input_value())
            except ValueError:
                data = None
            if data and is_so(data):
                return data
            self.page.wait_for_timeout(25)
        raise AssertionError(self.text.input_value())

    @property
    def play(self):
        return self.page.get_by_role("button", name="Play", exact=True)

    @property
    def faults(self):
        return self.page.locator(".faults button")


@pytest.fixture
def open_editor(visit):
    """Return a function that opens the editor in a context of its own."""

    def begin(*size, **options):
        editor = Editor(visit(*size, **options))
        editor.open()
        return editor

    return begin


def test_a_position_is_edited_by_mouse_and_played(open_editor, site):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    editor.brush("Temple of seat 2")
    editor.target("Q10").click()
    editor.target("Q10").click()
    editor.await_position(lambda data: {"at": "Q10", "seat": 1, "level": 2} in data["temples"])
    editor.drag("Q10", "C9")
    data = editor.await_position(lambda data: {"at": "C9", "seat": 1, "level": 2} in data["temples"])
    assert data["seats"][1]["temples"] == [2, 2, 2, 1]
    expect(editor.play).to_be_enabled()
    editor.play.click()
    editor.page.wait_for_url(re.compile("/g/[0-9a-f]{32}$"))
    ident = editor.page.url.rpartition("/")[2]
    played = site.call("GET", f"/api/games/{ident}/position?at=0")
    assert played["temples"] == data["temples"]


def test_faults_are_listed_and_lit_and_cannot_be_played(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    editor.brush("Bridge")
    editor.target("D3").click()
    expect(editor.heading).to_have_text("1 error")
    expect(editor.faults).to_have_text(["Bridge 1 (D3): given D3, which is land; expected a canal space"])
    assert editor.page.locator(".target.faulty").evaluate_all("all => all.map(one => one.dataset.target)") == ["D3"]
    expect(editor.cell("D3")).to_have_attribute("aria-label", re.compile("D3, .*bridge.*expected a canal space"))
    expect(editor.play).to_be_disabled()
    expect(editor.page.get_by_role("button", name="Analyse")).to_be_disabled()
    editor.faults.first.hover()
    expect(editor.target("D3")).to_have_class(re.compile("pointed"))
    editor.page.keyboard.press("Control+z")
    expect(editor.heading).to_have_text("No errors")
    expect(editor.page.locator(".target.faulty")).to_have_count(0)
    expect(editor.play).to_be_enabled()
    editor.page.keyboard.press("Control+y")
    expect(editor.heading).to_have_text("1 error")


def test_canals_are_drawn_in_one_step(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    before = editor.await_position(lambda data: True)["canals"]
    editor.brush("Canal")
    editor.drag("B3", "E3")
    canals = editor.await_position(lambda data: {"B3", "C3", "D3", "E3"} <= set(data["canals"]))["canals"]
    assert set(before) < set(canals)
    editor.page.keyboard.press("Control+z")
    editor.await_position(lambda data: data["canals"] == before)


def test_an_undo_that_the_server_does_not_answer_changes_nothing(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    editor.brush("Temple of seat 2")
    editor.target("Q10").click()
    now = editor.await_position(lambda data: any(temple["at"] == "Q10" for temple in data["temples"]))
    expect(editor.play).to_be_enabled()
    editor.page.route("**/api/draw", lambda route: route.abort())
    editor.page.keyboard.press("Control+z")
    expect(editor.page.locator(".editor .message")).to_have_text("The server does not answer.")
    editor.page.unroute("**/api/draw")
    editor.visit.wrong.clear()
    with editor.page.expect_request("**/api/games") as sent:
        editor.play.click()
    assert sent.value.post_data_json["position"]["temples"] == now["temples"]  # those that are shown


def test_what_is_not_possible_is_said(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    editor.brush("Canal")
    editor.target("A1").click()
    expect(editor.page.locator(".editor .message")).to_have_text("A1 is in the lake; expected a space of the island")
    expect(editor.page.locator("#said")).to_have_text("A1 is in the lake; expected a space of the island")
    # What is refused does not stay in its field.
    field = editor.page.locator(".editor .bag input").first
    field.evaluate("one => { one.closest('details').open = true; }")
    held = field.input_value()
    field.fill("-5")
    field.blur()
    expect(editor.page.locator(".editor .message")).to_have_text("Given -5; expected 0 to 99")
    expect(field).to_have_value(held)
    field = editor.page.locator(".editor label.field input[type=number]").first
    held = field.input_value()
    field.fill("")
    field.blur()
    expect(field).to_have_value(held)
    editor.visit.wrong.clear()  # the browser's console tells of the answer 422


def test_what_is_being_typed_stays_when_a_request_fails(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    page, message, held = editor.page, editor.page.locator(".editor .message"), []

    def let_go(end):
        while not held:
            page.wait_for_timeout(20)
        end(held.pop())

    field = page.locator(".editor label.field input[type=number]").first
    number = page.locator(".editor .bag input").first
    number.evaluate("one => { one.closest('details').open = true; }")
    before = number.input_value()
    page.route("**/api/validate", lambda route: held.append(route))
    editor.brush("Temple of seat 2")
    editor.target("Q10").click()
    was = field.input_value()
    field.fill("77")
    let_go(lambda route: route.abort())
    expect(message).to_have_text("The server does not answer.")
    assert field.input_value() == "77"
    page.unroute("**/api/validate")
    field.fill(was)
    # An edit is refused: its field has what it had, also if it keeps the focus, and no other field changes.
    page.route("**/api/edit", lambda route: held.append(route))
    for refused, typed in (("-5", None), ("-6", "77")):
        number.fill(refused)
        number.press("Enter")
        if typed:
            field.fill(typed)
        let_go(lambda route: route.continue_())
        expect(message).to_have_text(f"Given {refused}; expected 0 to 99")
        expect(number).to_have_value(before)
        assert field.input_value() == (typed or was)
    editor.visit.wrong.clear()


def test_a_fault_of_a_field_leads_to_the_field(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    editor.page.locator("summary", has_text="Seat 2").click()
    score = editor.page.locator('[data-path="seats[1].score"]')
    score.fill("1000")
    score.press("Tab")
    expect(editor.faults).to_have_text(["Seat 2, Score: 1000 is out of range; expected an integer from 0 to 999"])
    expect(score).to_have_attribute("aria-invalid", "true")
    editor.page.locator("summary", has_text="Seat 2").click()
    editor.faults.first.click()
    expect(score).to_be_focused()


def test_the_keyboard_alone_edits(open_editor):
    editor = open_editor()
    editor.load("mexica_midgame.json")
    first = editor.page.locator('[data-cell][tabindex="0"]')
    first.focus()
    expect(editor.cell("A1")).to_be_focused()
    for key in ("ArrowDown",) * 2 + ("ArrowRight",) * 2:
        editor.page.keyboard.press(key)
    expect(editor.cell("C3")).to_be_focused()
    editor.page.keyboard.press("c")
    expect(editor.page.get_by_role("button", name="Canal")).to_have_attribute("aria-pressed", "true")
    editor.page.keyboard.press("Enter")
    editor.await_position(lambda data: "C3" in data["canals"])
    expect(editor.cell("C3")).to_be_focused()
    expect(editor.cell("C3")).to_have_attribute("aria-label", re.compile("canal"))
    editor.page.keyboard.press("m")
    editor.page.keyboard.press("Enter")
    expect(editor.cell("C3")).to_have_attribute("aria-label", re.compile("to be moved"))
    editor.page.keyboard.press("ArrowRight")
    editor.page.keyboard.press("Enter")
    data = editor.await_position(lambda data: "D3" in data["canals"])
    assert "C3" not in data["canals"]
    editor.page.keyboard.press("Control+z")
    editor.page.keyboard.press("Control+z")
    assert editor.await_position(lambda data: not {"C3", "D3"} & set(data["canals"])) == json.loads(
        (EXAMPLES / "mexica_midgame.json").read_text()
    )


def test_behind_a_curtain_the_editor_is_of_the_same_game(visit, site):
    """It is empty: the position has hidden hands."""
    one = visit()
    game = site.new("coatl", players=3, seats=[{"kind": "person"}] * 3)
    one.go(f"/g/{game['id']}")
    one.page.locator(".handover").wait_for()
    one.page.get_by_role("link", name="Editor").click()
    expect(one.page.locator(".editor .picture title").first).to_have_text(re.compile("^Coatl, 3 players, round 0"))


def test_text_is_kept_in_step_and_may_be_pasted(open_editor):
    editor = open_editor()
    editor.paste('{"game": "mexica", "seats": "none"}')
    expect(editor.faults.first).to_have_text('Version: the key "version" is missing')
    expect(editor.play).to_be_disabled()
    editor.paste('{"game": "mexica"')
    expect(editor.faults).to_have_text([re.compile("neither as JSON nor")])
    expect(editor.page.locator(".editor .picture svg")).to_be_visible()
    editor.paste("nim/1 3,5,7 2,0,1,1")
    expect(editor.heading).to_have_text("No errors")
    expect(editor.page.locator(".picture title")).to_have_text("Nim, seat 0 to move")
    expect(editor.play).to_be_enabled()
    assert editor.page.locator(".brushes button").count() == 0


def test_workers_move_on_the_gears(open_editor):
    editor = open_editor()
    editor.load("tzolkin_midgame.json")
    editor.brush("Idle worker")
    editor.target("worker:uxmal:2").click()
    expect(editor.faults).to_have_text([re.compile("idle workers")])
    editor.brush("Remove")
    editor.target("worker:palenque:2").click()
    data = editor.await_position(lambda data: data["gears"]["palenque"] == "10.....ii.")
    assert data["gears"]["uxmal"] == "i.i..i...."
    expect(editor.heading).to_have_text("No errors")
    editor.drag("worker:palenque:0", "worker:palenque:5")
    editor.await_position(lambda data: data["gears"]["palenque"] == ".0...1.ii.")


def test_cards_are_put_and_taken_by_menus(open_editor):
    editor = open_editor()
    editor.load("coatl_midgame.json")
    editor.page.locator("summary", has_text=re.compile("^Seat 1$")).click()
    hand = editor.page.locator('fieldset[data-path="seats[0].hand"]')
    hand.get_by_role("button", name=re.compile("^P43")).click()
    data = editor.await_position(lambda data: "P43" not in data["seats"][0]["hand"])
    assert data["deck"] == 20
    expect(editor.heading).to_have_text("No errors")
    option = hand.get_by_role("combobox").locator("option", has_text="P06")
    hand.get_by_role("combobox").select_option(option.get_attribute("value"))
    assert editor.await_position(lambda data: "P06" in data["seats"][0]["hand"])["deck"] == 19
    # Who has composed the hands looks at them without a curtain.
    expect(editor.heading).to_have_text("No errors")
    editor.page.get_by_role("button", name="Analyse").click()
    expect(editor.page.locator(".card.review")).to_be_visible()


def test_a_small_screen_scrolls_the_picture_and_moves_by_two_taps(open_editor):
    editor = open_editor(390, 844, has_touch=True, is_mobile=True)
    editor.load("mexica_midgame.json")
    assert editor.page.evaluate("document.documentElement.scrollWidth") <= 390
    place, cell = (editor.target("H7").bounding_box(), editor.cell("H7").bounding_box())
    assert place["width"] >= 24
    assert place == pytest.approx(cell, abs=1)
    editor.target("E6").tap()
    editor.target("C9").tap()
    editor.await_position(lambda data: {"at": "C9", "seat": 1, "level": 1} in data["temples"])


FAULTS = {
    "mexica_midgame.json": ('"round": 3', '"round": 0'),
    "tzolkin_midgame.json": ('"day": 16', '"day": 28'),
    "coatl_midgame.json": ('"deck": 19', '"deck": 18'),
    "nim.json": ('"plies_left": 1', '"plies_left": 2'),
}


def test_axe_finds_nothing(open_editor):
    editor = open_editor()
    for name, fault in FAULTS.items():
        text = (EXAMPLES / name).read_text()
        assert fault[0] in text
        editor.load(name)
        editor.paste(text.replace(*fault))
        expect(editor.faults).not_to_have_count(0)
        editor.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        editor.visit.check_accessible()
        if name == "coatl_midgame.json":  # it has controls of all kinds
            editor.page.emulate_media(color_scheme="dark")
            editor.visit.check_accessible()
            editor.page.emulate_media(color_scheme="light")
