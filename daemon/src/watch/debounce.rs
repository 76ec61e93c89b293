//! Decides which files have settled: pure, with the time as an argument.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

use super::{Change, Times};

/// Limit on files tracked individually; more simultaneous changes lead to a full scan.
const FILES_MAX: usize = 10_000;

/// Kind of change in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// Partial write or truncation: the writer still has the file open.
    Part,
    /// Complete change: closed, created, renamed, removed.
    Whole,
    /// Change of permissions or times.
    Metadata,
}

/// State of a file on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileLook {
    /// Missing.
    Absent,
    /// A file without content.
    Empty,
    /// A file with content, or anything else.
    Something,
}

/// A changed file that has not settled.
#[derive(Clone, Copy, Debug)]
struct ChangingFile {
    first: Instant,
    last: Instant,
    /// Whether its writer is not done.
    open: bool,
    /// Whether it was missing or empty after the quiet time.
    doubted: bool,
}

/// Changed files that have not settled.
#[derive(Debug)]
pub(super) struct Debouncer<K> {
    times: Times,
    files: HashMap<K, ChangingFile>,
    rescan: Option<Instant>,
}

impl<K: Clone + Eq + Hash> Debouncer<K> {
    pub(super) fn new(times: Times) -> Self {
        Self {
            times,
            files: HashMap::new(),
            rescan: None,
        }
    }

    /// Records a change of this file.
    pub(super) fn note(&mut self, key: K, sign: ChangeKind, now: Instant) {
        if self.files.len() >= FILES_MAX && !self.files.contains_key(&key) {
            self.files.clear();
            self.rescan_at(now + self.times.quiet);
            return;
        }
        let file = self.files.entry(key).or_insert(ChangingFile {
            first: now,
            last: now,
            open: false,
            doubted: false,
        });
        file.last = now;
        file.doubted = false;
        match sign {
            ChangeKind::Part => file.open = true,
            ChangeKind::Whole => file.open = false,
            ChangeKind::Metadata => {}
        }
    }

    /// Schedules a full scan at this time, or earlier if already scheduled.
    pub(super) fn rescan_at(&mut self, due: Instant) {
        self.rescan = Some(self.rescan.map_or(due, |earlier| earlier.min(due)));
    }

    /// Returns the time limits.
    pub(super) fn times(&self) -> Times {
        self.times
    }

    /// Returns the time of the next call to [`Debouncer::due_changes`].
    pub(super) fn due(&self) -> Option<Instant> {
        let files = self.files.values().map(|file| file.due(&self.times));
        files.chain(self.rescan).min()
    }

    /// Returns the files that have settled by now, ordered by the time of settling. `look` inspects a file on disk.
    pub(super) fn due_changes(
        &mut self,
        now: Instant,
        look: impl Fn(&K) -> FileLook,
    ) -> Vec<Change<K>> {
        let times = self.times;
        let mut settled = Vec::new();
        // A missing or empty file is inspected twice, so the order is known only afterwards.
        self.files.retain(|key, file| {
            while file.due(&times) <= now {
                let due = file.due(&times);
                match look(key) {
                    FileLook::Something => settled.push((due, Change::Written(key.clone()))),
                    FileLook::Absent | FileLook::Empty if !file.doubted => {
                        file.doubted = true;
                        continue;
                    }
                    FileLook::Absent => settled.push((due, Change::Removed(key.clone()))),
                    FileLook::Empty => settled.push((due, Change::Written(key.clone()))),
                }
                return false;
            }
            true
        });
        if let Some(due) = self.rescan.take_if(|due| *due <= now) {
            settled.push((due, Change::Rescan));
        }
        settled.sort_by_key(|(due, _)| *due);
        settled.into_iter().map(|(_, change)| change).collect()
    }

    #[cfg(test)]
    pub(super) fn knows(&self, key: &K) -> bool {
        self.files.contains_key(key)
    }
}

impl ChangingFile {
    fn due(&self, times: &Times) -> Instant {
        if self.doubted {
            self.last + times.longest
        } else if self.open {
            self.first + times.longest
        } else {
            (self.last + times.quiet).min(self.first + times.longest)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Fixture {
        settle: Debouncer<String>,
        start: Instant,
    }

    fn fixture() -> Fixture {
        Fixture {
            settle: Debouncer::new(Times::default()),
            start: Instant::now(),
        }
    }

    fn name(file: &str) -> String {
        file.to_owned()
    }

    impl Fixture {
        fn note(&mut self, millis: u64, file_type: &str, sign: ChangeKind) {
            let now = self.start + Duration::from_millis(millis);
            self.settle.note(name(file_type), sign, now);
        }

        fn due_changes(&mut self, millis: u64, look: FileLook) -> Vec<Change<String>> {
            let now = self.start + Duration::from_millis(millis);
            self.settle.due_changes(now, |_| look)
        }

        /// Returns the milliseconds until the next check.
        fn due(&self) -> Option<u128> {
            let due = self.settle.due()?;
            Some(due.duration_since(self.start).as_millis())
        }
    }

    #[test]
    fn after_a_pause() {
        let mut fixture = fixture();
        assert_eq!(fixture.due(), None);
        fixture.note(0, "bugs", ChangeKind::Whole);
        fixture.note(60, "bugs", ChangeKind::Metadata);
        assert_eq!(fixture.due(), Some(160));
        assert_eq!(fixture.due_changes(159, FileLook::Something), []);
        assert_eq!(
            fixture.due_changes(160, FileLook::Something),
            [Change::Written(name("bugs"))]
        );
        assert_eq!(fixture.due(), None);
    }

    #[test]
    fn without_a_pause() {
        let mut fixture = fixture();
        for millis in (0..=950).step_by(50) {
            fixture.note(millis, "bugs", ChangeKind::Whole);
            assert_eq!(fixture.due_changes(millis, FileLook::Something), []);
        }
        assert_eq!(fixture.due(), Some(1000));
        assert_eq!(
            fixture.due_changes(1000, FileLook::Something),
            [Change::Written(name("bugs"))]
        );
    }

    #[test]
    fn a_writer_is_waited_for() {
        let mut fixture = fixture();
        fixture.note(0, "bugs", ChangeKind::Part);
        fixture.note(500, "bugs", ChangeKind::Part);
        assert_eq!(fixture.due(), Some(1000));
        fixture.note(600, "bugs", ChangeKind::Whole);
        assert_eq!(fixture.due(), Some(700));
    }

    /// A missing or empty file is reported only after the long pause, and not when it exists again.
    #[test]
    fn what_is_gone_is_doubted() {
        for (look, change) in [
            (FileLook::Absent, Change::Removed(name("bugs"))),
            (FileLook::Empty, Change::Written(name("bugs"))),
        ] {
            let mut fixture = fixture();
            fixture.note(0, "bugs", ChangeKind::Whole);
            assert_eq!(fixture.due_changes(100, look), []);
            assert_eq!(fixture.due(), Some(1000));
            fixture.note(900, "bugs", ChangeKind::Whole);
            assert_eq!(fixture.due_changes(1000, look), []);
            assert_eq!(fixture.due(), Some(1900));
            assert_eq!(fixture.due_changes(1899, look), []);
            assert_eq!(fixture.due_changes(1900, look), [change]);

            fixture.note(2000, "bugs", ChangeKind::Whole);
            assert_eq!(fixture.due_changes(2100, look), []);
            fixture.note(2500, "bugs", ChangeKind::Whole);
            let there = Change::Written(name("bugs"));
            assert_eq!(fixture.due_changes(2600, FileLook::Something), [there]);
        }
    }

    /// Changes are reported in the order of settling, even when collected late.
    #[test]
    fn in_order() {
        let mut fixture = fixture();
        fixture.note(0, "open", ChangeKind::Part);
        let names: Vec<String> = (0..20).map(|count| format!("x{count}")).collect();
        for (millis, file_type) in (0..).zip(&names) {
            fixture.note(millis, file_type, ChangeKind::Whole);
        }
        let in_order = names.iter().map(String::as_str).chain(["open"]);
        let in_order: Vec<Change<String>> = in_order.map(|x| Change::Written(name(x))).collect();
        assert_eq!(fixture.due_changes(5000, FileLook::Something), in_order);
    }

    #[test]
    fn more_than_can_be_kept_apart() {
        let mut fixture = fixture();
        for count in 0..=FILES_MAX {
            fixture.note(0, &format!("x{count}"), ChangeKind::Whole);
        }
        assert_eq!(
            fixture.due_changes(100, FileLook::Something),
            [Change::Rescan]
        );
        assert_eq!(fixture.due(), None);
    }
}
