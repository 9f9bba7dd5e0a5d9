"""A build with Svelte of npm, with hash routes."""

from __future__ import annotations

from bench.field import npm, routed
from bench.field.application import Site

MANNERS, start, truth, edit = routed.MANNERS, routed.start, routed.truth, routed.edit
PACKAGES = ("svelte@5", "esbuild@0.25")
_SOURCE = """<script>
  let pages = $state([]), slug = $state(location.hash.slice(2)), now = $state(new Date());
  const page = $derived(pages.find((each) => each.slug === slug));
  fetch("/pages.json").then((answer) => answer.json()).then((all) => (pages = all));
  addEventListener("hashchange", () => (slug = location.hash.slice(2)));
  setInterval(() => (now = new Date()), 200);
</script>
<nav><ul>{#each pages as each}<li><a href={"#/" + each.slug}>{each.title}</a></li>{/each}</ul></nav>
{#if page}<article><h1>{page.title}</h1><p>{page.text}</p></article>
{:else}<h1>Notes of the shore</h1>{/if}
<footer>It is {now.toISOString()}</footer>
"""
_BUILD = """
const { compile } = require("svelte/compiler");
const app = compile(process.argv[1], { generate: "client", name: "App" }).js.code;
const start = 'import { mount } from "svelte"; import App from "app"; mount(App, { target: document.getElementById("app") })';
require("esbuild").build({ stdin: { contents: start, resolveDir: process.cwd() }, bundle: true, minify: true,
  conditions: ["svelte", "browser"], outfile: process.argv[2], plugins: [{ name: "app", setup(build) {
    build.onResolve({ filter: /^app$/ }, () => ({ path: "app", namespace: "app" }));
    build.onLoad({ filter: /.*/, namespace: "app" }, () => ({ contents: app, resolveDir: process.cwd() }));
  } }] }).catch(() => process.exit(1));
"""


def install() -> None:
    npm.packages("svelte", *PACKAGES)


def fill(site: Site) -> None:
    routed.begin(site)
    npm.build(npm.packages("svelte", *PACKAGES), _BUILD, _SOURCE, site.place / "files" / "bundle.js")
