"""The native reader beside the tree: whether both say the same of real and mutated pages, and what
a page costs."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench.places import CACHE, REPOSITORY, BenchError, say
from sanderling.documents import native
from sanderling.documents.element_budget import TooManyElements
from sanderling.documents.flat import flat_page
from sanderling.documents.html import HtmlPage
from tests.both_readers import URL, compared

CORPUS = CACHE / "fuzz"
_PIECES = (
    b"<", b">", b"&", b'"', b"'", b"=", b"/", b"\n", b"\r\n", b"\xff", b"<p>", b"</p>", b"<b>", b"</b>", b"<td>",
    b"<table>", b"</table>", b"<tr>", b"<!--", b"-->", b"<pre>", b"<a href=q>", b"</a>", b"<li>", b"<svg>", b"</svg>",
    b"<form>", b"</form>", b"<select>", b"<option>", b"<body>", b"</body>", b"<html lang=x>", b"<title>", b"</title>",
    b"<meta charset=utf-8>", b"<br>", b"<blockquote>", b"<h1>", b"<caption>", b"<textarea>", b"<dd>", b"&nbsp;", b"&lt",
)  # fmt: skip


def report(folders: list[Path], count: int, mutations: int, seconds: int) -> int:
    if native.extension is None:
        raise BenchError("The native reader is not built; run pip install --no-build-isolation -e . with a C compiler.")
    if not folders:
        from bench import web

        folders = [web.build()]
    found = sorted(_files(folders))
    pages = [path.read_bytes() for path in random.Random(1).sample(found, min(count, len(found)))]
    say(f"{len(pages):,} pages of {len(found):,}, {sum(map(len, pages)) / 1e3 / len(pages):.1f} KB each")
    wrong = _compare(pages, mutations)
    _measure(pages)
    return int(wrong) or (_fuzz(pages, seconds) if seconds else 0)


def _files(folders: list[Path]) -> Iterable[Path]:
    for folder in folders:
        for place, _, names in os.walk(folder, followlinks=True):
            yield from (Path(place, name) for name in names if name.endswith((".html", ".htm", ".xhtml")))


def _compare(pages: list[bytes], mutations: int) -> bool:
    chance, given_up, different = random.Random(1), Counter[str](), 0
    whole = Counter[str]()
    for page in pages:
        for turn in range(mutations + 1):
            body = _mutated(page, pages, chance) if turn else page
            try:
                why = compared(body, chance.choice((None, "utf-8")), chance.random() < 0.3)
            except (AssertionError, TooManyElements):
                why, different = "different", different + 1
                CORPUS.mkdir(parents=True, exist_ok=True)
                (CORPUS / f"different-{different}").write_bytes(b"\0" + body)
            given_up[why] += 1
            if not turn:
                whole[why] += 1
    say(f"{whole[''] / len(pages):.1%} of the pages are read; of all {given_up.total():,} {given_up['']:,}")
    for why, times in given_up.most_common(12):
        say(f"  {times:>8,}  {why or 'the same'}")
    if different:
        say(f"{different} DIFFERENT: see {CORPUS}")
    return bool(different)


def _mutated(page: bytes, pages: list[bytes], chance: random.Random) -> bytes:
    body = bytearray(page)
    for _ in range(chance.randint(1, 5)):
        at, how = chance.randrange(len(body) + 1), chance.random()
        if how < 0.35:
            body[at : at + chance.randint(1, 12)] = b""
        elif how < 0.85:
            body[at:at] = chance.choice(_PIECES)
        else:
            other = chance.choice(pages)
            begin = chance.randrange(len(other) + 1)
            body[at:at] = other[begin : begin + chance.randint(1, 120)]
    return bytes(body)


def _measure(pages: list[bytes]) -> None:
    """User time of those that are read, in turns."""
    read = [page for page in pages if flat_page(page, None, URL) is not None]
    taken = dict.fromkeys(("native", "tree"), 0.0)
    for page in read:
        for name in taken:
            began = time.process_time()
            made = flat_page(page, None, URL) if name == "native" else HtmlPage(page, None, URL)
            assert made is not None
            _all_of(made)
            taken[name] += time.process_time() - began
    for name, seconds in taken.items():
        say(f"{name:8} {1e6 * seconds / len(read):8.1f} us a page")


def _all_of(page: object) -> None:
    assert hasattr(page, "head")
    page.head(frozenset()), page.hrefs(False), page.title(), page.language(), page.text(True)  # type: ignore[attr-defined]


def _fuzz(pages: list[bytes], seconds: int) -> int:
    """Runs libFuzzer on the extension, with an interpreter inside, and compares the readers on what
    it kept."""
    if shutil.which("clang") is None:
        raise BenchError("libFuzzer needs clang: apt-get install clang")
    CORPUS.mkdir(parents=True, exist_ok=True)
    library, include = sysconfig.get_config_var("LIBDIR"), sysconfig.get_path("include")
    sources = REPOSITORY / "src" / "sanderling" / "documents" / "native"
    with tempfile.TemporaryDirectory() as name:
        program, seeds = Path(name, "fuzz"), Path(name, "seeds")
        seeds.mkdir()
        for number, page in enumerate(page for page in pages if len(page) < 6000):
            (seeds / str(number)).write_bytes(b"\0" + page)
        version = sysconfig.get_config_var("LDVERSION")
        subprocess.run(
            ["clang", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined",
             f"-I{sources}", f"-I{include}", str(REPOSITORY / "bench" / "fuzz_reader.c"), "-o", str(program),
             f"-L{library}", f"-lpython{version}", f"-Wl,-rpath,{library}"], check=True,
        )  # fmt: skip
        limits = ["-max_len=4096", f"-max_total_time={seconds}", "-rss_limit_mb=3000", "-verbosity=0"]
        done = subprocess.run(
            [program, *limits, str(CORPUS), str(seeds)],
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"},
        )
    kept = [path.read_bytes()[1:] for path in sorted(CORPUS.iterdir())]
    say(f"libFuzzer ended with {done.returncode} and kept {len(kept)} inputs in {CORPUS}")
    return done.returncode or int(_compare(kept, 20))
