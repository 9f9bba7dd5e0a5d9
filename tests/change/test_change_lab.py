import argparse
import json
from pathlib import Path

import pytest

from lab import change_codes
from sanderling.errors import UsageError


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    change_codes.add_arguments(parser)
    return parser.parse_args(arguments)


def test_ours_misses_nothing_where_the_papers_codes_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "1.before.html").write_text("<p>one two<p>three<ul><li>x<li>y</ul><img src=a>")
    (tmp_path / "1.after.html").write_text("<p>two one<p>three<ul><li>x<li>y</ul><img src=a>")
    assert change_codes.run(options("--edits", "12", "--json")) == 0
    scores = {(score["aspect"], score["method"]): score for score in json.loads(capsys.readouterr().out)["pages"]}
    for aspect in ("text", "structure", "presentation", "image"):
        ours = scores[aspect, "ours"]
        # Fingerprints do not show this; only both bodies do.
        ours["miss_percent"].pop("moved end tag", None)
        assert not any([*ours["miss_percent"].values(), *ours["false_alarm_percent"].values()])
    assert scores["text", "checksum, page"]["miss_percent"]["swapped words"] == 100
    assert change_codes.run(options("--edits", "3", "--pages", str(tmp_path))) == 0
    assert "real versions" in capsys.readouterr().out


def test_a_folder_without_versions_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files NAME"):
        change_codes.run(options("--pages", str(tmp_path)))
