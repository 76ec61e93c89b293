//! Checks of the machine: limits on watched folders and open files, and the clock.

use super::{DoctorContext, Finding};
use crate::clock::{Clock, Micros, format_time};
use crate::service::descriptors;

/// Recommended minimum of watchable folders and watchers: a few projects exhaust lower limits.
const WATCHES_MIN: u64 = 8192;
const INSTANCES_MIN: u64 = 64;
/// Beginning of 2024 in Unix seconds: an earlier clock was never set.
const YEAR_2024: u64 = 1_704_067_200;

pub fn check(doctor_cx: &DoctorContext<'_>) -> Vec<Finding> {
    let mut findings = vec![files(doctor_cx), clock(Clock::System.now())];
    if cfg!(target_os = "linux") {
        findings.push(watches());
    }
    findings
}

fn files(doctor_cx: &DoctorContext<'_>) -> Finding {
    let check = "open files";
    let wanted = descriptors::required(doctor_cx.config.limits.connections_max);
    match descriptors::possible() {
        Some(limit) if limit < wanted => {
            let seen = format!(
                "{limit} may be open at once; {} connections want {wanted}",
                doctor_cx.config.limits.connections_max
            );
            let remedy = format!("ulimit -n {wanted}, or LimitNOFILE= of the unit");
            Finding::warning(check, seen, remedy)
        }
        Some(limit) => Finding::good(check, format!("{limit} may be open at once")),
        None => Finding::good(check, "as many as are wanted"),
    }
}

fn clock(now: Micros) -> Finding {
    let seconds = now / 1_000_000;
    if seconds < YEAR_2024 {
        let seen = format!("it is {seconds} seconds after 1970, says the machine");
        return Finding::bad("clock", seen, "Set the clock: `timedatectl set-ntp true`.");
    }
    Finding::good("clock", format_time(now))
}

fn watches() -> Finding {
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    watches_of(read("max_user_watches"), read("max_user_instances"))
}

fn watches_of(watches: Option<u64>, instances: Option<u64>) -> Finding {
    let check = "watching";
    let (Some(watches), Some(instances)) = (watches, instances) else {
        let remedy = "Files are looked at now and then instead; nothing has to be done.";
        return Finding::warning(
            check,
            "the system does not report its inotify limits",
            remedy,
        );
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

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    /// A clock that was never set and limits that are too low are reported with remedies.
    #[test]
    fn what_the_machine_lacks_is_told() {
        assert_eq!(clock((YEAR_2024 + 1) * 1_000_000).state, State::Good);
        let unset = clock(86_400_000_000);
        assert_eq!(unset.state, State::Bad);
        assert!(
            unset
                .remedy
                .is_some_and(|remedy| remedy.contains("timedatectl"))
        );
        assert_eq!(
            watches_of(Some(WATCHES_MIN), Some(INSTANCES_MIN)).state,
            State::Good
        );
        for (watches, instances) in [
            (Some(WATCHES_MIN - 1), Some(INSTANCES_MIN)),
            (Some(WATCHES_MIN), Some(INSTANCES_MIN - 1)),
        ] {
            let low = watches_of(watches, instances);
            assert_eq!(low.state, State::Warning);
            let remedy = low.remedy.unwrap_or_default();
            assert!(
                remedy.contains("fs.inotify.max_user_watches=524288"),
                "{remedy}"
            );
        }
        assert_eq!(watches_of(None, Some(1)).state, State::Warning);
    }
}
