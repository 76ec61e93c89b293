//! SIGTERM and SIGINT ask the daemon to stop; a second one ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio_util::sync::CancellationToken;

/// Exit code of a daemon that was told twice.
const ENDED_AT_ONCE: i32 = 130;

/// Cancels the token on the first signal. The thread lives as long as the process.
///
/// # Errors
/// When the system takes no handler.
pub fn stop_on_signals(stop: CancellationToken) -> io::Result<()> {
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
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            if signals.forever().next().is_some() {
                stop.cancel();
            }
        })?;
    Ok(())
}
