"""The shares of the degrees of change."""

from sanderling.change.verdict import Degree
from sanderling.model import ChangeKind
from sanderling.telling.shares import all_hosts, shares_by_host
from tests.telling.versions import version


def test_changes_are_counted_by_host_degree_and_kind() -> None:
    text, both = ChangeKind.TEXT, ChangeKind.TEXT | ChangeKind.IMAGE
    found = shares_by_host(
        [
            version(1, "http://a.test/", ChangeKind.NEW),
            version(2, "http://a.test/", text, degree=Degree.SMALL),
            version(3, "http://b.test/x", both, degree=Degree.LARGE),
            version(4, "http://b.test/x", ChangeKind.PRESENTATION, degree=""),
            version(5, "http://b.test/x", ChangeKind.GONE),
        ]
    )
    assert (found["a.test"].new, found["a.test"].degrees) == (1, {Degree.SMALL: 1})
    assert (found["b.test"].gone, found["b.test"].degrees) == (1, {Degree.LARGE: 1, Degree.NO_TEXT: 1})
    total = all_hosts(found.values())
    assert total.kinds == {"text": 2, "image": 1, "presentation": 1}
    assert (total.new, total.gone, total.degrees.total()) == (1, 1, 3)
