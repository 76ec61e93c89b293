//! PDF files that the tests build: valid, broken and hostile.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{ExtractedText, IngestError, Limits, extract};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;
use std::io::Write;

/// Builds a file of objects, numbered from 1; the first is the catalog.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n".to_vec();
    for (at, object) in objects.iter().enumerate() {
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    out.extend(b"trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n");
    out
}

fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut out = format!("<< {dict} /Length {} >>\nstream\n", data.len()).into_bytes();
    out.extend(data);
    out.extend(b"\nendstream");
    out
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

const CATALOG: &[u8] = b"<< /Type /Catalog /Pages 2 0 R >>";
const FONT: &[u8] =
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/// Builds a file with one page for each content.
fn pages(contents: &[&[u8]]) -> Vec<u8> {
    let kids: String = (0..contents.len())
        .map(|at| format!("{} 0 R ", 4 + 2 * at))
        .collect();
    let tree = format!("<< /Type /Pages /Kids [{kids}] /Resources << /Font << /F1 3 0 R >> >> >>");
    let mut objects = vec![CATALOG.to_vec(), tree.into_bytes(), FONT.to_vec()];
    for (at, content) in contents.iter().enumerate() {
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>",
                5 + 2 * at
            )
            .into_bytes(),
        );
        objects.push(stream("/Filter /FlateDecode", &deflated(content)));
    }
    file(&objects)
}

fn read(bytes: &[u8]) -> ExtractedText {
    extract(bytes, "paper.pdf", &Limits::default()).unwrap()
}

#[test]
fn pages_are_sections_and_lines_are_joined() {
    let first = b"BT /F1 12 Tf 14 TL 72 700 Td (The exam-) Tj T* (ple is here.) Tj 0 -40 Td (Caf\\351 \\(2\\)) Tj ET";
    let second =
        b"BT /F1 10 Tf 1 0 0 1 72 700 Tm [(Wor) 20 (ds) -300 (apart)] TJ 200 0 Td <466172> Tj ET";
    let document = read(&pages(&[first, second]));
    assert_eq!(
        document.text.trim_end(),
        "The example is here.\n\nCaf\u{e9} (2)\n\nWords apart Far"
    );
    let paths: Vec<&[String]> = document
        .sections
        .iter()
        .map(|section| &section.path[..])
        .collect();
    assert_eq!(paths, [["Page 1"], ["Page 2"]]);
    assert_eq!(document.title, "paper");
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);
}

#[test]
fn composite_fonts_are_read_through_their_maps() {
    let map = b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <0000> <ffff> endcodespacerange \
        2 beginbfrange <0001> <0003> <0041> <0010> <0011> [<00660069> <D83DDE00>] endbfrange \
        1 beginbfchar <0020> <4F60> endbfchar";
    let objects = [
        CATALOG.to_vec(),
        b"<< /Type /Pages /Kids [4 0 R] >>".to_vec(),
        b"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R /DescendantFonts [<< /DW 500 /W [1 [600 600] 3 9 700] >>] >>".to_vec(),
        b"<< /Type /Page /Contents [6 0 R] /Resources << /Font << /A 3 0 R >> >> >>".to_vec(),
        stream("", map),
        stream("/Filter [/ASCIIHexDecode]", b"2F412031322054662042543C303030313030303230303033303031303030313130303230303039393E546A>"),
    ];
    let document = read(&file(&objects));
    assert_eq!(document.text.trim_end(), "ABCfi\u{1f600}\u{4f60}");
    assert_eq!(
        document.warnings.len(),
        1,
        "one character is unknown: {:?}",
        document.warnings
    );
}

#[test]
fn objects_in_streams_forms_and_differences_are_found() {
    let inner = b"<< /Type /Pages /Kids [6 0 R] >> << /Type /Font /Subtype /Type1 /Encoding << /Differences [65 /germandbls /Eacute /uni20AC] >> >>";
    let second = inner.iter().position(|byte| *byte == b'>').unwrap() + 3;
    let mut packed = format!("2 0 3 {second} ").into_bytes();
    let first = packed.len();
    packed.extend(inner);
    let objects = [
        CATALOG.to_vec(),
        b"null".to_vec(),
        b"null".to_vec(),
        stream(
            &format!("/Type /ObjStm /N 2 /First {first} /Filter /FlateDecode"),
            &deflated(&packed),
        ),
        stream(
            "/Type /XObject /Subtype /Form /Resources << /Font << /F 3 0 R >> >>",
            b"BT /F 9 Tf (ABC) Tj ET",
        ),
        b"<< /Type /Page /Contents 7 0 R /Resources << /XObject << /X 5 0 R >> >> >>".to_vec(),
        stream(
            "",
            b"q 1 0 0 1 10 10 cm /X Do Q BI /W 1 ID \xff\x00EI\x01 EI /X Do",
        ),
    ];
    // The objects of the object stream come after the objects of the same numbers, and win.
    let document = read(&file(&objects));
    assert!(
        document.text.starts_with("\u{df}\u{c9}\u{20ac}"),
        "{:?}",
        document.text
    );
}

#[test]
fn filters_undo_what_writers_do() {
    let text = b"BT /F1 9 Tf (Hello) Tj ET";
    let run: Vec<u8> = [&[text.len() as u8 - 1][..], text, &[128]].concat();
    for (filter, data) in [
        ("/RunLengthDecode", run),
        ("[/ASCIIHexDecode /FlateDecode]", hex(&deflated(text))),
        ("/LZWDecode", lzw(text)),
        ("[/ASCII85Decode /FlateDecode]", ascii_85(&deflated(text))),
    ] {
        let objects = [
            CATALOG.to_vec(),
            b"<< /Type /Pages /Kids [4 0 R] /Resources << /Font << /F1 3 0 R >> >> >>".to_vec(),
            FONT.to_vec(),
            b"<< /Type /Page /Contents 5 0 R >>".to_vec(),
            stream(&format!("/Filter {filter}"), &data),
        ];
        assert_eq!(read(&file(&objects)).text.trim_end(), "Hello", "{filter}");
    }
}

fn hex(data: &[u8]) -> Vec<u8> {
    let digits: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.into_bytes()
}

fn ascii_85(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for group in data.chunks(4) {
        let mut bytes = [0; 4];
        bytes[..group.len()].copy_from_slice(group);
        let value = u32::from_be_bytes(bytes);
        let digits = (0..5).map(|at| (value / 85u32.pow(4 - at) % 85) as u8 + b'!');
        out.extend(digits.take(group.len() + 1));
    }
    out.extend(b"~>");
    out
}

/// Encodes data as nine-bit codes, with no need for a larger table.
fn lzw(data: &[u8]) -> Vec<u8> {
    let codes = [256]
        .into_iter()
        .chain(data.iter().map(|byte| u32::from(*byte)))
        .chain([257]);
    let bits: String = codes.map(|code| format!("{code:09b}")).collect();
    let padded = bits.as_bytes().chunks(8).map(|byte| {
        let byte = format!("{:0<8}", std::str::from_utf8(byte).unwrap());
        u8::from_str_radix(&byte, 2).unwrap()
    });
    padded.collect()
}

#[test]
fn damaged_files_give_what_is_whole() {
    let whole = pages(&[b"BT /F1 12 Tf (One) Tj ET", b"BT /F1 12 Tf (Two) Tj ET"]);
    // Without the trailer and the catalog's number, and cut within the last object.
    let end = whole.len() - 90;
    let document = read(&whole[..end]);
    assert!(document.text.starts_with("One"), "{:?}", document.text);
    let mut without_tree = whole.clone();
    let at = whole
        .windows(5)
        .position(|window| window == b"/Kids")
        .unwrap();
    without_tree[at..at + 5].copy_from_slice(b"/Gone");
    // The root then counts as the only page.
    assert!(extract(&without_tree, "a.pdf", &Limits::default()).is_ok());
}

#[test]
fn what_cannot_be_read_is_refused_or_told() {
    let refused = |bytes: &[u8]| extract(bytes, "a.pdf", &Limits::default()).unwrap_err();
    assert!(matches!(refused(b"%PDF-1.4\n"), IngestError::Broken { .. }));
    let mut locked = pages(&[b""]);
    let at = locked
        .windows(5)
        .position(|window| window == b"/Root")
        .unwrap();
    locked.splice(at..at, b"/Encrypt 9 0 R ".iter().copied());
    assert!(matches!(refused(&locked), IngestError::Encrypted { .. }));
    let empty = read(&pages(&[b"q Q"]));
    assert!(
        empty.text.is_empty() && empty.warnings[0].reason.contains("no text"),
        "{empty:?}"
    );
}

#[test]
fn hostile_files_stay_within_their_limits() {
    let deep = |open: &str, close: &str| {
        [open.repeat(200_000), close.repeat(200_000)]
            .concat()
            .into_bytes()
    };
    let chain = || {
        let nodes =
            (0..20_000).map(|at| format!("<< /Type /Pages /Kids [{} 0 R] >>", at + 3).into_bytes());
        let mut objects = vec![CATALOG.to_vec()];
        objects.extend(nodes);
        file(&objects)
    };
    let tree = |object: Vec<u8>| file(&[CATALOG.to_vec(), object]);
    let cases = [
        ("arrays", tree(deep("[", "]"))),
        ("dictionaries", tree(deep("<< /A ", ">>"))),
        ("arrays in content", pages(&[&deep("[", "]")])),
        ("cycle", tree(b"<< /Type /Pages /Kids [2 0 R 2 0 R] >>".to_vec())),
        ("chain", chain()),
        ("many kids", tree(format!("<< /Kids [{}] >>", "2 0 R ".repeat(400_000)).into_bytes())),
        ("open text", [b"%PDF-1.4\n".to_vec(), b"1 0 obj<<(".repeat(20_000)].concat()),
        ("streams without end", [b"%PDF-1.4\n".to_vec(), b"1 0 obj<<>>stream ".repeat(100_000)].concat()),
        ("length of itself", tree(b"<< /Length 2 0 R >>\nstream\nx".to_vec())),
        ("huge numbers", tree(b"<< /Kids [99999999999999999999 0 R 4294967296 0 R -1 0 R] /Length 1e308 >> stream".to_vec())),
        ("form in itself", file(&[
            CATALOG.to_vec(),
            b"<< /Kids [3 0 R] >>".to_vec(),
            b"<< /Type /Page /Contents 4 0 R /Resources << /XObject << /X 4 0 R >> >> >>".to_vec(),
            stream("/Subtype /Form /Resources << /XObject << /X 4 0 R >> >>", &b"/X Do ".repeat(1000)),
        ])),
        ("wide map", file(&[
            CATALOG.to_vec(),
            b"<< /Kids [3 0 R] >>".to_vec(),
            b"<< /Type /Page /Contents 5 0 R /Resources << /Font << /F << /ToUnicode 4 0 R >> >> >> >>".to_vec(),
            stream("", b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange"),
            stream("", b"/F 1 Tf <00000000ffffffff> Tj"),
        ])),
    ];
    for (name, bytes) in cases {
        // The smallest stack of any thread that reads files.
        let reader = std::thread::Builder::new().stack_size(512 << 10);
        let read = reader.spawn(move || extract(&bytes, "a.pdf", &Limits::default()));
        let read = read.unwrap().join().unwrap();
        assert!(
            !matches!(read, Err(IngestError::Fault { .. })),
            "{name}: {read:?}"
        );
    }
}

#[test]
fn bombs_are_not_inflated() {
    let bomb = deflated(&deflated(&vec![0; 64 << 20]));
    let objects = |dict: &str| {
        file(&[
            CATALOG.to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] >>".to_vec(),
            b"<< /Type /Page /Contents 4 0 R >>".to_vec(),
            stream(dict, &bomb),
        ])
    };
    let document = read(&objects("/Filter [/FlateDecode /FlateDecode]"));
    assert!(
        document.text.is_empty() && document.warnings[0].reason.contains("too large"),
        "{document:?}"
    );
    let document = read(&objects(
        "/Type /ObjStm /First 10 /Filter [/FlateDecode /FlateDecode]",
    ));
    assert!(document.text.is_empty(), "{document:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_a_fault(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = pages(&[b"BT /F1 12 Tf 14 TL (One) Tj T* [(Two) -500 (x)] TJ ET", b"/X Do"]);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let read = extract(&bytes, "a.pdf", &Limits::default());
        prop_assert!(!matches!(read, Err(IngestError::Fault { .. })), "{:?}", read);
    }
}
