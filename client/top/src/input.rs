//! Inputs of the main loop: keys, updates and requests to end.

use std::io;
use std::sync::mpsc::SyncSender;
use std::thread;

use ratatui::crossterm::event::KeyEvent;

use crate::model::Update;

/// An input of the main loop.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal's size changed, or it must be redrawn.
    Resized,
    /// An update from a caller thread.
    Learned(Update),
    /// A signal requests the end.
    Signal(i32),
    /// Reading from the terminal failed.
    Broken(io::Error),
    /// A thread that should run forever has ended.
    Gone(&'static str),
}

/// Channel for inputs. Senders block while the loop is busy, so that inputs do not pile up.
pub type Inputs = SyncSender<Input>;

/// Runs a function forever on a separate thread; its end becomes an input.
///
/// # Errors
/// When the system cannot create a thread.
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

/// Sends an input when its thread ends, also on panic.
struct ThreadEndSignal(&'static str, Inputs);

impl Drop for ThreadEndSignal {
    fn drop(&mut self) {
        // Ignored: the receiver is gone when the program ends.
        let _ = self.1.send(Input::Gone(self.0));
    }
}
