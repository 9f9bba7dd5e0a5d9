from sanderling.client import robots
from sanderling.client.robots import RobotsRules, judge

AGENT = "Sanderling/1.0"


def test_rfc_9309() -> None:
    assert RobotsRules(judge(404, b"", "", 0), AGENT).allows("http://e.org/x")
    assert RobotsRules(judge(403, b"", "", 0), AGENT).allows("http://e.org/x")
    for status, error in ((500, ""), (503, ""), (429, ""), (0, "unreachable")):
        rules = RobotsRules(judge(status, b"", error, 0), AGENT)
        assert not rules.allows("http://e.org/x")
        assert rules.unreachable
        assert str(status) in rules.reason or error in rules.reason


def test_rules() -> None:
    text = b"User-agent: *\nDisallow: /no\nAllow: /no/but\nCrawl-delay: 2\n\nUser-agent: sanderling\nDisallow: /us\n"
    rules = RobotsRules(judge(200, text, "", 0), AGENT)
    assert not rules.allows("http://e.org/us")
    assert rules.allows("http://e.org/no")
    others = RobotsRules(judge(200, text, "", 0), "Other/1.0")
    assert not others.allows("http://e.org/no/x")
    assert others.allows("http://e.org/no/but/x")
    assert others.crawl_delay == 2.0


def test_html_is_no_rule_and_length_is_capped() -> None:
    assert RobotsRules(judge(200, b"<html><body>404</body></html>", "", 0), AGENT).allows("http://e.org/x")
    long = b"User-agent: *\n" + b"# filler\n" * 100_000 + b"Disallow: /\n"
    assert len(long) > robots.LARGEST
    assert RobotsRules(judge(200, long, "", 0), AGENT).allows("http://e.org/x")


def test_a_byte_order_mark_hides_no_rule() -> None:
    rules = RobotsRules(judge(200, b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /no\r\n", "", 0), AGENT)
    assert not rules.allows("http://e.org/no")


def test_a_line_that_is_cut_is_no_rule() -> None:
    start, last = b"User-agent: *\nDisallow: /no\n", b"Disallow: /private"
    filler = b"#" * (robots.LARGEST - len(start) - len(b"Disallow: /") - 1) + b"\n"
    rules = RobotsRules(judge(200, start + filler + last, "", 0), AGENT)
    assert rules.allows("http://e.org/x")
    assert not rules.allows("http://e.org/no")


def test_nobody_keeps_a_crawl_from_ending() -> None:
    for delay, granted in ((b"1e308", robots.LONGEST_DELAY), (b"inf", 0.0), (b"nan", 0.0), (b"-3", 0.0)):
        rules = RobotsRules(judge(200, b"User-agent: *\nCrawl-delay: %b\n" % delay, "", 0), AGENT)
        assert rules.crawl_delay == granted
