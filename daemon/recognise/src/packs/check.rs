//! Named checks for conditions on a name that a pattern cannot express.

use super::facts::Kinds;
use crate::names;
use std::collections::HashSet;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::LazyLock;

/// A check that a name must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// An IPv4 address, with or without a prefix length.
    Ipv4,
    /// An IPv6 address, with or without a prefix length.
    Ipv6,
    /// A network: an address and a prefix length, without host bits, with more than one address.
    Prefix,
    /// A 48-bit MAC address, neither all zeros nor all ones.
    Mac,
    /// A VLAN id: 1 to 4094.
    Vlan,
    /// A URL with scheme and host.
    Url,
    /// A name whose last part, after a `-`, is short and ends in a number; without a `-`, letters and a number.
    Numbered,
    /// Not an IP address.
    Host,
    /// Hexadecimal digits with at least one letter and one decimal digit.
    Commit,
    /// Nothing that a programming language has itself: a type, a word of its grammar, a function of its library.
    Symbol,
    /// One word of letters, digits, `_`, `-`, `.`, `:` and `/` that begins with a letter or a digit and has a letter.
    Identifier,
}

/// The names of [`Check`] in a pack.
pub(super) const CHECKS: [&str; 11] = [
    "ipv4",
    "ipv6",
    "prefix",
    "mac",
    "vlan",
    "url",
    "numbered",
    "host",
    "commit",
    "symbol",
    "identifier",
];

/// What the usual languages have themselves, as it is written in code.
static LANGUAGE_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("language_words.txt")
        .split_whitespace()
        .collect()
});

/// Limit on the digits at the end of a numbered name, because four digits would be a year.
const NUMBER_DIGITS_MAX: usize = 3;
/// Limit on the last part of a numbered name, in bytes.
const LAST_PART_BYTES_MAX: usize = 8;

impl FromStr for Check {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "ipv4" => Ok(Self::Ipv4),
            "ipv6" => Ok(Self::Ipv6),
            "prefix" => Ok(Self::Prefix),
            "mac" => Ok(Self::Mac),
            "vlan" => Ok(Self::Vlan),
            "url" => Ok(Self::Url),
            "numbered" => Ok(Self::Numbered),
            "host" => Ok(Self::Host),
            "commit" => Ok(Self::Commit),
            "symbol" => Ok(Self::Symbol),
            "identifier" => Ok(Self::Identifier),
            _ => Err(()),
        }
    }
}

impl Check {
    /// Returns sets of byte kinds. Each passing name has at least one byte of every set.
    pub(super) const fn has(self) -> &'static [Kinds] {
        match self {
            Self::Numbered => &[Kinds::DIGIT],
            Self::Commit => &[Kinds::DIGIT, Kinds::LETTER],
            Self::Ipv4
            | Self::Ipv6
            | Self::Prefix
            | Self::Mac
            | Self::Vlan
            | Self::Url
            | Self::Host
            | Self::Symbol => &[],
            Self::Identifier => &[Kinds::LETTER],
        }
    }

    /// Returns whether a name passes the check.
    pub(crate) fn passes(self, name: &str) -> bool {
        match self {
            Self::Ipv4 => names::address(name).is_some_and(|(ip, bits)| {
                ip.is_ipv4() && is_host(name, bits, names::width(ip)) && !ip.is_unspecified()
            }),
            Self::Ipv6 => names::address(name).is_some_and(|(ip, bits)| {
                ip.is_ipv6() && is_host(name, bits, names::width(ip)) && is_written_out(name, ip)
            }),
            Self::Prefix => names::network(name).is_some_and(|(ip, bits)| bits < names::width(ip)),
            Self::Mac => names::mac(name)
                .is_some_and(|mac| mac != "00:00:00:00:00:00" && mac != "ff:ff:ff:ff:ff:ff"),
            Self::Vlan => name
                .parse()
                .is_ok_and(|number: u16| (1..=4094).contains(&number)),
            Self::Url => is_url(name),
            Self::Numbered => is_numbered(name),
            Self::Host => names::address(name).is_none(),
            Self::Symbol => !LANGUAGE_WORDS.contains(name),
            Self::Identifier => is_identifier(name),
            Self::Commit => {
                name.bytes().all(|byte| byte.is_ascii_hexdigit())
                    && name.bytes().any(|byte| byte.is_ascii_digit())
                    && name.bytes().any(|byte| byte.is_ascii_alphabetic())
            }
        }
    }
}

/// Returns whether an address is a host and not a network; networks belong to the kind of prefixes.
fn is_host(name: &str, bits: Option<u8>, width: u8) -> bool {
    // With one host bit, both addresses are hosts.
    bits.is_none_or(|bits| bits + 1 >= width) || names::network(name).is_none()
}

/// Returns whether an IPv6 address is unambiguous. `::` separates names in several languages, and `a::b` would
/// be an address.
fn is_written_out(name: &str, ip: IpAddr) -> bool {
    let colons = name.bytes().filter(|byte| *byte == b':').count();
    let has_digit = name.bytes().any(|byte| byte.is_ascii_digit());
    ip.is_loopback() || colons > 2 || (has_digit && name.len() > 5)
}

fn is_url(name: &str) -> bool {
    let Some((_, rest)) = name.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.starts_with('[') || host.starts_with(char::is_alphanumeric) || name.starts_with("file:///")
}

fn is_numbered(name: &str) -> bool {
    let last = name.rsplit('-').next().unwrap_or_default();
    let stem = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = last.len() - stem.len();
    let has_stem = last.len() < name.len() || stem.len() > 1;
    has_stem
        && (1..=NUMBER_DIGITS_MAX).contains(&digits)
        && last.len() <= LAST_PART_BYTES_MAX
        && !stem.bytes().any(|byte| byte.is_ascii_digit())
}
/// Returns whether a name is an identifier: one word of ASCII letters, digits and signs, with at least one letter. UUIDs are
/// refused, because people do not say them.
fn is_identifier(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    let is_uuid = name.len() == 36
        && name
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    name.len() > 1
        && !is_uuid
        && name.bytes().all(is_part)
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
        && name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
}
