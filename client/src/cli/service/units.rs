//! The files of service managers, as they are shipped and as they are put in place: with the true
//! program, socket and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lore::manager::in_xml;
use lore::paths::Paths;

use super::super::Failure;
use super::refused;
use super::steps::MARK;

/// The units as they are shipped. The folder is a link in the repository, so that they are packaged
/// with this crate.
const USER_SOCKET: &str = include_str!("../../../systemd/user/lored.socket");
const USER_SERVICE: &str = include_str!("../../../systemd/user/lored.service");
const SYSTEM_SOCKET: &str = include_str!("../../../systemd/system/lored.socket");
const SYSTEM_SERVICE: &str = include_str!("../../../systemd/system/lored.service");
const SYSUSERS: &str = include_str!("../../../systemd/system/lored.sysusers");
/// The socket in it.
const SHIPPED_SOCKET: &str = "/Users/user/Library/Application Support/lore/run/lore.sock";
const JOB: &str = include_str!("../../../launchd/local.lored.plist");

/// What is shipped and replaced.
const SHIPPED_START: &str = "ExecStart=/usr/bin/lored ";
const SHIPPED_LISTEN: &str = "ListenStream=%t/lore/lore.sock";

/// Where folders are besides their default: what the unit must be told.
const FOLDER_VARIABLES: [(&str, &str); 3] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// A socket unit and the service behind it.
pub struct Units {
    /// What listens.
    pub socket: String,
    /// What is started.
    pub service: String,
    /// Whether they say no more than those that a package ships.
    pub are_as_shipped: bool,
}

/// The units of a user's own daemon.
///
/// # Errors
/// When a path cannot stand in a unit.
pub fn of_user(
    paths: &Paths,
    daemon: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Units, Failure> {
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let is_usual = runtime.is_some_and(|runtime| runtime.join("lore/lore.sock") == paths.socket);
    let socket = match is_usual {
        true => USER_SOCKET.to_owned(),
        false => {
            let listen = format!("ListenStream={}", specified(&paths.socket)?);
            USER_SOCKET.replace(SHIPPED_LISTEN, &listen)
        }
    };
    let environment = environment(&variable)?;
    let mut service = started_by(USER_SERVICE, daemon)?;
    for (name, value) in &environment {
        let line = format!(
            "[Service]\nEnvironment={}\n",
            quoted(&format!("{name}={value}"))
        );
        service = service.replace("[Service]\n", &line);
    }
    Ok(Units {
        are_as_shipped: is_usual && environment.is_empty() && daemon == Path::new("/usr/bin/lored"),
        socket: marked(&socket),
        service: marked(&service),
    })
}

/// The units of the system-wide daemon.
///
/// # Errors
/// When the program cannot be reached by its user, or stand in a unit.
pub fn of_system(daemon: &Path) -> Result<Units, Failure> {
    if ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]
        .iter()
        .any(|hidden| daemon.starts_with(hidden))
    {
        return Err(refused(format!(
            "{} cannot be seen by the system-wide daemon's user: put lored into /usr/local/bin, or name \
             another with LORE_DAEMON",
            daemon.display()
        )));
    }
    Ok(Units {
        socket: marked(SYSTEM_SOCKET),
        service: marked(&started_by(SYSTEM_SERVICE, daemon)?),
        are_as_shipped: daemon == Path::new("/usr/bin/lored"),
    })
}

/// The system-wide daemon's user, for systemd-sysusers.
pub fn user_of_system() -> String {
    marked(SYSUSERS)
}

/// The job of launchd.
///
/// # Errors
/// When a path cannot stand in it.
pub fn job(
    paths: &Paths,
    daemon: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<String, Failure> {
    let string = |text: &str| format!("<string>{}</string>", in_xml(text));
    let mut variables = vec![("LORE_SOCKET", text_of(&paths.socket)?.to_owned())];
    variables.extend(environment(&variable)?);
    let pairs: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("\t\t<key>{name}</key>\n\t\t{}", string(value)))
        .collect();
    let shipped = format!("\t\t<key>LORE_SOCKET</key>\n\t\t{}", string(SHIPPED_SOCKET));
    let first_line = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    Ok(JOB
        .replace(&string("/usr/local/bin/lored"), &string(text_of(daemon)?))
        .replace(&shipped, &pairs.join("\n"))
        .replace(&string(SHIPPED_SOCKET), &string(text_of(&paths.socket)?))
        .replace(&string("/dev/null"), &string(text_of(&paths.log())?))
        .replace(
            first_line,
            &format!("{first_line}<!-- {MARK}, which replaces it. -->\n"),
        ))
}

/// What a socket unit and its service say of the daemon's places: where the one listens, and of which folders the other
/// is told.
pub fn places_of<'a>(socket: &'a str, service: &'a str) -> Vec<&'a str> {
    let listens = socket.lines().map(str::trim);
    let listens = listens.filter(|line| line.starts_with("ListenStream="));
    let names = FOLDER_VARIABLES.map(|(name, _)| name);
    let is_folder = |line: &&str| {
        let said = line.strip_prefix("Environment=");
        let said = said.map(|said| said.trim_start_matches('"'));
        let name = said.and_then(|said| said.split('=').next());
        name.is_some_and(|name| name == "LORE_HOME" || names.contains(&name))
    };
    let mut folders: Vec<_> = service.lines().map(str::trim).filter(is_folder).collect();
    folders.sort_unstable();
    listens.chain(folders).collect()
}

/// What a job of launchd says of them: its variables.
pub fn places_of_job(job: &str) -> Option<&str> {
    let (_, behind) = job.split_once("<key>EnvironmentVariables</key>")?;
    behind.split("</dict>").next()
}

fn marked(unit: &str) -> String {
    format!("# {MARK}, which replaces it; what is yours goes into a drop-in.\n{unit}")
}

/// The service with its true program, whose name systemd takes as it is, variables and all, but for
/// quotes and backslashes.
fn started_by(service: &str, daemon: &Path) -> Result<String, Failure> {
    let program = text_of(daemon)?;
    if program.contains(['"', '\'', '\\']) {
        return Err(refused(format!(
            "systemd starts no program whose path has quotes or backslashes: put lored elsewhere than \
             {program}, or name another with LORE_DAEMON"
        )));
    }
    let start = format!("ExecStart={} ", quoted(program));
    Ok(service.replace(SHIPPED_START, &start))
}

/// The variables that decide where things are, where they say something else than is usual.
fn environment(
    variable: &impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let set = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(home) = set("LORE_HOME") {
        let home = std::path::absolute(&home).unwrap_or(home);
        return Ok(vec![("LORE_HOME", text_of(&home)?.to_owned())]);
    }
    let home = set("HOME").unwrap_or_default();
    let mut said = Vec::new();
    for (name, usual) in FOLDER_VARIABLES {
        let folder = set(name).filter(|folder| folder.is_absolute() && *folder != home.join(usual));
        if let Some(folder) = folder {
            said.push((name, text_of(&folder)?.to_owned()));
        }
    }
    Ok(said)
}

/// A path as text of one line.
fn text_of(path: &Path) -> Result<&str, Failure> {
    let text = path
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    text.ok_or_else(|| {
        refused(format!(
            "{path:?} cannot stand in a service's file: it has characters that are not text"
        ))
    })
}

/// A path with no specifiers of systemd in it.
fn specified(path: &Path) -> Result<String, Failure> {
    Ok(text_of(path)?.replace('%', "%%"))
}

/// One word as systemd reads it.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%");
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%$".contains(character);
    match word.chars().all(is_plain) {
        true => word,
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
