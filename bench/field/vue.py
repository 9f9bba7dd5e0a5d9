"""A build with Vue and its router of npm, in history mode. Its server sends the document with
status 404 for every path that is no file, as hosts of static sites do. The second half of the pages
stands behind rows that are no links."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from bench.field import npm, routed
from bench.field.application import Edits, Item, Manners, Site

MANNERS = Manners(options=("--render", "auto"), lists=r"^/$")
PACKAGES = ("vue@3", "vue-router@4", "esbuild@0.25")
_SOURCE = """
import { createApp, h, ref } from "vue";
import { createRouter, createWebHistory, RouterLink, RouterView } from "vue-router";
const pages = ref([]);
const Home = { render() {
  const half = pages.value.length / 2;
  const go = (each) => () => this.$router.push({ name: "bird", params: { slug: each.slug } });
  return h("div", [h("h1", "Notes of the shore"),
    h("ul", pages.value.slice(0, half).map((each) => h("li", h(RouterLink, { to: "/bird/" + each.slug }, () => each.title)))),
    h("div", pages.value.slice(half).map((each) => h("div", { class: "row", onClick: go(each) }, each.title)))]);
} };
const Bird = { render() {
  const page = pages.value.find((each) => each.slug === this.$route.params.slug);
  return page ? h("article", [h("h1", page.title), h("p", page.text)]) : h("p", "There is no such bird");
} };
const routes = [{ path: "/", component: Home }, { path: "/bird/:slug", name: "bird", component: Bird }];
createApp({ render: () => h("main", h(RouterView)) }).use(createRouter({ history: createWebHistory(), routes })).mount("#app");
fetch("/pages.json").then((answer) => answer.json()).then((all) => (pages.value = all));
"""
_BUILD = """
require("esbuild").buildSync({ stdin: { contents: process.argv[1], resolveDir: process.cwd() }, bundle: true,
  minify: true, define: { "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "true",
  __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" }, outfile: process.argv[2] });
"""


def install() -> None:
    npm.packages("vue", *PACKAGES)


def fill(site: Site) -> None:
    routed.begin(site)
    npm.build(npm.packages("vue", *PACKAGES), _BUILD, _SOURCE, site.place / "files" / "bundle.js")


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [npm.serve(site, missing="index.html")]


def truth(site: Site) -> list[Item]:
    return [_by_path(item) for item in routed.truth(site)]


def edit(site: Site) -> Edits:
    edits = routed.edit(site)
    return Edits([_by_path(each) for each in edits.changed], [_by_path(each) for each in edits.new])


def _by_path(item: Item) -> Item:
    """The item of the same page, whose route is a path here."""
    return Item(tuple(url.replace("#/", "bird/") for url in item.urls), item.word)
