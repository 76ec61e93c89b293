//! Log filters, in the syntax of `RUST_LOG`.

use tracing_subscriber::EnvFilter;

/// Parses a log filter.
///
/// # Errors
/// The reason why it is invalid.
pub fn filter(text: &str) -> Result<EnvFilter, String> {
    // tracing-subscriber 0.3 panics on some other characters.
    if !text.is_ascii() {
        return Err("a filter is of ASCII characters alone".to_owned());
    }
    // With regex, even a short pattern for a field's value can take minutes to compile.
    let parsed = EnvFilter::builder().with_regex(false).parse(text);
    parsed.map_err(|error| error.to_string())
}
