//! Who may connect: the peer's user, as the socket tells it, against those that the settings name.

use std::collections::BTreeSet;

use nix::unistd::{Gid, Group, Uid, User};

/// What is set about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Users beside the daemon's own, by number.
    pub users: BTreeSet<u32>,
    /// Groups whose members may connect as well, by number.
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

/// The number of a user, named or numbered.
///
/// # Errors
/// A sentence: there is no such user, or the system does not say.
pub fn user(name: &str) -> Result<u32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok(user.uid.as_raw()),
        Ok(None) => Err(format!("there is no user {name:?} on this machine")),
        Err(error) => Err(format!("the user {name:?}: {error}")),
    }
}

/// The number of a group, named or numbered.
///
/// # Errors
/// A sentence: there is no such group, or the system does not say.
pub fn group(name: &str) -> Result<u32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    match Group::from_name(name) {
        Ok(Some(group)) => Ok(group.gid.as_raw()),
        Ok(None) => Err(format!("there is no group {name:?} on this machine")),
        Err(error) => Err(format!("the group {name:?}: {error}")),
    }
}

impl Access {
    /// Permission bits of the socket: where each user has a namespace everybody is meant to come, unless
    /// something else was said.
    #[must_use]
    pub fn socket_mode(&self, everyone: bool) -> u32 {
        match self.socket_mode {
            0o600 if everyone => 0o666,
            mode => mode,
        }
    }

    /// Whether a peer may connect. `everyone` is for a daemon in which each user has a namespace: there
    /// all may, unless users or groups are named. May ask the system's user database, so it is not for
    /// an event loop where groups are named.
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

/// Whether the system's database lists a user as a member of one of these groups.
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

/// nix has no `getgrouplist` here. Members of a group that is nested in another one are not found.
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
        // The group of root is root's first, not in its list of members.
        let of_root = Access {
            groups: [0].into(),
            ..Access::default()
        };
        assert!(of_root.may(0, 4711, false));
    }
}
