//! Decodes the bytes that a page shows with a font into characters and their widths.

use super::cmap::{CMap, number};
use super::glyphs;
use super::object::{Dict, Object};
use super::store::Store;
use std::collections::HashMap;

/// Default width of a glyph, in thousandths of the font size.
const USUAL_WIDTH: f64 = 500.0;
/// Limit on the widths of a font.
const WIDTHS_MAX: usize = 30_000;

/// A decoded character.
pub(super) struct Glyph {
    pub text: Option<String>,
    /// Width in thousandths of the font size.
    pub width: f64,
    /// Whether the code is the single-byte space, which word spacing widens.
    pub is_space: bool,
}

/// A font of a page.
#[derive(Default)]
pub(super) struct Font {
    map: Option<CMap>,
    /// The texts of a simple font's codes, by code.
    codes: Vec<Option<String>>,
    widths: HashMap<u32, f64>,
    usual_width: f64,
    code_bytes: usize,
}

impl Font {
    /// Reads a font from its dictionary.
    pub fn read(store: &Store<'_>, dict: &Dict) -> Self {
        let map = match dict.get(&b"ToUnicode"[..]) {
            Some(Object::Reference(number)) => store.stream(*number).and_then(Result::ok),
            _ => None,
        };
        let map = map.map(|(_, bytes)| CMap::read(&bytes));
        let is_composite = dict.get(&b"Subtype"[..]).and_then(Object::name) == Some(b"Type0");
        let mut font = Self {
            usual_width: USUAL_WIDTH,
            code_bytes: 1,
            ..Self::default()
        };
        if is_composite {
            font.code_bytes = map.as_ref().and_then(|map| map.code_bytes).unwrap_or(2);
            font.composite_widths(store, dict);
        } else {
            font.codes = codes(store, dict);
            font.simple_widths(store, dict);
        }
        font.map = map;
        font
    }

    /// Decodes the bytes of a shown text.
    pub fn glyphs(&self, bytes: &[u8]) -> Vec<Glyph> {
        let codes = bytes.chunks(self.code_bytes.max(1));
        let shown = codes.map(|code| {
            let number = number(code);
            let mapped = self.map.as_ref().and_then(|map| map.text(number));
            let own = || self.codes.get(number as usize).cloned().flatten();
            Glyph {
                text: mapped.or_else(own),
                width: self
                    .widths
                    .get(&number)
                    .copied()
                    .unwrap_or(self.usual_width),
                is_space: code == b" ",
            }
        });
        shown.collect()
    }

    fn simple_widths(&mut self, store: &Store<'_>, dict: &Dict) {
        let first = store
            .value(dict, b"FirstChar")
            .and_then(|first| first.number());
        let first = first.unwrap_or_default().clamp(0.0, 255.0) as u32;
        // A Type 3 font defines its own unit for widths.
        let scale = match store.value(dict, b"FontMatrix") {
            Some(Object::Array(matrix)) => {
                matrix.first().and_then(Object::number).unwrap_or(0.001) * 1000.0
            }
            _ => 1.0,
        };
        if let Some(Object::Array(widths)) = store.value(dict, b"Widths") {
            let widths = widths.iter().take(256);
            let widths = (first..)
                .zip(widths)
                .filter_map(|(code, width)| Some((code, width.number()? * scale)));
            self.widths = widths.collect();
        }
    }

    /// Reads the widths of a composite font: `[c [w1 w2 …] first last w …]`.
    fn composite_widths(&mut self, store: &Store<'_>, dict: &Dict) {
        let inner = match store.value(dict, b"DescendantFonts") {
            Some(Object::Array(fonts)) => fonts.first().and_then(|font| store.resolved(font)),
            _ => None,
        };
        let Some(Object::Dict(inner)) = inner else {
            return;
        };
        let usual = store.value(&inner, b"DW").and_then(|width| width.number());
        self.usual_width = usual.unwrap_or(1000.0);
        let Some(Object::Array(widths)) = store.value(&inner, b"W") else {
            return;
        };
        let mut widths = widths.iter();
        while let (Some(first), Some(next)) = (widths.next(), widths.next()) {
            let Some(first) = first.number().map(|first| first.max(0.0) as u32) else {
                return;
            };
            match store.resolved(next) {
                Some(Object::Array(each)) => {
                    let each = (first..).zip(&each);
                    self.widths
                        .extend(each.filter_map(|(code, width)| Some((code, width.number()?))));
                }
                Some(Object::Number(last)) => {
                    let width = widths
                        .next()
                        .and_then(Object::number)
                        .unwrap_or(self.usual_width);
                    let last = (last.max(0.0) as u32).min(first.saturating_add(0xffff));
                    self.widths.extend((first..=last).map(|code| (code, width)));
                }
                _ => return,
            }
            if self.widths.len() > WIDTHS_MAX {
                return;
            }
        }
    }
}

/// Returns the texts of the 256 codes of a simple font.
fn codes(store: &Store<'_>, dict: &Dict) -> Vec<Option<String>> {
    let encoding = store.value(dict, b"Encoding");
    let (base, differences) = match &encoding {
        Some(Object::Name(name)) => (Some(name.clone()), None),
        Some(Object::Dict(encoding)) => (
            encoding
                .get(&b"BaseEncoding"[..])
                .and_then(Object::name)
                .map(<[u8]>::to_vec),
            store.value(encoding, b"Differences"),
        ),
        _ => (None, None),
    };
    let table = match base.as_deref() {
        Some(b"MacRomanEncoding") => encoding_rs::MACINTOSH,
        _ => encoding_rs::WINDOWS_1252,
    };
    let is_standard = base.is_none();
    let all: Vec<u8> = (0..=255).collect();
    let (text, _) = table.decode_without_bom_handling(&all);
    let mut codes: Vec<Option<String>> = text
        .chars()
        .map(|c| (!c.is_control()).then(|| c.to_string()))
        .collect();
    if is_standard {
        for (code, text) in STANDARD {
            if let Some(slot) = codes.get_mut(*code) {
                *slot = Some((*text).to_owned());
            }
        }
    }
    if let Some(Object::Array(differences)) = differences {
        let mut code = 0usize;
        for difference in &differences {
            match difference {
                Object::Number(number) => code = number.clamp(0.0, 256.0) as usize,
                Object::Name(name) => {
                    if let Some(slot) = codes.get_mut(code) {
                        *slot = std::str::from_utf8(name).ok().and_then(glyphs::text);
                    }
                    code += 1;
                }
                _ => {}
            }
        }
    }
    codes
}

/// The codes where Adobe's standard encoding, a font's default, differs from Windows-1252.
const STANDARD: &[(usize, &str)] = &[
    (0o047, "’"),
    (0o140, "‘"),
    (0o244, "⁄"),
    (0o246, "ƒ"),
    (0o250, "¤"),
    (0o251, "'"),
    (0o252, "“"),
    (0o254, "‹"),
    (0o255, "›"),
    (0o256, "fi"),
    (0o257, "fl"),
    (0o261, "–"),
    (0o262, "†"),
    (0o263, "‡"),
    (0o264, "·"),
    (0o267, "•"),
    (0o270, "‚"),
    (0o271, "„"),
    (0o272, "”"),
    (0o274, "…"),
    (0o275, "‰"),
    (0o320, "—"),
    (0o341, "Æ"),
    (0o350, "Ł"),
    (0o351, "Ø"),
    (0o352, "Œ"),
    (0o361, "æ"),
    (0o365, "ı"),
    (0o370, "ł"),
    (0o371, "ø"),
    (0o372, "œ"),
    (0o373, "ß"),
];
