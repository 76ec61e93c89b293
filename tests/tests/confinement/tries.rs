//! The kernel's restrictions on a sandboxed process, tried in a separate process that runs this test again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use lored::sandbox::{Confinement, SandboxNeeds, confine};
use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, Pid, Resource, getppid, getrlimit, test_kill_process};
use tempfile::TempDir;

use super::{abi, reported};

/// Passes the folder and the two ports to the sandboxed process.
const PLACE: &str = "LORE_TRIED_IN";
const PORTS: &str = "LORE_TRIED_PORTS";

/// A folder with allowed and forbidden parts.
struct SandboxFolder {
    folder: PathBuf,
    /// Name of paths outside the folder that the sandbox cannot write to.
    name: String,
}

impl SandboxFolder {
    fn at(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_str().unwrap();
        Self {
            folder: folder.to_path_buf(),
            name: format!("tried-{name}"),
        }
    }

    fn own(&self, name: &str) -> PathBuf {
        self.folder.join("own").join(name)
    }

    fn other(&self, name: &str) -> PathBuf {
        self.folder.join("other").join(name)
    }

    fn sockets(&self, name: &str) -> PathBuf {
        self.folder.join("sockets").join(name)
    }

    fn set_up(&self) {
        for folder in ["own/a", "own/b", "other/empty", "sockets"] {
            fs::create_dir_all(self.folder.join(folder)).unwrap();
        }
        fs::write(self.own("a/file"), "ours").unwrap();
        fs::write(self.other("file"), "theirs").unwrap();
        symlink(self.other(""), self.own("link")).unwrap();
    }

    /// Lists files outside that would be created.
    fn elsewhere(&self) -> Vec<PathBuf> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let folders = home.into_iter().chain([std::env::temp_dir()]);
        folders.map(|folder| folder.join(&self.name)).collect()
    }
}

/// Every forbidden call is refused without outside changes, and every call that the daemon needs works.
/// (Without Landlock in the kernel the first part cannot be tried.)
#[test]
fn what_is_not_needed_is_refused() {
    if let Some(folder) = std::env::var_os(PLACE) {
        return confined(&SandboxFolder::at(Path::new(&folder)));
    }
    let folder = TempDir::new().unwrap();
    let place = SandboxFolder::at(folder.path());
    place.set_up();
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners
        .iter()
        .map(|one| one.local_addr().unwrap().port().to_string());
    let address = SocketAddr::from_abstract_name(&place.name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();

    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tries::what_is_not_needed_is_refused"])
        .args(["--nocapture", "--test-threads=1"])
        .env(PLACE, folder.path())
        .env(PORTS, ports.collect::<Vec<_>>().join(" "))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let made: Vec<_> = place
        .elsewhere()
        .into_iter()
        .filter(|p| p.exists())
        .collect();
    for path in &made {
        fs::remove_file(path).unwrap();
    }
    assert!(output.status.success(), "{said}");
    assert!(made.is_empty(), "{made:?}");
    if said.contains(UNTRIED) {
        return eprintln!("{said}");
    }
    assert_eq!(fs::read_to_string(place.other("file")).unwrap(), "theirs");
    let left = fs::read_dir(place.other("")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["empty", "file"]);
}

const UNTRIED: &str = "Landlock is not there to be tried";

fn confined(place: &SandboxFolder) {
    let ports = std::env::var(PORTS).unwrap();
    let ports: Vec<u16> = ports.split(' ').map(|port| port.parse().unwrap()).collect();
    let Confinement {
        landlock,
        no_new_privs,
        core_dumps,
    } = confine(&SandboxNeeds {
        folders: vec![place.own("")],
        socket_folders: vec![place.sockets("")],
        ports_connected_to: vec![ports[0]],
        ..SandboxNeeds::default()
    });
    assert!(no_new_privs && !core_dumps);
    let own = Path::new("/proc/thread-self/status");
    assert_eq!(reported(own, "NoNewPrivs:").as_deref(), Some("1"));
    assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
    let dumpable = rustix::process::dumpable_behavior().unwrap();
    assert_eq!(dumpable, DumpableBehavior::NotDumpable);
    what_is_needed_works(place, ports[0]);
    let abi = abi(&landlock);
    if abi == 0 {
        return eprintln!("{UNTRIED}: {landlock}");
    }
    for (what, since, tried) in forbidden(place, ports[1]) {
        if abi < since {
            eprintln!("{what}: not refused by ABI {abi}");
            continue;
        }
        let Err(error) = tried() else {
            panic!("{what} is not refused");
        };
        let kind = error.kind();
        let kinds = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::CrossesDevices,
        ];
        assert!(kinds.contains(&kind), "{what}: {error}");
    }
    // A thread is sandboxed as well.
    let new = place.other("new");
    let write = std::thread::spawn(move || fs::write(new, "x"));
    assert!(write.join().unwrap().is_err());
}

fn what_is_needed_works(place: &SandboxFolder, port: u16) {
    fs::write(place.own("new"), "new").unwrap();
    File::create(place.own("a/file"))
        .unwrap()
        .write_all(b"anew")
        .unwrap();
    fs::create_dir(place.own("c")).unwrap();
    fs::rename(place.own("new"), place.own("c/moved")).unwrap();
    fs::hard_link(place.own("c/moved"), place.own("b/linked")).unwrap();
    fs::remove_file(place.own("b/linked")).unwrap();
    fs::remove_dir_all(place.own("c")).unwrap();
    fs::write(place.own("b/file"), "ours").unwrap();

    assert_eq!(fs::read_to_string(place.other("file")).unwrap(), "theirs");
    assert!(fs::read_dir("/").unwrap().count() > 0);
    let listener = UnixListener::bind(place.sockets("s")).unwrap();
    let mut peer = UnixStream::connect(place.sockets("s")).unwrap();
    peer.write_all(b"x").unwrap();
    listener.accept().unwrap().0.read_exact(&mut [0]).unwrap();
    fs::remove_file(place.sockets("s")).unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap();
}

type AccessAttempt<'p> = (&'static str, u32, Box<dyn Fn() -> io::Result<()> + 'p>);

/// Lists the forbidden calls, with the version of Landlock that refuses each.
fn forbidden(place: &SandboxFolder, port: u16) -> Vec<AccessAttempt<'_>> {
    let mut all = files(place);
    all.extend(others(place, port));
    for path in place.elsewhere() {
        all.push((
            "a new file at home or in /tmp",
            1,
            Box::new(move || fs::write(&path, "x")),
        ));
    }
    all
}

fn files(place: &SandboxFolder) -> Vec<AccessAttempt<'_>> {
    let (own, other) = (|name| place.own(name), |name| place.other(name));
    vec![
        (
            "a new file",
            1,
            Box::new(move || fs::write(other("new"), "x")),
        ),
        (
            "a file written",
            1,
            Box::new(move || File::options().write(true).open(other("file")).map(drop)),
        ),
        (
            "a file appended to",
            1,
            Box::new(move || File::options().append(true).open(other("file")).map(drop)),
        ),
        (
            "a file truncated",
            3,
            Box::new(move || {
                let how = OFlags::RDONLY | OFlags::TRUNC;
                Ok(rustix::fs::open(other("file"), how, Mode::empty()).map(drop)?)
            }),
        ),
        (
            "a file removed",
            1,
            Box::new(move || fs::remove_file(other("file"))),
        ),
        (
            "a new folder",
            1,
            Box::new(move || fs::create_dir(other("new"))),
        ),
        (
            "a folder removed",
            1,
            Box::new(move || fs::remove_dir(other("empty"))),
        ),
        (
            "a rename elsewhere",
            1,
            Box::new(move || fs::rename(other("file"), other("new"))),
        ),
        (
            "a rename out",
            1,
            Box::new(move || fs::rename(own("b/file"), other("new"))),
        ),
        (
            "a rename in",
            1,
            Box::new(move || fs::rename(other("file"), own("new"))),
        ),
        (
            "a rename over",
            1,
            Box::new(move || fs::rename(own("b/file"), other("file"))),
        ),
        (
            "a hard link in",
            1,
            Box::new(move || fs::hard_link(other("file"), own("new"))),
        ),
        (
            "a hard link out",
            1,
            Box::new(move || fs::hard_link(own("b/file"), other("new"))),
        ),
        (
            "a link elsewhere",
            1,
            Box::new(move || symlink("/", other("new"))),
        ),
        (
            "a link in our own",
            1,
            Box::new(move || symlink("/", own("new"))),
        ),
        (
            "a file behind a link",
            1,
            Box::new(move || fs::write(own("link/new"), "x")),
        ),
        (
            "a file behind dots",
            1,
            Box::new(move || fs::write(own("../other/new"), "x")),
        ),
        (
            "a file among sockets",
            1,
            Box::new(move || fs::write(place.sockets("file"), "x")),
        ),
        (
            "a socket elsewhere",
            1,
            Box::new(move || UnixListener::bind(other("new")).map(drop)),
        ),
        (
            "a socket in our own",
            1,
            Box::new(move || UnixListener::bind(own("new")).map(drop)),
        ),
        (
            "a device written",
            1,
            Box::new(|| fs::write("/dev/null", "x")),
        ),
    ]
}

fn others(place: &SandboxFolder, port: u16) -> Vec<AccessAttempt<'_>> {
    let parent = getppid().unwrap();
    vec![
        (
            "a program",
            1,
            Box::new(|| {
                Command::new("/bin/sh")
                    .arg("-c")
                    .arg(":")
                    .status()
                    .map(drop)
            }),
        ),
        (
            "another's memory",
            1,
            Box::new(move || {
                File::open(format!("/proc/{}/mem", Pid::as_raw(Some(parent)))).map(drop)
            }),
        ),
        (
            "a connection",
            4,
            Box::new(move || TcpStream::connect(("127.0.0.1", port)).map(drop)),
        ),
        (
            "listening",
            4,
            Box::new(|| TcpListener::bind("127.0.0.1:0").map(drop)),
        ),
        (
            "a signal",
            6,
            Box::new(move || Ok(test_kill_process(parent)?)),
        ),
        (
            "an abstract socket",
            6,
            Box::new(|| {
                let address = SocketAddr::from_abstract_name(&place.name)?;
                UnixStream::connect_addr(&address).map(drop)
            }),
        ),
    ]
}
