//! Word and PowerPoint documents that the tests build, valid and hostile.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{BlockKind, ExtractedText, IngestError, Kind, Limits, extract};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use proptest::prelude::*;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::io::Write;

fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut out);
    for (name, data) in parts {
        let builder = archive
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = builder.start().unwrap();
        let encoder = DeflateEncoder::new(&mut entry, Compression::best());
        let mut writer = config.wrap(encoder);
        writer.write_all(data).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

fn word(body: &str) -> String {
    format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>")
}

fn paragraph(properties: &str, text: &str) -> String {
    format!(
        "<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>"
    )
}

fn docx(body: &str) -> Vec<u8> {
    zip(&[("word/document.xml", word(body).as_bytes())])
}

fn read(bytes: &[u8], name: &str) -> ExtractedText {
    extract(bytes, name, &Limits::default()).unwrap()
}

const STYLES: &str = "<w:styles xmlns:w=\"w\">\
    <w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:styleId=\"Own\"><w:name w:val=\"My own\"/><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style>\
    </w:styles>";

#[test]
fn a_word_document_becomes_markdown() {
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let item = "<w:numPr><w:ilvl w:val=\"1\"/></w:numPr>";
    let body = [
        paragraph("<w:pStyle w:val=\"berschrift1\"/>", "The &amp; title"),
        paragraph("", "Some <w:del><w:t>gone</w:t></w:del>text.").replace("<w:del><w:t>gone</w:t></w:del>", ""),
        paragraph("<w:pStyle w:val=\"Own\"/>", "Inner"),
        paragraph("<w:numPr/>", "one"),
        paragraph(item, "two"),
        format!("<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>", cell("k"), cell("v"), cell("a"), cell("b")),
        "<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:t>deleted</w:t></w:r></w:del><w:r><w:br/><w:t>line</w:t></w:r></w:p>".to_owned(),
    ];
    let notes = "<w:footnotes xmlns:w=\"w\"><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let bytes = zip(&[
        ("word/document.xml", word(&body.concat()).as_bytes()),
        ("word/styles.xml", STYLES.as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
    ]);
    let document = read(&bytes, "report.docx");
    let wanted = "# The & title\n\nSome text.\n\n## Inner\n\n- one\n  - two\n\n\
        | k | v |\n| --- | --- |\n| a | b |\n\nKept\nline\n\n# Footnotes\n\nA note.";
    assert_eq!(document.text.trim_end(), wanted);
    assert_eq!(
        (document.kind, document.title.as_str()),
        (Kind::Docx, "The & title")
    );
    let paths: Vec<String> = document
        .sections
        .iter()
        .map(|section| section.path.join("/"))
        .collect();
    assert_eq!(paths, ["The & title", "The & title/Inner", "Footnotes"]);
    let sorts: Vec<BlockKind> = document.blocks.iter().map(|block| block.sort).collect();
    let (h, p) = (BlockKind::Heading, BlockKind::Prose);
    assert_eq!(sorts, [h, p, h, BlockKind::List, BlockKind::Rows, p, h, p]);
}

#[test]
fn slides_are_sections_in_their_order_with_notes() {
    let shape = |kind: &str, text: &str| {
        format!(
            "<p:sp><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>"
        )
    };
    let slide = |title: &str, point: &str| {
        let all = [
            shape("body", point),
            shape("title", title),
            shape("sldNum", "7"),
        ];
        format!(
            "<p:sld xmlns:p=\"p\" xmlns:a=\"a\">{}</p:sld>",
            all.concat()
        )
    };
    let order = "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst>\
        <p:sldId id=\"256\" r:id=\"rId9\"/><p:sldId id=\"257\" r:id=\"rId2\"/></p:sldIdLst></p:presentation>";
    let relations = "<Relationships><Relationship Id=\"rId2\" Target=\"slides/slide1.xml\"/>\
        <Relationship Id=\"rId9\" Target=\"/ppt/slides/slide2.xml\"/></Relationships>";
    let to_notes = "<Relationships><Relationship Id=\"r1\" Target=\"../notesSlides/notesSlide1.xml\"/></Relationships>";
    let bytes = zip(&[
        ("ppt/presentation.xml", order.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", relations.as_bytes()),
        ("ppt/slides/slide1.xml", slide("Last", "bye").as_bytes()),
        ("ppt/slides/slide2.xml", slide("First", "hello").as_bytes()),
        ("ppt/slides/_rels/slide2.xml.rels", to_notes.as_bytes()),
        (
            "ppt/notesSlides/notesSlide1.xml",
            slide("", "Say it slowly.").as_bytes(),
        ),
    ]);
    let document = read(&bytes, "talk.pptx");
    let wanted = "# Slide 1: First\n\n- hello\n\nNotes: Say it slowly.\n\n# Slide 2: Last\n\n- bye";
    assert_eq!(document.text.trim_end(), wanted);
    assert_eq!(
        (document.kind, document.title.as_str()),
        (Kind::Pptx, "First")
    );
}

fn isolated() -> Limits {
    Limits {
        is_isolated: true,
        ..Limits::default()
    }
}

fn workbook(sheet: &str) -> Vec<u8> {
    let relations = |target: &str, kind: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
             Target=\"{target}\"/></Relationships>"
        )
    };
    let of_package = relations("xl/workbook.xml", "officeDocument");
    let of_workbook = relations("worksheets/sheet1.xml", "worksheet");
    let book = "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
        xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
        <sheet name=\"Racks\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>";
    let styles = "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><cellXfs>\
        <xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>";
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{sheet}\
         </sheetData></worksheet>"
    );
    zip(&[
        ("_rels/.rels", of_package.as_bytes()),
        ("xl/_rels/workbook.xml.rels", of_workbook.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/styles.xml", styles.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// A sheet becomes a section, rows name their columns, and dates stay dates. Without a worker process,
/// workbooks are refused.
#[test]
fn a_workbook_becomes_rows() {
    let inline =
        |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let rows = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\"><v>42</v></c></row>\
         <row r=\"3\">{}<c r=\"B3\" s=\"1\"><v>45351</v></c></row>",
        inline("A1", "name"),
        inline("B1", "value"),
        inline("A2", "height"),
        inline("A3", "built &amp; since"),
    );
    let bytes = workbook(&rows);
    let document = extract(bytes.as_slice(), "racks.xlsx", &isolated()).unwrap();
    let wanted = "# Racks\n\nname | value\n\nname: height | value: 42\nname: built & since | value: 2024-02-29";
    assert_eq!(document.text.trim_end(), wanted);
    assert_eq!((document.kind, document.sections.len()), (Kind::Xlsx, 1));
    let refused = extract(bytes.as_slice(), "racks.xlsx", &Limits::default()).unwrap_err();
    assert!(refused.to_string().contains("worker process"), "{refused}");
}

#[test]
fn an_opendocument_spreadsheet_becomes_rows() {
    let content = "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
        xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
        xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:spreadsheet>\
        <table:table table:name=\"Ports\"><table:table-row>\
        <table:table-cell office:value-type=\"string\"><text:p>port</text:p></table:table-cell>\
        <table:table-cell office:value-type=\"string\"><text:p>use</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"float\" office:value=\"443\"><text:p>443</text:p>\
        </table:table-cell><table:table-cell office:value-type=\"string\"><text:p>https</text:p></table:table-cell>\
        </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";
    let bytes = zip(&[
        (
            "mimetype",
            b"application/vnd.oasis.opendocument.spreadsheet",
        ),
        ("content.xml", content.as_bytes()),
        (
            "META-INF/manifest.xml",
            b"<manifest:manifest xmlns:manifest=\"m\"/>",
        ),
    ]);
    let document = extract(bytes, "ports.ods", &isolated()).unwrap();
    assert_eq!(
        document.text.trim_end(),
        "# Ports\n\nport | use\n\nport: 443 | use: https"
    );
    assert_eq!(document.kind, Kind::Ods);
}

/// Chapters follow the order of the package document, wherever they are stored and however their names are
/// escaped. A missing chapter is reported.
#[test]
fn a_book_becomes_its_chapters() {
    let container =
        "<container><rootfiles><rootfile full-path=\"OPS/book.opf\"/></rootfiles></container>";
    let package = "<package xmlns:dc=\"d\"><metadata><dc:title>The &amp; Book</dc:title></metadata><manifest>\
        <item id=\"b\" href=\"two%20b.xhtml\"/><item id=\"a\" href=\"../text/one.html#top\"/>\
        <item id=\"c\" href=\"none.xhtml\"/><item id=\"i\" href=\"cover.png\"/></manifest>\
        <spine><itemref idref=\"i\"/><itemref idref=\"a\"/><itemref idref=\"b\"/><itemref idref=\"c\"/></spine></package>";
    let chapter = |title: &str, text: &str| {
        format!(
            "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><h1>{title}</h1><p>{text}</p></body></html>"
        )
    };
    let (one, two) = (chapter("One", "It begins."), chapter("Two", "It ends."));
    let bytes = zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("OPS/book.opf", package.as_bytes()),
        ("OPS/two b.xhtml", two.as_bytes()),
        ("text/one.html", one.as_bytes()),
    ]);
    let document = read(&bytes, "book.epub");
    assert_eq!(
        document.text.trim_end(),
        "# One\n\nIt begins.\n\n# Two\n\nIt ends."
    );
    assert_eq!(
        (document.kind, document.title.as_str()),
        (Kind::Epub, "The & Book")
    );
    let warnings: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["OPS/none.xhtml is missing from the archive"]);
    let empty = zip(&[("META-INF/container.xml", b"<container/>".as_slice())]);
    let refused = extract(empty, "book.epub", &Limits::default()).unwrap_err();
    assert!(
        refused.to_string().contains("names no package document"),
        "{refused}"
    );
}

#[test]
fn archives_of_other_kinds_are_named() {
    let refused = |bytes: &[u8], name: &str| extract(bytes, name, &Limits::default()).unwrap_err();
    let other = |part: &str| zip(&[(part, b"x")]);
    assert_eq!(
        refused(&other("xl/workbook.bin"), "a.xlsb"),
        IngestError::Binary {
            what: "a binary Excel workbook".into()
        }
    );
    assert_eq!(
        refused(&other("a.txt"), "a.docx"),
        IngestError::Binary {
            what: "a zip archive".into()
        }
    );
    let old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest";
    assert_eq!(
        refused(old, "a.docx"),
        IngestError::Encrypted {
            what: "document".into()
        }
    );
    assert!(matches!(refused(old, "a.doc"), IngestError::Binary { .. }));
    assert!(matches!(
        refused(b"PK\x03\x04junk", "a.docx"),
        IngestError::Broken { .. }
    ));
}

#[test]
fn parts_inflate_within_their_limits() {
    let run = |bytes: usize| word(&paragraph("", &"A".repeat(bytes)));
    let refused = |bytes: &[u8]| extract(bytes, "a.docx", &Limits::default()).unwrap_err();
    let bomb = zip(&[("word/document.xml", run(8 << 20).as_bytes())]);
    assert!(
        matches!(refused(&bomb), IngestError::Inflates { .. }),
        "{} bytes",
        bomb.len()
    );
    // The styles are a decompression bomb, so headings are recognised by their style ids.
    let styles = format!("<styles>{}</styles>", " ".repeat(8 << 20));
    let bytes = zip(&[
        (
            "word/document.xml",
            word(&paragraph("<w:pStyle w:val=\"Heading1\"/>", "Title")).as_bytes(),
        ),
        ("word/styles.xml", styles.as_bytes()),
    ]);
    let document = read(&bytes, "a.docx");
    assert_eq!(document.text.trim_end(), "# Title");
    assert!(
        document.warnings[0].reason.contains("inflates"),
        "{:?}",
        document.warnings
    );
    let names: Vec<String> = (0..2001).map(|at| format!("word/x{at}")).collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert_eq!(
        refused(&zip(&parts)),
        IngestError::TooManyParts { most: 2000 }
    );
}

#[test]
fn xml_has_no_entities_no_document_type_and_an_end_of_nesting() {
    let refused = |document: String| {
        let bytes = zip(&[("word/document.xml", document.as_bytes())]);
        extract(&bytes, "a.docx", &Limits::default()).unwrap_err()
    };
    let laughs = format!(
        "<!DOCTYPE d [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>{}",
        word(&paragraph("", "&b;"))
    );
    assert!(matches!(refused(laughs), IngestError::Broken { .. }));
    let outside = format!(
        "<!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>{}",
        word("")
    );
    assert!(matches!(refused(outside), IngestError::Broken { .. }));
    let deep = word(&["<w:p>".repeat(20_000), "</w:p>".repeat(20_000)].concat());
    assert_eq!(
        refused(deep),
        IngestError::TooDeep {
            what: "docx".into(),
            most: 128
        }
    );
    assert!(matches!(
        refused("<w:document><w:p></w:document>".to_owned()),
        IngestError::Broken { .. }
    ));
    // An undefined entity yields no text.
    let document = read(&docx(&paragraph("", "a&unknown;b&#x41;&#0;")), "a.docx");
    assert_eq!(document.text.trim_end(), "abA");
}

#[test]
fn names_that_lead_out_are_parts_that_nobody_reads() {
    let main = word(&paragraph("", "Here."));
    let bytes = zip(&[
        ("word/document.xml", main.as_bytes()),
        ("../../etc/passwd", b"x"),
        ("/abs", b"x"),
        ("word/..\\..\\win", b"x"),
    ]);
    assert_eq!(read(&bytes, "a.docx").text.trim_end(), "Here.");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_a_fault(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = zip(&[
            ("word/document.xml", word(&paragraph("<w:pStyle w:val=\"Title\"/>", "Text")).as_bytes()),
            ("word/styles.xml", STYLES.as_bytes()),
        ]);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len()) + 1);
        }
        let read = extract(&bytes, "a.docx", &Limits::default());
        prop_assert!(!matches!(read, Err(IngestError::Fault { .. })), "{:?}", read);
    }

    #[test]
    fn no_xml_is_a_fault(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![
            "<w:p>", "</w:p>", "<w:tbl>", "</w:tbl>", "<w:tc>", "</w:tr>", "<w:t>", "&", "&#99999999;", "<![CDATA[", "<!--",
            "<w:numPr/>", "<mc:Fallback>", "\"", "<", ">", "/", "\u{e9}",
        ])), 0..8),
        name in prop::sample::select(vec!["word/document.xml", "ppt/slides/slide1.xml"]),
    ) {
        let cell = format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", paragraph("", "cell"));
        let mut xml = word(&[paragraph("<w:pStyle w:val=\"Title\"/>", "Text"), cell].concat());
        for (at, part) in changes {
            let at = xml.floor_char_boundary(at.index(xml.len()));
            xml.insert_str(at, part);
        }
        let bytes = zip(&[(name, xml.as_bytes()), ("ppt/presentation.xml", b"<p/>")]);
        let read = extract(&bytes, "a.docx", &Limits::default());
        prop_assert!(!matches!(read, Err(IngestError::Fault { .. })), "{:?}", read);
    }
}
