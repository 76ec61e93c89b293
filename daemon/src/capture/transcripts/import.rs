//! Imports: all transcripts of some hosts, in slices.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lored_hosts::Host;

use super::files::{FoundFile, Problem, SearchedFolder, find};
use crate::locks::lock_unpoisoned;

/// Imports in progress at most: beyond, the oldest is abandoned.
const JOBS_MAX: usize = 4;
/// Time after which an import that nobody asks for is given up.
const IDLE: Duration = Duration::from_secs(300);

/// One import.
#[derive(Debug)]
pub struct ImportJob {
    /// Its name.
    pub id: String,
    /// The user.
    pub uid: u32,
    /// Files that are left.
    pub files: VecDeque<FoundFile>,
    /// Number of files in all.
    pub files_total: u64,
    /// Their size, in bytes.
    pub bytes_total: u64,
    /// Size of the files that are done, in bytes.
    pub bytes_done: u64,
    /// Bytes that were read of the file that is read now.
    pub bytes_begun: u64,
    /// Sessions that something was recorded in.
    pub sessions: HashSet<String>,
    /// What could not be read, since the last reply.
    pub problems: Vec<Problem>,
    last_asked: Instant,
}

/// The files of one host.
#[derive(Clone, Debug)]
pub struct HostFiles {
    /// The host.
    pub host: Host,
    /// Number of its files.
    pub files: u64,
    /// Number of its sessions.
    pub sessions: u64,
    /// Size of its files, in bytes.
    pub bytes: u64,
    /// When the oldest and the newest of them were changed last, in milliseconds since 1970.
    pub span_ms: Option<(i64, i64)>,
}

/// The imports in progress.
#[derive(Debug, Default)]
pub struct ImportJobs(Mutex<Vec<ImportJob>>);

impl ImportJobs {
    /// Takes out the import of this name and user.
    pub fn take(&self, id: &str, uid: u32) -> Option<ImportJob> {
        let mut jobs = lock_unpoisoned(&self.0);
        let place = jobs.iter().position(|job| job.id == id && job.uid == uid)?;
        Some(jobs.remove(place))
    }

    /// Puts an import back until its next slice.
    pub fn put(&self, mut job: ImportJob) {
        job.last_asked = Instant::now();
        let mut jobs = lock_unpoisoned(&self.0);
        jobs.retain(|job| job.last_asked.elapsed() < IDLE);
        if jobs.len() >= JOBS_MAX {
            jobs.remove(0);
        }
        jobs.push(job);
    }
}

impl ImportJob {
    /// Finds the transcripts of hosts below a folder. Reads folders; do not call it on the event loop.
    #[must_use]
    pub fn begin(
        id: String,
        uid: u32,
        hosts: &[Host],
        folders: &[SearchedFolder],
    ) -> (Self, Vec<HostFiles>) {
        let mut job = Self {
            id,
            uid,
            files: VecDeque::new(),
            files_total: 0,
            bytes_total: 0,
            bytes_done: 0,
            bytes_begun: 0,
            sessions: HashSet::new(),
            problems: Vec::new(),
            last_asked: Instant::now(),
        };
        let mut all = Vec::new();
        let mut hosts_found = Vec::new();
        for host in hosts {
            let (mut files, mut paths) = (Vec::new(), HashSet::new());
            let of_host = |folder: &&SearchedFolder| folder.host.is_none_or(|own| own == *host);
            for folder in folders.iter().filter(of_host) {
                let found = find(*host, folder);
                job.problems.extend(found.problems);
                let new = found.files.into_iter();
                files.extend(new.filter(|file| paths.insert(file.path.clone())));
            }
            if files.is_empty() {
                continue;
            }
            let times = || files.iter().map(|file| file.modified_ms);
            hosts_found.push(HostFiles {
                host: *host,
                files: files.len() as u64,
                sessions: files.iter().filter(|file| file.is_of_session()).count() as u64,
                bytes: files.iter().map(|file| file.bytes).sum(),
                span_ms: times().min().zip(times().max()),
            });
            all.extend(files);
        }
        // What happened first is recorded first, whichever host it was in.
        all.sort_by(|one, two| (one.modified_ms, &one.path).cmp(&(two.modified_ms, &two.path)));
        job.files_total = all.len() as u64;
        job.bytes_total = all.iter().map(|file| file.bytes).sum();
        job.files = all.into();
        (job, hosts_found)
    }
}
