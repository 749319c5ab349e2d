"""The page in Portuguese, and as something to install."""

import datetime

from pages import PERSON, engine


def test_the_page_speaks_the_language_of_the_browser_or_the_chosen_one(visit, site):
    made = site.new()
    one = visit(locale="pt-BR", timezone_id="Asia/Tokyo")
    page = one.home()
    page.get_by_role("heading", name="Jogar, analisar, rever").wait_for()
    assert page.evaluate("document.documentElement.lang") == "pt"
    at = datetime.datetime.fromisoformat(made["created"]) + datetime.timedelta(hours=9)
    assert f"{at:%H:%M}" in page.locator(".kept li").first.inner_text()
    # Chromium installs no page of a private window; nothing else is against it, and there is no service worker.
    found = page.context.new_cdp_session(page).send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {error["errorId"] for error in found} <= {"in-incognito"}
    one.game(site.new("mexica", seats=[PERSON, engine()], players=2, seed=5))
    page.get_by_role("button", name="Terminar o turno").wait_for()
    one.check_accessible()
    page.get_by_role("button", name="Ajuda").click()
    page.get_by_label("Idioma").select_option("en")
    page.get_by_role("button", name="End turn").wait_for()
    assert page.evaluate("document.documentElement.lang") == "en"
