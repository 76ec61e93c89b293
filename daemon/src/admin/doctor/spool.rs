//! Check of the spool: payloads of hooks that wait, were refused, or could not be recorded.

use lore::spool::Spool;

use super::{DoctorContext, Finding};

const CHECK: &str = "spool of hooks";

/// Returns the finding; none if no hook has ever used the spool.
pub fn check(doctor_cx: &DoctorContext<'_>) -> Option<Finding> {
    let spool = Spool::in_data(&doctor_cx.paths.data);
    if !spool.folder().exists() {
        return None;
    }
    let folder = spool.folder().display();
    let waiting = match spool.waiting() {
        Ok(names) => names.len(),
        Err(error) => {
            let remedy = format!("Hooks record nothing while no daemon runs: chmod 700 {folder}");
            return Some(Finding::bad(CHECK, error.to_string(), remedy));
        }
    };
    let (refused, rejected) = (spool.usage().refused, spool.rejected().len());
    if refused > 0 {
        let seen = format!("it was full: {refused} payloads were not recorded, {waiting} wait");
        let remedy = "Start the daemon, which takes up what waits; --fix sets the count back to 0.";
        let finding = Finding::warning(CHECK, seen, remedy);
        return Some(match doctor_cx.fixes && spool.forget_refused().is_ok() {
            true => finding.fixed(),
            false => finding,
        });
    }
    if rejected > 0 {
        let seen = format!("{rejected} payloads could not be recorded: {folder}/rejected");
        let remedy = "The log says why; remove them when they are of no use.";
        return Some(Finding::warning(CHECK, seen, remedy));
    }
    Some(Finding::good(CHECK, format!("{waiting} payloads wait")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use lore::spool::Header;

    use super::*;
    use crate::admin::doctor::State;
    use crate::config::Config;
    use crate::daemon::tests::paths;

    #[test]
    fn what_was_not_recorded_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (paths, config) = (paths(folder.path()), Config::new());
        let find = |fixes| {
            check(&DoctorContext {
                paths: &paths,
                config: &config,
                fixes,
            })
        };
        assert_eq!(find(false), None);
        let spool = Spool::of(&paths);
        spool.put(&Header::default(), b"{}").unwrap();
        let good = find(false).unwrap();
        assert_eq!((good.state, &*good.seen), (State::Good, "1 payloads wait"));

        let name = spool.waiting().unwrap().remove(0);
        spool.reject(&name).unwrap();
        assert_eq!(find(false).unwrap().state, State::Warning);
        let usage = r#"{"files":0,"bytes":0,"refused":2,"refused_bytes":9}"#;
        fs::write(spool.folder().join(".usage"), usage).unwrap();
        let full = find(false).unwrap();
        assert!(
            full.seen.contains("2 payloads were not recorded"),
            "{full:?}"
        );
        assert!(find(true).unwrap().is_fixed);
        let left = find(false).unwrap();
        assert!(
            left.seen.contains("1 payloads could not be recorded"),
            "{left:?}"
        );
    }
}
