//! Names of agents, which identify the writer in the log and the holder of a lease.

/// Maximum length of an agent's name, in bytes.
pub const AGENT_BYTES_MAX: usize = 128;

/// Returns a text without control characters.
pub fn printable(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !char.is_control())
}

/// Turns a program's name into an agent's name: removes control characters and truncates it.
///
/// ```
/// assert_eq!(lore::protocol::agent_name("My\tHost"), "MyHost");
/// assert_eq!(lore::protocol::agent_name(&"é".repeat(100)), "é".repeat(64));
/// ```
#[must_use]
pub fn agent_name(program: &str) -> String {
    let mut name = String::new();
    for char in printable(program) {
        if name.len() + char.len_utf8() > AGENT_BYTES_MAX {
            break;
        }
        name.push(char);
    }
    name
}
