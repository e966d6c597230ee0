"""Documents made by others' libraries and by hand: every sentence is read, and what bad ones cost."""

import gzip
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl import PageUnreadable, ParseResult, ParseTask
from crawl.fetch.response import RTF_TYPE, Fetched
from crawl.office.extract_office import extract_office
from crawl.parsing.worker import parse_once

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"
SENTENCES = [f"Sentence number {n} says something of {word}." for n, word in enumerate(("Äpfel", "вода", "水", "salt"))]
PADDING = random.Random(1).randbytes(700_000)  # packs no further: makes the ratio of what stands beside it small


def read(body: bytes, max_chars: int = 400_000) -> ParseResult:
    return parse_once(ParseTask("http://a.test/get?id=5", body, DOCX, "", 100, max_chars))


def flaw(body: bytes) -> str:
    with pytest.raises(PageUnreadable) as caught:
        read(body)
    return caught.value.reason


def saved(save: Callable[[BytesIO], object]) -> bytes:
    file = BytesIO()
    save(file)
    return file.getvalue()


def packed(parts: Mapping[str, str | bytes], main: str = "word/document.xml") -> bytes:
    """A package of Office Open XML."""
    relation = f'<Relationship Id="r0" Type="http://x/officeDocument" Target="{main}"/>'
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("_rels/.rels", f"<Relationships>{relation}</Relationships>")
        for name, content in parts.items():
            package.writestr(name, content)
    return file.getvalue()


def word(body: str, head: str = "") -> bytes:
    text = f'{head}<w:document xmlns:w="urn:w" xmlns:r="urn:r" xmlns:mc="urn:mc"><w:body>{body}</w:body></w:document>'
    return packed({"word/document.xml": text})


def sheet(rows: str) -> bytes:
    parts = {
        "xl/workbook.xml": '<workbook xmlns:r="urn:r"><sheets><sheet name="Data" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<R><Relationship Id="r1" Type="http://x/worksheet" Target="s.xml"/></R>',
        "xl/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    return packed({**parts, "padding": PADDING}, "xl/workbook.xml")


def test_a_word_document_is_read_whole() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "On salt", "Ada Writer"
    document.core_properties.created = datetime(2024, 5, 6, 7, 8, 9)
    document.add_heading("The whole", 0)
    document.add_heading("A part", 2)
    for sentence in SENTENCES:
        document.add_paragraph().add_run(sentence[:9])
        document.paragraphs[-1].add_run(sentence[9:]).bold = True
    table = document.add_table(2, 2)
    for n, cell in enumerate(("name", "price", "salt", "3")):
        table.cell(n // 2, n % 2).text = cell
    target = document.part.relate_to("https://b.test/x", docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, True)
    link = docx.oxml.parse_xml(
        f'<w:hyperlink {docx.oxml.ns.nsdecls("w", "r")} r:id="{target}"><w:r><w:t>more</w:t></w:r></w:hyperlink>'
    )
    document.add_paragraph("See ")._p.append(link)
    page = read(saved(document.save))
    assert page.text.split("\n") == ["The whole", "A part", *SENTENCES, "name price", "salt 3", "See more"]
    assert (page.title, page.boilerplate, page.published_at) == ("On salt", "Ada Writer", 1_714_979_289.0)
    assert page.headings == ("The whole", "A part")
    assert [(each.url, each.anchor) for each in page.links] == [("https://b.test/x", "more")]


def test_slides_are_read_in_order_with_their_notes() -> None:
    pptx = pytest.importorskip("pptx")
    slides = pptx.Presentation()
    for sentence in SENTENCES:
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text_frame.text = f"About {sentence[16]}", sentence
        slide.notes_slide.notes_text_frame.text = f"Say {sentence[16]}"
    slide.placeholders[1].text_frame.add_paragraph().add_run().text = "more"
    slide.placeholders[1].text_frame.paragraphs[1].runs[0].hyperlink.address = "http://b.test/y"
    page = read(saved(slides.save))
    expected = [line for n, each in enumerate(SENTENCES) for line in (f"About {n}", each, f"Say {n}")]
    assert page.text.split("\n") == [*expected[:-1], "more", expected[-1]]
    assert (page.title, page.headings) == ("About 0", ("About 0", "About 1", "About 2", "About 3"))
    assert [(each.url, each.anchor) for each in page.links] == [("http://b.test/y", "more")]


def test_a_workbook_says_what_another_reader_finds_in_it() -> None:
    xlsxwriter, calamine = pytest.importorskip("xlsxwriter"), pytest.importorskip("python_calamine")
    file = BytesIO()
    with xlsxwriter.Workbook(file) as book:
        first, second, hidden = (book.add_worksheet(name) for name in ("Prices", "Notes", "Secret"))
        for n, sentence in enumerate(SENTENCES):
            first.write_row(n, 0, [sentence, n + 0.1])
        second.write_datetime(0, 0, datetime(2024, 5, 6), book.add_format({"num_format": "dd/mm/yyyy"}))
        second.write_url(1, 0, "http://b.test/z", string="more")
        hidden.hide()
        hidden.write(0, 0, "nothing")
    page = read(file.getvalue())
    theirs = calamine.load_workbook(BytesIO(file.getvalue()))
    rows = [row for name in ("Prices", "Notes") for row in ([name], *theirs.get_sheet_by_name(name).to_python())]
    assert page.text.split("\n") == [" ".join(str(cell) for cell in row if cell != "") for row in rows]
    assert (page.headings, page.links[0].url, page.links[0].anchor) == (("Prices", "Notes"), "http://b.test/z", "more")


def test_open_documents_are_read() -> None:
    opendocument = pytest.importorskip("odf.opendocument")
    from odf import dc, draw, meta, table, text

    document = opendocument.OpenDocumentText()
    document.meta.addElement(dc.Title(text="On salt"))
    document.meta.addElement(meta.InitialCreator(text="Ada Writer"))
    document.meta.addElement(dc.Date(text="2024-05-06T07:08:09.123456789"))
    document.text.addElement(text.H(outlinelevel=1, text="A part"))
    for sentence in SENTENCES:
        document.text.addElement(text.P(text=sentence))
    last = text.P(text="See ")
    last.addElement(text.A(href="http://b.test/x", text="more"))
    document.text.addElement(last)
    page = read(saved(document.write))
    assert page.text.split("\n") == ["A part", *SENTENCES, "See more"]
    assert (page.title, page.boilerplate, int(page.modified_at)) == ("On salt", "Ada Writer", 1_714_979_289)
    assert (page.headings, page.links[0].anchor) == (("A part",), "more")

    book = opendocument.OpenDocumentSpreadsheet()
    cells = table.TableRow(numberrowsrepeated=1_000_000)
    for sentence in SENTENCES[:2]:
        cell = table.TableCell(numbercolumnsrepeated=16_000)
        cell.addElement(text.P(text=sentence))
        cells.addElement(cell)
    sheet = table.Table(name="Prices")
    sheet.addElement(cells)
    book.spreadsheet.addElement(sheet)
    assert read(saved(book.write)).text.split("\n") == ["Prices", " ".join(SENTENCES[:2])]

    slides = opendocument.OpenDocumentPresentation()
    slide = draw.Page(masterpagename="m")
    for kind, sentence in (("title", "A title"), ("outline", SENTENCES[0])):
        frame, box = draw.Frame(), draw.TextBox()
        frame.setAttrNS("urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", "class", kind)
        box.addElement(text.P(text=sentence))
        frame.addElement(box)
        slide.addElement(frame)
    slides.presentation.addElement(slide)
    page = read(saved(slides.write))
    assert (page.text.split("\n"), page.headings) == (["A title", SENTENCES[0]], ("A title",))


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    page = read(book())
    assert page.text.split("\n") == ["One", SENTENCES[0], "Two", f"{SENTENCES[1]} On the web"]
    assert (page.title, page.boilerplate, page.published_at) == ("On salt", "Ada Writer", 1_704_067_200.0)
    assert [(each.url, each.anchor) for each in page.links] == [("http://b.test/x", "On the web")]
    locked = '<encryption><CipherReference URI="OEBPS/text/a.xhtml"/></encryption>'
    assert flaw(book({"META-INF/encryption.xml": locked})) == "office file: it needs a key"


def book(more: Mapping[str, str] = {}) -> bytes:
    properties = "<title>On salt</title><creator>Ada Writer</creator><date>2024</date><language>en-GB</language>"
    items = "".join(
        f'<item id="{n}" href="text/{n}.xhtml" media-type="application/xhtml+xml"/>' for n in ("b", "a", "nav")
    )
    spine = '<itemref idref="nav" linear="no"/><itemref idref="a"/><itemref idref="b"/><itemref idref="a"/>'
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>{}</h1><p>{}<a href="{}">{}</a></p></body></html>'
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as package:
        package.writestr("META-INF/container.xml", '<c><rootfile full-path="OEBPS/content.opf"/></c>')
        package.writestr("OEBPS/content.opf", f"<package>{properties}{items}{spine}</package>")
        package.writestr("OEBPS/text/a.xhtml", page.format("One", SENTENCES[0], "b.xhtml", ""))
        package.writestr("OEBPS/text/b.xhtml", page.format("Two", SENTENCES[1], "http://b.test/x", " On the web"))
        package.writestr("OEBPS/text/nav.xhtml", page.format("Contents", "none", "a.xhtml", ""))
        for name, content in more.items():
            package.writestr(name, content)
    return file.getvalue()


RTF = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}{\colortbl;\red0;}
{\stylesheet{\s1\f0 heading 1;}{\s2 Normal;}}{\info{\title On salt}{\author Ada}{\creatim\yr2024\mo5\dy6\hr7\min8}}
{\header not this}\pard\s1 A part\par\pard\s2 Caf\'e9 \f1\'e2\'ee\'e4\'e0\f0  \u8364?\u-10179?\u-8694? \{x\}\par
{\field{\*\fldinst{HYPERLINK "http://b.test/x"}}{\fldrslt{\ul more}}} words{\*\unknown not this}{\v not this}\par
\trowd\cellx9\pard\intbl one\cell two\cell\row{\pict\pngblip 89504e470d0a}\pard the\
end.\par}"""


@pytest.mark.parametrize("declared", ["application/octet-stream", "application/zip", "application/vnd.ms-excel", ""])
def test_a_document_is_known_by_its_content(declared: str) -> None:
    epub = BytesIO()
    with ZipFile(epub, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
    known = {EPUB: epub.getvalue(), DOCX: word(""), XLSX: sheet(""), RTF_TYPE: RTF}
    for media_type, body in known.items():
        for coding in ("", "gzip"):
            sent = gzip.compress(body) if coding else body
            fetched = Fetched("http://a.test/", 200, (("Content-Type", declared),), sent, False, 0.0, "", coding)
            assert fetched.read_as == media_type


def test_rich_text_is_read() -> None:
    page = read(RTF)
    assert page.text.split("\n") == ["A part", "Café вода €😊 {x}", "more words", "one two", "the", "end."]
    assert (page.title, page.boilerplate, page.published_at) == ("On salt", "Ada", 1_714_979_280.0)
    assert (page.headings, page.links[0].url, page.links[0].anchor) == (("A part",), "http://b.test/x", "more")


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1))
)
def test_rich_text_says_what_another_reader_finds_in_it(words: list[str]) -> None:
    striprtf = pytest.importorskip("striprtf.striprtf")
    units = (" ".join(words)).encode("utf-16-le")
    text = "".join(f"\\u{int.from_bytes(units[n : n + 2], 'little', signed=True)}?" for n in range(0, len(units), 2))
    theirs = striprtf.rtf_to_text(f"{{\\rtf1 {text}\\par}}").encode("utf-16", "surrogatepass").decode("utf-16")
    assert read(f"{{\\rtf1 {text}\\par}}".encode()).text.split() == theirs.split()


def test_what_is_not_shown_is_not_read() -> None:
    body = (
        "<w:p><w:r><w:t>seen</w:t></w:r><w:del><w:r><w:delText>not</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>not</w:t></w:r></w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>not</w:t></w:r></w:p>"
        "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    assert read(word(body)).text == "seen\nbox"


def test_a_link_in_a_field_is_one() -> None:
    marks = [f'<w:fldChar w:fldCharType="{kind}"/>' for kind in ("begin", "separate", "end")]
    instruction = '<w:instrText> HYPERLINK "http://b.test/x" </w:instrText>'
    runs = [marks[0], instruction, marks[1], "<w:t>more</w:t>", marks[2]]
    page = read(word(f"<w:p>{''.join(f'<w:r>{each}</w:r>' for each in runs)}</w:p>"))
    assert [(each.url, each.anchor, page.text) for each in page.links] == [("http://b.test/x", "more", "more")]


LAUGHS = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
ENTITIES = f'<!DOCTYPE a [<!ENTITY a "lol">{LAUGHS}<!ENTITY file SYSTEM "file:///etc/passwd">]>'

MANY_ATTRIBUTES = " ".join(f"a{n}='x'" for n in range(200_000))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: word("<w:p/>")[:-40], "it is cut off or broken"),
        (lambda: word("<w:p>"), "its part word/document.xml is broken"),
        (lambda: word("<w:p>" * 10_000), "its part word/document.xml is broken"),
        (lambda: word('<w:p x="&j;"/>', ENTITIES), "its part word/document.xml is broken"),
        (lambda: word("<w:p/>" * 400_000), "it unpacks to more than 100 times its size"),
        (lambda: packed({"a": bytes(70_000_000)}), "it unpacks to more than 64 MB"),
        (lambda: packed({f"{n}": b"" for n in range(2_000)}), "it has more than 2,000 parts"),
        (lambda: packed({"word/vbaProject.bin": b""}), "it has macros"),
        (lambda: packed({"word/document.xml": "<drawing/>"}), "it is of no kind that is read"),
        (lambda: packed({"word/document.xml": f"<document {MANY_ATTRIBUTES}/>"}), "has a tag without end"),
        (
            lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
            "it is of an old Office program, or needs a password",
        ),
        (lambda: b"<html>not found</html>", "it is no office file"),
    ],
)
def test_a_bad_document_is_given_up_with_a_reason(make: Callable[[], bytes], reason: str) -> None:
    said = flaw(make())
    assert said.startswith("office file: ")
    assert reason in said


def test_encrypted_and_overlapping_parts_are_given_up() -> None:
    whole = bytearray(packed({"word/document.xml": b"<document/>"}))
    entry = whole.rindex(b"PK\x01\x02")
    encrypted = bytes(whole[: entry + 8]) + b"\x01\x00" + bytes(whole[entry + 10 :])
    assert flaw(encrypted) == "office file: it needs a password"
    overlapping = bytes(whole[: entry + 42]) + bytes(4) + bytes(whole[entry + 46 :])
    assert flaw(overlapping) == "office file: its parts overlap"


def test_no_entity_is_expanded_and_no_file_is_read() -> None:
    page = read(word("<w:p><w:t>before &file; after</w:t></w:p>", ENTITIES))
    assert page.text.split() == ["before", "after"]


@pytest.mark.parametrize(
    "rows",
    [
        '<row><c r="A1"><v>7</v></c></row>' * 1_000_000,
        '<row r="1"><c r="A1"><v>7</v></c></row><row r="1048576"><c r="XFD1048576"><v>7</v></c></row>',
    ],
)
def test_a_sheet_costs_what_is_read_of_it(rows: str) -> None:
    assert read(sheet(rows), 1_000).text.startswith("Data\n7\n7")


def test_characters_are_bounded() -> None:
    assert read(word("<w:p><w:r><w:t>abcdefgh</w:t></w:r></w:p>" * 10), 20).text == "abcdefgh\nabcdefgh\nab"


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_document_costs_only_itself(data: st.DataObject) -> None:
    body = bytearray(data.draw(st.sampled_from([word("<w:p><w:r><w:t>text</w:t></w:r></w:p>"), book(), RTF])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    try:
        extract_office(ParseTask("http://a.test/x", bytes(body), DOCX, "", 100, 1_000))
    except PageUnreadable as error:
        assert error.reason.startswith("office file: ")
