//! The processes of hosts: what a host works on ends with it, also if it crashes and no hook says so.

use std::collections::HashSet;
use std::sync::Mutex;

use lore::host_session::has_ended;

use crate::locks::lock_unpoisoned;

/// Number of processes that are remembered.
const PROCESSES_MAX: usize = 4096;

/// Processes of hosts that were seen alive since the start. One that never was may run where the daemon cannot see it, in
/// a container, and so is not taken for one that has ended.
#[derive(Debug, Default)]
pub struct HostProcesses(Mutex<HashSet<String>>);

impl HostProcesses {
    /// Notes a process, as `process:PID:START`, if it can be seen.
    pub fn note(&self, process: &str) {
        let mut seen = lock_unpoisoned(&self.0);
        if seen.contains(process) || has_ended(process) {
            return;
        }
        if seen.len() >= PROCESSES_MAX {
            seen.retain(|one| !has_ended(one));
            if seen.len() >= PROCESSES_MAX {
                seen.clear();
            }
        }
        seen.insert(process.to_owned());
    }

    /// Whether a process was there and has ended.
    pub fn has_ended(&self, process: &str) -> bool {
        lock_unpoisoned(&self.0).contains(process) && has_ended(process)
    }
}
