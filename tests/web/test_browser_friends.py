"""Two persons at two devices, as their browsers show it; and the form with its levels and results."""

from pages import PERSON, engine


def test_two_friends_play_by_a_link(visit, site):
    names = [{**PERSON, "name": name} for name in ("Ana", "Ben")]
    made = site.new("nim", seats=names, seed=1, clock={"bank_s": 600, "increment_s": 5})
    ana = visit(kept={"call": "title"})
    page = ana.game(made)
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("button", name="Make a link: Ben").click()
    link = page.get_by_label("Link of Ben").input_value()
    ana.check_accessible()
    page.get_by_role("button", name="Close").click()
    ana.until("() => document.title.startsWith('Your move')")

    ben = visit(390, 800, url=link)
    ben.page.wait_for_selector(".picture svg")
    persons = page.get_by_label("Persons")
    persons.get_by_text("Ben").locator("..").get_by_text("connected", exact=True).wait_for()
    assert not ben.page.get_by_role("button", name="Invite").count()
    assert not ben.page.get_by_role("link", name="Editor").count()
    assert ben.page.get_by_role("button", name="End turn").is_disabled()

    page.locator(".typed input").fill(made["entries"][0]["action"])
    page.locator(".typed input").press("Enter")
    page.get_by_role("button", name="End turn").click()
    ben.page.get_by_text("Ben to move").wait_for()
    ana.until("() => !document.title.startsWith('Your move')")
    assert page.get_by_role("button", name="End turn").is_disabled()
    ben.until("() => document.querySelector('.friends [aria-current=true] time').textContent.startsWith('9:')")
    ben.check_accessible()
    ben.page.get_by_role("button", name="Resign").click()
    ben.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_role("heading", name="Ana wins").wait_for()


def test_the_form_says_what_levels_are_like_and_results_are_counted(visit, site):
    now = site.new("nim", seats=[PERSON, engine(3, 0.1)])
    now = site.await_game(now, lambda each: each["is_mine"] or each["is_over"])
    if not now["is_over"]:
        site.command(now, resign=True)
    page = visit().home()
    page.get_by_role("button", name="Choose level").click()
    chosen = page.get_by_label("Seat 2", exact=True)
    assert ":" in chosen.locator("option:checked").inner_text()
    assert chosen.input_value() != "level:5"
    page.get_by_role("region", name="Your results").get_by_role("cell", name="Level 3").first.wait_for()
