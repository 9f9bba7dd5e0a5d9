"""A build with React and React Router of npm, with hash routes."""

from __future__ import annotations

from bench.field import npm, routed
from bench.field.application import Site

MANNERS, start, truth, edit = routed.MANNERS, routed.start, routed.truth, routed.edit
PACKAGES = ("react@19", "react-dom@19", "react-router-dom@7", "esbuild@0.25")
_SOURCE = """
import { createElement as h, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { HashRouter, Link, Route, Routes, useParams } from "react-router-dom";

function Page({ pages }) {
  const page = pages.find((each) => each.slug === useParams().slug);
  return page ? h("article", null, h("h1", null, page.title), h("p", null, page.text)) : h("p", null, "Not found");
}

function Clock() {
  const [now, tick] = useState(new Date());
  useEffect(() => { const timer = setInterval(() => tick(new Date()), 200); return () => clearInterval(timer); }, []);
  return h("footer", null, "It is " + now.toISOString());
}

function App() {
  const [pages, take] = useState([]);
  useEffect(() => { fetch("/pages.json").then((answer) => answer.json()).then(take); }, []);
  const list = pages.map((each) => h("li", { key: each.slug }, h(Link, { to: "/" + each.slug }, each.title)));
  return h(HashRouter, null, h("nav", null, h("ul", null, list)), h(Routes, null,
    h(Route, { path: "/", element: h("h1", null, "Notes of the shore") }),
    h(Route, { path: "/:slug", element: h(Page, { pages }) })), h(Clock));
}

createRoot(document.getElementById("app")).render(h(App));
"""
_BUILD = """
require("esbuild").buildSync({ stdin: { contents: process.argv[1], resolveDir: process.cwd() }, bundle: true,
  minify: true, define: { "process.env.NODE_ENV": '"production"' }, outfile: process.argv[2] });
"""


def install() -> None:
    npm.packages("react", *PACKAGES)


def fill(site: Site) -> None:
    routed.begin(site)
    npm.build(npm.packages("react", *PACKAGES), _BUILD, _SOURCE, site.place / "files" / "bundle.js")
