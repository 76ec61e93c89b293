//! Recognises configuration lines of routers and switches, as opposed to sentences about them.

/// Configuration commands that may contain secrets later in the line.
const COMMANDS: &[&str] = &[
    "aaa",
    "area",
    "authentication",
    "crypto",
    "enable",
    "ip",
    "ipv6",
    "neighbor",
    "no",
    "ntp",
    "peer",
    "ppp",
    "server",
    "set",
    "snmp-server",
    "username",
    "user",
];
/// Bytes of a line that are examined before a secret's command.
const LINE_BYTES_MAX: usize = 256;

/// Returns whether the position is part of a configuration line: at the beginning of the line, possibly after a
/// prompt, or after a known command.
pub(super) fn is_command(text: &str, at: usize) -> bool {
    let mut from = at.saturating_sub(LINE_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..at).unwrap_or_default();
    // A line end may be escaped.
    let line = before
        .rsplit(['\n', '\r', '"', '\'', '`', ';', '{', '#', '>'])
        .next();
    let line = line.unwrap_or_default();
    let line = line
        .rsplit_once("\\n")
        .map_or(line, |(_, line)| line)
        .trim_start();
    let first = line.split(' ').next().unwrap_or_default();
    line.is_empty() || COMMANDS.contains(&first)
}
