//! What the machine allows: watched folders, open files; and what its clock says.

use rustix::process::{Resource, getrlimit};

use super::{Finding, Patient};
use crate::clock::{Clock, format_time};

/// Folders that can be watched, and watchers, below which a few projects use them up.
const WATCHES_MIN: u64 = 8192;
const INSTANCES_MIN: u64 = 64;
/// Descriptors beside those of connections.
const FILES_BESIDE: u64 = 256;
/// A clock before this was never set: the second at which 2024 began.
const YEAR_2024: u64 = 1_704_067_200;

pub fn check(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings = vec![files(patient), clock()];
    if cfg!(target_os = "linux") {
        findings.push(watches());
    }
    findings
}

fn files(patient: &Patient<'_>) -> Finding {
    let check = "open files";
    let wanted = patient.config.limits.connections_max as u64 + FILES_BESIDE;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < wanted => {
            let seen = format!(
                "{limit} may be open at once; {} connections want {wanted}",
                patient.config.limits.connections_max
            );
            let remedy = format!("ulimit -n {wanted}, or LimitNOFILE= of the unit");
            Finding::warning(check, seen, remedy)
        }
        Some(limit) => Finding::good(check, format!("{limit} may be open at once")),
        None => Finding::good(check, "as many as are wanted"),
    }
}

fn clock() -> Finding {
    let seconds = Clock::System.now() / 1_000_000;
    if seconds < YEAR_2024 {
        let seen = format!("it is {seconds} seconds after 1970, says the machine");
        return Finding::bad("clock", seen, "Set the clock: `timedatectl set-ntp true`.");
    }
    Finding::good("clock", format_time(Clock::System.now()))
}

fn watches() -> Finding {
    let check = "watching";
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let (Some(watches), Some(instances)) = (read("max_user_watches"), read("max_user_instances"))
    else {
        let remedy = "Files are looked at now and then instead; nothing has to be done.";
        return Finding::warning(check, "the system does not tell its inotify limits", remedy);
    };
    let seen = format!("{watches} folders and {instances} watchers for each user");
    if watches < WATCHES_MIN || instances < INSTANCES_MIN {
        let remedy = format!(
            "sysctl -w fs.inotify.max_user_watches={} fs.inotify.max_user_instances={}",
            watches.max(524_288),
            instances.max(512)
        );
        return Finding::warning(check, seen, remedy);
    }
    Finding::good(check, seen)
}
