//! What is logged: filters as `RUST_LOG` has them.

use tracing_subscriber::EnvFilter;

/// The filter that a text says.
///
/// # Errors
/// What is wrong with it.
pub fn filter(text: &str) -> Result<EnvFilter, String> {
    // tracing-subscriber 0.3 panics on some other characters.
    if !text.is_ascii() {
        return Err("a filter is of ASCII characters alone".to_owned());
    }
    // A pattern for the value of a field becomes an automaton, which of a short one may not be built within minutes.
    let parsed = EnvFilter::builder().with_regex(false).parse(text);
    parsed.map_err(|error| error.to_string())
}
