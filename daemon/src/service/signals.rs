//! SIGTERM and SIGINT ask the daemon to stop; a second one ends it at once. SIGHUP asks it to read its
//! settings again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Exit code of a daemon that was told twice.
const ENDED_AT_ONCE: i32 = 130;

/// What signals ask for.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Cancelled when the daemon is to stop.
    pub stop: CancellationToken,
    /// Notified when the settings are to be read again.
    pub reload: Arc<Notify>,
}

/// Listens to signals from now on. The thread lives as long as the process.
///
/// # Errors
/// When the system takes no handler.
pub fn listen() -> io::Result<Signals> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // Registered first, so it sees the flag of an earlier signal only.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            ENDED_AT_ONCE,
            Arc::clone(&asked),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    let mut change_event = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let signals = Signals::default();
    let reported = signals.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in &mut change_event {
                match signal {
                    SIGHUP => reported.reload.notify_one(),
                    _ => reported.stop.cancel(),
                }
            }
        })?;
    Ok(signals)
}
