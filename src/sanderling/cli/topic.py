"""`sanderling topic`: makes the model of a topic from examples, says how well it works, and trains
it further."""

import argparse
import shlex
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from sanderling.cli.output import write_json
from sanderling.errors import BadTopic, FolderInUse, UsageError
from sanderling.presenting.arguments import pathname
from sanderling.presenting.screen import NowAndThen, harmless, many, say
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store, reading, settings_for
from sanderling.server.topic import examples, rejudging
from sanderling.server.topic.topic import SEVERAL, names_in, topic_named
from sanderling.topics.model import Example, Quality, Topic, joined, read, write
from sanderling.topics.training import TYPED_BY_USER, train

_ABOUT = """Makes the model of a topic from examples, and says how well it separates them. Run it again to add examples.
The model is one file. `sanderling crawl --topic FILE` keeps a crawl to the topic.

An example is a URL (it is fetched), a file, a folder of files, or a browser's bookmark file. Five or more make a better
model than words alone. Counter-examples (--not) show what is not on the topic. If you name a crawl folder instead of a
file, its model is trained, with random pages of the crawl as counter-examples.

Examples:
  sanderling topic birds.topic --words 'sandpiper plover wader'
  sanderling topic birds.topic https://example.org/sanderling notes/*.txt
                   --not https://example.org/seagull-toys
  sanderling topic birds.topic bookmarks.html --folder Birds
  sanderling topic birds.topic                        show the model
  sanderling topic birds/ https://example.org/knot    train the model of a crawl
"""
_MANY_WRONG = 5


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("topic", description=_ABOUT)
    parser.add_argument("model", type=pathname, metavar="FILE|DIR", help="the model, or the crawl folder it is in")
    parser.add_argument("example", nargs="*", help="a page or text that is on the topic")
    parser.add_argument(
        "--not",
        dest="counter",
        nargs="+",
        action="extend",
        default=[],
        metavar="EXAMPLE",
        help="a page or text that is not on the topic",
    )
    parser.add_argument(
        "--words", action="append", default=[], metavar="TEXT", help="words that name the topic (repeatable)"
    )
    parser.add_argument("--folder", default="", metavar="NAME", help="only this folder of a bookmark file")
    parser.add_argument("--forget", nargs="+", default=[], metavar="EXAMPLE", help="examples to remove")
    parser.add_argument(
        "--judge", action="store_true", help="train nothing: judge the stored pages of a crawl by its model again"
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.model) if options.model.is_dir() else None
    if folder is not None:
        folder.require()
    path = folder.topic if folder is not None else options.model
    before = read(path) if path.exists() else None
    if before is not None and before.others and not options.judge:
        raise UsageError(SEVERAL)
    if options.judge:
        if folder is None or before is None:
            raise UsageError("--judge needs the folder of a crawl that has a topic")
        return judge(folder, before)
    if options.example or options.counter or options.words or options.forget or (folder is not None and before):
        given = _given(options, folder)
        kept = [each for each in before.examples if not each.background] if before else []
        if folder is not None and not any(each.background for each in given):
            kept = before.examples if before else []
        name = before.name if before else path.stem
        kept = [each for each in kept if each.source not in options.forget]
        topic = train(name, [*kept, *given])
        write(path, topic)
    elif before is not None:
        topic = before
    else:
        raise BadTopic(
            f"{path} does not exist: name examples to make it from, or --words; see `sanderling topic --help`"
        )
    if options.json:
        write_json(msgspec.json.encode({"model": str(path), "name": topic.name, **msgspec.to_builtins(topic.quality)}))
    else:
        sys.stdout.write(report(path, topic.quality, crawled=folder is not None))
    if folder is not None:
        try:
            judge(folder, topic)
        except FolderInUse:
            say("the crawl is running: the next start judges its pages by the new model")
    return 0


def judge(folder: Folder, topic: Topic) -> int:
    """Judges the stored pages of a crawl by its model, from where it was."""
    settings, _ = settings_for(folder, {})
    told = NowAndThen()

    def on_progress(done: int, all: int) -> bool:
        told.say(f"judging: {done:,} of {all:,} versions")
        return True

    with hold(folder), closing(open_store(folder, readonly=False)) as store:
        if rejudging.is_behind(store, topic):
            rejudging.judge_anew(store, folder, settings, topic, on_progress)
            say(
                f"all pages are judged by this model: {many(store.relevant_pages(settings.relatedness), 'page')} on the topic"
            )
    return 0


def topic_for_crawl(text: str) -> Topic:
    """What `crawl --topic` names: a model, a bookmark file whose pages are examples, or words."""
    path = Path(text)
    if not path.is_file() and len(several := names_in(text)) > 1:
        return joined([topic_for_crawl(each) for each in several])
    if not path.is_file() or not (found := examples.named_bookmarks(path)):
        return topic_named(text, Path())
    pages = examples.fetched(found, say)
    topic = train(path.stem, [Example(source, True, page) for source, page in pages])
    say(f"the topic is learned from {many(len(pages), 'page')} of {path}: {', '.join(topic.quality.for_it[:8])}")
    return topic


def _given(options: argparse.Namespace, folder: Folder | None) -> list[Example]:
    found = [Example(TYPED_BY_USER + text, True, text) for text in options.words]
    wanted = examples.named(options.example, options.folder)
    unwanted = examples.named(options.counter)
    for source in {*wanted.urls, *(s for s, _ in wanted.texts)} & {*unwanted.urls, *(s for s, _ in unwanted.texts)}:
        raise BadTopic(f"{source} is given as an example and as a counter-example: decide for one")
    for named, relevant in ((wanted, True), (unwanted, False)):
        found += [Example(source, relevant, text) for source, text in named.texts]
    at_hand: dict[str, str] = {}
    if folder is not None:
        with reading(folder.path) as (_, store):
            at_hand = examples.stored(folder, store, [*wanted.urls, *unwanted.urls])
            found += examples.background(folder, store)
    missing = [url for url in [*wanted.urls, *unwanted.urls] if url not in at_hand]
    unwanted_urls = set(unwanted.urls)
    came = examples.fetched(missing, say)
    if len(came) < len(missing):
        say(
            f"{many(len(missing) - len(came), 'example')} could not be fetched or had no text, and cannot be learned from"
            + harmless(_named({*missing}.difference(url for url, _ in came), len(missing) - len(came)))
        )
    found += [Example(url, url not in unwanted_urls, text) for url, text in [*at_hand.items(), *came]]
    return found


def _named(lost: set[str], count: int) -> str:
    """Which examples are lost, unless some that came have another URL than they were given by."""
    if len(lost) != count:
        return ""
    return ": " + ", ".join(sorted(lost)[:_MANY_WRONG]) + ", ..." * (count > _MANY_WRONG)


def report(path: Path, quality: Quality, crawled: bool = False) -> str:
    """What a model is made of and what it is worth, for people."""
    made_of = [many(quality.examples, "example")]
    if quality.counter_examples:
        made_of.append(many(quality.counter_examples, "counter-example"))
    if quality.background:
        made_of.append(f"{many(quality.background, 'page')} at random")
    lines = [f"{path}: {', '.join(made_of)}"]
    if quality.precision is not None and quality.recall is not None:
        lines.append(
            f"precision {quality.precision:.2f}, recall {quality.recall:.2f} (each example judged by a model that has not "
            "seen it)"
        )
    lines += [f"for it:   {harmless(', '.join(quality.for_it))}"]
    lines += [f"against:  {harmless(', '.join(quality.against))}"] * bool(quality.against)
    lines += [f"wrong:    {relevance:.2f}  {harmless(source)}" for source, relevance in quality.wrong[:_MANY_WRONG]]
    lines += [f"note:     {advice}" for advice in quality.advice]
    where = shlex.quote(str(path))
    follow = f"`sanderling crawl -d {shlex.quote(str(path.parent))} --topic {where}`" if crawled else (
        f"`sanderling crawl URL -d FOLDER --scope any --topic {where}`"
    )  # fmt: skip
    return "\n".join([*lines, f"next: {follow}"]) + "\n"
