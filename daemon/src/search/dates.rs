//! Dates in words: how the index writes them, and which days a question names.

use std::ops::Range;

use crate::clock::{Micros, format_time};

const DAY_SECONDS: u64 = 24 * 3600;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Years that a question can name; other numbers are no years.
const YEARS: Range<i64> = 1970..2200;
/// Maximum number of days that a question names.
const NAMED_MAX: usize = 8;

/// Formats the date of a time in words: `8 May 2023`.
#[must_use]
pub fn date_in_words(time: Micros) -> String {
    let written = format_time(time);
    let mut parts = written.split(['-', 'T']);
    let mut next = || parts.next().and_then(|part| part.parse::<usize>().ok());
    match (next(), next(), next()) {
        (Some(year), Some(month), Some(day)) => match MONTHS.get(month.wrapping_sub(1)) {
            Some(name) => format!("{day} {name} {year}"),
            None => written,
        },
        _ => written,
    }
}

/// A date as it is written, of which the year or the day may be missing.
#[derive(Clone, Copy, Default)]
struct WrittenDate {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
}

/// Returns the times that a question names, in seconds since 1970: `8 May 2023`, `May 8th, 2023`, `May 2023`,
/// `2023-05-08`, `today`, `yesterday`, `last week`. A date without a year is the last one before `now`.
#[must_use]
pub fn named_in(question: &str, now: u64) -> Vec<Range<u64>> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower
        .split(|one: char| !one.is_alphanumeric() && one != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let today = now / DAY_SECONDS * DAY_SECONDS;
    let days_ago = |days: u64| today.saturating_sub(days * DAY_SECONDS);
    let mut named = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let range = match (*word, next) {
            ("today", _) => Some(today..today + DAY_SECONDS),
            ("yesterday", _) => Some(days_ago(1)..today),
            ("last" | "past", "week") => Some(days_ago(7)..today),
            ("last" | "past", "month") => Some(days_ago(31)..today),
            _ => iso(word)
                .or_else(|| in_words(&words, at))
                .and_then(|date| date.range(now)),
        };
        named.extend(range);
        if named.len() == NAMED_MAX {
            break;
        }
    }
    named
}

/// Parses `2023-05-08` or `2023-05`.
fn iso(word: &str) -> Option<WrittenDate> {
    let mut parts = word.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?;
    let month = parts.next().filter(|month| month.len() == 2)?;
    let day = parts.next().map(|day| day.parse().ok());
    Some(WrittenDate {
        year: Some(year.parse().ok()?),
        month: Some(month.parse().ok()?),
        day: match day {
            Some(day) => Some(day?),
            None => None,
        },
    })
}

/// Parses a date around the name of a month.
fn in_words(words: &[&str], at: usize) -> Option<WrittenDate> {
    let word = words.get(at)?;
    let month = month(word)?;
    let near = |at: Option<usize>| at.and_then(|at| words.get(at)).copied();
    let mut date = WrittenDate {
        month: Some(month),
        ..WrittenDate::default()
    };
    let before = match near(at.checked_sub(1)) {
        Some("of") => near(at.checked_sub(2)),
        before => before,
    };
    date.day = before.and_then(day_number);
    let mut next = at + 1;
    if date.day.is_none() {
        date.day = near(Some(next)).and_then(day_number);
        next += usize::from(date.day.is_some());
    }
    let year = near(Some(next)).and_then(|word| word.parse::<i64>().ok());
    date.year = year.filter(|year| YEARS.contains(year));
    // The bare words "may" and "march" are seldom months.
    let is_word = matches!(*word, "may" | "march" | "mar" | "dec" | "sep" | "jan");
    (date.day.is_some() || date.year.is_some() || !is_word).then_some(date)
}

fn month(word: &str) -> Option<i64> {
    let at = MONTHS.iter().position(|name| {
        let name = name.to_lowercase();
        word == name || word.len() == 3 && name.starts_with(word)
    })?;
    i64::try_from(at + 1).ok()
}

fn day_number(word: &str) -> Option<i64> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    let day: i64 = digits.parse().ok()?;
    (1..=31).contains(&day).then_some(day)
}

impl WrittenDate {
    /// Returns the day or the month, as seconds.
    fn range(self, now: u64) -> Option<Range<u64>> {
        let month = self.month.filter(|month| (1..=12).contains(month))?;
        let year = match self.year {
            Some(year) => Some(year).filter(|year| YEARS.contains(year))?,
            None => {
                let this = year_of(now);
                let start = seconds_of(this, month, self.day.unwrap_or(1))?;
                if start > now { this - 1 } else { this }
            }
        };
        match self.day {
            Some(day) => {
                let start = seconds_of(year, month, day)?;
                Some(start..start + DAY_SECONDS)
            }
            None => {
                let (next_year, next) = if month == 12 {
                    (year + 1, 1)
                } else {
                    (year, month + 1)
                };
                Some(seconds_of(year, month, 1)?..seconds_of(next_year, next, 1)?)
            }
        }
    }
}

fn year_of(now: u64) -> i64 {
    let written = format_time(now.saturating_mul(1_000_000));
    written
        .get(..4)
        .and_then(|year| year.parse().ok())
        .unwrap_or(1970)
}

/// Returns the start of a day, in seconds since 1970; `None` for a day that does not exist, or one before 1970.
fn seconds_of(year: i64, month: i64, day: i64) -> Option<u64> {
    let time = crate::clock::parse_time(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z"))?;
    Some(time / 1_000_000)
}

/// Parses the start of a period: a date, or a time in RFC 3339; in seconds since 1970.
#[must_use]
pub fn start(text: &str) -> Option<u64> {
    Some(period(text)?.start)
}

/// Parses the end of a period: a date, whose whole day belongs to it, or a time. The end itself is excluded.
#[must_use]
pub fn end(text: &str) -> Option<u64> {
    Some(period(text)?.end)
}

fn period(text: &str) -> Option<Range<u64>> {
    let text = text.trim();
    if let Some(time) = crate::clock::parse_time(text) {
        let seconds = time / 1_000_000;
        return Some(seconds..seconds + 1);
    }
    iso(text)?.range(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn day(text: &str) -> u64 {
        start(text).unwrap()
    }

    fn days(question: &str) -> Vec<(u64, u64)> {
        let now = day("2023-06-15") + 3600;
        let named = named_in(question, now).into_iter();
        named.map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn dates_are_written_in_words() {
        assert_eq!(date_in_words(1_683_550_800_000_000), "8 May 2023");
        assert_eq!(date_in_words(0), "1 January 1970");
    }

    #[test]
    fn a_question_names_days() {
        let eighth = (day("2023-05-08"), day("2023-05-09"));
        for question in [
            "What did Caroline say on 8 May 2023?",
            "on May 8th, 2023, who called",
            "the 8th of May 2023",
            "2023-05-08",
            "on 8 May",
        ] {
            assert_eq!(days(question), [eighth], "{question}");
        }
        let month = (day("2023-05-01"), day("2023-06-01"));
        assert_eq!(days("in May 2023"), [month]);
        assert_eq!(days("in July"), [(day("2022-07-01"), day("2022-08-01"))]);
        assert_eq!(
            days("what broke yesterday?"),
            [(day("2023-06-14"), day("2023-06-15"))]
        );
    }

    #[test]
    fn other_words_are_no_dates() {
        for question in [
            "May I restart it?",
            "step 8",
            "on 31 February 2023",
            "v2023-99",
            "port 8080",
            "",
        ] {
            assert_eq!(days(question), [], "{question}");
        }
    }

    #[test]
    fn a_period_is_a_date_or_a_time() {
        assert_eq!(start("2023-05-08"), Some(1_683_504_000));
        assert_eq!(end("2023-05-08"), Some(1_683_504_000 + DAY_SECONDS));
        assert_eq!(start("2023-05-08T01:00:00Z"), Some(1_683_507_600));
        assert_eq!(end("2023-05-08T01:00:00Z"), Some(1_683_507_601));
        assert_eq!(start("last tuesday"), None);
        assert_eq!(end("2023-13-40"), None);
    }
}
