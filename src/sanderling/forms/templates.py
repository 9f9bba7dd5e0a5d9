"""Which selects and radios to try: informative templates, not every combination.

A template is a set of fields that are filled in together. It is tried with a few of its values. It
is kept if enough of the answers differ from each other, and only then are all of its values tried,
and templates with one field more. So three selects with 50 values each cost some dozens of queries,
not 125,000.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import msgspec

# Values that are tried before a template is judged, and the share of the answers that have to
# differ.
SAMPLE, DISTINCT = 6, 0.25
# Answers that find nothing, before a template is left that never found anything.
EMPTY = 3
# Fields that are filled in together at most.
MOST_FIELDS = 3
# A template is given up after this many answers in a row that bring nothing new.
PATIENCE = 8
# Combinations of one template that are looked at.
MOST_VALUES = 5000


class Template(msgspec.Struct):
    """Fields that are filled in together, and what their answers brought."""

    fields: list[str]
    tried: int = 0
    signatures: set[int] = set()
    run: int = 0  # answers without anything new, in a row
    brought: int = 0

    @property
    def judged(self) -> bool:
        return self.tried >= SAMPLE

    @property
    def informative(self) -> bool:
        return len(self.signatures) >= max(2, DISTINCT * self.tried)

    @property
    def given_up(self) -> bool:
        """Whether it is not worth another query."""
        empty = self.tried >= EMPTY and self.signatures == {0}
        return empty or (self.judged and not self.informative) or self.run >= PATIENCE


class Templates(msgspec.Struct):
    """The templates of one form."""

    values: dict[str, list[str]]  # by field
    known: dict[str, Template] = {}

    def __post_init__(self) -> None:
        if not self.known:
            for name in self.values:
                self._add([name])

    def next(self, tried: Mapping[tuple[tuple[str, str], ...], object]) -> list[tuple[str, str]] | None:
        """Values for the next query: first every template is judged, then those that bring most go
        on."""
        waiting = [each for each in self.known.values() if not each.given_up]
        waiting.sort(key=lambda each: (each.judged, len(each.fields), -each.brought / (each.tried + 1)))
        for template in waiting:
            for values in self._combinations(template):
                if tuple(sorted(values)) not in tried:
                    return values
        return None

    def answered(self, values: Sequence[tuple[str, str]], signature: int, new: int) -> None:
        template = self.known.get(_key([name for name, _ in values]))
        if template is None:
            return
        template.tried += 1
        template.signatures.add(signature)
        template.brought += new
        template.run = 0 if new else template.run + 1
        size = min(SAMPLE, self._size(template))
        if template.tried == size and template.informative and len(template.fields) < MOST_FIELDS:
            self._extend(template)

    def _extend(self, template: Template) -> None:
        """Adds one more field that is informative by itself."""
        for name in self.values:
            alone = self.known[_key([name])]
            if name not in template.fields and not alone.given_up and alone.tried and alone.informative:
                self._add([*template.fields, name])

    def _add(self, names: list[str]) -> None:
        self.known.setdefault(_key(names), Template(sorted(names)))

    def _size(self, template: Template) -> int:
        size = 1
        for name in template.fields:
            size *= len(self.values[name])
        return size

    def _combinations(self, template: Template) -> Iterator[list[tuple[str, str]]]:
        """All values of the fields, spread: the first few should be as different as they can be."""
        lists = [_spread(self.values[name]) for name in template.fields]
        if len(lists) > 1:  # diagonals first
            longest = max(map(len, lists))
            for place in range(min(longest, SAMPLE)):
                yield [(name, each[place % len(each)]) for name, each in zip(template.fields, lists, strict=True)]
        for chosen in islice(product(*lists), MOST_VALUES):
            yield [*zip(template.fields, chosen, strict=True)]


def _key(names: Sequence[str]) -> str:
    return "\n".join(sorted(names))


def _spread(values: list[str]) -> list[str]:
    """The same values, the first ones from all over the list."""
    step = max(1, len(values) // SAMPLE)
    first = values[::step]
    return first + [value for value in values if value not in set(first)]
