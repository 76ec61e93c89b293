//! Suggests the nearest known name for an unknown one.

/// Returns the known name nearest to a written one, if it is near enough.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    several_nearest(written, known, 1).into_iter().next()
}

/// Up to `count` known names near to a written one, the nearest first.
#[must_use]
pub fn several_nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    // The caller's text may be megabytes long, and the cost of the distance is the product of both lengths.
    if written.len() > 128 {
        return Vec::new();
    }
    let folded = written.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|name| name.len() <= 128)
        .filter_map(|name| distance(&folded, name).map(|distance| (distance, name)))
        .collect();
    near.sort();
    near.dedup();
    near.truncate(count);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Returns the edit distance of two names; `None` when they have too little in common.
fn distance(folded: &str, name: &str) -> Option<usize> {
    let other = name.to_ascii_lowercase();
    let edits = strsim::osa_distance(folded, &other);
    let within = folded.len() >= 3 && other.contains(folded)
        || other.len() >= 3 && folded.contains(other.as_str());
    let shorter = folded.len().min(other.len());
    (within || edits <= shorter.div_ceil(3)).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let known = ["session", "step", "tool", "result", "as_of"];
        assert_eq!(nearest("sesion", known), Some("session"));
        assert_eq!(nearest("Tool", known), Some("tool"));
        assert_eq!(nearest("results", known), Some("result"));
        assert_eq!(nearest("asof", known), Some("as_of"));
        assert_eq!(nearest("zebra_crossing", known), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), known), None);
        assert_eq!(
            several_nearest("stop", ["step", "tool", "stop"], 2),
            ["stop", "step"]
        );
    }
}
