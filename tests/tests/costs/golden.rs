//! The file of costs: parsed, compared with the counts, and updated.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::meter::{Counts, Unit};

/// Tolerance of a figure in percent, unless its line has another one.
const TOLERANCE: f64 = 5.0;

/// Figures by operation and unit, in the order in which they were counted.
pub type Costs = Vec<(String, Counts)>;

/// The file: comments first, then one figure per line.
#[derive(Debug, Default)]
pub struct Golden {
    comments: Vec<String>,
    figures: BTreeMap<(String, Unit), Figure>,
}

#[derive(Debug, Clone)]
struct Figure {
    value: u64,
    /// A separate tolerance in percent, and its reason.
    tolerance: Option<(f64, String)>,
}

impl Golden {
    /// Parses the file.
    ///
    /// # Errors
    /// The line that is not a figure.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut golden = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if line.starts_with('#') {
                golden.comments.push(line.to_owned());
                continue;
            }
            let (key, figure) =
                parse_figure(line).ok_or_else(|| format!("not a figure: {line}"))?;
            golden.figures.insert(key, figure);
        }
        Ok(golden)
    }

    /// Lists the figures outside their tolerance, one line each.
    pub fn changes(&self, costs: &Costs) -> Vec<String> {
        let mut missing = self.figures.clone();
        let mut changes = Vec::new();
        for (name, unit, new) in each(costs) {
            match missing.remove(&(name.to_owned(), unit)) {
                Some(old) => changes.extend(change(name, unit, &old, new)),
                None => changes.push(format!("{name}, {unit}: {new}, not in the file")),
            }
        }
        for ((name, unit), old) in missing {
            let old = old.value;
            changes.push(format!("{name}, {unit}: {old} in the file, not counted"));
        }
        changes
    }

    /// Returns the file with other figures; comments and tolerances stay.
    pub fn updated(&self, costs: &Costs) -> String {
        let mut text = self.comments.join("\n");
        text.push_str("\n\n");
        for (name, unit, new) in each(costs) {
            let _ = write!(text, "{name:<26}| {unit:<16}| {new:>11}");
            let old = self.figures.get(&(name.to_owned(), unit));
            if let Some((percent, why)) = old.and_then(|old| old.tolerance.as_ref()) {
                let _ = write!(text, " | {percent} %: {why}");
            }
            text.push('\n');
        }
        text
    }
}

fn each(costs: &Costs) -> impl Iterator<Item = (&str, Unit, u64)> {
    costs.iter().flat_map(|(name, counts)| {
        let counts = counts.iter();
        counts.map(|(unit, count)| (name.as_str(), *unit, *count))
    })
}

fn parse_figure(line: &str) -> Option<((String, Unit), Figure)> {
    let mut parts = line.splitn(4, '|').map(str::trim);
    let name = parts.next()?.to_owned();
    let unit = parts.next()?.parse().ok()?;
    let value = parts.next()?.parse().ok()?;
    let tolerance = match parts.next() {
        Some(text) => {
            let (percent, why) = text.split_once(" %: ")?;
            Some((percent.parse().ok()?, why.to_owned()))
        }
        None => None,
    };
    Some(((name, unit), Figure { value, tolerance }))
}

fn change(name: &str, unit: Unit, old: &Figure, new: u64) -> Option<String> {
    let allowed = old
        .tolerance
        .as_ref()
        .map_or(TOLERANCE, |(percent, _)| *percent);
    let percent = (new as f64 - old.value as f64) * 100.0 / (old.value as f64).max(1.0);
    (percent.abs() > allowed).then(|| {
        format!(
            "{name}, {unit}: was {}, is now {new} ({percent:+.1} %; allowed are {allowed} %)",
            old.value
        )
    })
}
