"""Two sites of the shape of those that beginners practise on: a list of quotes with a page of each
author, and a shop of books."""

from tests.servers import Entry

_AUTHORS = ("Ada Turnstone", "Ben Godwit", "Cleo Knot")
_BOOKS = 12


def quotes() -> dict[str, Entry]:
    pages = [_quotes_page(number) for number in (1, 2, 3)]
    table = {f"/page/{number}/": page for number, page in enumerate(pages, 1)}
    table["/"] = pages[0]
    for author in _AUTHORS:
        born = "May 4, 1900" if author.startswith("Ada") else "June 1, 1921"
        table[f"/author/{_slug(author)}/"] = _page(
            f'<h3 class="author-title">{author}</h3><span class="author-born-date">{born}</span>'
        )
    table["/tag/sea/"] = pages[1]
    return dict(table)


def books() -> dict[str, Entry]:
    linked = "".join(
        f'<li><h3><a href="/catalogue/{_book(n)}/index.html">Book {n}</a></h3></li>' for n in range(_BOOKS)
    )
    table = {"/": _page(f'<a href="/catalogue/category/sea_1/index.html">Sea</a><ol>{linked}</ol>')}
    table["/catalogue/category/sea_1/index.html"] = table["/"]
    for n in range(_BOOKS):
        rows = f"<tr><th>UPC</th><td>a{n}</td></tr><tr><th>Price (incl. tax)</th><td>£{10 + 5 * n}.50</td></tr>"
        table[f"/catalogue/{_book(n)}/index.html"] = _page(
            f"<h1>Book {n}</h1><p>Told by the sea, number {n}.</p><table>{rows}</table>"
        )
    return dict(table)


def _quotes_page(number: int) -> bytes:
    said = "".join(
        f'<div class="quote"><span class="text">“Saying {number} of {author}.”</span>'
        f'<small class="author">{author}</small> <a href="/author/{_slug(author)}/">(about)</a>'
        '<a class="tag" href="/tag/sea/">sea</a></div>'
        for author in _AUTHORS
    )
    onward = f'<ul><li class="next"><a href="/page/{number + 1}/">Next</a></li></ul>' if number < 3 else ""
    return _page(said + onward)


def _page(body: str) -> bytes:
    return f"<html><head><meta charset=utf-8><title>To scrape</title></head><body>{body}</body></html>".encode()


def _slug(name: str) -> str:
    return name.replace(" ", "-")


def _book(number: int) -> str:
    return f"book-{number}_{1000 - number}"
