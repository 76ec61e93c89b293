//! Detects a file's kind of document from its name and first bytes.

use serde::{Deserialize, Serialize};

/// Kind of document, which decides how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Markdown.
    Markdown,
    /// Plain text.
    Text,
    /// reStructuredText.
    Rst,
    /// HTML.
    Html,
    /// Source code, scripts and configuration.
    Code,
    /// JSON, or one JSON value per line.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// Values separated by commas, semicolons, tabs or bars.
    Csv,
    /// A Word document.
    Docx,
    /// A PowerPoint presentation.
    Pptx,
    /// An Excel workbook.
    Xlsx,
    /// An OpenDocument spreadsheet.
    Ods,
    /// An EPUB book.
    Epub,
    /// A PDF.
    Pdf,
}

impl Kind {
    const ALL: [Self; 15] = [
        Self::Markdown,
        Self::Text,
        Self::Rst,
        Self::Html,
        Self::Code,
        Self::Json,
        Self::Yaml,
        Self::Toml,
        Self::Csv,
        Self::Docx,
        Self::Pptx,
        Self::Xlsx,
        Self::Ods,
        Self::Epub,
        Self::Pdf,
    ];

    /// Returns the name of the kind for use in sentences, and its file extensions, separated by spaces.
    const fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::Markdown => ("Markdown", "md markdown mdown mkd mdx qmd rmd"),
            Self::Text => ("text", "txt text log asc adoc asciidoc org tex srt"),
            Self::Rst => ("reStructuredText", "rst rest"),
            Self::Html => ("HTML", "html htm xhtml shtml"),
            Self::Code => ("source code", CODE),
            Self::Json => ("JSON", "json jsonl ndjson geojson ipynb webmanifest"),
            Self::Yaml => ("YAML", "yaml yml"),
            Self::Toml => ("TOML", "toml"),
            Self::Csv => ("CSV", "csv tsv"),
            Self::Docx => ("docx", "docx docm"),
            Self::Pptx => ("pptx", "pptx pptm"),
            Self::Xlsx => ("xlsx", "xlsx xlsm"),
            Self::Ods => ("ods", "ods"),
            Self::Epub => ("EPUB", "epub"),
            Self::Pdf => ("PDF", "pdf"),
        }
    }

    /// Returns the name of the kind for use in sentences.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.description().0
    }

    /// Returns the most common file extension of the kind.
    #[must_use]
    pub fn usual_extension(self) -> &'static str {
        match self {
            Self::Code => "txt",
            other => other.description().1.split(' ').next().unwrap_or_default(),
        }
    }

    /// Whether files of this kind are plain text.
    #[must_use]
    pub fn is_text(self) -> bool {
        !matches!(
            self,
            Self::Docx | Self::Pptx | Self::Xlsx | Self::Ods | Self::Epub | Self::Pdf
        )
    }
}

/// Extensions of source code, scripts and configuration.
const CODE: &str = "\
    asm awk bash bat bzl c cc cfg clj cljs cmake conf cpp cs css cu cxx d dart diff el elm erl ex \
    exs f90 fish fs fsx glsl go gradle graphql groovy h hcl hh hpp hrl hs hxx ini java jl js jsx kt \
    kts less lisp lua m mk ml mli mm nim nix pas patch php pl pm properties proto ps1 py pyi r rb rs \
    s sass scala scm scss service sh sol sql svelte swift tcl tf ts tsx v vb vhd vim vue wgsl xml \
    xsd xsl zig zsh";
/// Names of such files that have no other extension.
const CODE_NAMES: &str = "\
    makefile gnumakefile dockerfile containerfile jenkinsfile rakefile \
    gemfile vagrantfile justfile cmakelists.txt";

/// Reports whether a list of words, separated by spaces, has this word.
fn lists(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// Returns the part of a name after the last slash.
pub(super) fn base(file_name: &str) -> &str {
    file_name.rsplit(['/', '\\']).next().unwrap_or(file_name)
}

/// Returns the name without folders and extension.
pub(super) fn stem(file_name: &str) -> &str {
    let base = base(file_name);
    match base.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => base,
    }
}

/// Returns the extension in lower case; `None` if the only dot is at the start, or the last part is too long for
/// an extension.
pub(super) fn extension(file_name: &str) -> Option<String> {
    let (stem, extension) = base(file_name).rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=12).contains(&extension.len())
        && extension.chars().all(char::is_alphanumeric);
    is_one.then(|| extension.to_ascii_lowercase())
}

/// Returns the kind that the name implies.
pub(super) fn by_name(file_name: &str) -> Option<Kind> {
    if lists(CODE_NAMES, &base(file_name).to_ascii_lowercase()) {
        return Some(Kind::Code);
    }
    let extension = extension(file_name)?;
    let has_it = |kind: &Kind| lists(kind.description().1, &extension);
    Kind::ALL.into_iter().find(has_it)
}

/// Returns the kind of a text whose name does not imply one.
pub(super) fn by_text(text: &str) -> Kind {
    let start = text.trim_start();
    let begins = |with: &str| {
        start
            .get(..with.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    if begins("#!") {
        Kind::Code
    } else if begins("<!doctype html") || begins("<html") {
        Kind::Html
    } else if begins("<?xml") {
        Kind::Code
    } else {
        Kind::Text
    }
}

/// A format recognised by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    /// A PDF.
    Pdf,
    /// A zip archive: docx, pptx, xlsx, ods, epub or something else.
    Zip,
    /// A format that is not supported.
    Other(&'static str),
}

/// Signatures of formats that are not supported.
const OTHERS: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "gzip"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"BZh9", "bzip2"),
    (b"Rar!\x1a", "rar"),
    (b"\0asm", "WebAssembly"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
];

/// Signature of the old Office container: doc, ppt, xls, or a document with a password.
pub(super) const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// A PDF may have a few bytes before its signature.
const PDF_MARK_WITHIN: usize = 1024;

/// Recognises a format by its first bytes.
pub(super) fn mark(bytes: &[u8]) -> Option<Signature> {
    for (start, what) in OTHERS {
        if bytes.starts_with(start) {
            return Some(Signature::Other(what));
        }
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(Signature::Zip);
    }
    let head = bytes.get(..PDF_MARK_WITHIN).unwrap_or(bytes);
    let is_pdf = bytes.starts_with(b"%PDF-")
        // After other bytes, only in binary data: a text may merely mention the signature.
        || (head.contains(&0) && head.windows(5).any(|window| window == b"%PDF-"));
    is_pdf.then_some(Signature::Pdf)
}
