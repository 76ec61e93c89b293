//! `[access]`: the users that may connect, in addition to the user who runs the daemon.

use serde::Deserialize;

use super::Error;
use super::setting::{EffectTime, Setting, ValueType};
use crate::service::access::{Access, group, user};

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessTable {
    allow_users: Vec<String>,
    allow_groups: Vec<String>,
    socket_mode: Option<String>,
}

impl AccessTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "access.allow_users",
            description: "Users that may connect besides the user who runs the daemon, as names or numeric ids. With a \
                per-user daemon they share its memory. With the system-wide daemon each user has a separate \
                memory, and an empty list allows every user.",
            takes: ValueType::Texts,
            acts: EffectTime::NextConnection,
            default: |_| Some("[]".to_owned()),
        },
        Setting {
            key: "access.allow_groups",
            description: "Groups whose members may connect, as names or numeric ids.",
            takes: ValueType::Texts,
            acts: EffectTime::NextConnection,
            default: |_| Some("[]".to_owned()),
        },
        Setting {
            key: "access.socket_mode",
            description: "Permission bits of the socket, in octal. Other users need `0660` or `0666`, and access to the \
                socket's folder. The mode of a service manager's socket is set by the manager.",
            takes: ValueType::Text,
            acts: EffectTime::NextStart,
            default: |config| Some(format!("\"{:04o}\"", config.access.socket_mode)),
        },
    ];

    /// Returns the settings of the table.
    ///
    /// # Errors
    /// When a user or group does not exist, or the mode is invalid.
    pub fn settings(self) -> Result<Access, Error> {
        let wrong = |key: &str, problem: String| {
            Error::Whole(format!("the setting `access.{key}`: {problem}"))
        };
        let users = self.allow_users.iter().map(|name| user(name));
        let groups = self.allow_groups.iter().map(|name| group(name));
        let mut access = Access {
            users: users
                .collect::<Result<_, _>>()
                .map_err(|problem| wrong("allow_users", problem))?,
            groups: groups
                .collect::<Result<_, _>>()
                .map_err(|problem| wrong("allow_groups", problem))?,
            ..Access::default()
        };
        if let Some(text) = self.socket_mode {
            let mode = u32::from_str_radix(&text, 8).ok();
            access.socket_mode = mode
                .filter(|mode| mode & 0o600 == 0o600 && mode & !0o666 == 0)
                .ok_or_else(|| {
                    let problem = format!("{text:?} is not one of \"0600\", \"0660\", \"0666\"");
                    wrong("socket_mode", problem)
                })?;
        }
        Ok(access)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    use super::*;

    fn parse(text: &str) -> Result<Access, Error> {
        let text = format!("[access]\n{text}");
        Config::parse(&text, Path::new("config.toml")).map(|config| config.access)
    }

    #[test]
    fn users_and_groups_are_looked_up() {
        assert_eq!(parse("").unwrap(), Access::default());
        let access = parse(
            "allow_users = [\"root\", \"1001\"]\nallow_groups = [\"50\"]\nsocket_mode = \"0660\"",
        )
        .unwrap();
        assert_eq!(access.users, [0, 1001].into());
        assert_eq!(access.groups, [50].into());
        assert_eq!(access.socket_mode, 0o660);
        for (text, reported) in [
            ("allow_users = [\"no such user\"]", "no such user"),
            ("allow_groups = [\"no such group\"]", "no such group"),
            ("socket_mode = \"0777\"", "\"0660\""),
            ("socket_mode = \"rw\"", "\"0660\""),
            ("socket_mode = \"0066\"", "\"0660\""),
            ("allow_user = []", "did you mean `allow_users`?"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(reported), "{text}: {error}");
        }
    }
}
