//! Looks at the files of the installed hosts, for `lore doctor`.

use super::entry::InstallState;
use super::host::Host;
use super::host_files::Target;
use super::part::Part;
use super::{NAME, file, is_on_path, variable};

/// What an installed host has of lore, in the user's files.
#[derive(Debug)]
pub struct HostCheck {
    /// Name of the host on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Descriptions of the parts that are there.
    pub present: Vec<String>,
    /// Descriptions of the parts that are not, or not whole.
    pub missing: Vec<String>,
    /// Whether hooks are there.
    pub has_hooks: bool,
    /// Folder of this program, if PATH finds none or another: hooks run `lore`.
    pub not_on_path: Option<String>,
    /// Reason why a file cannot be read.
    pub fault: Option<String>,
}

/// Looks at all installed hosts.
pub fn check_hosts() -> Vec<HostCheck> {
    let installed = Host::ALL
        .into_iter()
        .filter(|host| host.is_installed(&variable));
    installed.map(check).collect()
}

fn check(host: Host) -> HostCheck {
    let mut found = HostCheck {
        name: host.name(),
        title: host.title(),
        present: Vec::new(),
        missing: Vec::new(),
        has_hooks: false,
        not_on_path: not_on_path(),
        fault: None,
    };
    let server = Part::Server(
        host.shape(),
        host.entry(NAME.to_owned(), vec!["mcp".to_owned()]),
    );
    let files = host.user_files(&variable).unwrap_or_default();
    found.add(&[server], &files);
    if let Some(Target { file, parts }) = host.hooks_target(None, &variable) {
        found.add(&parts, &[file]);
    }
    found
}

impl HostCheck {
    /// Looks for the parts in the files, of which the host reads each.
    fn add(&mut self, parts: &[Part], files: &[std::path::PathBuf]) {
        for part in parts {
            let mut state = None;
            for path in files {
                let text = match file::read(path) {
                    Ok(found) => found.map(|found| found.text).unwrap_or_default(),
                    Err(error) => {
                        self.fault = Some(error.to_string());
                        continue;
                    }
                };
                match part.find(&text) {
                    Ok(found) => state = state.or(found),
                    Err(fault) => {
                        let (line, message) = (fault.line, fault.message);
                        self.fault = Some(format!("{}, line {line}: {message}", path.display()));
                    }
                }
            }
            let described = part.describe().unwrap_or_else(|| "the tools".to_owned());
            let is_hooks = matches!(part, Part::Hooks(..) | Part::Plugin(_));
            match (state, part) {
                // A user may start the bridge in another way; an older plugin works.
                (Some(InstallState::Same), _)
                | (Some(InstallState::Other), Part::Server(..) | Part::Plugin(_)) => {
                    self.has_hooks |= is_hooks;
                    self.present.push(described);
                }
                (Some(InstallState::Other), _) => {
                    self.has_hooks |= is_hooks;
                    self.missing.push(format!("some of {described}"));
                }
                (Some(InstallState::Foreign(_)) | None, _) => self.missing.push(described),
            }
        }
    }
}

fn not_on_path() -> Option<String> {
    let here = std::env::current_exe().ok()?;
    let folder = here.parent()?.display().to_string();
    (!is_on_path(&here, std::env::var_os("PATH"))).then_some(folder)
}
