//! `lored config`: the settings in force, whether a file is good, and what there is.

use std::io::Write;
use std::path::Path;

use super::Outcome;
use crate::config::of_project::of_project;
use crate::config::{Config, Given, read, shown};

/// Prints every setting in force, and what is in force for the project of a directory.
///
/// # Errors
/// What is wrong with the settings, or that nobody reads what is printed.
pub fn show(path: &Path, dir: &Path, origin: bool, json: bool) -> Outcome {
    let given = Given::load(path, std::env::vars_os()).map_err(|error| error.to_string())?;
    let config = Config::of(given.clone(), path).map_err(|error| error.to_string())?;
    let mut in_force = shown::in_force(&given);
    let (of_project, fault) = of_project(&given, &config, dir);
    if let Some(fault) = fault {
        eprintln!("lored: the project's marker is not in force: {fault}");
    }
    print(&match json {
        true => {
            in_force.extend(of_project);
            format!("{:#}\n", shown::json(&in_force))
        }
        false => {
            let mut text = shown::text(&in_force, origin);
            // As comments: so the whole is a file of settings.
            for line in shown::text(&of_project, origin).lines() {
                text.push_str(&format!("# {line}\n"));
            }
            text
        }
    })
}

/// Says whether a file is good.
///
/// # Errors
/// That the file is not there, or cannot be read.
pub fn check(path: &Path) -> Outcome {
    let text = read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let checked = Given::of_text(&text, path)
        .and_then(|given| Ok((given.origins.len(), Config::of(given, path)?)));
    match checked {
        Ok((count, _)) => print(&format!("{}: good; it sets {count} keys\n", path.display())),
        Err(error) => {
            eprintln!("lored: {error}");
            Ok(false)
        }
    }
}

/// Prints the commented file of defaults.
///
/// # Errors
/// That nobody reads it.
pub fn default() -> Outcome {
    print(&shown::default_file())
}

fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // Whoever read it has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error.to_string()),
        Ok(()) => Ok(true),
    }
}
