//! Renders a frame of any size, as a pure function of the model and the screen state.

mod cells;
mod header;
pub mod help;
pub mod labels;
mod sheet;
#[cfg(test)]
mod tests;

use lore::sanitize::is_hidden;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget};

use crate::listing::Pane;
use crate::model::{ConnectionState, Model};
use crate::screen::Screen;
use labels::{ColourMode, Tone, count, fit, width};

/// Minimum size at which all panes are visible at once.
const GRID_COLUMNS: u16 = 160;
/// See [`GRID_COLUMNS`].
const GRID_ROWS: u16 = 36;
/// Rows of each pane in a report.
const REPORT_ROWS: usize = 20;

/// Key hints, from the longest to the shortest form.
const KEYS: [&str; 4] = [
    "q end  Tab pane  Enter open  / filter  p hold  s order  ? help",
    "q end  Tab pane  / filter  p hold  s order  ? help",
    "q end  Tab pane  ? help",
    "? help",
];

/// Draws a frame, and records the visible rows of each pane on the screen.
pub fn draw(
    model: &Model,
    screen: &mut Screen,
    paint: ColourMode,
    area: Rect,
    buffer: &mut Buffer,
) {
    let few = area.height < 16;
    let glance = header::glance(model, paint, area.width, if few { 2 } else { 3 });
    let alarms = header::alarms(model, screen.every);
    let alarms = header::alarm_lines(&alarms, paint, area.width, if few { 2 } else { 4 });
    let [top, warned, tabs, body, footer] = Layout::vertical([
        Constraint::Length(rows(glance.len())),
        Constraint::Length(rows(alarms.len())),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    lines(&glance, top, buffer);
    lines(&alarms, warned, buffer);
    tabs_line(model, screen, paint, tabs.width).render(tabs, buffer);
    match screen.help {
        Some(top) => {
            let shown = help::LINES
                .iter()
                .skip(top)
                .map(|line| Line::raw(fit(line, body.width.into())));
            lines(&shown.collect::<Vec<_>>(), body, buffer);
        }
        None => {
            for (pane, place) in paths(screen.pane, area, body) {
                draw_pane(model, screen, paint, pane, place, buffer);
            }
        }
    }
    footer_line(model, screen, paint, footer.width).render(footer, buffer);
    tame(buffer, area);
}

/// Renders all panes as plain text, `columns` wide.
pub fn report(model: &Model, screen: &Screen, columns: u16) -> String {
    let mut report = String::new();
    let mut push = |lines: &[Line<'_>], height: u16| {
        let area = Rect::new(0, 0, columns, height);
        let mut buffer = Buffer::empty(area);
        self::lines(lines, area, &mut buffer);
        tame(&mut buffer, area);
        report.push_str(&plain(&buffer));
    };
    let glance = header::glance(model, ColourMode::Plain, columns, 9);
    let alarms = header::alarms(model, screen.every);
    let alarms = header::alarm_lines(&alarms, ColourMode::Plain, columns, 9);
    push(&glance, rows(glance.len()));
    push(&alarms, rows(alarms.len()));
    for pane in Pane::ALL {
        let items = screen.items(model, pane);
        let title = title(model, screen, pane, items.len());
        let shown: Vec<_> = items
            .iter()
            .take(REPORT_ROWS)
            .map(|item| cells::cells(item, model, None))
            .collect();
        let area = Rect::new(0, 0, columns, rows(shown.len()) + 1);
        let mut buffer = Buffer::empty(area);
        sheet::draw(
            area,
            &mut buffer,
            ColourMode::Plain,
            cells::columns(pane),
            &shown,
        );
        tame(&mut buffer, area);
        report.push('\n');
        report.push_str(&fit(&title, columns.into()));
        report.push('\n');
        report.push_str(&plain(&buffer));
    }
    report
}

/// Converts a buffer to lines of text.
pub fn plain(buffer: &Buffer) -> String {
    let area = *buffer.area();
    let mut text = String::new();
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut x = area.left();
        while let Some(cell) = buffer.cell((x, y)).filter(|_| x < area.right()) {
            line.push_str(cell.symbol());
            // A wide character also takes the next cell.
            x += u16::try_from(width(cell.symbol())).unwrap_or(1).max(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the visible panes and their areas.
fn paths(selected: Pane, area: Rect, body: Rect) -> Vec<(Pane, Rect)> {
    if area.width < GRID_COLUMNS || area.height < GRID_ROWS {
        return vec![(selected, body)];
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(body);
    let [sessions, agents, followers] = Layout::vertical([
        Constraint::Percentage(50),
        Constraint::Percentage(30),
        Constraint::Percentage(20),
    ])
    .areas(left);
    let [events, below] =
        Layout::vertical([Constraint::Percentage(70), Constraint::Percentage(30)]).areas(right);
    let [latency, sizes] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(below);
    vec![
        (Pane::Sessions, sessions),
        (Pane::Agents, agents),
        (Pane::Followers, followers),
        (Pane::Events, events),
        (Pane::Latency, latency),
        (Pane::Sizes, sizes),
    ]
}

fn draw_pane(
    model: &Model,
    screen: &mut Screen,
    paint: ColourMode,
    pane: Pane,
    place: Rect,
    buffer: &mut Buffer,
) {
    let room;
    {
        let items = screen.items(model, pane);
        let is_framed = place.height < buffer.area().height && place.width < buffer.area().width;
        let inner = if is_framed {
            let tone = if pane == screen.pane {
                Tone::Name
            } else {
                Tone::Faint
            };
            let block = Block::bordered()
                .title(title(model, screen, pane, items.len()))
                .border_style(paint.style(tone));
            let inner = block.inner(place);
            block.render(place, buffer);
            inner
        } else {
            place
        };
        // The heading takes a row.
        room = usize::from(inner.height.saturating_sub(1));
        let top = screen.top(pane, &items, room);
        let shown: Vec<_> = items
            .iter()
            .skip(top)
            .take(room)
            .map(|item| cells::cells(item, model, screen.selected.as_ref()))
            .collect();
        sheet::draw(inner, buffer, paint, cells::columns(pane), &shown);
        if items.is_empty() && inner.height > 1 {
            let said = fit(nothing(model, screen), inner.width.into());
            buffer.set_string(inner.x, inner.y + 1, said, paint.style(Tone::Faint));
        }
    }
    screen.drew(pane, room);
}

/// Explains why a pane is empty.
fn nothing(model: &Model, screen: &Screen) -> &'static str {
    match (&model.link, screen.filter_now()) {
        (ConnectionState::Unknown | ConnectionState::Lost(..), "") => "nothing is known yet",
        (ConnectionState::Reached(_), "") => "nothing yet",
        (_, _) => "nothing that fits the filter",
    }
}

/// Formats a pane's number, name and row count.
fn title(model: &Model, screen: &Screen, pane: Pane, rows: usize) -> String {
    let number = pane.index() + 1;
    let has_more = match pane {
        Pane::Sessions => model.more_sessions,
        Pane::Events => model.skipped > 0,
        Pane::Agents | Pane::Followers | Pane::Latency | Pane::Sizes => false,
    };
    let more = if has_more { "+" } else { "" };
    let is_held = pane == Pane::Events && screen.frozen.is_some();
    let held = if is_held { " held" } else { "" };
    let of = match &screen.open {
        Some(session) if pane == Pane::Events => format!(" of {session}"),
        Some(_) | None => String::new(),
    };
    format!("{number} {}{of} {rows}{more}{held}", pane.title())
}

fn tabs_line(model: &Model, screen: &Screen, paint: ColourMode, columns: u16) -> Line<'static> {
    let whole: Vec<(Pane, String)> = Pane::ALL
        .into_iter()
        .map(|pane| {
            let rows = screen.items(model, pane).len();
            (pane, title(model, screen, pane, rows))
        })
        .collect();
    let needed: usize = whole.iter().map(|(_, title)| width(title) + 2).sum();
    let is_short = needed > usize::from(columns);
    let mut line = Line::default();
    for (pane, title) in whole {
        let selected = pane == screen.pane;
        let text = match is_short && !selected {
            true => format!(" {} ", pane.index() + 1),
            false => format!(" {title} "),
        };
        let tone = if selected { Tone::Chosen } else { Tone::Faint };
        line.push_span(Span::styled(text, paint.style(tone)));
    }
    line
}

fn footer_line(model: &Model, screen: &Screen, paint: ColourMode, columns: u16) -> Line<'static> {
    let columns = usize::from(columns);
    if let Some(typed) = &screen.typing {
        let mut line = Line::raw(format!("/{}", fit(typed, columns.saturating_sub(2))));
        line.push_span(Span::styled(" ", paint.style(Tone::Chosen)));
        if columns > 60 {
            let said = "  Enter keeps it, Esc takes it back";
            line.push_span(Span::styled(said, paint.style(Tone::Faint)));
        }
        return line;
    }
    let mut states = vec![format!("by {}", screen.sort(screen.pane).title())];
    if !screen.filter.is_empty() {
        states.insert(
            0,
            format!("only \u{201c}{}\u{201d}", fit(&screen.filter, 16)),
        );
    }
    if screen.frozen.is_some() {
        states.insert(0, "events held".to_owned());
    }
    if model.skipped > 0 && screen.pane == Pane::Events {
        states.push(format!("{} passed over", count(model.skipped)));
    }
    states.push(format!("every {} s", screen.every));
    let said = states.join("  ");
    let room = columns.saturating_sub(width(&said));
    let keys = KEYS.iter().find(|keys| width(keys) + 2 <= room);
    let gap = " ".repeat(room.saturating_sub(keys.map_or(0, |keys| width(keys))));
    Line::from(vec![
        Span::raw(fit(&said, columns)),
        Span::raw(gap),
        Span::styled(keys.copied().unwrap_or_default(), paint.style(Tone::Faint)),
    ])
}

/// Draws as many lines as fit.
fn lines(lines: &[Line<'_>], area: Rect, buffer: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Final filter before the terminal: removes from every cell characters that could move the cursor or hide text.
fn tame(buffer: &mut Buffer, area: Rect) {
    for position in area.positions() {
        if let Some(cell) = buffer.cell_mut(position)
            && cell.symbol().contains(is_hidden)
        {
            cell.set_char('\u{fffd}');
        }
    }
}
