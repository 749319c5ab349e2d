"""Who is let in: token and cookie, Host and Origin, methods, types and sizes; the headers of all answers."""

import re
import socket

import httpx
import pytest
from pages import PERSON, Process

from mexica_ai.web.errors import ApiError
from mexica_ai.web.guard import Guard

NO_DOCUMENT = "default-src 'none'; frame-ancestors 'none'"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html board"
)
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("guard"))
    yield process
    assert process.token not in process.log.read_text()
    process.close()


@pytest.fixture
def stranger(page):
    """Give a client without a session."""
    with page.new_client() as client:
        yield client


def test_the_token_is_exchanged_for_a_cookie(page, stranger):
    answer = stranger.get(f"/?token={page.token}&game=7")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?game=7"
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(rf"mexica_ai_{page.port}=[\w-]{{43}}; HttpOnly; Path=/; SameSite=lax", cookie, re.IGNORECASE)
    assert page.token not in cookie
    assert stranger.get("/api/info").status_code == 200


@pytest.mark.parametrize("token", ["", "x", "é", "a" * 43])
def test_a_wrong_token_is_no_session(page, stranger, token):
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/edit", "/g/0", "/static/app.js", "/api/info", "/api/events", "/nothing"])
def test_without_a_session_there_is_nothing(page, stranger, path):
    answers = [
        stranger.get(path),
        stranger.get(path, headers={"Cookie": f"mexica_ai_{page.port}=wrong"}),
        stranger.get(path, headers={"Cookie": f"mexica_ai_{page.port}={page.token}"}),
        stranger.get(path, headers={"Cookie": f"other={page.client.cookies[f'mexica_ai_{page.port}']}"}),
        stranger.get(path, headers={"Cookie": f'mexica_ai_{page.port};;="\\,=@'}),
    ]
    assert [answer.status_code for answer in answers] == [401] * 5
    assert stranger.post("/api/games", json={"game": "nim"}).status_code == 401


@pytest.mark.parametrize("odd", ["x=a b", "version=1", "a@b=c", 'x="', "=;"])
def test_cookies_of_other_programs_lock_nobody_out(page, stranger, odd):
    name = f"mexica_ai_{page.port}"
    for cookies in (f"{odd}; {name}={page.client.cookies[name]}", f"{name}={page.client.cookies[name]}; {odd}"):
        assert stranger.get("/api/info", headers={"Cookie": cookies}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.2:{port}", "[::1]:{port}",
     "localhost.evil.example:{port}", ""],
)  # fmt: skip
def test_another_name_of_this_server_is_refused(page, host):
    for path in ("/", "/api/info", f"/?token={page.token}"):
        answer = page.client.get(path, headers={"Host": host.format(port=page.port)})
        assert answer.status_code in ((421, 400) if not host else (421,)), path


def test_localhost_is_this_server(page):
    assert page.client.get("/api/info", headers={"Host": f"localhost:{page.port}"}).status_code == 200
    assert page.client.get("/api/info", headers={"Host": f"LOCALHOST:{page.port}"}).status_code == 200


def test_an_address_of_ipv4_is_this_server_where_ipv6_listens_for_both():
    def check(host):
        headers = [(b"host", host.encode())]
        guard._check_address({**request, "headers": headers})

    guard = Guard(None, ("token", "session", "key"), None, None, port=8080)
    request = {"type": "http", "method": "GET", "path": "/", "server": ("::ffff:192.168.1.5", 8080)}
    for host in ("192.168.1.5:8080", "[::ffff:192.168.1.5]:8080", "localhost:8080"):
        check(host)
    with pytest.raises(ApiError, match="Host"):
        check("192.168.1.6:8080")


def test_a_second_host_is_refused(page):
    cookie = "; ".join(f"{name}={value}" for name, value in page.client.cookies.items())
    host = f"127.0.0.1:{page.port}"
    request = f"GET /api/info HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", page.port)) as connection:
        connection.sendall(request.encode())
        assert connection.makefile("rb").readline().split()[1] in (b"400", b"421")


def test_pages_of_other_origins_are_refused(page):
    own = f"http://127.0.0.1:{page.port}"
    for origin, status in (
        (own, 201),
        (f"http://localhost:{page.port}", 201),
        ("http://evil.example", 403),
        ("null", 403),
        (f"https://127.0.0.1:{page.port}", 403),
        ("http://127.0.0.1:1", 403),
        (f"{own}.evil.example", 403),
    ):
        answer = page.client.post("/api/games", json={"game": "nim"}, headers={"Origin": origin})
        assert answer.status_code == status, origin
        assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    ("path", "site", "status"),
    [
        ("/api/info", "same-origin", 200),
        ("/api/info", "none", 200),
        ("/api/info", "same-site", 403),
        ("/api/info", "cross-site", 403),
        ("/static/app.js", "cross-site", 403),
        ("/", "cross-site", 200),  # the file that opens the browser is
        ("/edit", "cross-site", 200),
        ("/?token=TOKEN", "cross-site", 303),
    ],
)
def test_other_sites_may_open_the_page_and_no_more(page, path, site, status):
    answer = page.client.get(path.replace("TOKEN", page.token), headers={"Sec-Fetch-Site": site})
    assert answer.status_code == status


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "TRACE", "PROPFIND", "CONNECT"])
def test_other_methods_are_refused(page, method):
    assert page.client.request(method, "/api/games").status_code == 405


def test_a_method_that_a_route_does_not_have_is_refused(page):
    for method, path in (("POST", "/api/info"), ("PUT", "/api/games"), ("DELETE", "/"), ("POST", "/api/events")):
        answer = page.client.request(method, path, headers=JSON)
        assert (answer.status_code, answer.json()["reason"]) == (405, "WRONG_METHOD")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_changes_something(page, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    for method, path in (("POST", "/api/games"), ("DELETE", "/api/games/0")):
        answer = page.client.request(method, path, content=b'{"game": "nim"}', headers=headers)
        assert answer.status_code == 415
    assert page.client.post("/api/games", content=b'{"game": "nim"}', headers=JSON).status_code == 201


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(("path", "most"), [("/api/games", 1 << 20), ("/api/proposal", 1 << 16)])
def test_large_bodies_are_refused(page, path, most, is_chunked):
    for size, is_refused in ((most, False), (most + 1, True)):
        data = b'"' + b"x" * (size - 2) + b'"'
        answer = page.client.post(path, content=iter([data[:100], data[100:]]) if is_chunked else data, headers=JSON)
        assert (answer.status_code == 413) == is_refused, answer.text


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 100_000, b"\xff", b'{"game": "nim", "game": "nim"}', b"NaN", b"7", b'{"game": 1e999}',
     rb'{"game": "\ud800"}'],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_an_answer(page, body):
    answer = page.client.post("/api/games", content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_all_answers_have_the_headers_of_security(page, stranger):
    made = page.new(seats=[PERSON, PERSON])
    picture = f"/api/games/{made['id']}/at/0/all.svg"
    paths = ("/", "/static/app.js", "/static/no.js", "/api/info", "/api/no", picture)
    answers = [page.client.get(path) for path in paths]
    answers += [stranger.get("/"), page.client.get("/", headers={"Host": "evil"}), page.client.get(page.url)]
    answers += [page.client.post("/api/games", content=b"{")]
    for answer in answers:
        is_page = answer.headers.get("content-type", "text/html").startswith("text/html")  # a redirect has no type
        assert answer.headers["content-security-policy"] == (POLICY if is_page else NO_DOCUMENT)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers.get("cross-origin-opener-policy") == ("same-origin" if is_page else None)
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
    assert page.client.get("/api/info").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/cli/web.py", "/static//etc/passwd"]
)
def test_no_path_leads_out_of_the_static_files(page, path):
    with httpx.Client(cookies=page.client.cookies) as client:
        answer = client.send(httpx.Request("GET", page.base + path, extensions={"raw_path": path.encode()}))
    assert answer.status_code in (401, 404)
    assert "def " not in answer.text


@pytest.mark.parametrize("game", ["..%2f..%2fetc%2fpasswd", "0" * 32, "%00", "x" * 5000])
def test_a_game_that_is_not_known_is_not_looked_for(page, game):
    for path in (f"/api/games/{game}", f"/api/games/{game}/record"):
        assert page.client.get(path).status_code == 404


def test_markup_in_what_is_given_stays_text(page):
    word = "<script>alert(1)</script>"
    for data in ({"game": word}, {"text": word}, {"position": {"game": word}}, {"example": word}):
        answer = page.client.post("/api/games", json=data)
        assert answer.headers["content-type"] == "application/json"
    made = page.new(seats=[PERSON, PERSON])
    answer = page.client.get(f"/api/games/{made['id']}/at/0/{word.replace('/', '')}.svg")
    assert answer.headers["content-type"] == "application/json"
