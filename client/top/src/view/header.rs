//! The lines above the panes: a summary of the daemon, and its problems.

use lore::sanitize::{bytes, duration};
use ratatui::text::{Line, Span};

use super::labels::{ColourMode, Tone, age, count, fit, width};
use crate::model::{ConnectionState, Model};

/// Number of missed polls after which the daemon is reported as unresponsive.
const LOOKS_MISSED: u64 = 3;

/// Summarises the daemon in at most `lines_max` lines.
pub fn glance(
    model: &Model,
    paint: ColourMode,
    columns: u16,
    lines_max: usize,
) -> Vec<Line<'static>> {
    let mut facts = vec![("lore top".to_owned(), Tone::Name)];
    if let Some(status) = model.status.as_deref() {
        let rate = model.events_per_second();
        facts.extend([
            (format!("lored {}", status.version), Tone::Plain),
            match (status.writable, status.durable) {
                _ if matches!(model.link, ConnectionState::Lost(..)) => {
                    ("not reached".to_owned(), Tone::Bad)
                }
                (false, _) => ("writes refused".to_owned(), Tone::Bad),
                (true, true) => ("writes durable".to_owned(), Tone::Good),
                (true, false) => ("writes relaxed".to_owned(), Tone::Odd),
            },
            (
                format!("position {}", count(status.position.0)),
                Tone::Plain,
            ),
            (
                rate.map_or_else(|| "-/s".to_owned(), |rate| format!("{rate:.1}/s")),
                Tone::Plain,
            ),
            (format!("clients {}", status.clients), Tone::Plain),
            (format!("up {}", duration(status.uptime)), Tone::Plain),
            (format!("process {}", status.pid), Tone::Plain),
        ]);
        facts.extend(status.sizes.iter().map(|(name, size)| {
            let name = name.strip_suffix("_bytes").unwrap_or(name);
            (format!("{name} {}", bytes(*size)), Tone::Faint)
        }));
    }
    flow(&facts, paint, columns, lines_max)
}

/// Returns the problems that need attention, worst first.
pub fn alarms(model: &Model, every: u64) -> Vec<(String, Tone)> {
    let mut alarms = Vec::new();
    match &model.link {
        ConnectionState::Unknown => alarms.push((format!("asking {}", model.socket), Tone::Odd)),
        ConnectionState::Reached(at) => {
            let silent = model.now.since(*at);
            if silent.as_secs() > every.saturating_mul(LOOKS_MISSED).max(3) {
                alarms.push((
                    format!("the daemon has not answered for {}", age(silent)),
                    Tone::Bad,
                ));
            }
        }
        ConnectionState::Lost(since, lost) => {
            let passed = duration(model.now.since(*since).as_secs());
            let hint = lost
                .hint
                .as_deref()
                .map_or_else(String::new, |hint| format!(": {hint}"));
            alarms.push((format!("{} (for {passed}){hint}", lost.why), Tone::Bad));
        }
    }
    if let Some(why) = &model.deaf {
        alarms.push((format!("events cannot be followed: {why}"), Tone::Bad));
    }
    if let Some(status) = model.status.as_deref() {
        alarms.extend(
            status
                .warnings
                .iter()
                .map(|warning| (format!("warning: {warning}"), Tone::Odd)),
        );
    }
    alarms
}

/// Formats alarms as lines: the first one on up to two, the others on one each. Alarms that do not fit are counted.
pub fn alarm_lines(
    alarms: &[(String, Tone)],
    paint: ColourMode,
    columns: u16,
    lines_max: usize,
) -> Vec<Line<'static>> {
    let columns = usize::from(columns);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, (text, tone)) in alarms.iter().enumerate() {
        let style = paint.style(*tone);
        let others = alarms.len() - at;
        if lines.len() + 1 == lines_max && others > 1 {
            let text = fit(
                &format!("{others} things need attention: lore status"),
                columns,
            );
            lines.push(Line::styled(text, style));
            break;
        }
        if lines.len() == lines_max {
            break;
        }
        let is_spread = at == 0 && lines_max > 1 + usize::from(others > 1);
        let rows = if is_spread { 2 } else { 1 };
        lines.extend(
            wrapped(text, columns, rows)
                .into_iter()
                .map(|row| Line::styled(row, style)),
        );
    }
    lines
}

/// Wraps a text into rows, between words where possible.
fn wrapped(text: &str, columns: usize, rows_max: usize) -> Vec<String> {
    let text = super::labels::harmless(text);
    let mut rows: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let is_last = rows.len() == rows_max;
        let Some(row) = rows.last_mut() else { break };
        let fits = row.is_empty() || width(row) + 1 + width(word) <= columns;
        if fits || is_last {
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        } else {
            rows.push(word.to_owned());
        }
    }
    rows.iter().map(|row| fit(row, columns)).collect()
}

/// Lays out facts side by side, in as many lines as they need; facts that do not fit are omitted.
fn flow(
    facts: &[(String, Tone)],
    paint: ColourMode,
    columns: u16,
    lines_max: usize,
) -> Vec<Line<'static>> {
    let columns = usize::from(columns);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut taken = 0;
    for (text, tone) in facts {
        let text = fit(text, columns);
        let span = Span::styled(text.clone(), paint.style(*tone));
        let fits = !lines.is_empty() && taken + 2 + width(&text) <= columns;
        match lines.last_mut() {
            Some(line) if fits => {
                taken += 2 + width(&text);
                line.push_span(Span::raw("  "));
                line.push_span(span);
            }
            Some(_) | None => {
                if lines.len() == lines_max {
                    break;
                }
                taken = width(&text);
                lines.push(Line::from(span));
            }
        }
    }
    lines
}
