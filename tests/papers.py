"""Documents other than HTML, made for tests."""

import io

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
