//! `lored config`: prints the settings in force, checks a file, and prints the defaults.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::Outcome;
use crate::config::of_project::of_project;
use crate::config::{Config, RawValue, effective, read};

/// Prints every setting in force, and the settings for the project of a directory.
///
/// # Errors
/// When the settings are invalid, or standard output is closed.
pub fn show(path: &Path, dir: &Path, origin: bool, json: bool) -> Outcome {
    let given = RawValue::load(path, std::env::vars_os()).map_err(|error| error.to_string())?;
    let config = Config::of(given.clone(), path).map_err(|error| error.to_string())?;
    let mut in_force = effective::in_force(&given);
    let (of_project, fault) = of_project(&given, &config, dir);
    if let Some(fault) = fault {
        lore::errln!("lored: the project's marker is not in force: {fault}");
    }
    print(&match json {
        true => {
            in_force.extend(of_project);
            format!("{:#}\n", effective::json(&in_force))
        }
        false => {
            let mut text = effective::text(&in_force, origin);
            // As comments, so that the whole output is a valid settings file.
            for line in effective::text(&of_project, origin).lines() {
                text.push_str(&format!("# {line}\n"));
            }
            text
        }
    })
}

/// Checks a file; as JSON with the keys `file`, `good`, and `keys` (how many it sets) or `fault`.
///
/// # Errors
/// When the file is missing or unreadable.
pub fn check(path: &Path, json: bool) -> Outcome {
    let text = read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let checked = RawValue::of_text(&text, path)
        .and_then(|given| Ok((given.origins.len(), Config::of(given, path)?)));
    if json {
        let reported = match &checked {
            Ok((count, _)) => serde_json::json!({"file": path, "good": true, "keys": count}),
            Err(error) => {
                serde_json::json!({"file": path, "good": false, "fault": error.to_string()})
            }
        };
        return print(&format!("{reported:#}\n")).map(|_| checked.is_ok());
    }
    match checked {
        Ok((count, _)) => print(&format!("{}: good; it sets {count} keys\n", path.display())),
        Err(error) => {
            lore::errln!("lored: {error}");
            Ok(false)
        }
    }
}

/// Prints the commented default settings.
///
/// # Errors
/// When standard output is closed.
pub fn default() -> Outcome {
    print(&effective::default_file())
}

/// Writes the commented default settings to the settings file, creating its folder.
///
/// # Errors
/// When the file exists, which stays unchanged, or the system refuses the folder or the file.
pub fn write_default(path: &Path) -> Outcome {
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!(
            "{} is there already and stays as it is; `lored config default` prints the defaults",
            path.display()
        ),
        _ => format!("{}: {error}", path.display()),
    })?;
    let written = file.write_all(effective::default_file().as_bytes());
    written
        .and_then(|()| file.sync_all())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    print(&format!("{} is written\n", path.display()))
}

fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // The reader has closed the pipe.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error.to_string()),
        Ok(()) => Ok(true),
    }
}
