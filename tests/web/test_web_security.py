"""Who may enter. A page of another site can do nothing."""

import re
from pathlib import Path

import argon2
import httpx
import pytest
from fastapi import HTTPException

from sanderling.web.security import ALL_TRIES, TRIES, Security
from tests.conftest import Run
from tests.waiting import PATIENCE
from tests.web.served import Served, running

PAGE = {"accept": "text/html"}


def token_in(page: httpx.Response) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', page.text)
    assert found
    return found[1]


def test_a_name_that_is_not_ours_is_refused(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1.nip.io", "", "localhost.evil.example:80"):
        answer = served.http.get("/api/v1/crawls", headers={"host": host})
        assert answer.status_code == 421, host
        assert answer.headers["content-type"] == "application/problem+json"
    for host in ("localhost:1", "127.0.0.1", "[::1]:8080", "LOCALHOST"):
        assert served.http.get("/api/v1/crawls", headers={"host": host}).status_code == 200


def test_what_can_be_read_can_be_asked_about(served: Served) -> None:
    for path in ("/", "/crawls/small", "/api/v1/crawls", "/static/sanderling.css", "/nothing"):
        got, asked = served.http.get(path), served.http.head(path)
        assert (asked.status_code, asked.content) == (got.status_code, b"")
        assert asked.headers.keys() >= got.headers.keys() - {"set-cookie"}
    assert served.http.head("/api/v1/crawls/small/pause").status_code == 405


def test_a_further_name(crawled: Path) -> None:
    with running(crawled, "--name", "Crawls.example") as server:
        assert server.http.get("/api/v1/crawls", headers={"host": "crawls.example:443"}).status_code == 200


def test_every_answer_carries_the_headers(served: Served) -> None:
    for path in ("/api/v1/crawls", "/login", "/nothing", "/api/v1/crawls/unknown"):
        headers = served.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe-inline" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_elsewhere_a_secret_is_required(sanderling: Run, crawled: Path) -> None:
    ran = sanderling("serve", crawled, "--host", "0.0.0.0", "--port", 0)
    assert ran.code == 2 and "--token or --password-file" in ran.err


def test_a_token_opens_the_api(crawled: Path) -> None:
    with running(crawled, "--token", "a-secret-of-ours") as server:
        refused = server.http.get("/api/v1/crawls")
        assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
        wrong = {"authorization": "Bearer a-secret-of-our"}
        assert server.http.get("/api/v1/crawls", headers=wrong).status_code == 401
        right = {"authorization": "Bearer a-secret-of-ours"}
        assert server.http.get("/api/v1/crawls", headers=right).status_code == 200
        to_login = server.http.get("/", headers=PAGE)
        assert to_login.status_code == 303 and to_login.headers["location"] == "/login?next=/"


def test_a_password_begins_and_ends_a_session(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("correct horse\n")
    with running(crawled, "--password-file", tmp_path / "secret") as server:
        page = server.http.get("/login", headers=PAGE)
        form = {"form_token": token_in(page), "secret": "correct horse", "next": "//evil.example/"}
        entered = server.http.post("/login", data=form)
        assert entered.status_code == 303 and entered.headers["location"] == "/"
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert server.http.get("/api/v1/crawls").status_code == 200
        held = dict(server.http.cookies)
        token = token_in(server.http.get("/login", headers=PAGE))
        assert server.http.post("/logout", data={"form_token": token}).status_code == 303
        server.http.cookies.clear()
        server.http.cookies.update(held)
        assert server.http.get("/api/v1/crawls").status_code == 401


def test_a_password_may_be_given_as_its_hash(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(argon2.PasswordHasher(time_cost=1, memory_cost=1024).hash("correct horse"))
    with running(crawled, "--password-file", tmp_path / "secret") as server:
        form = {"form_token": token_in(server.http.get("/login", headers=PAGE)), "secret": "correct horse"}
        assert server.http.post("/login", data={**form, "secret": "$argon2id$"}).status_code == 401
        assert server.http.post("/login", data=form).status_code == 303


def test_guessing_is_slowed_down(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("correct horse\n")
    with running(crawled, "--password-file", tmp_path / "secret") as server:
        form = {"form_token": token_in(server.http.get("/login", headers=PAGE)), "secret": "wrong"}
        codes = [server.http.post("/login", data=form).status_code for _ in range(7)]
        assert codes == [401] * 5 + [429] * 2
        last = server.http.post("/login", data={**form, "secret": "correct horse"})
        assert last.status_code == 429 and int(last.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example", "x-sanderling": "1"},
        {"sec-fetch-site": "cross-site", "x-sanderling": "1"},
        {"origin": "null", "x-sanderling": "1"},
    ],
)
def test_what_changes_something_has_to_be_meant(served: Served, headers: dict[str, str]) -> None:
    answer = served.http.post("/logout", data={"form_token": "0" * 40}, headers=headers)
    assert answer.status_code == 403


def client(server: Served) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=PATIENCE)


def test_a_form_token_belongs_to_its_session(served: Served) -> None:
    with client(served) as mine, client(served) as theirs:
        token = token_in(theirs.get("/login", headers=PAGE))
        mine.get("/login", headers=PAGE)
        assert mine.post("/logout", data={"form_token": token}).status_code == 403
        assert theirs.post("/logout", data={"form_token": token}).status_code == 303


def test_strangers_who_guess_do_not_lock_the_owner_out() -> None:
    security = Security(port=1, token="a-token-of-our-own", password=argon2.PasswordHasher(1, 1024).hash("horse"))
    device = security.new_device()
    for number in range(ALL_TRIES):
        assert security.sign_in("wrong", f"10.0.{number // 4}.1") is None
    with pytest.raises(HTTPException):
        security.sign_in("horse", "10.1.1.1")
    assert security.sign_in("a-token-of-our-own", "10.1.1.1")
    assert security.sign_in("horse", "10.0.0.1", device)  # where one has signed in before
    for wrong in ("", "made.up", Security(port=1, token="a-token-of-our-own").new_device()):
        with pytest.raises(HTTPException):
            security.sign_in("horse", "10.1.1.1", wrong)
    for _ in range(TRIES):  # a stolen cookie allows as few tries as an address
        assert security.sign_in("wrong", "10.1.1.1", device) is None
    with pytest.raises(HTTPException):
        security.sign_in("horse", "10.1.1.1", device)


def test_a_browser_that_has_signed_in_is_known(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("correct horse\n")
    with running(crawled, "--password-file", tmp_path / "secret") as server:
        form = {"form_token": token_in(server.http.get("/login", headers=PAGE)), "secret": "correct horse"}
        answer = server.http.post("/login", data=form)
        (device,) = [each for each in answer.headers.get_list("set-cookie") if "-device=" in each]
        assert "HttpOnly" in device and "Path=/login" in device and "SameSite=strict" in device
        stranger = httpx.Client(base_url=server.url, timeout=PATIENCE)
        theirs = {"form_token": token_in(stranger.get("/login", headers=PAGE)), "secret": "wrong"}
        assert [stranger.post("/login", data=theirs).status_code for _ in range(6)] == [401] * 5 + [429]
        stranger.close()
        form["form_token"] = token_in(server.http.get("/login", headers=PAGE))
        assert server.http.post("/login", data=form).status_code == 303
