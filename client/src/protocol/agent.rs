//! Names of agents: who acts, in the log and in leases.

/// The longest name of an agent, in bytes.
pub const AGENT_BYTES_MAX: usize = 128;

/// A text without control characters.
pub fn printable(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !char.is_control())
}

/// A program's name as an agent's: without control characters, and what is too long is cut off.
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
