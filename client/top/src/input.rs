//! What the main loop waits for: keys, what was learned, the wish to end.

use std::io;
use std::sync::mpsc::SyncSender;
use std::thread;

use ratatui::crossterm::event::KeyEvent;

use crate::model::Update;

/// One thing that happened.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal has another size, or must be drawn anew.
    Resized,
    /// A caller brings something.
    Learned(Update),
    /// A signal asks to end.
    Signal(i32),
    /// The terminal cannot be read any more.
    Broken(io::Error),
    /// A thread that never ends has ended.
    Gone(&'static str),
}

/// Where inputs go. Senders wait while the loop is busy, so that nothing piles up.
pub type Inputs = SyncSender<Input>;

/// Runs something for good on a thread of its own; its end is an input, too.
///
/// # Errors
/// When the system has no thread left.
pub fn forever(
    name: &'static str,
    inputs: &Inputs,
    run: impl FnOnce(Inputs) + Send + 'static,
) -> io::Result<()> {
    let inputs = inputs.clone();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let _bell = ThreadEndSignal(name, inputs.clone());
            run(inputs);
        })?;
    Ok(())
}

/// Rings when a thread ends, in whichever way.
struct ThreadEndSignal(&'static str, Inputs);

impl Drop for ThreadEndSignal {
    fn drop(&mut self) {
        // Nobody listens when the program ends itself.
        let _ = self.1.send(Input::Gone(self.0));
    }
}
