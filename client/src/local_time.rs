//! Times for people, in the time zone of this machine.

use std::path::{Component, Path};
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The zone that the system uses when `TZ` names none.
const SYSTEM_ZONE: &str = "/etc/localtime";
/// Folder of the zones that `TZ` names.
const ZONES: &str = "/usr/share/zoneinfo";

/// Date and time of day.
const DATE_AND_TIME: &str = "%Y-%m-%d %H:%M:%S";

/// Returns the time, RFC 3339.
#[must_use]
pub fn now_rfc3339() -> String {
    Timestamp::now().to_string()
}

/// Formats an RFC 3339 timestamp as date and time of day, such as `2026-11-24 13:05:12`; `None` if it is not one.
#[must_use]
pub fn local_time(text: &str) -> Option<String> {
    formatted(text, DATE_AND_TIME, zone())
}

/// Formats microseconds since 1970 as date and time of day; `None` if they are out of range.
#[must_use]
pub fn local_time_of_micros(micros: i64) -> Option<String> {
    of_micros(micros, DATE_AND_TIME)
}

/// Formats microseconds since 1970 as a time of day, such as `13:05:12`; `None` if they are out of range.
#[must_use]
pub fn local_time_of_day(micros: i64) -> Option<String> {
    of_micros(micros, "%H:%M:%S")
}

fn of_micros(micros: i64, format: &str) -> Option<String> {
    let at = Timestamp::from_microsecond(micros).ok()?;
    let zoned = at.to_zoned_datetime(zone().clone());
    Some(zoned.strftime(format).to_string())
}

fn formatted(text: &str, format: &str, zone: &TimeZone) -> Option<String> {
    let at: Timestamp = text.parse().ok()?;
    Some(
        at.to_zoned_datetime(zone.clone())
            .strftime(format)
            .to_string(),
    )
}

/// Fixes the zone to UTC, for tests that compare output. Has no effect once a time was formatted.
pub fn use_utc() {
    let _ = ZONE.set(TimeZone::UTC);
}

/// The zone, read at first use.
static ZONE: OnceLock<TimeZone> = OnceLock::new();

fn zone() -> &'static TimeZone {
    ZONE.get_or_init(|| zone_of(std::env::var("TZ").ok().as_deref()))
}

/// Returns the zone that `TZ` names as a file, as a name or as a rule; else the zone of the system, else UTC.
fn zone_of(variable: Option<&str>) -> TimeZone {
    let name = variable.map(|name| name.trim_start_matches(':'));
    let found = match name {
        None | Some("") => from_file(Path::new(SYSTEM_ZONE)),
        Some(name) if Path::new(name).is_absolute() => from_file(Path::new(name)),
        Some(name) => named(name).or_else(|| TimeZone::posix(name).ok()),
    };
    found.unwrap_or(TimeZone::UTC)
}

fn named(name: &str) -> Option<TimeZone> {
    let name = Path::new(name);
    let is_plain = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| from_file(&Path::new(ZONES).join(name)))?
}

fn from_file(path: &Path) -> Option<TimeZone> {
    let bytes = std::fs::read(path).ok()?;
    TimeZone::tzif("local", &bytes).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_zone() {
        let at =
            |zone: Option<&str>, text: &str| formatted(text, "%Y-%m-%d %H:%M:%S", &zone_of(zone));
        let summer = "2026-07-01T22:30:00.250000Z";
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        assert_eq!(at(Some(berlin), summer).unwrap(), "2026-07-02 00:30:00");
        assert_eq!(at(Some("UTC0"), summer).unwrap(), "2026-07-01 22:30:00");
        assert_eq!(
            at(Some("no such zone"), summer).unwrap(),
            "2026-07-01 22:30:00"
        );
        assert_eq!(
            at(Some("../../etc/passwd"), summer).unwrap(),
            "2026-07-01 22:30:00"
        );
        assert_eq!(at(Some("UTC0"), "yesterday"), None);
        assert_eq!(local_time_of_day(i64::MAX), None);
    }
}
