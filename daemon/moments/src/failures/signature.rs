//! The signature of an output: its first error lines, with what varies taken apart.

use crate::text::list::WordList;
use std::collections::BTreeSet;

use crate::text::beginning;
use crate::text::paths::file_name;
use crate::text::tokens::is_specific;

/// Bytes of an output that are read, at its start and at its end.
const HALF_BYTES_MAX: usize = 32 * 1024;

/// Lines of a signature.
const LINES_MAX: usize = 4;

/// Lines that stand for an output without error lines.
const LAST_LINES: usize = 3;

/// Bytes of a line that are read.
const LINE_BYTES_MAX: usize = 400;

/// What an error line says, in the languages of common tools.
static ERROR_WORDS: WordList = WordList::new(
    "error | failed | failure | fatal | exception | panic | cannot | can't | could not | couldn't | not found | \
    denied | refused | undefined | unresolved | no such | unable | invalid | unexpected | timed out | timeout | \
    err! | missing | not permitted | already in use | does not exist | doesn't exist | unknown | unrecognized | \
    unrecognised | forbidden | unauthorized | unreachable | no space left | out of memory | too many open | is not \
    installed | not recognized | abort | pending | must be | conflict | no module | mismatch | unsupported | \
    expired | fehler | nicht gefunden | fehlgeschlagen | verweigert | erreur | introuvable | échec | refusé | no \
    existe | denegado | falló | 错误 | 失败 | 找不到 | 拒绝",
);

/// Lines that look like errors and say nothing.
static EMPTY_LINES: WordList = WordList::new(
    "exit code | the above exception was | during handling of the above | traceback (most recent call last) | a complete log of this run | 0 errors | 0 failed | no errors | error: \
    aborting due to | for more information about this error | could not compile | npm err! code elifecycle | test \
    result: | make: *** | error command failed | short test summary | note: run with `rust_backtrace | failures:",
);

/// The signature of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The lines as they were, without colours and times, in at most 400 bytes each.
    pub lines: Vec<String>,
    /// The words of the template: what every such failure says.
    pub words: BTreeSet<String>,
    /// What varies: quoted texts, identifiers, options of a linker.
    pub parameters: BTreeSet<String>,
    /// Names of files.
    pub files: BTreeSet<String>,
    /// Ports, status codes, error codes and exit statuses, which separate causes.
    pub codes: BTreeSet<String>,
}

impl Signature {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.parameters.is_empty()
    }

    /// Returns the template as one text. Equal templates with equal parameters are the same failure.
    #[must_use]
    pub fn template(&self) -> String {
        let words: Vec<&str> = self
            .words
            .iter()
            .chain(&self.codes)
            .map(String::as_str)
            .collect();
        words.join(" ")
    }
}

/// Returns the signature of a failed command's output.
///
/// ```
/// let signature = lored_moments::failures::signature("ModuleNotFoundError: No module named 'yaml'\n");
/// assert!(signature.words.contains("module") && signature.parameters.contains("yaml"));
/// ```
#[must_use]
pub fn signature(output: &str) -> Signature {
    let (start, end) = if output.len() > 2 * HALF_BYTES_MAX {
        (
            beginning(output, HALF_BYTES_MAX),
            crate::text::ending(output, HALF_BYTES_MAX),
        )
    } else {
        (output, "")
    };
    let mut errors: Vec<String> = Vec::new();
    let mut last: Vec<String> = Vec::new();
    for line in start.lines().chain(end.lines()) {
        let line = without_colours(beginning(line, 4 * LINE_BYTES_MAX));
        let line = beginning(line.trim(), LINE_BYTES_MAX).to_owned();
        if line.chars().filter(|c| c.is_alphabetic()).count() < 2 {
            continue;
        }
        // The message of a panic stands in the line after its place.
        let is_message = errors
            .last()
            .is_some_and(|last| last.contains(" panicked at ") && last.ends_with(':'));
        if errors.len() < LINES_MAX && (is_message || is_error(&line)) && !errors.contains(&line) {
            errors.push(line);
        } else if errors.is_empty() {
            if last.len() == LAST_LINES {
                last.remove(0);
            }
            last.push(line);
        }
        if errors.len() == LINES_MAX {
            break;
        }
    }
    let lines = if errors.is_empty() { last } else { errors };
    let mut made = Signature::default();
    for line in &lines {
        read_line(line, &mut made);
    }
    made.lines = lines;
    made
}

fn is_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_empty = lower == "error:"
        || EMPTY_LINES
            .iter()
            .any(|empty| lower.contains(empty) && lower.len() <= empty.len() + 40);
    // Frames of traces name files, not causes.
    let is_frame =
        lower.starts_with("at ") || lower.starts_with("file \"") || is_numbered_frame(&lower);
    let is_pytest_location = lower.starts_with("failed ") && lower.contains("::");
    if is_empty || is_frame || is_pytest_location || is_code(line) {
        return false;
    }
    ERROR_WORDS.iter().any(|word| lower.contains(word))
        || line.starts_with("E ")
        || line.starts_with("E\t")
}

/// Whether a line is a frame such as `1: core::panicking::panic_fmt`.
fn is_numbered_frame(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(number, name)| {
        !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && name.contains("::")
            && !name.contains(' ')
    })
}

/// Whether a line is source code, a rule or data that the output shows: it may speak of errors without being one.
fn is_code(line: &str) -> bool {
    const STARTS: [&str; 9] = [
        "==", "^", "+ ", "+\t", "raise ", "throw ", "return ", "let ", "#",
    ];
    let starts_as_code = STARTS.iter().any(|start| line.starts_with(start));
    let is_data = line.starts_with('"') && line.ends_with([',', '{', '[']);
    let ends_as_code = line.ends_with('{') || line.ends_with("};") || line.ends_with("),");
    starts_as_code || is_data || ends_as_code
}

/// Removes escape sequences of terminals and other control characters.
fn without_colours(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() || c == '\u{7}' {
                    break;
                }
            }
        } else if c == '\t' {
            clean.push(' ');
        } else if !c.is_control() {
            clean.push(c);
        }
    }
    clean
}

fn read_line(line: &str, made: &mut Signature) {
    let mut rest = line;
    let mut before = String::new();
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let from = rest.get(start..).unwrap_or_default();
        if let Some((quoted, after)) = quoted(from) {
            read_quoted(quoted, made);
            before = String::from("\"");
            rest = after;
            continue;
        }
        let end = from
            .find(|c: char| c.is_whitespace() || is_opening(c))
            .filter(|end| *end > 0);
        let end = end.unwrap_or_else(|| {
            from.chars().next().map_or(from.len(), |c| {
                if is_opening(c) {
                    c.len_utf8()
                } else {
                    from.len()
                }
            })
        });
        let (word, after) = from.split_at(end);
        read_word(word, &before, made);
        before = word.to_lowercase();
        rest = after;
    }
}

const fn is_opening(c: char) -> bool {
    matches!(c, '"' | '`' | '“' | '«')
}

/// Returns a quoted text at the start, and what follows it. An apostrophe opens only before a word.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '`' | '\'' => open,
        '“' => '”',
        '«' => '»',
        '‘' => '’',
        _ => return None,
    };
    let inner = text.get(open.len_utf8()..)?;
    let end = inner.find(close).filter(|end| (1..=200).contains(end))?;
    Some((inner.get(..end)?, inner.get(end + close.len_utf8()..)?))
}

fn read_quoted(text: &str, made: &mut Signature) {
    let text = text.trim();
    if is_path(text) {
        read_path(text, made);
    } else if text.split_whitespace().count() > 3 {
        // A message within a message.
        for word in text.split_whitespace() {
            read_word(word, "", made);
        }
    } else if !text.is_empty() {
        made.parameters.insert(text.to_lowercase());
    }
}

fn is_path(word: &str) -> bool {
    let has_slash = word.contains('/') || word.contains('\\');
    let parts = word
        .split(['/', '\\'])
        .filter(|part| !part.is_empty())
        .count();
    let is_alternative = !word.contains('.')
        && !word.starts_with(['/', '~'])
        && parts > 1
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '/');
    has_slash && parts > 0 && !word.contains(' ') && !word.contains("://") && !is_alternative
}

fn read_path(path: &str, made: &mut Signature) {
    // `src/lib.rs:88:5` is a place in a file.
    let path = path.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';'));
    let path = path.split(':').next().unwrap_or_default();
    let name = file_name(path).to_lowercase();
    if !name.is_empty() {
        made.files.insert(name);
    }
}

fn read_word(raw: &str, before: &str, made: &mut Signature) {
    let word =
        raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '/' | '~' | '_'));
    let word = word.trim_end_matches(['-', '/', '_']);
    if word.is_empty() {
        return;
    }
    if word.contains("://") {
        let host = word
            .split("://")
            .nth(1)
            .unwrap_or_default()
            .split('/')
            .next()
            .unwrap_or_default();
        made.parameters.insert(host.to_lowercase());
        return;
    }
    let lower = word.to_lowercase();
    if let Some(code) = code(raw, &lower, before) {
        made.codes.insert(code);
        return;
    }
    if is_path(word) {
        read_path(word, made);
        return;
    }
    // `E0502` and `TS2345` name the error itself; so do `ECONNREFUSED` and `ERESOLVE`.
    let is_error_code = word.len() <= 24
        && word.chars().any(|c| c.is_ascii_uppercase())
        && !word.chars().any(|c| c.is_ascii_lowercase())
        && word.chars().next().is_some_and(|c| c.is_ascii_uppercase())
        && word.len() >= 4;
    if is_error_code && word.chars().any(|c| c.is_ascii_digit()) && !word.contains('-') {
        made.codes.insert(lower);
        return;
    }
    if lower.starts_with("-l") && lower.len() > 2 && !lower.starts_with("--") {
        made.parameters.insert(lower);
        return;
    }
    if is_volatile(&lower) {
        return;
    }
    // Names of exceptions belong to the template: `ModuleNotFoundError`, `django.db.utils.ProgrammingError`.
    let last = word.rsplit(['.', ':']).next().unwrap_or_default();
    let is_exception = ["Error", "Exception", "Failure", "Warning"]
        .iter()
        .any(|end| last.ends_with(end));
    if is_exception {
        made.words.insert(last.to_lowercase());
    } else if is_error_code
        || (!is_specific(word)
            && lower
                .chars()
                .all(|c| c.is_alphabetic() || matches!(c, '-' | '\'')))
    {
        made.words.insert(lower);
    } else if is_file_name(word) {
        read_path(word, made);
    } else {
        made.parameters.insert(lower);
    }
}

/// Whether a word is the name of a file with an ending.
fn is_file_name(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            && !stem.ends_with(')')
            && stem.chars().any(char::is_alphabetic)
            && ending.chars().any(char::is_alphabetic)
    })
}

/// Returns a port, a status, an errno or an exit status.
fn code(raw: &str, word: &str, before: &str) -> Option<String> {
    let digits = |text: &str| {
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.to_owned())
    };
    // `localhost:5432` and `:::3000`, but not `main.rs:88:5`.
    if let Some((host, port)) = raw
        .trim_end_matches(|c: char| !c.is_ascii_digit())
        .rsplit_once(':')
        && (2..=5).contains(&port.len())
        && !host.contains('(')
        && !is_file_name(host)
        && let Some(port) = digits(port)
        && !host
            .chars()
            .next_back()
            .is_some_and(|c| c.is_ascii_digit() && !host.contains('.'))
    {
        return Some(format!("port {port}"));
    }
    let number = digits(word)?;
    let before = before.trim_matches(|c: char| !c.is_alphanumeric());
    match (before, number.len()) {
        ("port", 2..=5) => Some(format!("port {number}")),
        ("status" | "code" | "http" | "error" | "http/1.1" | "errno", 3)
            if matches!(number.as_bytes().first(), Some(b'4' | b'5')) =>
        {
            Some(format!("status {number}"))
        }
        ("error" | "errno" | "code" | "status" | "signal", _) if number != "1" => {
            Some(format!("{before} {number}"))
        }
        _ if number.len() == 3 && matches!(number.as_bytes(), [b'4' | b'5', b'0'..=b'2', _]) => {
            Some(format!("status {number}"))
        }
        _ => None,
    }
}

/// Whether a word changes from run to run: times, hashes, numbers, addresses.
fn is_volatile(word: &str) -> bool {
    let hex = word.strip_prefix("0x").unwrap_or(word);
    let is_hex = hex.len() >= 6
        && hex.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        && hex.chars().any(|c| c.is_ascii_digit());
    let is_number = word
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_digit() || c == '-')
        && word.chars().all(|c| {
            c.is_ascii_digit()
                || matches!(
                    c,
                    '.' | ':' | ',' | '-' | '%' | 's' | 'm' | 'x' | 't' | 'z' | 'k' | 'b'
                )
        });
    is_hex || is_number
}
