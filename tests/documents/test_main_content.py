"""The main content of pages, by kind of page."""

import pytest

from sanderling.documents.html import HtmlPage
from sanderling.documents.main_content import main_text
from sanderling.documents.template import blocks_of, repeated

LONG = "Red knots fly from the Wadden Sea to Siberia without a stop, and feed on bivalves along the shore. "
MORE = "The second paragraph tells how they find the shells in the wet sand, which no other wader does. "
STORY = f"<p>{LONG}</p><p>{MORE}</p>"
TEASER = "Godwits fly still farther, and this is told in another article of the same magazine, which is linked."
LINKS = "".join(f"<li><a href=/{n}>Read what else was written about waders {n}</a></li>" for n in range(4))
NAV = "<nav><a href=/>home</a> <a href=/a>about</a></nav>"
AROUND = "<div class='related-posts'><a href=/x>another story</a></div><div id=comments><p>First comment!</p></div>"


def main(body: str, known: frozenset[int] = frozenset()) -> str:
    return main_text(HtmlPage(f"<html><body>{body}</body></html>", None, "http://e.org/").document, known)


@pytest.mark.parametrize(
    "page",
    [
        f"{NAV}<main>{STORY}</main><footer>imprint</footer>",
        f"{NAV}<article>{STORY}{AROUND}</article><aside>shop</aside>",
        f"{NAV}<div class=wrap><div class='entry-content'>{STORY}</div>{AROUND}</div>",
        f"<div><ul><li><a href=/>home</a></ul></div><div><div>{STORY}</div><div>imprint of the site</div></div>",
        f"<div class='page has-sidebar'>{NAV}<main>{STORY}<div class=share-buttons>Tweet this</div></main></div>",
        f"<main>short</main><article>{STORY}</article>",
        f"<article>{STORY}</article><div class=right><p>{TEASER}</p></div>",
        f"<div id=c><div class=story>{STORY}</div><div class=box><p>{TEASER}</p><ul>{LINKS}</ul></div></div>",
        f"<div class=story-body>{STORY}</div><div class='links story-body'><ul>{LINKS * 3}</ul></div>",
        f"<article><p class=paywall>{LONG}{MORE}</p><p class=byline>Ann Plover</p></article>",
        f"<div id=top>{LINKS}</div><div id=view><div>{LONG}<br><br>{MORE}</div><div>{LINKS}</div></div>",
        f"<article>{STORY}<h3></h3><ul>{LINKS}</ul></article>",
        f"<div class=x><article>{STORY}</article><ol id=comment_list><li class=comment><div class=entry-content>"
        f"<p>{TEASER}</p></div></ol></div>",
    ],
)
def test_only_the_story_is_left(page: str) -> None:
    assert main(page).split() == (LONG + MORE).split()


@pytest.mark.parametrize(
    "page",
    [
        f"<div class=post_content><div class=text>{STORY * 4}</div><div><ul>{LINKS * 9}</ul></div></div>",
        f"<div class=part>{STORY * 4}</div><div class=post-content><p>{TEASER}</p><p>{TEASER}</p></div>",
        f"<main><p>{TEASER}</p><p>{TEASER}</p></main><div class=part>{STORY * 4}</div>",
    ],
)
def test_names_do_not_outweigh_running_text(page: str) -> None:
    assert main(page).count(LONG.strip()) == 4
    assert "was written" not in main(page)


def test_a_list_of_articles_is_the_content() -> None:
    teasers = "".join(f"<article><h2>Story {n}</h2><p>{LONG}</p></article>" for n in range(4))
    assert [line for line in main(f"{NAV}<main>{teasers}</main>").splitlines() if "Story" in line] == [
        f"Story {n}" for n in range(4)
    ]


def test_lists_of_links_are_the_content_of_a_page_of_links() -> None:
    assert main(f"<main><h1>Index</h1><ul>{LINKS}</ul></main>").count("Read what else") == 4


def test_scripts_without_spaces_say_more_with_fewer_letters() -> None:
    story = "<p>红腹滨鹬从瓦登海不停歇地飞往西伯利亚，沿岸以双壳类为食。</p><p>第二段讲述它们如何在湿沙中找到贝壳。</p>"
    around = f"<div class=a><ul>{LINKS}</ul></div>"
    assert main(f"{around}<div class=b>{story}</div>{around}").startswith("红腹滨鹬")


def test_what_looks_like_a_frame_in_code_and_sections_stays() -> None:
    code = "<pre><span class=comment># a comment</span> <span class=meta>x</span></pre>"
    page = f"<main><section id=comments><h2>Comments</h2>{STORY}{code}</section></main>"
    assert "# a comment x" in main(page) and main(page).startswith("Comments")


@pytest.mark.parametrize(
    "page", ["just words", "<nav>home</nav>", "<div class=menu>Soup and bread</div>", "<main></main>a"]
)
def test_a_page_with_text_is_never_empty(page: str) -> None:
    assert main(page)


def test_an_empty_page_is_empty() -> None:
    assert main("") == main("<script>x</script>") == ""


def test_what_repeats_on_a_site_is_no_content() -> None:
    legal = "All of this was written by volunteers, and none of it may be sold to anybody at all."

    def page(number: int) -> str:
        own = f"<p>{LONG} {number}</p><h2>Example</h2><p>{MORE} {number}</p><div>{legal}</div><p>end {number}</p>"
        return f"<main><div>Birds of the coast</div>{own}<div>Back to the top</div></main>"

    pages = [HtmlPage(f"<html><body>{page(n)}", None, "http://e.org/").document for n in range(5)]
    known = repeated(map(blocks_of, pages))
    found = main(page(9), known)
    assert found.startswith("Red knots") and found.endswith("end 9")
    assert "Example" in found and legal not in found
    assert repeated([blocks_of(pages[0])] * 3) == frozenset()


def test_millions_of_nested_elements_take_no_time() -> None:
    assert main("<div class=a>" * 5000 + f"<p>{LONG}</p>") == LONG.strip()
