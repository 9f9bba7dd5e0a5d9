"""Memento clients find the copy of a page by its URL and a time."""

import re
from email.utils import formatdate

from tests.web.served import Served

RUN = "/memento/small"


def test_a_timegate_leads_to_the_copy_of_a_time(served: Served) -> None:
    (page,) = served.http.get("/api/v1/crawls/small/pages", params={"limit": 1}).json()["items"]
    url = page["url"]
    answer = served.http.get(f"{RUN}/timegate/{url}", headers={"Accept-Datetime": formatdate(0, usegmt=True)})
    assert answer.status_code == 302 and answer.headers["vary"] == "accept-datetime"
    assert f'<{url}>; rel="original"' in answer.headers["link"] and 'rel="timemap"' in answer.headers["link"]
    copy = served.http.get(answer.headers["location"])
    assert copy.status_code == 200 and copy.headers["memento-datetime"].endswith("GMT")
    assert f'<{url}>; rel="original"' in copy.headers["link"]
    assert served.http.get(f"{RUN}/timegate/{url}").status_code == 302  # without a time the newest
    wrong = served.http.get(f"{RUN}/timegate/{url}", headers={"Accept-Datetime": "yesterday"})
    assert wrong.status_code == 400 and "is not a date such as" in wrong.text


def test_a_timemap_lists_all_copies(served: Served) -> None:
    (page,) = served.http.get("/api/v1/crawls/small/pages", params={"limit": 1}).json()["items"]
    listed = served.http.get(f"{RUN}/timemap/link/{page['url']}")
    assert listed.headers["content-type"] == "application/link-format"
    assert re.search(r'rel="first last memento"; datetime="[^"]+ GMT"', listed.text)
    table = served.http.get(f"{RUN}/timemap/json/{page['url']}").json()
    assert table["original_uri"] == page["url"] and len(table["mementos"]["list"]) == 1
    assert served.http.get(f"{RUN}/timemap/link/http://nowhere.example/?q=1").status_code == 404
    assert served.http.get(f"{RUN}/timegate/nothing").status_code == 404
