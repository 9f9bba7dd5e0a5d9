"""WordPress of Debian, on a MariaDB of its own: 200 posts, 20 pages, categories and archives."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.field import php
from bench.field.application import Edits, Item, Manners, Site, spawn, stop
from bench.field.content import Article, articles
from bench.places import BenchError, need_debian

POSTS, PAGES, HIDDEN = 200, 20, 60
PROGRAM = Path("/usr/share/wordpress")
MANNERS = Manners(lists=r"^/((index\.php/)?(page/\d+/?|category/[^?]*|\d{4}/\d{2}/(page/\d+/?)?)?)?$")
PATIENCE = 60
_SETTINGS = """<?php
error_reporting(0);
define('DB_NAME', 'shore'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '{url}'); define('WP_SITEURL', '{url}');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
_FILL = """<?php
error_reporting(0);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
if (!empty($argv[2])) define('WP_INSTALLING', true);
require $argv[1] . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
if (!empty($argv[2])) { wp_install('Shore', 'keeper', 'keeper@example.org', true, '', 'not-a-secret');
  update_option('permalink_structure', '/%year%/%monthnum%/%postname%/'); exit; }
$wp_rewrite->flush_rules(false);
foreach (json_decode(stream_get_contents(STDIN), true) as $each) {
  if ($each['do'] == 'gone') { wp_delete_post(url_to_id($each), true); continue; }
  if ($each['do'] == 'edit') { $id = url_to_id($each);
    wp_update_post(['ID' => $id, 'post_content' => $each['text']]); continue; }
  $category = $each['type'] == 'post' ? [wp_create_category($each['category'])] : [];
  wp_insert_post(['post_title' => $each['title'], 'post_name' => $each['slug'], 'post_content' => $each['text'],
    'post_status' => 'publish', 'post_type' => $each['type'], 'post_author' => 1, 'post_category' => $category,
    'post_date' => $each['date'], 'post_date_gmt' => $each['date']]);
}
function url_to_id($each) { return get_page_by_path($each['slug'], OBJECT, $each['type'])->ID; }
"""
_LIST = """<?php
error_reporting(0);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';
foreach (get_posts(['numberposts' => -1, 'post_type' => ['post', 'page'], 'post_status' => 'publish']) as $post)
  echo json_encode([get_permalink($post), $post->post_name]), "\\n";
"""
_ROUTER = """<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = __DIR__ . '/program' . $path;
if (is_file($file)) { return false; }
if (is_dir($file) && is_file(rtrim($file, '/') . '/index.php') && $path != '/') { return false; }
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
chdir(__DIR__ . '/program');
require __DIR__ . '/program/index.php';
"""


# No list, feed or map shows posts of this category, and no post links to one as its neighbour.
_HIDE = """<?php
function hidden() { return [(int) get_cat_ID('Hidden')]; }
add_action('pre_get_posts', function ($query) {
  if (PHP_SAPI != 'cli' && !$query->is_search() && !$query->is_singular())
    $query->set('category__not_in', hidden()); });
add_filter('get_previous_post_excluded_terms', 'hidden');
add_filter('get_next_post_excluded_terms', 'hidden');
add_filter('wp_sitemaps_enabled', '__return_false');
"""
_SEARCH = '<!-- wp:search {"label":"Search","buttonText":"Search"} /-->'


def install() -> None:
    need_debian("wordpress", "wordpress-theme-twentytwentythree", "mariadb-server", *php.PACKAGES)


def fill(site: Site) -> None:
    program = site.place / "program"
    shutil.copytree(PROGRAM, program, symlinks=False, ignore_dangling_symlinks=True,
                    ignore=shutil.ignore_patterns("wp-config*.php", ".htaccess"))  # fmt: skip
    (program / "wp-config.php").write_text(_SETTINGS.format(socket=_socket(site), url=site.url.rstrip("/")))
    (site.place / "router.php").write_text(_ROUTER)
    (site.place / "fill.php").write_text(_FILL)
    (site.place / "list.php").write_text(_LIST)
    install_db = ["mariadb-install-db", "--no-defaults", f"--datadir={site.place}/db", "--user=root",
                  "--auth-root-authentication-method=normal", "--skip-test-db"]  # fmt: skip
    subprocess.run(install_db, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with _running_database(site):
        client = ["mariadb", "--no-defaults", f"--socket={_socket(site)}", "-uroot", "-e", "CREATE DATABASE shore"]
        subprocess.run(client, check=True)
        _php(site, "fill.php", "install")
        _php(site, "fill.php", given=[_made(a) for a in articles(POSTS + PAGES)])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [_database(site), php.serve(site, site.place / "program", site.place / "router.php")]


def truth(site: Site) -> list[Item]:
    """Its posts and pages, by their permanent links, without those that it brings."""
    return _shown(site, articles(POSTS + PAGES + 1))


def _shown(site: Site, known: Sequence[Article]) -> list[Item]:
    words = {article.slug: article.word for article in known}
    lines = [json.loads(line) for line in _php(site, "list.php").splitlines()]
    return [Item((url,), words[slug]) for url, slug in sorted(lines) if slug in words]


def edit(site: Site) -> Edits:
    known = articles(POSTS + PAGES + 1)
    before = {item.word: item for item in truth(site)}
    new, gone = known[-1], known[9]
    changes = [{**_made(a), "do": "edit", "text": f"{a.text}\n\nIt was seen twice more."} for a in known[:5]]
    _php(site, "fill.php", given=[*changes, {**_made(new), "type": "post"}, {**_made(gone), "do": "gone"}])
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:5]], [after[new.word]], [before[gone.word]])


def hide(site: Site) -> list[Item]:
    """Posts that only its search lists, and a page with the search form."""
    plugins = site.place / "program" / "wp-content" / "mu-plugins"
    plugins.mkdir(exist_ok=True)
    (plugins / "hide.php").write_text(_HIDE)
    hidden = articles(HIDDEN, first=1000)
    posts = [{**_made(a), "type": "post", "category": "Hidden"} for a in hidden]
    find = {**posts[0], "type": "page", "title": "Find", "slug": "find", "text": _SEARCH}
    with _running_database(site):
        _php(site, "fill.php", given=[*posts, find])
        return _shown(site, hidden)


def _made(article: Article) -> dict[str, str]:
    kind = "post" if article.number < POSTS else "page"
    date = f"2025-{article.number % 12 + 1:02}-{article.number % 27 + 1:02} 10:00:00"
    return {"do": "add", "type": kind, "title": article.title, "slug": article.slug, "text": article.text,
            "category": f"Bay {article.number % 8}", "date": date}  # fmt: skip


def _socket(site: Site) -> Path:
    """Below /tmp: the path of a socket is short."""
    return Path(f"/tmp/field-{site.port}.sock")


@contextlib.contextmanager
def _running_database(site: Site) -> Iterator[None]:
    database = _database(site)
    try:
        yield
    finally:
        stop([database])


def _database(site: Site) -> subprocess.Popen[bytes]:
    process = spawn(site, "mariadbd", "--no-defaults", f"--datadir={site.place}/db", f"--socket={_socket(site)}",
                    "--skip-networking", "--user=root", f"--pid-file={site.place}/db.pid")  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    ask = ["mariadb-admin", "--no-defaults", f"--socket={_socket(site)}", "-uroot", "ping"]
    while subprocess.run(ask, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise BenchError(f"MariaDB does not start: see {site.place}/log")
        time.sleep(0.1)
    return process


def _php(site: Site, script: str, *arguments: str, given: object = None) -> str:
    command = ["php", "-d", "error_reporting=0", str(site.place / script), str(site.place / "program"), *arguments]
    return subprocess.run(command, input=json.dumps(given), check=True, text=True, capture_output=True).stdout
