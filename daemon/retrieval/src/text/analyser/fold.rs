//! Character folding for search: lower case, no accents, expanded ligatures.

use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// Appends the folded form of `one`; nothing for a mark that only modifies the letter before it.
pub fn push(out: &mut String, one: char) {
    if one.is_ascii() {
        out.push(one.to_ascii_lowercase());
        return;
    }
    match one {
        '\u{300}'..='\u{36f}' => {}
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        'ø' | 'Ø' => out.push('o'),
        'đ' | 'Đ' | 'ð' | 'Ð' => out.push('d'),
        'ł' | 'Ł' => out.push('l'),
        'þ' | 'Þ' => out.push_str("th"),
        'ı' => out.push('i'),
        'ς' => out.push('σ'),
        // Accented Latin, Greek and Cyrillic letters.
        '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => {
            decompose_canonical(one, |part| lower(out, part));
        }
        // Ligatures and full-width forms.
        '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ff9f}' => {
            decompose_compatible(one, |part| lower(out, part));
        }
        other => lower(out, other),
    }
}

fn lower(out: &mut String, part: char) {
    if !('\u{300}'..='\u{36f}').contains(&part) {
        out.extend(part.to_lowercase());
    }
}
