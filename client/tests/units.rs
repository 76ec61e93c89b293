//! The systemd units: checked with systemd's offline tools. Behaviour under a running systemd is not tested here.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::cli::parts;
use tempfile::TempDir;

/// Highest exposure of the system-wide service, in tenths, as systemd-analyze counts.
const EXPOSURE_TENTHS_MAX: u32 = 5;

/// A folder with a program that replaces lored: verifying requires an executable.
struct Fixture {
    folder: TempDir,
    program: PathBuf,
}

impl Fixture {
    fn new(folder: &str) -> Self {
        let fixture = tempfile::tempdir().unwrap();
        let program = fixture.path().join(folder).join("lored");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(fixture.path().join("run")).unwrap();
        let folder = fixture;
        Self { folder, program }
    }

    /// Runs a systemd tool and returns its exit code and output.
    fn systemd(&self, program: &str, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(program)
            .args(arguments)
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| {
                panic!("{program}: {error}; these tests need the package `systemd`: apt-get install systemd")
            });
        let (code, out, err) = parts(output);
        (code, out + &err)
    }

    fn verify(&self, scope: &str, units: &[&Path]) {
        let units = units.iter().map(|unit| unit.to_str().unwrap());
        let arguments: Vec<_> = [scope, "verify", "--man=no"]
            .into_iter()
            .chain(units)
            .collect();
        let (code, said) = self.systemd("systemd-analyze", &arguments);
        assert_eq!((code, said.as_str()), (0, ""), "{arguments:?}");
    }

    fn lore(&self, arguments: &[&str], daemon: &Path) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lore"));
        let path = std::env::var_os("PATH").unwrap();
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path().join("home"))
            .env("LORE_DAEMON", daemon);
        parts(
            command
                .args(arguments)
                .stdin(Stdio::null())
                .output()
                .unwrap(),
        )
    }

    /// Writes the shipped units with the program replaced.
    fn shipped(&self, scope: &str) -> [PathBuf; 2] {
        ["lored.socket", "lored.service"].map(|name| {
            let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("systemd")
                .join(scope);
            let text = fs::read_to_string(shipped.join(name)).unwrap();
            let program = self.program.to_str().unwrap();
            assert!(text.contains("ExecStart=/usr/bin/lored") || name.ends_with("socket"));
            let path = self.folder.path().join(scope).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text.replace("/usr/bin/lored", program)).unwrap();
            path
        })
    }
}

#[test]
fn the_shipped_units_are_sound() {
    let fixture = Fixture::new("bin");
    for (scope, flag) in [("user", "--user"), ("system", "--system")] {
        let [socket, service] = fixture.shipped(scope);
        fixture.verify(flag, &[&socket, &service]);
    }
}

/// Unsound units are reported: a setting in the wrong section is enough.
#[test]
fn unsound_units_are_found() {
    let fixture = Fixture::new("bin");
    let [_, service] = fixture.shipped("system");
    let text = fs::read_to_string(&service).unwrap();
    fs::write(&service, text.replace("Type=notify\n", "Type=notfy\n")).unwrap();
    let arguments = ["verify", "--man=no", service.to_str().unwrap()];
    let (_, said) = fixture.systemd("systemd-analyze", &arguments);
    assert!(said.contains("notfy"), "{said}");
}

/// Units that `lore service install` would write, for folders with special characters in their names.
#[test]
fn units_of_odd_places_are_sound() {
    let fixture = Fixture::new("a b 50% $HOME ü");
    let (code, out, err) = fixture.lore(
        &["service", "install", "--dry-run", "--json"],
        &fixture.program,
    );
    assert_eq!(code, 0, "{err}");
    let reply: Value = serde_json::from_str(&out).unwrap();
    let mut units = Vec::new();
    for step in reply["steps"].as_array().unwrap() {
        if step["step"] == "write" {
            let name = Path::new(step["path"].as_str().unwrap())
                .file_name()
                .unwrap();
            let path = fixture.folder.path().join(name);
            fs::write(&path, step["text"].as_str().unwrap()).unwrap();
            units.push(path);
        }
    }
    let units: Vec<_> = units.iter().map(PathBuf::as_path).collect();
    assert_eq!(units.len(), 2);
    fixture.verify("--user", &units);
}

/// The system-wide daemon has nearly no rights on the machine.
#[test]
fn the_system_service_is_locked_up() {
    let fixture = Fixture::new("bin");
    let [_, service] = fixture.shipped("system");
    let threshold = format!("--threshold={EXPOSURE_TENTHS_MAX}");
    let arguments = ["security", "--offline=yes", "--no-pager", &threshold];
    let arguments = [&arguments[..], &[service.to_str().unwrap()]].concat();
    let (code, said) = fixture.systemd("systemd-analyze", &arguments);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("Overall exposure level for lored.service"),
        "{said}"
    );

    // The check is effective: with rights added, the threshold is exceeded.
    let text = fs::read_to_string(&service).unwrap();
    fs::write(&service, text.replace("SystemCallFilter=", "#")).unwrap();
    assert_ne!(fixture.systemd("systemd-analyze", &arguments).0, 0);
}

/// Installed into a system image, the service is enabled there with its user, and can be removed again.
#[test]
fn the_image_of_a_system_gets_it_all() {
    let fixture = Fixture::new("bin");
    let image = fixture.folder.path().join("image");
    fs::create_dir_all(image.join("etc")).unwrap();
    let root = image.to_str().unwrap();
    let lore = |command: &str| {
        let arguments = ["service", command, "--system", "--root", root];
        fixture.lore(&arguments, Path::new("/usr/local/bin/lored"))
    };
    let is_enabled = || {
        let (_, said) =
            fixture.systemd("systemctl", &["--root", root, "is-enabled", "lored.socket"]);
        said.trim().to_owned()
    };
    let (code, _, err) = lore("install");
    assert_eq!(code, 0, "{err}");
    assert_eq!(is_enabled(), "enabled");
    let users = fs::read_to_string(image.join("etc/passwd")).unwrap();
    assert!(users.contains("lored:x:"), "{users}");

    assert_eq!(lore("install").0, 0, "a second time changes nothing");
    let (code, _, err) = lore("uninstall");
    assert_eq!(code, 0, "{err}");
    assert_ne!(is_enabled(), "enabled");
    assert!(!image.join("etc/systemd/system/lored.service").exists());
    assert!(!image.join("etc/sysusers.d/lored.conf").exists());
    assert_eq!(lore("uninstall").0, 1, "there is nothing left");
}

/// The MCP registry entry's name and version match this crate; its fields follow the registry's
/// schema of 2025-12-11.
#[test]
fn the_registry_is_told_the_truth() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(here.join(name)).unwrap();
    let server: Value = serde_json::from_str(&read("server.json")).unwrap();
    let text = |pointer: &str| server.pointer(pointer).and_then(Value::as_str).unwrap();
    let schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    assert_eq!(text("/$schema"), schema);
    let (space, name) = text("/name").split_once('/').unwrap();
    let is_one_of = |text: &str, more: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    assert!(
        is_one_of(space, ".-") && is_one_of(name, "._-"),
        "{space}/{name}"
    );
    assert!((1..=100).contains(&text("/description").chars().count()));
    assert!((1..=100).contains(&text("/title").chars().count()));
    assert_eq!(text("/version"), env!("CARGO_PKG_VERSION"));
    // No registry has a package of this project yet, so the entry names none.
    assert_eq!(server.get("packages"), None);
    // The registry looks for this name in the README.
    let proof = format!("mcp-name: {space}/{name}\n");
    assert!(
        fs::read_to_string(here.join("../README.md"))
            .unwrap()
            .contains(&proof),
        "{proof}"
    );
}

/// The repository contains all files of the Debian package, and the package starts nothing by itself.
#[test]
fn the_package_finds_its_files() {
    let daemon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../daemon");
    let manifest = fs::read_to_string(daemon.join("Cargo.toml")).unwrap();
    let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
    let package = &manifest["package"]["metadata"]["deb"];
    let mut seen = 0;
    for asset in package["assets"].as_array().unwrap() {
        let source = asset.as_array().unwrap().get(0).unwrap().as_str().unwrap();
        let is_built = source.starts_with("target/release/");
        let source = source.strip_suffix("*.md").unwrap_or(source);
        assert!(is_built || daemon.join(source).exists(), "{source}");
        seen += usize::from(!is_built);
    }
    assert!(seen >= 4, "{seen}");
    let units = &package["systemd-units"];
    let folder = daemon.join(units["unit-scripts"].as_str().unwrap());
    for name in ["lored.socket", "lored.service", "lored.sysusers"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    for what in ["enable", "start"] {
        assert_eq!(units[what].as_bool(), Some(false), "{what}");
    }
}
