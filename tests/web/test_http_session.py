"""The token and the session of the page: they outlive the process, and are of one folder and one port."""

import os
import socket
import stat

import pytest
from pages import PERSON

from mexica_ai.io.errors import NotationError
from mexica_ai.web import credentials
from mexica_ai.web.guard import COOKIE_S

SECRET = "s" * 43


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def private(path, text):
    path.write_text(text)
    path.chmod(0o600)


# ---- the secret


def test_credentials_are_of_a_folder_and_a_port(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    found = [credentials.load(folder, port) for folder in (one, two) for port in (8080, 8081)]
    values = [value for pair in found for value in pair]
    assert len({*values}) == 12
    assert all(len(value) == 43 for value in values)
    assert credentials.load(one, 8080) == found[0]
    assert stat.S_IMODE((one / credentials.NAME).stat().st_mode) == 0o600
    assert not any(value in (one / credentials.NAME).read_text() for value in values)
    assert [path.name for path in one.iterdir()] == [credentials.NAME]


def test_new_ones_replace_those_of_all_ports(tmp_path):
    before = {port: credentials.load(tmp_path, port) for port in (1, 2)}
    after = {1: credentials.load(tmp_path, 1, is_new=True), 2: credentials.load(tmp_path, 2)}
    assert not {*before[1], *before[2]} & {*after[1], *after[2]}


def make_link(path):
    private(path.with_name("other"), SECRET + "\n")
    path.symlink_to("other")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: private(path, ""), "it holds no secret"),
        (lambda path: private(path, "short\n"), "it holds no secret"),
        (lambda path: private(path, f"{SECRET}\n{SECRET}\n"), "it holds no secret"),
        (lambda path: private(path, SECRET[1:] + "é\n"), "it holds no secret"),
        (lambda path: (private(path, SECRET + "\n"), path.chmod(0o644)), "others may read or write it"),
        (make_link, "it is a link"),
        (lambda path: path.symlink_to("nowhere"), "it is a link"),
        (os.mkfifo, "it is no file"),
    ],
)  # fmt: skip
def test_a_secret_that_others_may_know_is_made_anew(tmp_path, caplog, make, problem):
    path = tmp_path / credentials.NAME
    make(path)
    made = credentials.load(tmp_path, 8080)
    assert problem in caplog.text
    caplog.clear()
    assert not path.is_symlink()
    assert path.is_file()
    assert SECRET not in path.read_text()
    assert credentials.load(tmp_path, 8080) == made
    assert caplog.text == ""
    other = tmp_path / "other"
    assert not other.exists() or other.read_text() == SECRET + "\n"


def test_a_secret_of_another_user_is_made_anew(tmp_path, caplog, monkeypatch):
    private(tmp_path / credentials.NAME, SECRET + "\n")
    monkeypatch.setattr(credentials.os, "geteuid", lambda: os.getuid() + 1)
    credentials.load(tmp_path, 8080)
    assert "another user" in caplog.text


def test_a_secret_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / credentials.NAME).mkdir()
    with pytest.raises(NotationError, match=r"--games: cannot write '.*secret': Is a directory") as caught:
        credentials.load(tmp_path, 8080)
    assert caught.value.reason == "BAD_USAGE"
    assert [path.name for path in tmp_path.iterdir()] == [credentials.NAME]


def test_what_a_killed_process_has_left_is_no_matter(tmp_path):
    (tmp_path / f"{credentials.NAME}.new").symlink_to(tmp_path / "elsewhere")
    made = credentials.load(tmp_path, 8080)
    assert not (tmp_path / "elsewhere").exists()
    assert credentials.load(tmp_path, 8080) == made


# ---- the server


def test_a_browser_is_still_let_in_after_a_restart(start, free_port):
    first = start("--port", free_port)
    game = first.new(seats=[PERSON, PERSON])
    cookies = first.client.cookies
    run = first.game(game)["run"]
    first.kill()
    second = start("--port", free_port, client=False)
    assert second.url == first.url
    with second.new_client(cookies=cookies) as client:
        assert client.get("/").status_code == 200
        again = client.get(f"/api/games/{game['id']}")
        assert again.status_code == 200
        assert again.json()["run"] != run  # so that a page takes the state though its version is a lower one
        with client.stream("GET", "/api/events", params={"game": game["id"]}) as events:
            assert events.status_code == 200
    second.kill()
    third = start("--port", free_port, "--new-token", client=False)
    assert third.url != first.url
    with third.new_client(cookies=cookies) as client:
        assert client.get("/api/info").status_code == 401
        assert client.get(first.url).status_code == 401
        answer = client.get(third.url)
        assert f"Max-Age={COOKIE_S}" in answer.headers["set-cookie"]
        assert client.get("/api/info").status_code == 200
        # An old bookmark does no harm to a browser that has the session.
        assert client.get(first.url).headers["location"] == "/"


def test_a_person_without_a_session_is_told_what_to_do(start):
    page = start()
    with page.new_client() as stranger:
        for path in ("/", "/edit", "/g/0", "/nothing", "/?token=x", f"/?token={page.token[::-1]}"):
            answer = stranger.get(path)
            assert answer.status_code == 401
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert answer.headers["cache-control"] == "no-store"
            assert "Open the URL that <code>mexica-ai web</code> printed" in answer.text
            assert "<script" not in answer.text
            assert "style=" not in answer.text
            assert page.token not in answer.text
        for path in ("/static/app.css", "/static/palette.css"):  # that page looks like the others
            assert stranger.get(path).status_code == 200
            assert stranger.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        refused = stranger.get("/api/info")
        assert (refused.status_code, refused.json()["reason"]) == (401, "NO_SESSION")
        assert stranger.post("/", json={}).json()["reason"] == "NO_SESSION"
