//! The live view: reads inputs and draws frames until the user quits.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::terminal::enable_raw_mode;
use ratatui::layout::{Position, Rect};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::clock::UnixMicros;
use crate::fetch::poll::{Order, poll};
use crate::fetch::{Caller, follow};
use crate::input::{Input, Inputs, forever};
use crate::model::Model;
use crate::screen::{KeyAction, Screen};
use crate::view;
use crate::view::labels::ColourMode;

/// Limit on queued inputs; a flood of events waits in the daemon.
const INPUTS_MAX: usize = 64;
/// Interval at which ages are redrawn while idle.
const TICK: Duration = Duration::from_secs(1);
/// Minimum time between two frames that no key triggered.
const FRAME_MIN: Duration = Duration::from_millis(50);

/// Reason for the end of the view.
#[derive(Debug, PartialEq, Eq)]
pub enum ViewEnd {
    /// The user quit.
    Wished,
    /// A signal requested the end.
    Signal(i32),
}

/// Shows the view until it ends. Always restores the terminal, also on panic.
///
/// # Errors
/// When the terminal cannot be used.
pub fn run(
    caller: Caller,
    model: &mut Model,
    screen: &mut Screen,
    paint: ColourMode,
) -> io::Result<ViewEnd> {
    let (inputs, comes) = sync_channel(INPUTS_MAX);
    let (orders, ordered) = channel();
    // Signals first: a signal during the terminal setup must also lead to a restored terminal.
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGCONT])?;
    forever("signals", &inputs, move |inputs| {
        for signal in signals.forever() {
            let input = match signal {
                SIGCONT => Input::Resized,
                signal => Input::Signal(signal),
            };
            if inputs.send(input).is_err() {
                return;
            }
        }
    })?;
    let follower = caller.another();
    let every = Duration::from_secs(screen.every);
    forever("looks", &inputs, move |inputs| {
        poll(caller, every, &ordered, &inputs);
    })?;
    forever("follows", &inputs, move |inputs| {
        follow::follow(follower, &inputs);
    })?;
    let restored = TerminalGuard;
    let mut terminal = ratatui::try_init()?;
    forever("keys", &inputs, |inputs| keys(&inputs))?;
    let end = watch(&mut terminal, &comes, &orders, model, screen, paint);
    drop(restored);
    end
}

/// Restores the terminal on drop.
struct TerminalGuard;

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        // A closed terminal needs no restoring.
        let _ = ratatui::try_restore();
    }
}

fn keys(inputs: &Inputs) {
    loop {
        let input = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Input::Key(key),
            Ok(Event::Resize(..)) => Input::Resized,
            Ok(_) => continue,
            Err(error) => {
                // Ignored: the receiver is gone when the program ends.
                let _ = inputs.send(Input::Broken(error));
                return;
            }
        };
        if inputs.send(input).is_err() {
            return;
        }
    }
}

fn watch(
    terminal: &mut DefaultTerminal,
    comes: &Receiver<Input>,
    orders: &Sender<Order>,
    model: &mut Model,
    screen: &mut Screen,
    paint: ColourMode,
) -> io::Result<ViewEnd> {
    loop {
        model.now = UnixMicros::now();
        terminal.draw(|frame| {
            let area = frame.area();
            view::draw(model, screen, paint, area, frame.buffer_mut());
        })?;
        let drawn = Instant::now();
        let mut wait = TICK;
        // Loop until a redraw is due: updates are collected for a moment, keys are handled at once.
        loop {
            let input = match comes.recv_timeout(wait) {
                Ok(input) => input,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("all that the view rests on is gone"));
                }
            };
            match act(input, terminal, orders, model, screen)? {
                InputAction::End(end) => return Ok(end),
                InputAction::Draw => break,
                InputAction::Learned => wait = FRAME_MIN.saturating_sub(drawn.elapsed()),
            }
            if wait.is_zero() {
                break;
            }
        }
    }
}

/// Consequence of an input.
enum InputAction {
    /// Draw a frame at once.
    Draw,
    /// Draw a frame soon.
    Learned,
    /// End the view.
    End(ViewEnd),
}

fn act(
    input: Input,
    terminal: &mut DefaultTerminal,
    orders: &Sender<Order>,
    model: &mut Model,
    screen: &mut Screen,
) -> io::Result<InputAction> {
    match input {
        Input::Key(key) => match screen.press(key, model) {
            Some(KeyAction::Quit) => return Ok(InputAction::End(ViewEnd::Wished)),
            Some(KeyAction::Look(order)) => {
                // The polling thread lives as long as this sender.
                let _ = orders.send(order);
            }
            None => {}
        },
        Input::Resized => {
            // After a stop, the terminal has the shell's modes and the screen content is unknown.
            // (`Terminal::clear` queries the cursor position, and the key reader would take the
            // reply.)
            enable_raw_mode()?;
            let size = terminal.size()?;
            terminal.resize(Rect::from((Position::ORIGIN, size)))?;
        }
        Input::Learned(learned) => {
            model.learn(learned, UnixMicros::now());
            return Ok(InputAction::Learned);
        }
        Input::Signal(signal) => return Ok(InputAction::End(ViewEnd::Signal(signal))),
        Input::Broken(error) => return Err(error),
        Input::Gone(name) => {
            return Err(io::Error::other(format!("the thread `{name}` has ended")));
        }
    }
    Ok(InputAction::Draw)
}
