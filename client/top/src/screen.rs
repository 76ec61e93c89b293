//! The user's choices (pane, scroll position, order, filter, pause), and the keys that change them.

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::SessionId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::fetch::poll::Order;
use crate::listing::{Item, Pane, Sort, items};
use crate::model::Model;
use crate::model::event::Entry;

/// Available polling intervals, in seconds.
pub const EVERY: [u64; 6] = [1, 2, 5, 10, 30, 60];
/// Longest filter, in characters.
const FILTER_CHARS: usize = 64;

/// The user's choices.
#[derive(Debug)]
pub struct Screen {
    /// Pane that receives the keys.
    pub pane: Pane,
    /// Text that listed rows must contain; empty for all rows.
    pub filter: String,
    /// Filter while it is being typed.
    pub typing: Option<String>,
    /// Events at the time of the pause, newest first.
    pub frozen: Option<Vec<Arc<Entry>>>,
    /// Scroll position of the help, if it is shown.
    pub help: Option<usize>,
    /// Polling interval, in seconds.
    pub every: u64,
    /// Session under the cursor of the pane of sessions.
    pub selected: Option<SessionId>,
    /// Session whose events the pane of events lists.
    pub open: Option<SessionId>,
    /// First visible row, by pane.
    tops: [usize; Pane::ALL.len()],
    /// Index of the chosen sort order, by pane.
    sorts: [usize; Pane::ALL.len()],
    /// Event that stays at the top, when it is not the newest.
    anchor: Option<u64>,
    /// Visible rows at the last draw, by pane.
    room: [usize; Pane::ALL.len()],
}

/// Request of a key to the rest of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAction {
    /// Quit.
    Quit,
    /// Poll the daemon.
    Look(Order),
}

/// A scroll movement.
#[derive(Debug, Clone, Copy)]
enum Scroll {
    Up(usize),
    Down(usize),
    First,
    Last,
}

impl Screen {
    /// Creates the initial state.
    pub const fn new(filter: String, every: u64) -> Self {
        Self {
            pane: Pane::Sessions,
            filter,
            typing: None,
            frozen: None,
            help: None,
            every,
            selected: None,
            open: None,
            tops: [0; Pane::ALL.len()],
            sorts: [0; Pane::ALL.len()],
            anchor: None,
            room: [1; Pane::ALL.len()],
        }
    }

    /// Returns the rows of a pane, in its order.
    pub fn items<'a>(&'a self, model: &'a Model, pane: Pane) -> Vec<Item<'a>> {
        items(
            model,
            pane,
            self.sort(pane),
            self.filter_now(),
            self.frozen.as_deref(),
            self.open.as_ref().map(SessionId::as_str),
        )
    }

    /// Returns the effective filter, also while it is typed.
    pub fn filter_now(&self) -> &str {
        self.typing.as_deref().unwrap_or(&self.filter)
    }

    /// Returns the sort order of a pane.
    pub fn sort(&self, pane: Pane) -> Sort {
        let sorts = pane.sorts();
        let selected = self.sorts.get(pane.index()).copied().unwrap_or(0);
        sorts
            .get(selected)
            .or(sorts.first())
            .copied()
            .unwrap_or(Sort::Name)
    }

    /// Returns the first visible row of a pane's items, for `room` visible rows.
    pub fn top(&self, pane: Pane, items: &[Item<'_>], room: usize) -> usize {
        let last = items.len().saturating_sub(room);
        let wanted = match self.anchor.filter(|_| pane == Pane::Events) {
            Some(anchor) => items
                .iter()
                .position(|item| item.position().is_some_and(|position| position <= anchor))
                .unwrap_or(last),
            None => self.tops.get(pane.index()).copied().unwrap_or(0),
        };
        wanted.min(last)
    }

    /// Records the number of visible rows of a pane.
    pub fn drew(&mut self, pane: Pane, room: usize) {
        if let Some(known) = self.room.get_mut(pane.index()) {
            *known = room;
        }
    }

    /// Handles a key.
    pub fn press(&mut self, key: KeyEvent, model: &Model) -> Option<KeyAction> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Some(KeyAction::Quit),
            KeyCode::Char(_) if control => return None,
            code if self.typing.is_some() => {
                self.type_filter(code);
                return None;
            }
            code if self.help.is_some() => {
                self.read_help(code);
                return None;
            }
            KeyCode::Esc if self.open.is_some() => self.close(),
            KeyCode::Enter if self.pane == Pane::Sessions => return self.open_selected(model),
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Char('q') | KeyCode::Esc => return Some(KeyAction::Quit),
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.help = Some(0),
            KeyCode::Char('/') => self.typing = Some(self.filter.clone()),
            KeyCode::Char('p' | ' ') => self.pause(model),
            KeyCode::Char('s') => self.sort_otherwise(),
            KeyCode::Char('r') => return Some(KeyAction::Look(Order::Now)),
            KeyCode::Char('+') => return self.look_every(1),
            KeyCode::Char('-') => return self.look_every(-1),
            KeyCode::Tab | KeyCode::Right => self.pane = self.pane.adjacent(1),
            KeyCode::BackTab | KeyCode::Left => self.pane = self.pane.adjacent(-1),
            KeyCode::Char(digit) => {
                if let Some(pane) = Pane::of_digit(digit) {
                    self.pane = pane;
                    self.open = None;
                }
            }
            code => {
                if let Some(scroll) = self.scrolling(code) {
                    self.scroll(scroll, model);
                }
            }
        }
        None
    }

    fn scrolling(&self, code: KeyCode) -> Option<Scroll> {
        let page = self.page();
        match code {
            KeyCode::Up => Some(Scroll::Up(1)),
            KeyCode::Down => Some(Scroll::Down(1)),
            KeyCode::PageUp => Some(Scroll::Up(page)),
            KeyCode::PageDown => Some(Scroll::Down(page)),
            KeyCode::Home => Some(Scroll::First),
            KeyCode::End => Some(Scroll::Last),
            _ => None,
        }
    }

    /// Returns a screenful: all visible rows but one.
    fn page(&self) -> usize {
        let room = self.room.get(self.pane.index()).copied().unwrap_or(1);
        room.saturating_sub(1).max(1)
    }

    /// Opens the session under the cursor, else the first one: its events are listed until Esc.
    fn open_selected(&mut self, model: &Model) -> Option<KeyAction> {
        let session = {
            let items = self.items(model, Pane::Sessions);
            let selected = items.iter().filter_map(Item::session).find(|session| {
                self.selected
                    .as_ref()
                    .is_none_or(|selected| selected == *session)
            });
            selected
                .or_else(|| items.iter().find_map(Item::session))
                .cloned()?
        };
        self.selected = Some(session.clone());
        self.open = Some(session.clone());
        self.anchor = None;
        self.pane = Pane::Events;
        Some(KeyAction::Look(Order::Open(session)))
    }

    /// Returns to the list of sessions.
    fn close(&mut self) {
        self.open = None;
        self.anchor = None;
        self.pane = Pane::Sessions;
    }

    /// Moves the cursor among the sessions; the list scrolls with it.
    fn select(&mut self, scroll: Scroll, model: &Model) {
        let room = self
            .room
            .get(Pane::Sessions.index())
            .copied()
            .unwrap_or(1)
            .max(1);
        let (at, session, top) = {
            let items = self.items(model, Pane::Sessions);
            let last = items.len().saturating_sub(1);
            let is_selected = |item: &Item<'_>| item.session() == self.selected.as_ref();
            let at = match items.iter().position(is_selected) {
                Some(at) => scrolled(at, scroll, last),
                None => 0,
            };
            let top = self.top(Pane::Sessions, &items, room);
            (at, items.get(at).and_then(Item::session).cloned(), top)
        };
        self.selected = session;
        if let Some(kept) = self.tops.get_mut(Pane::Sessions.index()) {
            *kept = top.clamp((at + 1).saturating_sub(room), at);
        }
    }

    fn scroll(&mut self, scroll: Scroll, model: &Model) {
        if self.pane == Pane::Sessions {
            self.select(scroll, model);
            return;
        }
        let room = self.room.get(self.pane.index()).copied().unwrap_or(1);
        let (top, anchor) = {
            let items = self.items(model, self.pane);
            let last = items.len().saturating_sub(room);
            let now = self.top(self.pane, &items, room);
            let top = scrolled(now, scroll, last);
            (top, items.get(top).and_then(Item::position))
        };
        if self.pane == Pane::Events {
            self.anchor = anchor.filter(|_| top > 0);
        }
        if let Some(kept) = self.tops.get_mut(self.pane.index()) {
            *kept = top;
        }
    }

    fn type_filter(&mut self, code: KeyCode) {
        let Some(mut typed) = self.typing.take() else {
            return;
        };
        match code {
            KeyCode::Esc => return,
            KeyCode::Enter => {
                self.filter = typed;
                return;
            }
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char(character)
                if !lore::sanitize::is_hidden(character)
                    && typed.chars().count() < FILTER_CHARS =>
            {
                typed.push(character);
            }
            _ => {}
        }
        self.typing = Some(typed);
    }

    fn read_help(&mut self, code: KeyCode) {
        let top = self.help.unwrap_or(0);
        self.help = self.scrolling(code).map(|scroll| {
            scrolled(
                top,
                scroll,
                crate::view::help::LINES.len().saturating_sub(1),
            )
        });
    }

    fn pause(&mut self, model: &Model) {
        self.frozen = match self.frozen {
            Some(_) => None,
            None => Some(model.events.iter().cloned().collect()),
        };
    }

    fn sort_otherwise(&mut self) {
        let count = self.pane.sorts().len().max(1);
        if let Some(selected) = self.sorts.get_mut(self.pane.index()) {
            *selected = (*selected + 1) % count;
        }
    }

    /// Changes to a longer (1) or shorter (-1) polling interval.
    fn look_every(&mut self, step: isize) -> Option<KeyAction> {
        let at = EVERY.iter().position(|every| *every >= self.every);
        let next = at.unwrap_or(EVERY.len() - 1).checked_add_signed(step)?;
        self.every = *EVERY.get(next)?;
        Some(KeyAction::Look(Order::Every(Duration::from_secs(
            self.every,
        ))))
    }
}

fn scrolled(top: usize, scroll: Scroll, last: usize) -> usize {
    match scroll {
        Scroll::Up(rows) => top.saturating_sub(rows),
        Scroll::Down(rows) => top.saturating_add(rows).min(last),
        Scroll::First => 0,
        Scroll::Last => last,
    }
}
