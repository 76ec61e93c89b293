//! Parser of whole Python literals, for servers that print them instead of JSON.

use super::flat::{Source, Span};
use super::json::{hex, number};
use super::nodes::{Kind, NodeLabel, Nodes};
use super::scan::{ParentSlot, Scan, ScanError};

/// Maximum length of a call's name, in bytes.
const NAME_MAX: usize = 32;

/// Maximum length of a call's arguments, in bytes.
const ARGUMENTS_MAX: usize = 200;

/// Maximum length of the first key that distinguishes a dict from a set, in bytes.
const KEY_MAX: usize = 4096;

/// Parses one literal that begins at `start`: lists, tuples, sets, dicts, strings, numbers, `None`, dates. Returns its
/// end, else where parsing failed.
pub(super) fn read(
    source: &Source<'_>,
    out: &mut Nodes,
    start: usize,
    place: ParentSlot,
) -> Result<usize, usize> {
    let mut scan = Scan::new(source, out, start, 0);
    let read = value(&mut scan, place);
    scan.flush();
    match read {
        Ok(()) => Ok(scan.pos),
        Err(ScanError) => Err(scan.pos),
    }
}

fn value(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    match scan.peek() {
        Some(b'{') => braces(scan, place),
        Some(b'[') => sequence(scan, place, b']'),
        Some(b'(') => sequence(scan, place, b')'),
        Some(b'\'' | b'"') => {
            let text = string(scan, false)?;
            scan.leaf(place, Kind::String, text);
            Ok(())
        }
        Some(b'-' | b'0'..=b'9') => {
            let start = scan.here();
            number(scan)?;
            let end = scan.here();
            scan.leaf(place, Kind::Number, Span { start, end });
            Ok(())
        }
        Some(_) => named(scan, place),
        None => Err(ScanError),
    }
}

/// Parses a constant, a prefixed string, or a call that represents a value.
fn named(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    for (prefix, raw) in [("b", false), ("u", false), ("r", true)] {
        let quote = scan.at(scan.pos + prefix.len());
        if matches!(quote, Some(b'\'' | b'"')) && scan.take_word(prefix) {
            let text = string(scan, raw)?;
            scan.leaf(place, Kind::String, text);
            return Ok(());
        }
    }
    let start = scan.here();
    for (word, kind) in [
        ("True", Kind::Bool(true)),
        ("False", Kind::Bool(false)),
        ("None", Kind::Null),
        ("nan", Kind::Null),
        ("inf", Kind::Null),
    ] {
        if scan.take_word(word) {
            let end = scan.here();
            scan.leaf(place, kind, Span { start, end });
            return Ok(());
        }
    }
    call(scan, place)
}

/// Parses `datetime.date(2025, 9, 2)`, `datetime.datetime(…)`, `Decimal('1.5')` and `UUID('…')`.
fn call(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    let at = scan.pos;
    let rest = scan.rest();
    let name_end = rest.bytes().take(NAME_MAX).position(|byte| byte == b'(');
    let (name, arguments) = rest
        .split_at_checked(name_end.ok_or(ScanError)?)
        .ok_or(ScanError)?;
    let arguments = closed(arguments.get(1..).unwrap_or_default())?;
    let (text, kind) = match name {
        "date" | "datetime.date" => (moment(arguments, false)?, Kind::String),
        "datetime" | "datetime.datetime" => (moment(arguments, true)?, Kind::String),
        "UUID" | "uuid.UUID" => (unquoted(arguments), Kind::String),
        "Decimal" | "decimal.Decimal" => decimal(unquoted(arguments)),
        _ => return Err(ScanError),
    };
    scan.flush();
    scan.pos = at + name.len() + arguments.len() + 2;
    let start = scan.out.flat.here();
    for c in text.chars() {
        scan.stand_in(c, at);
    }
    let end = scan.out.flat.here();
    scan.skip_copy();
    scan.leaf(place, kind, Span { start, end });
    Ok(())
}

fn unquoted(argument: &str) -> String {
    argument.trim_matches(['\'', '"']).to_owned()
}

/// Returns a decimal as a number, or as a string if JSON cannot represent it.
fn decimal(digits: String) -> (String, Kind) {
    let kind = match digits.parse::<serde_json::Number>() {
        Ok(_) => Kind::Number,
        Err(_) => Kind::String,
    };
    (digits, kind)
}

/// Returns the arguments up to the closing bracket. Long arguments are an error.
fn closed(arguments: &str) -> Result<&str, ScanError> {
    let mut open = 0_usize;
    for (at, byte) in arguments.bytes().enumerate().take(ARGUMENTS_MAX) {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return arguments.get(..at).ok_or(ScanError),
            b')' => open -= 1,
            _ => {}
        }
    }
    Err(ScanError)
}

/// Formats the arguments of a date or date-time in ISO 8601.
fn moment(arguments: &str, with_time: bool) -> Result<String, ScanError> {
    let mut fields = [0_u32; 7];
    let mut given = 0;
    let mut offset = "";
    for argument in arguments.split(',').map(str::trim) {
        if let Some(zone) = argument.strip_prefix("tzinfo=") {
            offset = match zone {
                "datetime.timezone.utc" | "<UTC>" => "Z",
                _ => "",
            };
            break;
        }
        *fields.get_mut(given).ok_or(ScanError)? = argument.parse().map_err(|_| ScanError)?;
        given += 1;
    }
    let [year, month, day, hour, minute, second, micro] = fields;
    if given < 3 {
        return Err(ScanError);
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if !with_time {
        return Ok(date);
    }
    let fraction = if micro > 0 {
        format!(".{micro:06}")
    } else {
        String::new()
    };
    Ok(format!(
        "{date}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}"
    ))
}

/// Parses a dict or a set.
fn braces(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    let is_dict = is_dict(scan)?;
    if !is_dict {
        return sequence(scan, place, b'}');
    }
    let id = scan.enter(place, Kind::Object)?;
    scan.blanks();
    while !scan.take(b'}') {
        let key = key(scan)?;
        scan.blanks();
        if !scan.take(b':') {
            return Err(ScanError);
        }
        scan.blanks();
        let label = NodeLabel::Key(key);
        value(scan, ParentSlot::New { parent: id, label })?;
        scan.blanks();
        if !scan.comma() && scan.peek() != Some(b'}') {
            return Err(ScanError);
        }
        scan.blanks();
    }
    scan.leave(place, id);
    Ok(())
}

/// Returns whether the braces contain `key: value` pairs. Empty braces do. Examines only the first key.
fn is_dict(scan: &Scan<'_>) -> Result<bool, ScanError> {
    let ahead = scan.rest().bytes().skip(1).take(KEY_MAX);
    let mut quote = None;
    let mut escaped = false;
    for byte in ahead {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b':' | b'}') => return Ok(true),
            (None, b',') => return Ok(false),
            (None, _) => {}
        }
    }
    Err(ScanError)
}

/// Parses a dict's key: a string, or the text of a number or constant.
fn key(scan: &mut Scan<'_>) -> Result<Span, ScanError> {
    if matches!(scan.peek(), Some(b'\'' | b'"')) {
        return string(scan, false);
    }
    let start = scan.here();
    if matches!(scan.peek(), Some(b'-' | b'0'..=b'9')) {
        number(scan)?;
    } else if !["None", "True", "False"]
        .into_iter()
        .any(|word| scan.take_word(word))
    {
        return Err(ScanError);
    }
    let end = scan.here();
    Ok(Span { start, end })
}

/// Parses a list, tuple or set up to `close`.
fn sequence(scan: &mut Scan<'_>, place: ParentSlot, close: u8) -> Result<(), ScanError> {
    let id = scan.enter(place, Kind::Array)?;
    scan.blanks();
    let mut index = 0;
    while !scan.take(close) {
        let label = NodeLabel::Index(index);
        value(scan, ParentSlot::New { parent: id, label })?;
        index += 1;
        scan.blanks();
        if !scan.comma() && scan.peek() != Some(close) {
            return Err(ScanError);
        }
        scan.blanks();
    }
    scan.leave(place, id);
    Ok(())
}

/// Parses a string in either quotes. The span is the content without escapes.
fn string(scan: &mut Scan<'_>, raw: bool) -> Result<Span, ScanError> {
    let quote = scan.peek().ok_or(ScanError)?;
    scan.pos += 1;
    let start = scan.here();
    loop {
        match scan.peek() {
            Some(byte) if byte == quote => break,
            Some(b'\\') if !raw => {
                scan.flush();
                escape(scan)?;
                scan.skip_copy();
            }
            Some(b'\n') | None => return Err(ScanError),
            Some(_) => scan.pos += 1,
        }
    }
    let end = scan.here();
    scan.pos += 1;
    Ok(Span { start, end })
}

fn escape(scan: &mut Scan<'_>) -> Result<(), ScanError> {
    let at = scan.pos;
    let escaped = scan.at(at + 1).ok_or(ScanError)?;
    scan.pos += 2;
    let c = match escaped {
        b'\\' | b'\'' | b'"' => char::from(escaped),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'v' => '\u{b}',
        b'0' => '\0',
        b'x' => code(scan, 2)?,
        b'u' => code(scan, 4)?,
        b'U' => code(scan, 8)?,
        _ => return Err(ScanError),
    };
    scan.stand_in(c, at);
    Ok(())
}

fn code(scan: &mut Scan<'_>, digits: usize) -> Result<char, ScanError> {
    let code = hex(scan, digits)?;
    Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}
