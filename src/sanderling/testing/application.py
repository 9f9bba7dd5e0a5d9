"""A synthetic web as a single-page application: every page is the same document, and a script asks
for the content."""

SCRIPT_PATH, CONTENT = "/application.js", "/content"

DOCUMENT = (
    b'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Loading</title>'
    b'<script src="/application.js" defer></script></head>'
    b'<body><div id="app"></div><noscript>Please enable JavaScript.</noscript></body></html>\n'
)

SCRIPT = b"""const show = (html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  document.getElementById("app").replaceChildren(...page.body.childNodes);
};
fetch("/content" + location.pathname + location.search).then((answer) => answer.text()).then(show);
"""
