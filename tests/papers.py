"""Documents other than HTML, made for tests, and those in `documents/papers` that other programs
made."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import docx


def pdf(text: str, link: str) -> bytes:
    """A one-page PDF with a line of text and a link annotation."""
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>",
        stream(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (%b) >> >>" % link.encode(),
    )


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of these objects; the first is the catalog."""
    out, places = io.BytesIO(b""), []
    out.write(b"%PDF-1.5\n")
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, content))
    start, size = out.tell(), len(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size + b"".join(b"%010d 00000 n \n" % p for p in places))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, start))
    return out.getvalue()


def stream(content: bytes, keys: bytes = b"") -> bytes:
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (keys, len(content), content)


def nested_forms(levels: int, times: int = 2) -> bytes:
    """A small PDF bomb: its page draws a form, which draws another form several times, and so
    on."""
    forms = [
        stream(
            b"/X Do " * times,
            b"/Type /XObject /Subtype /Form /BBox [0 0 300 200] /Resources << /XObject << /X %d 0 R >> >>" % following,
        )
        for following in range(6, 5 + levels)
    ]
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /XObject << /X 5 0 R >> >> >>",
        stream(b"/X Do"),
        *forms,
        stream(b"0 0 9 9 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 300 200]"),
    )


def word(text: str, title: str, link: str) -> bytes:
    document = docx.Document()
    document.core_properties.title = title
    document.add_paragraph(text)
    document.part.relate_to(link, docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


PAPERS = Path(__file__).parent / "documents" / "papers"
# The files there that can be read. Each mentions a curlew and has these links.
READABLE = (
    "tides.odt", "tides.docx", "tides.rtf", "tides.doc", "counts.xlsx", "counts.ods", "waders.pptx", "waders.odp",
)  # fmt: skip
LINK, LONG_LINK = "http://e.org/bay?a=1&b=2", "http://linked.example/from/a/long/document"


def paper(name: str) -> bytes:
    return (PAPERS / name).read_bytes()


def edited(body: bytes, changes: Mapping[str, str]) -> bytes:
    """A document with other words of the same length, whatever its format."""
    pairs = [(old.encode(code), new.encode(code)) for code in ("ascii", "utf-16-le") for old, new in changes.items()]
    if not body.startswith(b"PK"):
        return _replaced(body, pairs)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(member, _replaced(old.read(member), pairs))
    return out.getvalue()


def _replaced(data: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    for old, new in pairs:
        assert len(old) == len(new)
        data = data.replace(old, new)
    return data


def zipped(members: Mapping[str, bytes | Iterable[bytes]]) -> bytes:
    """A zip file of members, of which long ones come in parts and are never in memory as a
    whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            with archive.open(name, "w") as member:
                for part in [content] if isinstance(content, bytes) else content:
                    member.write(part)
    return out.getvalue()


def relations(**targets: str) -> bytes:
    """A part that says which part has each role. The id of a relation is its role."""
    return b"<Relationships>%b</Relationships>" % b"".join(
        b'<Relationship Id="%b" Type="http://x/%b" Target="%b"/>'
        % (id.encode(), id.rstrip("0123456789").encode(), target.encode())
        for id, target in targets.items()
    )


def office_xml(main: str, content: bytes | Iterable[bytes], **others: bytes | Iterable[bytes]) -> bytes:
    """An Office Open XML document of a main part and others beside it, named for their roles."""
    folder = main.rpartition("/")[0]
    return zipped(
        {
            "[Content_Types].xml": b"<Types/>",
            "_rels/.rels": relations(officeDocument=main),
            f"{folder}/_rels/{main.rpartition('/')[2]}.rels": relations(**{role: f"{role}.xml" for role in others}),
            main: content,
            **{f"{folder}/{role}.xml": part for role, part in others.items()},
        }
    )


def workbook(rows: bytes | Iterable[bytes], **others: bytes | Iterable[bytes]) -> bytes:
    """A workbook of one sheet."""
    book = b'<workbook xmlns:r="r"><sheets><sheet name="One" r:id="worksheet1"/></sheets></workbook>'
    return office_xml("xl/workbook.xml", book, worksheet1=rows, **others)


def opendocument(content: bytes | Iterable[bytes], **others: bytes) -> bytes:
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "META-INF/manifest.xml": b"<m/>",
        }
        | {f"{name}.xml": part for name, part in others.items()}
    )
