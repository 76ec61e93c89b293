//! Service manager files, as shipped and as installed with the actual program, socket and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lore::manager::in_xml;
use lore::paths::Paths;

use super::super::Failure;
use super::refused;
use super::steps::MARK;

/// The shipped units. The folder is a symbolic link in the repository, so that this crate packages them.
const USER_SOCKET: &str = include_str!("../../../systemd/user/lored.socket");
const USER_SERVICE: &str = include_str!("../../../systemd/user/lored.service");
const SYSTEM_SOCKET: &str = include_str!("../../../systemd/system/lored.socket");
const SYSTEM_SERVICE: &str = include_str!("../../../systemd/system/lored.service");
const SYSUSERS: &str = include_str!("../../../systemd/system/lored.sysusers");
/// The socket path in the shipped job.
const SHIPPED_SOCKET: &str = "/Users/user/Library/Application Support/lore/run/lore.sock";
const JOB: &str = include_str!("../../../launchd/local.lored.plist");

/// The shipped text that is replaced.
const SHIPPED_START: &str = "ExecStart=/usr/bin/lored ";
const SHIPPED_LISTEN: &str = "ListenStream=%t/lore/lore.sock";

/// Variables and default locations of the folders. Other locations must be set in the unit.
const FOLDER_VARIABLES: [(&str, &str); 3] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// A socket unit and its service.
pub struct Units {
    /// Text of the socket unit.
    pub socket: String,
    /// Text of the service unit.
    pub service: String,
    /// Whether both equal the units that a package ships.
    pub are_as_shipped: bool,
}

/// Builds the units of a user's own daemon.
///
/// # Errors
/// When a path cannot be written into a unit.
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

/// Builds the units of the system-wide daemon.
///
/// # Errors
/// When the daemon's user cannot reach the program, or its path cannot be written into a unit.
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

/// Builds the sysusers file for the system-wide daemon's user.
pub fn user_of_system() -> String {
    marked(SYSUSERS)
}

/// Builds the launchd job.
///
/// # Errors
/// When a path cannot be written into it.
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

/// Returns the lines of a socket unit and its service that define the daemon's paths: the socket and the
/// folders.
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

/// Returns the variables of a launchd job, which define the daemon's paths.
pub fn places_of_job(job: &str) -> Option<&str> {
    let (_, behind) = job.split_once("<key>EnvironmentVariables</key>")?;
    behind.split("</dict>").next()
}

fn marked(unit: &str) -> String {
    format!("# {MARK}, which replaces it; what is yours goes into a drop-in.\n{unit}")
}

/// Replaces the program of a service. systemd takes its name literally, including variables, except for quotes
/// and backslashes.
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

/// Returns the variables of paths that differ from their defaults.
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

/// Returns a path as text of one line.
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

/// Escapes systemd's specifiers in a path.
fn specified(path: &Path) -> Result<String, Failure> {
    Ok(text_of(path)?.replace('%', "%%"))
}

/// Quotes one word for systemd.
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
