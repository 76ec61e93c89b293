//! Documents and presentations: archives of arbitrary bytes, and valid archives with arbitrary parts, which the
//! input separates by zero bytes.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use lored_ingest::{Limits, Sizes, chunks, extract};
use rawzip::{CompressionMethod, ZipArchiveWriter};

const WORDS: [&str; 3] = ["word/document.xml", "word/styles.xml", "word/footnotes.xml"];
const SLIDES: [&str; 5] = [
    "ppt/presentation.xml",
    "ppt/_rels/presentation.xml.rels",
    "ppt/slides/slide1.xml",
    "ppt/slides/_rels/slide1.xml.rels",
    "ppt/notesSlides/notesSlide1.xml",
];

fuzz_target!(|bytes: &[u8]| {
    let words = (archive(&WORDS, bytes), "a.docx");
    let slides = (archive(&SLIDES, bytes), "a.pptx");
    for (bytes, name) in [(bytes.to_vec(), "a.docx"), words, slides] {
        if let Ok(document) = extract(&bytes, name, &Limits::default()) {
            for chunk in chunks(&document, &Sizes::default()) {
                assert!(document.text.get(chunk.range).is_some());
            }
        }
    }
});

/// Builds an archive with these parts.
fn archive(names: &[&str], parts: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (name, part) in names.iter().zip(parts.split(|byte| *byte == 0)) {
        let file = archive
            .new_file(name)
            .compression_method(CompressionMethod::STORE);
        let (mut entry, config) = file.start().expect("a name is fine");
        let mut writer = config.wrap(&mut entry);
        writer.write_all(part).expect("in memory");
        let (_, descriptor) = writer.finish().expect("in memory");
        entry.finish(descriptor).expect("in memory");
    }
    archive.finish().expect("in memory")
}
