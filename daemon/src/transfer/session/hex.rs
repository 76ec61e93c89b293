//! Hexadecimal encoding of bytes.

/// Encodes bytes as hexadecimal digits.
#[must_use]
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes hexadecimal digits; `None` when they are invalid.
#[must_use]
pub fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            let is_hex = pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u8::from_str_radix(pair, 16).ok())?
        })
        .collect()
}
