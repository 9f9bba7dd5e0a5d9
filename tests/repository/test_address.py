"""Addresses of stores: the namespace of a crawl, wrong addresses, and how they are shown."""

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from sanderling.errors import BadSetting
from sanderling.repository.address import located, namespace, same, without_password
from sanderling.repository.postgres import PostgresStore
from sanderling.settings import read_value

PLAIN = "postgresql://me:secret@db.example.org/crawls?sslmode=require"


def test_a_new_crawl_gets_a_namespace_of_its_own() -> None:
    first, second = (located(PLAIN, Path("/crawls/My Crawl!")) or "" for _ in range(2))
    assert namespace(first).startswith("crawl_my_crawl_")
    assert namespace(first) != namespace(second)
    assert "sslmode=require" in first
    assert located(first, Path("/elsewhere")) == first
    assert located(None, Path("x")) is located("", Path("x")) is None


def test_a_namespace_can_be_chosen() -> None:
    chosen = PLAIN + "&options=-csearch_path%3Dnews"
    assert namespace(chosen) == "news"
    assert namespace(PLAIN + "&options=-c%20statement_timeout%3D5s%20-c%20search_path%3Dnews") == "news"
    assert located(chosen, Path("x")) == chosen
    other = located(PLAIN + "&options=-cstatement_timeout%3D5s", Path("x")) or ""
    assert "statement_timeout%3D5s" in other
    assert namespace(other).startswith("crawl_x_")


def test_the_same_place_by_another_address() -> None:
    known = located(PLAIN, Path("x"))
    assert same(PLAIN, known)
    assert same("postgresql://other:word@db.example.org/crawls?sslmode=require", known)
    assert not same("postgresql://db.example.org/others?sslmode=require", known)
    assert not same(located(PLAIN, Path("x")), known)
    assert not same(None, known)
    assert same(None, "")


@pytest.mark.parametrize(
    "typed",
    [
        "postgresql://", "postgres:///", "postgresql://db.example.org", "postgresql://me@", "postgresql://h:x/db",
        "postgresql://[::1/db", "postgresql//h/db", "mysql://me:secret@localhost/db", "postgresql://me:se/cret@h/db",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_database_is_refused(typed: str) -> None:
    with pytest.raises(BadSetting, match="is not an address such as postgresql://user@host/database") as refused:
        read_value("store", typed)
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    "typed",
    [
        "", PLAIN, "postgresql:///db", "postgres://[::1]:5432/db", "postgresql://me@a:1,b:2/db", "postgresql://?service=x",
        "postgresql://me@/db?host=/tmp", "postgresql://%2Ftmp/db", "postgresql://h?dbname=db",
    ],
)  # fmt: skip
def test_what_libpq_takes_is_taken(typed: str) -> None:
    assert read_value("store", typed) == typed
    if typed:
        given = conninfo_to_dict(located(typed, Path("x")) or "")
        assert "crawl_x_" in given.pop("options") and given == conninfo_to_dict(typed)


def test_namespaces_and_parameters_that_are_refused() -> None:
    with pytest.raises(BadSetting, match="not one plain name"):
        located("postgresql:///db?options=-csearch_path%3Da,b", Path("x"))
    with pytest.raises(BadSetting, match="is not valid"):
        PostgresStore("postgresql:///db?options=-csearch_path%3Da&nonsense=1")
    with pytest.raises(BadSetting, match="which namespace"):
        PostgresStore("postgresql:///db")


def test_passwords_are_not_shown() -> None:
    assert without_password(PLAIN) == "postgresql://me@db.example.org/crawls"
    assert without_password("postgresql:///db?host=/tmp") == "postgresql:///db"
    assert without_password(None) == ""
