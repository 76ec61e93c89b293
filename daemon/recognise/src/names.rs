//! Names of entities: the canonical key of all spellings, the safe display form, and the lookup of known names.

use super::NAME_BYTES_MAX;
use crate::partial::{runs, score};
use std::net::IpAddr;

/// Returns the key that all spellings of a name share: lower-cased, trimmed, with white space folded and hidden
/// characters removed. Addresses and prefixes get their canonical form.
///
/// The key of an IP address has no prefix length, because people often omit it.
#[must_use]
pub fn canonical_key(kind: &str, name: &str) -> String {
    let folded = folded(name);
    let special = match kind {
        "ip_address" => address(&folded).map(|(ip, _)| ip.to_string()),
        "prefix" => network(&folded).map(|(ip, bits)| format!("{ip}/{bits}")),
        "mac_address" => mac(&folded),
        "symbol" => folded
            .strip_suffix("()")
            .or_else(|| folded.strip_suffix('!'))
            .filter(|name| !name.is_empty())
            .map(str::to_owned),
        "pull_request" => folded.strip_prefix('!').map(str::to_owned),
        _ => None,
    };
    special.unwrap_or(folded)
}

/// The kind of a named entity without a known kind.
pub const UNKNOWN_KIND: &str = "thing";

/// Returns a name for display: trimmed, white space folded, hidden characters escaped as `\u{202e}`. `None` if
/// the name has no letter or digit, or exceeds [`NAME_BYTES_MAX`].
#[must_use]
pub fn shown_name(raw: &str) -> Option<String> {
    if raw.len() > NAME_BYTES_MAX * 4 {
        return None; // it could only fit if most of it were white space
    }
    let mut shown = String::with_capacity(raw.len());
    for word in raw.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        for character in word.chars() {
            if is_hidden(character) {
                shown.extend(character.escape_unicode());
            } else {
                shown.push(character);
            }
        }
    }
    let fits = shown.len() <= NAME_BYTES_MAX && raw.chars().any(char::is_alphanumeric);
    fits.then_some(shown)
}

/// How closely a known name matches a searched one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchQuality {
    /// Equal except for case.
    Exact,
    /// Equal in letters and digits.
    Normalised,
    /// One edit apart, or a part of the name.
    Near,
}

/// Scores of parts of names that differ less are equal.
const PART_LEAD: f32 = 0.05;
/// Shortest name that may match with one edit, in characters.
const NEAR_CHARS_MIN: usize = 7;

/// Finds the candidate that a name refers to: equal except for case, else equal in letters and digits, else the
/// only candidate within one edit, else the best of which it is a part or a misspelling: `core-1` for `ams1-core-01`.
/// Only names over 6 characters match by edit, and only parts with a number. Neither changes a number: `sw-nyc-01` is
/// not a misspelt `sw-nyc-02`.
#[must_use]
pub fn match_known<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<(usize, MatchQuality)> {
    let wanted = folded(name);
    let normal = normalised(&wanted);
    let can_be_near = wanted.chars().count() >= NEAR_CHARS_MIN;
    let (mut alike, mut near, mut near_count) = (None, None, 0_usize);
    let query = Some(runs(name)).filter(|runs| runs.iter().any(|run| run.is_number));
    let query = query.filter(|runs| runs.len() > 1).unwrap_or_default();
    // The best two candidates.
    let mut parts: [(f32, Option<usize>); 2] = [(0.0, None); 2];
    for (at, candidate) in candidates.into_iter().enumerate() {
        let known = folded(candidate);
        if known == wanted {
            return Some((at, MatchQuality::Exact));
        }
        if alike.is_none() && !normal.is_empty() && normalised(&known) == normal {
            alike = Some((at, MatchQuality::Normalised));
        }
        if can_be_near && is_near(&wanted, &known) {
            near_count += 1;
            near = Some((at, MatchQuality::Near));
        }
        let part = score(&query, &runs(candidate), &[]).filter(|_| !query.is_empty());
        if let Some(score) = part {
            let [best, second] = parts;
            parts = match score {
                _ if score > best.0 => [(score, Some(at)), best],
                _ if score > second.0 => [best, (score, Some(at))],
                _ => parts,
            };
        }
    }
    let [(best, part), (second, _)] = parts;
    let part = part.filter(|_| near_count == 0 && best - second >= PART_LEAD);
    alike
        .or(near.filter(|_| near_count == 1))
        .or(part.map(|at| (at, MatchQuality::Near)))
}

fn is_near(wanted: &str, known: &str) -> bool {
    wanted.len().abs_diff(known.len()) <= 4
        && known.len() <= NAME_BYTES_MAX
        && wanted.len() <= NAME_BYTES_MAX
        && numbers(wanted).eq(numbers(known))
        && strsim::levenshtein(wanted, known) == 1
}

/// Returns the numbers in a name, without leading zeros.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.trim_start_matches('0'))
}

fn normalised(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Lower-cases a name, folds white space, and removes hidden characters and a leading `#`.
fn folded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let seen = word.chars().filter(|c| !is_hidden(*c));
        out.extend(seen.flat_map(char::to_lowercase));
    }
    match out.strip_prefix('#') {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => out,
    }
}

/// Returns whether a character is invisible or changes the display of others: control characters, direction
/// marks, zero-width spaces, tags.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Parses an IP address with an optional prefix length.
pub(super) fn address(text: &str) -> Option<(IpAddr, Option<u8>)> {
    let (ip, bits) = match text.split_once('/') {
        Some((ip, bits)) => (ip, Some(bits)),
        None => (text, None),
    };
    let ip: IpAddr = ip.parse().ok()?;
    let Some(bits) = bits else {
        return Some((ip, None));
    };
    let is_plain = bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u8 = bits.parse().ok().filter(|_| is_plain)?;
    (bits <= width(ip)).then_some((ip, Some(bits)))
}

/// Parses a network: an address whose host bits are zero.
pub(super) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (ip, bits) = address(text)?;
    let bits = bits?;
    let host_bits = u32::from(width(ip) - bits);
    let all = match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip),
    };
    let mask = 1_u128
        .checked_shl(host_bits)
        .map_or(u128::MAX, |one| one - 1);
    (all & mask == 0).then_some((ip, bits))
}

/// Returns the number of bits of the address family.
pub(super) const fn width(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Parses a 48-bit MAC address in any grouping and formats it as `00:1c:73:23:ab:a5`.
pub(super) fn mac(text: &str) -> Option<String> {
    let separators: [char; 3] = [':', '-', '.'];
    let digits: String = text.chars().filter(|c| !separators.contains(c)).collect();
    if digits.len() != 12 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut out = String::with_capacity(17);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 2 == 0 {
            out.push(':');
        }
        out.push(digit.to_ascii_lowercase());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_share_a_key() {
        assert_eq!(canonical_key("site", "  New\t York  "), "new york");
        assert_eq!(
            canonical_key("ip_address", "2001:0DB8::0001/64"),
            "2001:db8::1"
        );
        assert_eq!(canonical_key("ip_address", "10.1.2.3/24"), "10.1.2.3");
        assert_eq!(canonical_key("prefix", "2001:DB8:0::/32"), "2001:db8::/32");
        assert_eq!(
            canonical_key("mac_address", "001C.7323.ABA5"),
            "00:1c:73:23:ab:a5"
        );
        assert_eq!(canonical_key("issue", "#12"), "12");
        assert_eq!(canonical_key("device", "sw\u{202e}-1\u{200b}"), "sw-1");
        // Not an address: folded like any other name.
        assert_eq!(canonical_key("ip_address", "Ten"), "ten");
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(
            shown_name(" a\u{202e}b\u{7}c  d\n").as_deref(),
            Some("a\\u{202e}b\\u{7}c d")
        );
        assert_eq!(shown_name("\u{202e}"), None);
        assert_eq!(
            shown_name(&"x".repeat(256)).map(|name| name.len()),
            Some(256)
        );
        assert_eq!(shown_name(&"x".repeat(257)), None);
        assert_eq!(shown_name(&"\u{202e}x".repeat(100)), None);
    }

    #[test]
    fn networks_have_no_host_bits() {
        assert!(network("10.0.0.0/8").is_some());
        assert!(network("0.0.0.0/0").is_some());
        assert!(network("::/0").is_some());
        assert!(network("10.0.0.1/8").is_none());
        assert!(address("10.0.0.1/33").is_none());
        assert!(address("10.0.0.1/+8").is_none());
    }

    #[test]
    fn history_is_matched_from_exact_to_near() {
        let known = [
            "switch-nyc-01",
            "Router LA 02",
            "rooter-la-02",
            "zurich-core",
        ];
        let find = |name| match_known(name, known.iter().copied());
        assert_eq!(find("SWITCH-NYC-01"), Some((0, MatchQuality::Exact)));
        assert_eq!(find("switch nyc 01"), Some((0, MatchQuality::Normalised)));
        assert_eq!(find("zurlch-core"), Some((3, MatchQuality::Near)));
        assert_eq!(find("swich-nyc-01"), Some((0, MatchQuality::Near)));
        assert_eq!(
            find("switch-nyc-1"),
            Some((0, MatchQuality::Near)),
            "the same number"
        );
        assert_eq!(
            find("switch-nyc-02"),
            None,
            "another number is another device"
        );
        assert_eq!(find("zurich-cxxe"), None);
        // A normalised match wins over a near one; two near candidates are ambiguous.
        let twins = ["alphaone", "alphatwo-"];
        assert_eq!(
            match_known("alphaone-", twins),
            Some((0, MatchQuality::Normalised))
        );
        let twins = ["serverxa", "serverxb"];
        assert_eq!(match_known("serverxc", twins), None);
        assert_eq!(match_known("abcdeg", ["abcdef"]), None, "six characters");
    }

    #[test]
    fn a_part_with_a_number_matches_the_only_name_that_has_it() {
        let known = ["ams1-core-01", "ams1-core-02", "fra1-edge-07", "LA1"];
        let find = |name| match_known(name, known.iter().copied()).map(|(at, _)| at);
        assert_eq!(find("core-01"), Some(0));
        assert_eq!(find("core-1"), Some(0));
        assert_eq!(find("ams1-croe-01"), Some(0));
        assert_eq!(find("edge-07"), Some(2));
        assert_eq!(find("core-03"), None, "another number");
        assert_eq!(find("core"), None, "no number");
        assert_eq!(find("ams1"), None, "two names have it");
        assert_eq!(find("07"), None, "a number alone");
        let twins = ["ams1-core-01", "fra1-core-01"];
        assert_eq!(match_known("core-01", twins), None, "two have it");
    }
}
