//! Exchanges through a mailbox, and what a hostile or broken side leaves in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::thread;

use super::*;

const LONG: Duration = Duration::from_secs(30);

fn mailbox() -> (tempfile::TempDir, PathBuf, Mailbox) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lore-0");
    let mailbox = Mailbox::make(&root, "session").unwrap();
    let path = root.join("session");
    (folder, path, mailbox)
}

/// Answers a number of requests with their bytes reversed.
fn serve(mailbox: &Mailbox, mut count: usize) {
    let arrivals = mailbox.requests_watch();
    while count > 0 {
        for name in mailbox.waiting().unwrap() {
            let mut request = mailbox.request(&name).unwrap().unwrap();
            request.reverse();
            mailbox.answer(&name, &request).unwrap();
            count -= 1;
        }
        if count > 0 {
            arrivals.wait(LONG);
        }
    }
}

#[test]
fn two_clients_at_once_receive_their_own_answers() {
    let (_folder, path, mailbox) = mailbox();
    let root = path.parent().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| serve(&mailbox, 100));
        for client in 0..2_u8 {
            scope.spawn(move || {
                let mailbox = Mailbox::open(root, "session").unwrap();
                for at in 0..50 {
                    let name = mailbox.post(&[client, at, 7]).unwrap();
                    let answer = mailbox.take_answer(&name, LONG).unwrap();
                    assert_eq!(answer, [7, at, client]);
                }
            });
        }
    });
    assert_eq!(fs::read_dir(path.join("in")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(path.join("out")).unwrap().count(), 0);
}

#[test]
fn a_request_waits_for_the_next_daemon_until_it_is_answered() {
    let (_folder, path, mailbox) = mailbox();
    let names = [
        mailbox.post(b"first").unwrap(),
        mailbox.post(b"second").unwrap(),
    ];
    let none = mailbox.take_answer(&names[0], Duration::ZERO);
    assert!(matches!(none, Err(MailError::NoAnswer(_))), "{none:?}");
    // Read by a daemon that was killed before it answered; its half answer does not count.
    assert_eq!(mailbox.request(&names[0]).unwrap().unwrap(), b"first");
    fs::write(
        path.join("out")
            .join(format!("{DRAFT}{}", names[0].as_str())),
        "hal",
    )
    .unwrap();
    drop(mailbox);
    let next = Mailbox::make(path.parent().unwrap(), "session").unwrap();
    let mut waiting = next.waiting().unwrap();
    waiting.sort_unstable_by_key(|name| *name == names[1]);
    assert_eq!(waiting, names);
    next.answer(&names[0], b"whole").unwrap();
    assert_eq!(next.waiting().unwrap(), names[1..]);
    assert_eq!(next.take_answer(&names[0], LONG).unwrap(), b"whole");
    assert!(next.withdraw(&names[1]).unwrap());
    assert!(!next.withdraw(&names[1]).unwrap());
    assert_eq!(next.request(&names[1]).unwrap(), None);
}

#[test]
fn what_is_no_plain_file_is_junk_and_does_not_block() {
    let (_folder, path, mailbox) = mailbox();
    let requests = path.join("in");
    let secret = path.join("secret");
    fs::write(&secret, "of this user").unwrap();
    let name = |at: u8| requests.join(format!("{at:016x}-{at:016x}"));
    symlink(&secret, name(1)).unwrap();
    symlink("/dev/zero", name(2)).unwrap();
    fs::hard_link(&secret, name(3)).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, name(4), fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    fs::create_dir(name(5)).unwrap();
    fs::create_dir_all(name(8).join("full")).unwrap();
    let _socket = UnixListener::bind(name(6)).unwrap();
    symlink("nowhere", name(7)).unwrap();
    let waiting = mailbox.waiting().unwrap();
    assert_eq!(waiting.len(), 6);
    assert!(!name(5).exists());
    for name in &waiting {
        let read = mailbox.request(name);
        assert!(
            matches!(read, Err(MailError::Junk(_))),
            "{name:?}: {read:?}"
        );
        mailbox.answer(name, b"refused").unwrap();
    }
    assert_eq!(fs::read_dir(&requests).unwrap().count(), 1);
    assert!(name(8).is_dir());
    assert_eq!(fs::read(&secret).unwrap(), b"of this user");
}

#[test]
fn other_names_are_removed_and_drafts_only_when_old() {
    let (_folder, path, mailbox) = mailbox();
    let requests = path.join("in");
    for name in ["x", "0-0", "000000000000000G-0000000000000000", " ", "é"] {
        fs::write(requests.join(name), name).unwrap();
    }
    fs::create_dir_all(requests.join("full/of")).unwrap();
    fs::write(requests.join(".draft-new"), "").unwrap();
    let old = fs::File::create(requests.join(".draft-old")).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(mailbox.waiting().unwrap(), []);
    let left = fs::read_dir(&requests).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, [".draft-new", "full"]);
}

#[test]
fn sizes_and_counts_are_bounded() {
    let (_folder, path, mailbox) = mailbox();
    let most = usize::try_from(REQUEST_BYTES_MAX).unwrap();
    let refused = mailbox.post(&vec![0; most + 1]);
    assert!(
        matches!(refused, Err(MailError::TooLarge { .. })),
        "{refused:?}"
    );
    let name = mailbox.post(&vec![1; most]).unwrap();
    assert_eq!(mailbox.request(&name).unwrap().unwrap().len(), most);
    // Larger than any memory, though it takes no disk.
    let file = fs::File::create(path.join("in").join(name.as_str())).unwrap();
    file.set_len(1 << 40).unwrap();
    let refused = mailbox.request(&name);
    assert!(
        matches!(refused, Err(MailError::TooLarge { .. })),
        "{refused:?}"
    );
    for _ in 1..FILES_MAX {
        mailbox.post(b"").unwrap();
    }
    let refused = mailbox.post(b"");
    assert!(matches!(refused, Err(MailError::Full)), "{refused:?}");
    for name in mailbox.waiting().unwrap() {
        mailbox.answer(&name, b"").unwrap();
    }
    let name = mailbox.post(b"").unwrap();
    let refused = mailbox.answer(&name, b"");
    assert!(matches!(refused, Err(MailError::Full)), "{refused:?}");
    mailbox.sweep().unwrap();
    assert_eq!(fs::read_dir(path.join("out")).unwrap().count(), FILES_MAX);
    for answer in fs::read_dir(path.join("out")).unwrap() {
        let answer = fs::File::options()
            .append(true)
            .open(answer.unwrap().path());
        let past = std::time::SystemTime::UNIX_EPOCH;
        answer.unwrap().set_modified(past).unwrap();
    }
    mailbox.sweep().unwrap();
    mailbox.answer(&name, b"").unwrap();
}

#[test]
fn folders_of_others_links_and_strange_names_are_refused() {
    let (folder, path, mailbox) = mailbox();
    let root = path.parent().unwrap();
    let refused = |root: &Path, name: &str| {
        for opened in [Mailbox::open(root, name), Mailbox::make(root, name)] {
            assert!(
                matches!(opened, Err(MailError::Untrusted { .. })),
                "{opened:?}"
            );
        }
    };
    for name in ["", ".", "..", "a/b", "/tmp", "a\0", &"x".repeat(129)] {
        refused(root, name);
    }
    symlink(root, folder.path().join("link")).unwrap();
    refused(&folder.path().join("link"), "session");
    symlink("session", root.join("link")).unwrap();
    refused(root, "link");
    fs::set_permissions(root, fs::Permissions::from_mode(0o750)).unwrap();
    refused(root, "session");
    fs::set_permissions(root, fs::Permissions::from_mode(0o700)).unwrap();
    // A box may replace the folder of answers: the daemon then writes where it was, not where the link leads.
    let elsewhere = tempfile::tempdir().unwrap();
    let name = mailbox.post(b"").unwrap();
    fs::rename(path.join("out"), path.join("was")).unwrap();
    symlink(elsewhere.path(), path.join("out")).unwrap();
    mailbox.answer(&name, b"answer").unwrap();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(path.join("was")).unwrap().count(), 1);
    refused(root, "session");
}
