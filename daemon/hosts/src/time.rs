//! Times as hosts write them, in milliseconds since 1970.

use serde_json::Value;

/// Returns the time of a timestamp: RFC 3339 in UTC, or a number of milliseconds or seconds.
pub fn read(value: &Value) -> Option<i64> {
    if let Some(text) = value.as_str() {
        return rfc3339(text);
    }
    // With arbitrary precision, 1.7e12 is not an integer for serde_json.
    let number = value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.abs() < 1e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
        Some(number as i64)
    })?;
    // Seconds until the year 5138 are fewer than milliseconds since 1973.
    let is_seconds = number < 100_000_000_000;
    if is_seconds {
        number.checked_mul(1000)
    } else {
        Some(number)
    }
}

/// Reads `2026-11-23T09:39:56.349Z`, with any number of digits of a second, `Z` or an offset.
fn rfc3339(text: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok().map(i64::from);
    let is_separated = text.get(4..5)? == "-" && text.get(7..8)? == "-" && text.get(13..14)? == ":";
    if !is_separated {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let rest = text.get(19..)?;
    let fraction_end = rest
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at_checked(fraction_end)?;
    let mut millis = 0;
    let mut unit = 100;
    for digit in fraction.trim_start_matches('.').chars().take(3) {
        millis += unit * i64::from(digit.to_digit(10)?);
        unit /= 10;
    }
    let days = days_since_1970(year, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset_seconds(zone)?;
    Some(seconds * 1000 + millis)
}

fn offset_seconds(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone == "Z" || zone == "z" {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let hours: u32 = zone.get(1..3)?.parse().ok()?;
    let minutes: u32 = zone.get(4..6)?.parse().ok()?;
    Some(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

/// Days by the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
