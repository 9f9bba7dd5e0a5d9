"""What is known about rendering the pages of a host: for each pattern of URLs, what a browser
brings and what follows."""

from enum import IntEnum

import msgspec
from msgspec import Struct


class RenderVerdict(IntEnum):
    """What is done with the pages of a pattern."""

    SAMPLING = 0  # some are rendered and compared with what was sent
    RENDER = 1
    PLAIN = 2


class RenderEvidence(Struct, frozen=True, array_like=True):
    """What samples of a pattern showed. Words and links are sums over the samples."""

    pattern: str
    verdict: RenderVerdict = RenderVerdict.SAMPLING
    samples: int = 0
    gains: int = 0  # samples in which the browser brought more
    words: tuple[int, int] = (0, 0)  # as sent, and as rendered
    links: tuple[int, int] = (0, 0)
    passed: int = 0  # candidates that were not rendered since it was decided
    pages: int = 0  # that were rendered
    spared: int = 0  # revisits without rendering, because nothing that the page is made from had changed

    @property
    def why(self) -> str:
        """The verdict and its evidence in words."""
        words, links = self.words, self.links
        if not self.samples:
            return f"rendered by the settings, {self.spared:,} revisits spared"
        seen = (
            f"{self.gains} of {self.samples} samples brought more: "
            f"{words[1]:,} words and {links[1]:,} links, where the documents have {words[0]:,} and {links[0]:,}"
        )
        if self.verdict == RenderVerdict.RENDER:
            return f"rendered, {seen}" + (f"; {self.spared:,} revisits spared" if self.spared else "")
        return f"{'not rendered' if self.verdict == RenderVerdict.PLAIN else 'undecided'}, {seen}"


def sampled_patterns(encoded: bytes) -> list[RenderEvidence]:
    """The patterns of a host that were sampled, those that are rendered first."""
    known = [each for each in decode_evidence(encoded) if each.samples or each.spared]
    return sorted(known, key=lambda each: (each.verdict, -each.samples, each.pattern))


def encode_evidence(evidence: list[RenderEvidence]) -> bytes:
    return msgspec.msgpack.encode(evidence)


def decode_evidence(encoded: bytes) -> list[RenderEvidence]:
    """The evidence of a host; nothing if it cannot be read, because it can be gathered again."""
    if not encoded:
        return []
    try:
        return msgspec.msgpack.decode(encoded, type=list[RenderEvidence])
    except msgspec.DecodeError:
        return []
