"""The text and links of Excel workbooks (XLSX): a row is a line, its cells are separated by
tabs."""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from sanderling.documents.office.draft import Draft
from sanderling.documents.office.openxml import opened, relations, take_links
from sanderling.documents.office.package import Package, attribute
from sanderling.processes.sandboxed import ChildFailed

# Formats of numbers that show a date or a time. Others are described by a code, in which text
# stands in quotes, and colours and conditions in brackets.
_DATES = {*range(14, 23), *range(45, 48)}
_NOT_CODE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DATE_CODE = re.compile("[dmyhs]", re.IGNORECASE)
_TRUTH = {"0": "FALSE", "1": "TRUE"}


def read_xlsx(body: bytes, draft: Draft) -> None:
    package, main = opened(body, draft)
    if main.endswith(".bin"):
        raise ChildFailed("binary workbooks (XLSB) are not read")
    book, strings, styles = _Book(), _Strings(), _Styles()
    package.parse(main, book)
    parts = relations(package, main)
    for each in parts:
        if each.type == "sharedStrings":
            package.parse(each.target, strings)
        elif each.type == "styles":
            package.parse(each.target, styles)
    values = _Values(strings.strings, styles.dates(), book.epoch)
    places = {each.id: each.target for each in parts if each.type == "worksheet"}
    for id, name in book.sheets.items():
        if id in places:
            _read_sheet(package, places[id], name, values, draft)


def _read_sheet(package: Package, part: str, name: str, values: "_Values", draft: Draft) -> None:
    draft.add(name)
    draft.end_line()
    take_links(package, part, draft)
    package.parse(part, _Sheet(draft, values))


class _Book:
    def __init__(self) -> None:
        self.sheets: dict[str, str] = {}  # name by id, in their order
        # Day 1 is the first of 1900, which has one day too many in this format.
        self.epoch = datetime(1899, 12, 30)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "sheet":
            self.sheets[attribute(attributes, "id")] = attributes.get("name", "")
        elif tag == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self.epoch = datetime(1904, 1, 1)

    def end(self, tag: str) -> None: ...

    def text(self, data: str) -> None: ...


class _Strings:
    """The strings that cells refer to."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._parts: list[str] = []
        self._within = self._spoken = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "t":
            self._within = not self._spoken
        elif tag == "rPh":  # how it is pronounced
            self._spoken = True

    def end(self, tag: str) -> None:
        self._within = False
        if tag == "si":
            self.strings.append("".join(self._parts))
            self._parts.clear()
        elif tag == "rPh":
            self._spoken = False

    def text(self, data: str) -> None:
        if self._within:
            self._parts.append(data)


class _Styles:
    """Which styles of cells show a number as a date."""

    def __init__(self) -> None:
        self._formats: list[str] = []  # of each style
        self._dates = set(map(str, _DATES))
        self._within = False

    def dates(self) -> set[str]:
        return {str(style) for style, format in enumerate(self._formats) if format in self._dates}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "numFmt" and _DATE_CODE.search(_NOT_CODE.sub("", attributes.get("formatCode", ""))):
            self._dates.add(attributes.get("numFmtId", ""))
        elif tag == "cellXfs":
            self._within = True
        elif tag == "xf" and self._within:
            self._formats.append(attributes.get("numFmtId", ""))

    def end(self, tag: str) -> None:
        if tag == "cellXfs":
            self._within = False

    def text(self, data: str) -> None: ...


class _Values(NamedTuple):
    """What the values of cells mean."""

    strings: list[str]
    dates: set[str]  # styles that show one
    epoch: datetime

    def formatted(self, value: str, type: str, style: str) -> str:
        try:
            if type == "s":
                return self.strings[int(value)]
            if type == "b":
                return _TRUTH.get(value, value)
            if type in ("", "n") and style in self.dates and value:
                return self._date(float(value))
        except (ValueError, IndexError, OverflowError):
            pass  # shown as it is written
        return value

    def _date(self, days: float) -> str:
        at = (self.epoch + timedelta(days=days, milliseconds=500)).replace(microsecond=0)
        if 0 <= days < 1:
            return f"{at:%H:%M:%S}"
        return f"{at:%Y-%m-%d}" if days == int(days) else f"{at:%Y-%m-%d %H:%M:%S}"


class _Sheet:
    def __init__(self, draft: Draft, values: _Values) -> None:
        self._draft = draft
        self._values = values
        self._type = self._style = self._within = ""
        self._value: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "c":
            self._type, self._style = attributes.get("t", ""), attributes.get("s", "")
            self._value.clear()
        elif tag in ("v", "t", "f"):
            self._within = tag

    def end(self, tag: str) -> None:
        self._within = ""
        if tag == "c":
            if self._value:
                self._draft.add(self._values.formatted("".join(self._value), self._type, self._style))
                self._draft.end_cell()
        elif tag == "row":
            self._draft.end_line()

    def text(self, data: str) -> None:
        if self._within == "f":
            self._draft.formula(data)
        elif self._within:
            self._value.append(data)
