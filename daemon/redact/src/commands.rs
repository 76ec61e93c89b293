//! Lines of configurations, as routers and switches have them, told from sentences about them.

/// Commands of configurations that may have secrets further on in their lines.
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
/// Bytes of a line before a secret's command that are looked at.
const LINE_BYTES_MAX: usize = 256;

/// Whether something is a part of a line of a configuration: it begins the line, perhaps behind a
/// prompt, or a command does that has such parts.
pub(super) fn is_command(text: &str, at: usize) -> bool {
    let mut from = at.saturating_sub(LINE_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..at).unwrap_or_default();
    // A line end may be written out.
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
