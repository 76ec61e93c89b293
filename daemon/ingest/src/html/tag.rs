//! HTML tags that delimit blocks.

/// Role of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Title,
    Heading(u32),
    /// Ends the previous block and begins its own.
    Block,
    Break,
    Pre,
    List,
    NumberedList,
    Item,
    Table,
    Row,
    Cell,
    Image,
    /// Its content is not text.
    Silent(&'static str),
    /// Part of a line, or an unknown tag.
    Inline,
}

/// Tags whose content is not text for a reader.
const SILENT: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object",
];
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "head",
    "header",
    "hr",
    "html",
    "legend",
    "main",
    "nav",
    "option",
    "p",
    "section",
    "select",
    "summary",
    "tbody",
    "textarea",
    "tfoot",
    "thead",
];

/// Returns the role of a tag, by its name in lower case.
pub(super) fn tag_of(name: &[u8]) -> Tag {
    match name {
        b"title" => Tag::Title,
        b"h1" => Tag::Heading(1),
        b"h2" => Tag::Heading(2),
        b"h3" => Tag::Heading(3),
        b"h4" => Tag::Heading(4),
        b"h5" => Tag::Heading(5),
        b"h6" => Tag::Heading(6),
        b"br" => Tag::Break,
        b"pre" => Tag::Pre,
        b"ul" | b"menu" | b"dir" => Tag::List,
        b"ol" => Tag::NumberedList,
        b"li" => Tag::Item,
        b"table" => Tag::Table,
        b"tr" => Tag::Row,
        b"td" | b"th" => Tag::Cell,
        b"img" => Tag::Image,
        _ => {
            let listed =
                |list: &[&'static str]| list.iter().copied().find(|tag| tag.as_bytes() == name);
            match listed(SILENT) {
                Some(silent) => Tag::Silent(silent),
                None if listed(BLOCKS).is_some() => Tag::Block,
                None => Tag::Inline,
            }
        }
    }
}
