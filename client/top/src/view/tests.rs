//! Frames of the view, compared with the files in `tests/screens`; `UPDATE_SCREENS=1` rewrites them.
#![allow(clippy::indexing_slicing)]

use std::path::Path;
use std::time::Duration;

use lore::protocol::Position;
use lore::sanitize::is_hidden;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::labels::ColourMode;
use super::{plain, report};
use crate::fetch::poll::Order;
use crate::listing::Pane;
use crate::model::event::Entry;
use crate::model::mark::Mark;
use crate::model::tests::{event, model, noon_and, page, session, sessions, status};
use crate::model::{ConnectionLoss, Model, Update};
use crate::screen::{KeyAction, Screen};

/// Hostile stored text.
const HOSTILE: &str = "\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}live\r\n\u{200b}\u{2028}\u{e0041}";

fn screen() -> Screen {
    Screen::new(String::new(), 1)
}

fn frame(model: &Model, screen: &mut Screen, paint: ColourMode, columns: u16, rows: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    let drawn = terminal.draw(|frame| {
        let area = frame.area();
        super::draw(model, screen, paint, area, frame.buffer_mut());
    });
    drawn.expect("a frame").buffer.clone()
}

fn text(model: &Model, screen: &mut Screen, columns: u16, rows: u16) -> String {
    plain(&frame(model, screen, ColourMode::Plain, columns, rows))
}

fn press(screen: &mut Screen, model: &Model, code: KeyCode) -> Option<KeyAction> {
    screen.press(KeyEvent::new(code, KeyModifiers::NONE), model)
}

fn type_in(screen: &mut Screen, model: &Model, keys: &str) {
    for key in keys.chars() {
        assert_eq!(press(screen, model, KeyCode::Char(key)), None);
    }
}

/// Compares a frame with its file.
fn same(name: &str, seen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/screens/{name}.txt"));
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&path, seen).expect("a screen is written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        seen == known,
        "{}:\n{seen}\ninstead of\n{known}",
        path.display()
    );
}

#[test]
fn each_pane_at_80_columns() {
    let (model, mut screen) = (model(), screen());
    for (digit, pane) in ('1'..).zip(Pane::ALL) {
        press(&mut screen, &model, KeyCode::Char(digit));
        assert_eq!(screen.pane, pane);
        let name = format!("80x24-{}", pane.title().to_lowercase());
        same(&name, &text(&model, &mut screen, 80, 24));
    }
    press(&mut screen, &model, KeyCode::Char('?'));
    same("80x24-help", &text(&model, &mut screen, 80, 24));
}

#[test]
fn small_and_large_terminals() {
    let (model, mut screen) = (model(), screen());
    same("40x12", &text(&model, &mut screen, 40, 12));
    same("200x50", &text(&model, &mut screen, 200, 50));
    same("report", &report(&model, &screen, 100));
}

/// Drawing does not panic at any size.
#[test]
fn no_size_is_too_small() {
    let (model, mut screen) = (model(), screen());
    for columns in (1..30).chain([79, 160, 400]) {
        for rows in (1..20).chain([36, 100]) {
            for pane in Pane::ALL {
                screen.pane = pane;
                let text = text(&model, &mut screen, columns, rows);
                assert_eq!(text.lines().count(), usize::from(rows));
            }
        }
    }
}

#[test]
fn a_daemon_that_is_gone_is_told() {
    let mut model = Model::new("/run/lore.sock".to_owned(), noon_and(0));
    same("80x24-asking", &text(&model, &mut screen(), 80, 24));
    let lost = ConnectionLoss {
        why: "nobody serves at /run/lore.sock".to_owned(),
        hint: Some("run `lored`, or any call of `lore`, which starts it".to_owned()),
        is_not_running: true,
    };
    model.learn(Update::Lost(lost), noon_and(1));
    model.now = noon_and(75);
    same("80x24-not-running", &text(&model, &mut screen(), 80, 24));
    model.learn(
        Update::Status(Box::new(status()), Duration::ZERO),
        noon_and(80),
    );
    model.now = noon_and(90);
    let silent = text(&model, &mut screen(), 80, 24);
    assert!(silent.contains("has not answered for 10 s"), "{silent}");
}

#[test]
fn what_needs_attention_is_seen() {
    let mut model = model();
    let mut sick = status();
    sick.writable = false;
    sick.warnings = (1..9)
        .map(|number| format!("thing {number} needs a look"))
        .collect();
    model.learn(Update::Status(Box::new(sick), Duration::ZERO), noon_and(11));
    model.learn(
        Update::Deaf(Some("the log is damaged".to_owned())),
        noon_and(11),
    );
    let seen = text(&model, &mut screen(), 80, 24);
    assert!(seen.contains("writes refused"), "{seen}");
    assert!(
        seen.contains("events cannot be followed: the log is damaged"),
        "{seen}"
    );
    assert!(seen.contains("warning: thing 1"), "{seen}");
    assert!(seen.contains("things need attention"), "{seen}");
    let mut screen = screen();
    screen.pane = Pane::Sizes;
    let seen = text(&model, &mut screen, 80, 40);
    assert!(seen.contains("thing 8 needs a look"), "{seen}");
}

/// Stored text reaches the terminal only as visible characters.
#[test]
fn hostile_texts_are_harmless() {
    let mut model = Model::new(HOSTILE.to_owned(), noon_and(0));
    let mut status = status();
    for text in [&mut status.version, &mut status.socket, &mut status.data] {
        HOSTILE.clone_into(text);
    }
    status.warnings = vec![HOSTILE.to_owned()];
    status.sizes.insert(HOSTILE.to_owned(), 1);
    status.followers[0].name = HOSTILE.to_owned();
    status.resolvers[0].state = HOSTILE.to_owned();
    model.learn(
        Update::Status(Box::new(status), Duration::ZERO),
        noon_and(1),
    );
    let mut summary = session("hostile", HOSTILE, &[HOSTILE], 1, 1);
    summary.project = Some(format!("{}{HOSTILE}", "e\u{301}\u{302}\u{303}\u{304}"));
    model.learn(
        Update::Sessions(sessions(vec![summary]), Duration::ZERO),
        noon_and(1),
    );
    let entry = Entry {
        client: HOSTILE.to_owned(),
        mark: Mark::Step,
        summary: HOSTILE.to_owned(),
        ..event(1, 1, HOSTILE, HOSTILE, Some(HOSTILE))
    };
    model.learn(page(vec![entry]), noon_and(1));
    model.learn(Update::Deaf(Some(HOSTILE.to_owned())), noon_and(1));
    let mut screen = Screen::new(HOSTILE.to_owned(), 1);
    for filter in [HOSTILE, ""] {
        filter.clone_into(&mut screen.filter);
        for (columns, rows) in [(40, 12), (80, 24), (200, 50)] {
            for pane in Pane::ALL {
                screen.pane = pane;
                let buffer = frame(&model, &mut screen, ColourMode::Plain, columns, rows);
                for cell in buffer.content() {
                    assert!(!cell.symbol().contains(is_hidden), "{:?}", cell.symbol());
                    assert!(cell.symbol().chars().count() <= 3, "{:?}", cell.symbol());
                }
            }
        }
        let report = report(&model, &screen, 100);
        assert!(
            !report.contains(|found| found != '\n' && is_hidden(found)),
            "{report:?}"
        );
    }
}

#[test]
fn colours_are_left_out_when_unwanted() {
    let (model, mut screen) = (model(), screen());
    let has_colours = |buffer: &Buffer| buffer.content().iter().any(|cell| cell.fg != Color::Reset);
    assert!(has_colours(&frame(
        &model,
        &mut screen,
        ColourMode::Colours,
        200,
        50
    )));
    assert!(!has_colours(&frame(
        &model,
        &mut screen,
        ColourMode::Plain,
        200,
        50
    )));
}

#[test]
fn a_filter_is_typed_kept_and_taken_back() {
    let (model, mut screen) = (model(), screen());
    type_in(&mut screen, &model, "3/codeX\u{7}");
    let typing = text(&model, &mut screen, 80, 24);
    assert!(typing.contains("3 Events 1"), "{typing}");
    assert!(typing.contains("/codeX"), "{typing}");
    press(&mut screen, &model, KeyCode::Backspace);
    press(&mut screen, &model, KeyCode::Enter);
    assert_eq!((screen.filter.as_str(), &screen.typing), ("code", &None));
    // While the filter is typed, keys do not reach the view, and Esc undoes one step at a time.
    type_in(&mut screen, &model, "/q");
    assert_eq!(press(&mut screen, &model, KeyCode::Esc), None);
    assert_eq!(screen.filter, "code");
    assert_eq!(press(&mut screen, &model, KeyCode::Esc), None);
    assert_eq!(screen.filter, "");
    assert_eq!(
        press(&mut screen, &model, KeyCode::Esc),
        Some(KeyAction::Quit)
    );
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    type_in(&mut screen, &model, "/");
    assert_eq!(screen.press(control_c, &model), Some(KeyAction::Quit));
}

#[test]
fn scrolled_events_stand_still_and_held_ones_stay() {
    let (mut model, mut screen) = (model(), screen());
    for position in 12_346..12_500 {
        let entry = event(position, 12, "claude", "StepRecorded", None);
        model.learn(page(vec![entry]), noon_and(12));
    }
    screen.pane = Pane::Events;
    let first = |seen: &str| {
        let row = seen
            .lines()
            .skip_while(|line| !line.contains("POSITION"))
            .nth(1);
        let position = row.and_then(|row| row.split_whitespace().next()?.parse::<u64>().ok());
        position.unwrap_or(0)
    };
    assert_eq!(first(&text(&model, &mut screen, 80, 24)), 12_499);
    press(&mut screen, &model, KeyCode::PageDown);
    press(&mut screen, &model, KeyCode::Up);
    let held = first(&text(&model, &mut screen, 80, 24));
    assert!(held < 12_499 && held > 12_470, "{held}");
    model.learn(
        page(vec![event(12_500, 13, "codex", "StepRecorded", None)]),
        noon_and(13),
    );
    assert_eq!(first(&text(&model, &mut screen, 80, 24)), held);
    press(&mut screen, &model, KeyCode::Home);
    assert_eq!(first(&text(&model, &mut screen, 80, 24)), 12_500);
    press(&mut screen, &model, KeyCode::Char('p'));
    model.learn(
        page(vec![event(12_501, 13, "codex", "StepRecorded", None)]),
        noon_and(13),
    );
    assert_eq!(first(&text(&model, &mut screen, 80, 24)), 12_500);
    press(&mut screen, &model, KeyCode::Char('p'));
    assert_eq!(first(&text(&model, &mut screen, 80, 24)), 12_501);
    press(&mut screen, &model, KeyCode::End);
    assert!(text(&model, &mut screen, 80, 24).contains("12341"));
}

#[test]
fn rows_are_put_in_order() {
    let (model, mut screen) = (model(), screen());
    let names = |screen: &mut Screen| {
        let seen = text(&model, screen, 80, 24);
        let rows = seen
            .lines()
            .skip_while(|line| !line.starts_with("SESSION"))
            .skip(1);
        let names: Vec<String> = rows
            .take(3)
            .filter_map(|row| Some(row.split_whitespace().next()?.to_owned()))
            .collect();
        names.join(" ")
    };
    assert_eq!(names(&mut screen), "release-42 outage notes");
    for order in [
        "release-42 outage notes",
        "release-42 outage notes",
        "notes release-42 outage",
    ] {
        press(&mut screen, &model, KeyCode::Char('s'));
        assert_eq!(names(&mut screen), order);
    }
}

#[test]
fn the_pace_is_changed() {
    let (model, mut screen) = (model(), screen());
    let every = |seconds| Some(KeyAction::Look(Order::Every(Duration::from_secs(seconds))));
    assert_eq!(press(&mut screen, &model, KeyCode::Char('-')), None);
    assert_eq!(press(&mut screen, &model, KeyCode::Char('+')), every(2));
    assert_eq!(press(&mut screen, &model, KeyCode::Char('+')), every(5));
    assert_eq!(press(&mut screen, &model, KeyCode::Char('-')), every(2));
    assert_eq!(
        press(&mut screen, &model, KeyCode::Char('r')),
        Some(KeyAction::Look(Order::Now))
    );
    let mut fast = model;
    fast.status.as_mut().expect("a status").position = Position(u64::MAX);
    assert!(text(&fast, &mut screen, 80, 24).contains("position 18 446"));
}

/// Enter lists what was said and done in the session under the cursor; Esc returns to the sessions.
#[test]
fn enter_opens_a_session() {
    let (mut model, mut screen) = (model(), screen());
    press(&mut screen, &model, KeyCode::Char('1'));
    press(&mut screen, &model, KeyCode::Down);
    press(&mut screen, &model, KeyCode::Down);
    let selected = screen.selected.clone().expect("a session is selected");
    let opened = press(&mut screen, &model, KeyCode::Enter);
    assert_eq!(opened, Some(KeyAction::Look(Order::Open(selected.clone()))));
    assert_eq!(
        (screen.pane, screen.open.as_ref()),
        (Pane::Events, Some(&selected))
    );
    let said = |position, words: &str, is_internal| Entry {
        mark: Mark::Step,
        summary: words.to_owned(),
        is_internal,
        ..event(
            position,
            1,
            "claude",
            "MessageRecorded",
            Some(selected.as_str()),
        )
    };
    let entries = vec![
        said(1, "user: is the uplink down?", false),
        said(2, "found entities", true),
    ];
    model.learn(Update::Opened(selected.clone(), entries), noon_and(1));
    let later = said(99_999, "assistant: it is up again", false);
    model.learn(page(vec![later]), noon_and(2));
    let seen = text(&model, &mut screen, 100, 24);
    assert!(seen.contains("user: is the uplink down?"), "{seen}");
    assert!(seen.contains("assistant: it is up again"), "{seen}");
    assert!(!seen.contains("found entities"), "{seen}");
    assert!(seen.contains(&format!("Events of {selected}")), "{seen}");
    assert_eq!(press(&mut screen, &model, KeyCode::Esc), None);
    assert_eq!((screen.pane, screen.open.as_ref()), (Pane::Sessions, None));
}
