"""Where buttons lead within an application, in a real browser."""

from tests.rendering.app import page
from tests.rendering.rendering import renderer
from tests.servers import Answer, PageServer

APPLICATION = """
  const show = () => {
    shown.innerHTML = location.pathname.startsWith('/bird') ? `<h1>${location.pathname}</h1>`
      : '<ul><li class=row>Knot</li><li class=row>Dunlin</li></ul><button id=swap>Swap</button>';
    for (const row of document.querySelectorAll('.row'))
      row.onclick = () => { history.pushState(null, '', '/bird/' + row.textContent); show(); };
    if (window.swap) swap.onclick = () => { history.replaceState(null, '', '/bird/swapped'); show(); };
  };
  onpopstate = show;
  tell.onclick = () => fetch('/called');
  harm.onclick = () => (location.href = '/harm');
  leave.onclick = () => (location.href = '/elsewhere');
  lazy.onclick = () => import('/lazy.js');
  show();
"""
BUTTONS = "<button id=tell>Tell</button><button id=harm>Delete it</button><button id=leave>Leave</button><button id=lazy>Lazy</button>"


def test_what_clicks_lead_to_is_found_and_nothing_is_sent() -> None:
    lazy = Answer(b"history.pushState(null, '', '/bird/lazy')", "text/javascript")
    table = {"/": page(APPLICATION, f"{BUTTONS}<div id=shown></div>"), "/lazy.js": lazy}
    with PageServer(table) as server, renderer() as renders:
        response = renders.render(f"{server.origin}/")
        assert response.rendered is not None
        found = {url.removeprefix(server.origin): text for url, text in response.rendered.found}
        sent = {path for path, times in server.requests.items() if times}
    assert found == {
        "/bird/Knot": "Knot", "/bird/Dunlin": "Dunlin", "/bird/swapped": "Swap", "/bird/lazy": "Lazy",
        "/elsewhere": "Leave",
    }  # fmt: skip
    assert b"<h1>" not in response.rendered.html.partition(b"<script")[0]
    assert sent <= {"/", "/lazy.js", "/robots.txt"}


def test_pages_whose_buttons_lead_nowhere_are_soon_left_alone() -> None:
    body = page("told.onclick = () => (told.textContent += '!')", "<button id=told>Again</button>")
    with PageServer({f"/{number}.html": body for number in range(5)}) as server, renderer() as renders:
        shown = [renders.render(f"{server.origin}/{number}.html") for number in range(5)]
        navigations = renders.fetcher.pool.navigations
        assert not navigations.are_worth_a_try(f"{server.origin}/9.html")
        assert navigations.are_worth_a_try(f"{server.origin}/birds/9.html")
    assert all(response.rendered is not None and not response.rendered.found for response in shown)


def test_what_stands_in_a_component_is_clicked_too() -> None:
    script = """shadow.attachShadow({ mode: 'open' }).innerHTML = '<ul><li>Knot</li><li>Dunlin</li></ul>%s';
      for (const row of shadow.shadowRoot.querySelectorAll('li'))
        row.onclick = () => history.replaceState(null, '', '#get-/' + row.textContent)"""
    shows, ignores = (page(script % more, "<div id=shadow></div>") for more in ("<p>' + location.hash + '</p>", ""))
    with PageServer({"/": shows, "/places": ignores}) as server, renderer() as renders:
        routed, places = (renders.render(f"{server.origin}{path}").rendered for path in ("/", "/places"))
    assert routed is not None and places is not None
    assert [url for url, _ in routed.found] == [f"{server.origin}/#get-/{name}" for name in ("Knot", "Dunlin")]
    assert not places.found  # the document shows the same for all
