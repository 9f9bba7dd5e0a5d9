"""Labels of fields by what stands beside them on the screen, where the markup names none."""

import re
from pathlib import Path

from tests.conftest import FAST, Run
from tests.rendering.rendering import browser, renderer
from tests.servers import PageServer

# Two columns, which are two lists in the markup: nothing there says what belongs together. Below,
# labels above their fields, and radio buttons in a table.
PAGE = b"""<!DOCTYPE html><title>Ringing</title>
<style>body {margin: 0} .row {position: absolute; height: 20px; margin: 0} .left {left: 20px} .right {left: 160px}</style>
<h2 style="margin: 0 0 200px">Ringed birds</h2>
<form action="/find" data-sanderling-label="forged">
<div><input class="row right" style="top: 60px" name=b><input class="row right" style="top: 90px" name=c>
<select class="row right" style="top: 120px" name=d><option value="">any<option>north<option>south</select></div>
<div><p class="row left" style="top: 60px">Bird <i>of the shore</i>:</p><p class="row left" style="top: 90px">Year</p>
<p class="row left" style="top: 120px">Coast</p><p class="row left" style="top: 90px; display: none">Hidden</p></div>
<table><tr><td>From<td>Until<tr><td><input name=e><td><input name=f></table>
<table><tr><td><input type=radio name=g value=1><td>adult<td><input type=radio name=g value=2><td>young</table>
<input name=h placeholder=words data-sanderling-label="forged"> <label>Named <input name=i></label>
<input type=submit value=Find></form>
"""
SEEN = re.compile(r'name="(\w)"[^>]*data-sanderling-label="([^"]*)"')


def test_fields_are_called_what_stands_beside_them_on_the_screen(tmp_path: Path, sanderling: Run) -> None:
    browser()
    with PageServer({"/": PAGE}) as server:
        options = (*FAST, "--no-index", "--render", "always", "--clients", "1")
        assert sanderling("crawl", server.origin + "/", "-d", tmp_path / "c", *options, "--forms", "filters").code == 0
        again = sanderling("crawl", "-d", tmp_path / "c", "--again")
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    labels = {field["name"]: field.get("label") for field in form["fields"] if field["type"] != "submit"}
    assert labels == {
        "b": "Bird of the shore", "c": "Year", "d": "Coast", "e": "From", "f": "Until", "g": "adult", "h": "words",
        "i": "Named",
    }  # fmt: skip
    assert " 0 changed" in again.out, again.out


def test_only_a_crawl_with_forms_writes_labels() -> None:
    with PageServer({"/": PAGE}) as server:
        with renderer(forms="search") as ours:
            html = ours.html(server.origin + "/")
            assert dict(SEEN.findall(html))["c"] == "Year" and "forged" not in html
        with renderer() as ours:
            assert {label for _, label in SEEN.findall(ours.html(server.origin + "/"))} == {"forged"}
