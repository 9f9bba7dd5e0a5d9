"""A web on which nothing near the topic tells of it: universities whose papers are on the topic,
and are found only by "Faculty list → Publications".

The front page names the universities. Each has ten sections in an order of its own. One is the
faculty list, which leads to the publications, and these to papers; the others lead to pages of
their own. Titles, the texts of links and URLs say nothing of the topic.
"""

from random import Random
from typing import NamedTuple

from sanderling.testing.prose import nouns, sentences, topic_words

UNIVERSITIES, PAPERS, LEAVES = 40, 4, 3
SECTIONS = ("News", "Courses", "Library", "Sports", "Campus map", "Housing", "Alumni", "Jobs", "Events")
TOPIC = 0


class UniversityPage(NamedTuple):
    """A page with what it says and links to."""

    path: str
    title: str
    on_topic: bool
    links: list[tuple[str, str]]  # path and text

    def body(self, seed: int) -> bytes:
        chance = Random(f"{seed}{self.path}")
        said = chance.sample(sentences(seed, TOPIC) if self.on_topic else sentences(seed), 12)
        links = "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in self.links)
        return f"<title>{self.title}</title><h1>{self.title}</h1><p>{' '.join(said)}</p><ul>{links}</ul>".encode()


def universities(seed: int = 0) -> list[UniversityPage]:
    """1,721 pages; 160 papers are on the topic, and so is the front page."""
    chance = Random(seed)
    about = set(topic_words(seed, TOPIC))
    names = [word for word in nouns(seed) if word not in about]
    found, front = list[UniversityPage](), list[tuple[str, str]]()

    def page(path: str, title: str, links: list[tuple[str, str]], on_topic: bool = False) -> tuple[str, str]:
        found.append(UniversityPage(path, title, on_topic, links))
        return path, title

    def title() -> str:
        return " ".join(chance.sample(names, 3)).capitalize()

    for number, name in enumerate(chance.sample(names, UNIVERSITIES)):
        home = f"/{name}-{number}"
        papers = [page(f"{home}/{chance.choice(names)}-{n}", title(), [], True) for n in range(PAPERS)]
        list_of_papers = page(f"{home}/publications", "Publications", papers)
        sections = [page(f"{home}/faculty", "Faculty list", [list_of_papers])]
        for section in SECTIONS:
            leaves = [page(f"{home}/{chance.choice(names)}-{section[:2]}{n}", title(), []) for n in range(LEAVES)]
            sections.append(page(f"{home}/{section.lower().replace(' ', '-')}", section, leaves))
        front.append(page(f"{home}/", f"{name} university", chance.sample(sections, len(sections))))
    page("/", "Universities", front, True)
    return found
