"""Views of known pages are told from pages by what they bring."""

from sanderling.client.lines import numbers_of
from sanderling.server.gate.views import PATIENT, SAMPLES, HostViews, KeptViews, names_it
from sanderling.urls import identity

E = "http://e.org"
FRAME = "The menu that stands on every page of the site\nAnd a footer with a long line of words\n"


def text(name: str) -> str:
    """What the page of a name says."""
    return FRAME + "".join(f"Line {letter * 7} of the page {name} is on no other page\n" for letter in "abcdefgh")


class Site:
    """Passes URLs and visits what passes."""

    def __init__(self, views: HostViews | None = None) -> None:
        self.views = views or HostViews(KeptViews())
        self.visits: list[str] = []
        self.held: list[str] = []

    def link(self, path: str, says: str | None, anchor: str = "", via: str = "") -> None:
        id = identity(E + path)
        self.views.claim(id, E + path)
        if self.views.place(id, E + path, anchor, identity(E + via)):
            self.held.append(path)
        else:
            self.visit(path, says)

    def visit(self, path: str, says: str | None) -> None:
        self.visits.append(path)
        self.views.visited(identity(E + path), E + path, None if says is None else numbers_of(says))

    def count(self, part: str) -> int:
        return sum(part in path for path in self.visits)


def wiki(views: HostViews | None = None) -> Site:
    site = Site(views)
    for number in range(30):
        name = f"Page{chr(97 + number % 26)}{number}"
        site.link(f"/wiki/{name}", text(name), name)
        site.link(f"/wiki/{name}?action=edit", text(name), "edit")
        site.link(
            f"/w?title={name}&action=history", f"{FRAME}{name}: history\n{number + 100} bytes by Keeper", "history"
        )
        site.link(f"/wiki/{name}/feed/", "", "feed")
        site.link(f"/wiki/{name}/reviews", text(f"{name} as others see it"), "reviews")
    return site


def test_views_that_bring_nothing_are_held_after_a_few() -> None:
    site = wiki()
    assert site.count("?action=edit") <= SAMPLES + 1  # the first has a name of its own
    assert site.count("action=history") <= SAMPLES + 1
    assert site.count("feed") <= SAMPLES + 3  # below three names it is a word
    assert len([path for path in site.visits if path.count("/") == 2 and "?" not in path]) == 30


def test_combinations_that_bring_something_are_visited() -> None:
    assert wiki().count("reviews") == 30


def test_pages_that_differ_in_numbers_only_are_no_views() -> None:
    site = Site()
    for kind in ("level", "flow"):
        for number in range(100):
            said = f"{FRAME}Station {number}: {kind} is {number * 37 % 91} cm since {number * 7 % 24} o'clock"
            site.link(f"/{kind}/{number}", said)
    assert not site.held


def test_a_view_that_leads_to_new_pages_is_worth_its_visit() -> None:
    site = Site()
    for shelf in range(6):
        site.link(f"/shelf/{'abcdef'[shelf]}", text(f"shelf {shelf}"), "a shelf")
    for shelf in "abcdef":
        for number in range(2, 5):
            list_ = f"/shelf/{shelf}?page={number}"
            site.views.report_begins()
            site.link(list_, FRAME, "next")
            site.link(f"/book/{shelf}-{number}", text(f"book {shelf}{number}"), "a book", list_)
    assert site.count("?page") == 18 and not site.held


def test_a_file_named_by_its_link_is_no_view() -> None:
    site = Site()
    for number in range(20):
        site.link(f"/diff/{number}/some-file-{number}", text(f"{number}"))
        site.link(f"/tree/{number}/some-file-{number}", text(f"{number}"), f"some-file-{number}")
    assert site.count("/tree") == 20
    assert names_it("Some page", "Some_page.html") is False and names_it("Some page", "Some_page")


def test_what_was_learned_is_kept() -> None:
    site = wiki()
    again = Site(HostViews(site.views.keep()))
    again.link("/wiki/Pagea0?action=edit", text("Pagea0"))
    assert again.held == ["/wiki/Pagea0?action=edit"]
    assert HostViews(KeptViews()).keep() == KeptViews()


def test_samples_at_last_open_a_kind_again() -> None:
    site = wiki()
    site.views.claim(1, f"{E}/wiki/Pageb1?action=edit")
    kind = site.views.place(1, f"{E}/wiki/Pageb1?action=edit", "edit", 0)
    assert kind and not site.views.find(kind).room
    assert site.views.sample(kind, 100) == 2
    assert not site.views.sample(kind, 150)
    for number in range(3, 6):
        site.views.released(number, kind)
        site.views.visited(number, f"{E}/wiki/Pageb1?action=edit", numbers_of(text(f"something new {number}")))
    assert site.views.find(kind).room == 2 * site.views.find(kind).tried


def test_plain_paths_are_all_tried_until_hundreds_brought_nothing() -> None:
    site = wiki()
    kind, held, tried = "/manual/en/*", 1000, 0
    while more := site.views.sample(kind, held):
        for number in range(tried, tried + more):
            site.views.released(number, kind)
            site.views.visited(number, f"{E}/manual/en/Pagea0", numbers_of(text("Pagea0")))
        tried, held = tried + more, held - more
        if tried > PATIENT:
            break
    assert PATIENT <= tried < 1000 and site.views.sample("/manual/fr/*", 2) == 2


def test_other_formats_of_pages_with_numbers_are_views() -> None:
    site = Site()
    names = [f"{letter * 4} {letter * 5}" for letter in "abcdefghijklmnop"]
    for number, name in enumerate(names):
        site.link(f"/issues/{number}", text(name))
        site.link(f"/issues/{number}.atom", f"{text(name)}Recent changes\n")
        site.link(f"/photos/{number}.html", text(f"picture {name}"))
    assert site.count("/issues/") - site.count(".atom") == site.count("/photos/") == len(names)
    assert site.count(".atom") <= SAMPLES
    assert site.views.sample("/issues/*.atom", 100) == 2


def test_signs_between_names_may_be_escaped() -> None:
    site = wiki()
    for one in ("id", "name", "size", "owner"):
        site.link(f"/list?sort={one}", f"{FRAME}{one}")
        for other in ("id", "name", "size", "owner"):
            site.link(f"/list?sort={one}%2C{other}%3Adesc", f"{FRAME}{one} {other}")
    assert site.count("%2C") <= SAMPLES + 4  # four have a name of their own


def test_paths_that_redirect_to_a_login_are_given_up_sooner() -> None:
    views, kind, tried = HostViews(KeptViews()), "/edit/*", 0
    while tried < PATIENT and (more := views.sample(kind, 1000)):
        for number in range(more):
            views.released(number, kind)
            views.failed(number, f"{E}/edit/Pagea0")
        tried += more
    assert tried < PATIENT // 4


def test_programs_with_the_same_parameter_are_kinds_of_their_own() -> None:
    site = Site()
    names = [f"Lamp{letter * 3}" for letter in "abcdefghijklmnop"]
    for name in names:
        site.link(f"/product.php?item={name}", text(name))
        for program in ("basket", "compare", "print", "share", "wishlist"):
            site.link(f"/{program}.php?item={name}", FRAME)
        site.link(f"/reviews.php?item={name}", text(f"{name} as others see it"))
    assert site.count("product") == site.count("reviews") == len(names)
    assert len(site.visits) <= 2 * len(names) + 5 * (SAMPLES + 1)


def test_programs_without_an_ending_are_known_by_the_names_they_are_asked_for() -> None:
    site = Site()
    names = [f"The+{letter * 3}+{letter * 5}" for letter in "abcdefghijklmnop"]
    for name in names:
        for program in ("raw", "edit", "history", "diff", "watch"):
            site.link(f"/{program}?name={name}", FRAME)
        site.link(f"/page?name={name}", text(name))
    assert site.count("/page") == len(names)
    assert len(site.visits) <= 2 * len(names) + 5 * (SAMPLES + 1)


def test_a_view_waits_for_its_page() -> None:
    """Before the page itself, its old version would seem to bring what the page says."""
    site = Site()
    names = [f"Page{letter * 3}" for letter in "abcdefgh"]
    for name in [*names, "version"]:
        site.views.claim(identity(f"{E}/wiki/{name}"), f"{E}/wiki/{name}")
    for name in names:
        site.link(f"/wiki/{name}?version=1", text(name))
    assert site.count("?version=") == 1  # the first has a name of its own
    for name in names:
        site.visit(f"/wiki/{name}", text(name))
    site.views.forget_lost()  # nothing else is left
    kind = "/wiki/*?version"
    while site.views.find(kind).room:
        site.views.released(identity(f"{E}/wiki/{names[-1]}?version=1"), kind)
        site.visit(f"/wiki/{names[-1]}?version=1", text(names[-1]))
    assert site.views.find(kind).dull and site.views.find(kind).tried == SAMPLES


def table(extra: str = "") -> Site:
    """Reports that can be sorted by many columns, in both directions and in some formats."""
    site = Site()
    for number in range(20):
        site.link(f"/report/{number}", text(f"report {number}"))
        for way in ("", "&asc=up", "&asc=down"):
            for form in ("", "&format=csv", "&format=tab"):
                for column in "abcdefgh":
                    site.link(f"/report/{number}?sort=column-{column}{way}{form}{extra}", text(f"report {number}"))
    return site


def test_what_each_parameter_brought_is_not_tried_again_in_all_combinations() -> None:
    assert table().count("sort=") <= 24  # of 1,440


def test_a_parameter_that_was_not_tried_yet_is_tried() -> None:
    site = table()
    for number in range(20):
        site.link(f"/report/{number}?sort=column-a&more=all", text(f"all of report {number}"))
    assert site.count("more=all") == 20


def test_views_at_the_end_of_a_path() -> None:
    site = Site()
    for number in range(20):
        page = f"/pages/some-name-{number}"
        site.link(f"{page}/", text(f"{number}"))
        for end in ("_history", "_plugin/files"):
            site.link(f"{page}/{end}/", text(f"{number}"), end)
    assert site.count("_history") <= SAMPLES + 3 and site.count("_plugin") <= SAMPLES + 3


def test_a_page_is_no_view_of_what_was_found_before_it() -> None:
    """A list of the last posts names posts, and leads to their topics later."""
    site = Site()
    for number in range(20):
        for post in range(3):
            site.link(f"/topic/some-name-{number}/?post={number * 3 + post}", text(f"{number}"))
    for number in range(20):
        site.link(f"/topic/some-name-{number}/", text(f"{number}"))
    assert site.count("/?post=") + 20 == len(site.visits) and not any(path.endswith("/") for path in site.held)
