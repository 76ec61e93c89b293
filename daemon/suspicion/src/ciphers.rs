//! Alphabets that nobody writes by accident: numbers for letters, Morse, Braille, base32, quoted-printable, words in one.
//!
//! Each is looked for by a few bytes that every such text has, so that a plain text costs little.

use memchr::memmem;

use crate::encodings::Decoded;

/// Letters of a text in another alphabet, at least.
const LETTERS_MIN: usize = 12;

/// Bytes around a place that are read, at most, and of one text in another alphabet.
const AROUND_BYTES: usize = 240;
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Letters of a word that hides several, and capitals in it.
const JOINED_MIN: usize = 24;
const CAPITALS_MIN: usize = 5;

/// Returns the parts of a window in another alphabet.
pub fn decoded(window: &str, all: &mut Vec<Decoded>) {
    each(window, b"1", is_in_numbers, &mut |part| numbers(part), all);
    each(window, b".-", is_in_morse, &mut |part| morse(part), all);
    each(
        window,
        b"=6",
        is_in_quoted,
        &mut |part| quoted_printable(part),
        all,
    );
    each(window, BRAILLE_BEGINS, is_in_braille, &mut braille, all);
    pieces(window, all);
}

/// Decodes the runs of some characters around each place that has certain bytes. A run is read once.
fn each(
    window: &str,
    sign: &[u8],
    is_within: fn(char) -> bool,
    decode: &mut dyn FnMut(&str) -> Option<String>,
    all: &mut Vec<Decoded>,
) {
    let (bytes, mut from) = (window.as_bytes(), 0);
    while let Some(found) = memmem::find(bytes.get(from..).unwrap_or_default(), sign) {
        let at = from + found;
        from = at + sign.len();
        if !window.is_char_boundary(at) {
            continue;
        }
        let (before, after) = window.split_at(at);
        let length = after.find(|c| !is_within(c)).unwrap_or(after.len());
        let back = before.chars().rev().take_while(|c| is_within(*c));
        let back: usize = back.take(AROUND_BYTES).map(char::len_utf8).sum();
        let end = at + length.min(TEXT_BYTES_MAX);
        from = from.max(at + length);
        if end - (at - back) < 2 * LETTERS_MIN {
            continue;
        }
        let end = window.floor_char_boundary(end);
        let part = window.get(at - back..end).unwrap_or_default();
        if let Some(text) = decode(part) {
            all.push(Decoded {
                range: at - back..end,
                text,
                is_joined: false,
                is_disguise: true,
                is_odd: true,
            });
        }
    }
}

const fn is_in_numbers(c: char) -> bool {
    matches!(c, '0'..='9' | ' ' | ',')
}

const fn is_in_morse(c: char) -> bool {
    matches!(c, '.' | '-' | ' ' | '/' | '|')
}

const fn is_in_quoted(c: char) -> bool {
    matches!(c, '=' | '0'..='9' | 'A'..='F' | 'a'..='f' | '\n')
}

const fn is_in_braille(c: char) -> bool {
    matches!(c, '\u{2800}'..='\u{28ff}' | ' ')
}

/// Codes of letters in decimal digits, or in groups of eight bits: `73, 103`, `01001001 01100111`.
fn numbers(part: &str) -> Option<String> {
    let words = part.split([' ', ',']).filter(|word| !word.is_empty());
    let mut text = String::new();
    for word in words {
        let code = match word.len() {
            8 => u8::from_str_radix(word, 2).ok(),
            2 | 3 => word.parse::<u8>().ok(),
            _ => None,
        };
        match code {
            Some(code @ (b' '..=b'~' | b'\n')) => text.push(char::from(code)),
            // A number that is no letter ends what came before it.
            _ if text.len() >= LETTERS_MIN => break,
            _ => text.clear(),
        }
    }
    is_text(&text).then_some(text)
}

/// Whether most of a text is letters and spaces: numbers of other things give all sorts of marks.
fn is_text(text: &str) -> bool {
    let letters = text
        .bytes()
        .filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    text.len() >= LETTERS_MIN && letters.count() * 10 >= text.len() * 8
}

/// The letters of Morse code, in the order of the alphabet.
const MORSE: [&str; 26] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
    "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
];

fn morse(part: &str) -> Option<String> {
    let mut text = String::new();
    for word in part.split(['/', '|']) {
        if !text.is_empty() {
            text.push(' ');
        }
        for sign in word.split_whitespace() {
            let at = MORSE.iter().position(|letter| *letter == sign)?;
            text.push(char::from(b'a' + u8::try_from(at).ok()?));
        }
    }
    (text.len() >= LETTERS_MIN).then_some(text)
}

/// `=49=67`, whose lines may end with `=`.
fn quoted_printable(part: &str) -> Option<String> {
    let mut text = String::new();
    for code in part.split('=').skip(1) {
        let code = code.trim_end();
        if code.is_empty() {
            continue;
        }
        let byte = u8::from_str_radix(code.get(..2)?, 16).ok()?;
        text.push(char::from(byte));
    }
    is_text(&text).then_some(text)
}

/// The first byte of a Braille character in UTF-8, which other signs have, too.
const BRAILLE_BEGINS: &[u8] = &[0xe2];

/// The letters of Braille by their dots, in the order of the alphabet.
const BRAILLE: [u32; 26] = [
    0x01, 0x03, 0x09, 0x19, 0x11, 0x0b, 0x1b, 0x13, 0x0a, 0x1a, 0x05, 0x07, 0x0d, 0x1d, 0x15, 0x0f,
    0x1f, 0x17, 0x0e, 0x1e, 0x25, 0x27, 0x3a, 0x2d, 0x3d, 0x35,
];

fn braille(part: &str) -> Option<String> {
    let letter = |c: char| match u32::from(c).wrapping_sub(0x2800) {
        _ if c == ' ' => Some(' '),
        0 => Some(' '),
        dots => {
            let at = BRAILLE.iter().position(|known| *known == dots)?;
            Some(char::from(b'a' + u8::try_from(at).ok()?))
        }
    };
    let text: String = part.chars().filter_map(letter).collect();
    (text.trim().len() >= LETTERS_MIN).then_some(text)
}

/// Strings that are put together: `"ign" + "ore"`.
fn pieces(window: &str, all: &mut Vec<Decoded>) {
    let (bytes, mut from) = (window.as_bytes(), 0);
    while let Some(found) = memmem::find(bytes.get(from..).unwrap_or_default(), b"\" + \"") {
        let at = from + found;
        let start = window.floor_char_boundary(at.saturating_sub(AROUND_BYTES));
        let end = window.floor_char_boundary(at + 4 * AROUND_BYTES);
        from = end.max(at + 1);
        let part = window.get(start..end).unwrap_or_default();
        if part.matches("\" + \"").count() >= 2 {
            all.push(Decoded {
                range: start..end,
                text: part.replace("\" + \"", ""),
                is_joined: false,
                is_disguise: false,
                is_odd: false,
            });
        }
    }
}

/// Decodes base32 as far as it is a text.
pub fn unbase32(run: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(run.len() * 5 / 8), 0_u32, 0);
    for byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5 | u32::from(value)) & 0xffff;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// Reads the words of a word with capitals in it: `ForgetWhatYouWereAsked`.
pub fn words_in_one(run: &[u8]) -> Option<String> {
    let capitals = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let is_word = run.len() >= JOINED_MIN && run.iter().all(u8::is_ascii_alphabetic);
    if !is_word || capitals < CAPITALS_MIN || capitals * 2 > run.len() {
        return None;
    }
    let mut text = String::with_capacity(run.len() + capitals);
    for byte in run {
        if byte.is_ascii_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(char::from(byte.to_ascii_lowercase()));
    }
    Some(text)
}
