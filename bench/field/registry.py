"""The applications of the trial, by name."""

from __future__ import annotations

from bench.field import (
    autoindex,
    cgit,
    datasette,
    docsify,
    dokuwiki,
    fossil,
    fossil_code,
    gitweb,
    hexo,
    hyperkitty,
    mediawiki,
    namazu,
    react,
    redmine,
    roundup,
    svelte,
    swagger,
    trac,
    vue,
    wordpress,
)
from bench.field.application import Application

APPLICATIONS: dict[str, Application] = {
    "wordpress": wordpress,
    "mediawiki": mediawiki,
    "dokuwiki": dokuwiki,
    "trac": trac,
    "cgit": cgit,
    "gitweb": gitweb,
    "datasette": datasette,
    "fossil-code": fossil_code,
    "roundup": roundup,
    "redmine": redmine,
    "hyperkitty": hyperkitty,
    "hexo": hexo,
    "autoindex": autoindex,
    "namazu": namazu,
    "fossil": fossil,
    "docsify": docsify,
    "swagger": swagger,
    "svelte": svelte,
    "react": react,
    "vue": vue,
}
# Small and quick enough for the tests.
LIGHT = ("autoindex", "cgit", "roundup", "datasette", "docsify", "swagger", "svelte", "react")
