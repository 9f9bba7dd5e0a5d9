from sanderling.client.repetition import MOST_PARTS, Repetition

LIST = "http://e.org/shops?trade=books&sort=name"


def test_a_list_in_another_order_says_nothing_new() -> None:
    seen = Repetition()
    assert not seen.found("http://e.org/shops?trade=books", "12 shops where trade is books\nHeron Books\nThe Old Quay")
    assert not seen.found("http://e.org/shops?place=quay", "3 shops where place is quay\nThe Old Quay")
    assert seen.found("http://e.org/shops?trade=books&place=quay", "1 shop where trade is books\nThe Old Quay") is False
    assert seen.found("http://e.org/shops?trade=books&sort=name", "The Old Quay\n12 shops where trade is books")


def test_one_new_line_is_news() -> None:
    seen = Repetition()
    seen.found("http://e.org/shops?trade=books", "Heron Books\nThe Old Quay")
    assert not seen.found(LIST, "Heron Books\nThe Old Quay\nAvocet")
    assert seen.found(LIST, "Avocet\nHeron Books")


def test_what_other_hosts_say_counts_for_nothing() -> None:
    seen = Repetition()
    seen.found("http://f.org/shops?trade=books", "Heron Books")
    assert not seen.found(LIST, "Heron Books")


def test_pages_with_less_than_two_parameters_never_repeat() -> None:
    seen = Repetition()
    for url in ("http://e.org/heron", "http://e.org/shop?id=1", "http://e.org/shop?id=2"):
        assert not seen.found(url, "Heron Books")


def test_the_same_rows_as_json() -> None:
    seen = Repetition()
    seen.found("http://e.org/shops.json?a=1", '{"rows": [{"name": "Heron Books"}, {"name": "Avocet"}]}')
    assert seen.found("http://e.org/shops.json?a=1&b=2", '{"rows": [{"name": "Avocet"}]}')


def test_memory_is_bounded() -> None:
    seen = Repetition()
    seen.found(LIST, "Heron Books")
    names = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(MOST_PARTS // 4)]
    for start in range(0, len(names), 10_000):
        seen.found("http://e.org/shops?a=1", "\n".join(names[start : start + 10_000]))
    assert len(seen._seen) <= MOST_PARTS
