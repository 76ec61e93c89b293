//! Access control for connections: checks the peer's user, as reported by the socket, against the settings.

use std::collections::BTreeSet;

use nix::unistd::{Gid, Group, Uid, User};

/// Access settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// User ids with access, in addition to the daemon's user.
    pub users: BTreeSet<u32>,
    /// Group ids whose members have access.
    pub groups: BTreeSet<u32>,
    /// Permission bits of the socket.
    pub socket_mode: u32,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            users: BTreeSet::new(),
            groups: BTreeSet::new(),
            socket_mode: 0o600,
        }
    }
}

/// Resolves a user name or number to a user id.
///
/// # Errors
/// A sentence: the user does not exist, or the system cannot resolve it.
pub fn user(name: &str) -> Result<u32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok(user.uid.as_raw()),
        Ok(None) => Err(format!("no user named {name:?} on this machine")),
        Err(error) => Err(format!("the user {name:?}: {error}")),
    }
}

/// Resolves a group name or number to a group id.
///
/// # Errors
/// A sentence: the group does not exist, or the system cannot resolve it.
pub fn group(name: &str) -> Result<u32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    match Group::from_name(name) {
        Ok(Some(group)) => Ok(group.gid.as_raw()),
        Ok(None) => Err(format!("no group named {name:?} on this machine")),
        Err(error) => Err(format!("the group {name:?}: {error}")),
    }
}

impl Access {
    /// Returns the permission bits of the socket: in a multi-tenant daemon everyone may connect, unless configured
    /// otherwise.
    #[must_use]
    pub fn socket_mode(&self, everyone: bool) -> u32 {
        match self.socket_mode {
            0o600 if everyone => 0o666,
            mode => mode,
        }
    }

    /// Returns whether a peer may connect. `everyone` is for a multi-tenant daemon: all users may connect unless users
    /// or groups are configured. With groups it may query the system's user database, so do not call it on an event
    /// loop.
    #[must_use]
    pub fn may(&self, peer: u32, peer_group: u32, everyone: bool) -> bool {
        let us = rustix::process::geteuid().as_raw();
        let nobody_named = self.users.is_empty() && self.groups.is_empty();
        peer == us
            || self.users.contains(&peer)
            || (everyone && nobody_named)
            || self.groups.contains(&peer_group)
            || (!self.groups.is_empty() && is_member(peer, peer_group, &self.groups))
    }
}

/// Returns whether the system's database lists a user as a member of one of these groups.
fn is_member(uid: u32, group: u32, groups: &BTreeSet<u32>) -> bool {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    user.is_some_and(|user| is_listed(user.name, group, groups))
}

#[cfg(not(target_vendor = "apple"))]
fn is_listed(user: String, group: u32, groups: &BTreeSet<u32>) -> bool {
    let user = std::ffi::CString::new(user).ok();
    let all = user.and_then(|user| nix::unistd::getgrouplist(&user, Gid::from_raw(group)).ok());
    all.is_some_and(|all| all.iter().any(|group| groups.contains(&group.as_raw())))
}

/// nix has no `getgrouplist` here. Members of nested groups are not found.
#[cfg(target_vendor = "apple")]
fn is_listed(user: String, _group: u32, groups: &BTreeSet<u32>) -> bool {
    groups.iter().any(|group| {
        let group = Group::from_gid(Gid::from_raw(*group)).ok().flatten();
        group.is_some_and(|group| group.mem.contains(&user))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_are_named() {
        let us = rustix::process::geteuid().as_raw();
        let other = us + 1000;
        let none = Access::default();
        assert!(none.may(us, 0, false) && !none.may(other, other, false));
        assert!(none.may(other, other, true), "a namespace of its own");
        let one = Access {
            users: [other].into(),
            ..Access::default()
        };
        assert!(one.may(other, other, false) && one.may(other, other, true));
        assert!(!one.may(other + 1, other, true), "somebody else is named");
        let of_group = Access {
            groups: [other].into(),
            ..Access::default()
        };
        assert!(of_group.may(other + 1, other, false), "its first group");
        assert!(!of_group.may(other + 1, other + 1, false));
    }

    #[test]
    fn names_are_looked_up() {
        assert_eq!(user("root"), Ok(0));
        assert_eq!(user("1234567"), Ok(1_234_567));
        assert!(user("no such user").unwrap_err().contains("no such user"));
        assert_eq!(group("root"), Ok(0));
        assert!(
            group("no such group")
                .unwrap_err()
                .contains("no such group")
        );
        // It is root's primary group, so root is not in its list of members.
        let of_root = Access {
            groups: [0].into(),
            ..Access::default()
        };
        assert!(of_root.may(0, 4711, false));
    }
}
