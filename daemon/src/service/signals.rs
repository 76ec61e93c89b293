//! SIGTERM and SIGINT request a stop; a second one ends the daemon at once. SIGHUP reloads the settings.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Exit code after a second stop signal.
const ENDED_AT_ONCE: i32 = 130;

/// Requests received as signals.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Cancelled when the daemon must stop.
    pub stop: CancellationToken,
    /// Notified when the settings must be reloaded.
    pub reload: Arc<Notify>,
}

/// Starts listening to signals. The thread lives as long as the process.
///
/// # Errors
/// When the system refuses the handler.
pub fn listen() -> io::Result<Signals> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // Registered first, so that it sees only the flag of an earlier signal.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            ENDED_AT_ONCE,
            Arc::clone(&asked),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    let mut heard = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let signals = Signals::default();
    let reported = signals.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in &mut heard {
                match signal {
                    SIGHUP => reported.reload.notify_one(),
                    _ => reported.stop.cancel(),
                }
            }
        })?;
    Ok(signals)
}
