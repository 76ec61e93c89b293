//! Landlock: the kernel refuses everything that is not needed. See landlock(7).

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::{Landlock, SandboxNeeds};

/// Newest tested version of the interface; restrictions of later versions are not used.
const TRIED: ABI = ABI::V7;

/// Operations on the daemon's files and folders: no devices, pipes, sockets or links.
const OURS: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir | Refer
});

/// Operations on sockets.
const SOCKETS: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeSock | RemoveFile});

/// Refuses everything that is not needed: writes elsewhere, starting programs, TCP, signals to other processes.
pub fn restrict(needs: &SandboxNeeds) -> Landlock {
    match try_to(needs) {
        Ok(status) => landlock_status(status.ruleset, status.landlock),
        Err(reason) => Landlock::None { reason },
    }
}

/// Refuses every access to files that are not open yet, TCP, and signals to other processes.
pub fn seal() -> Landlock {
    let sealed = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(TRIED))?
            .handle_access(AccessNet::from_all(TRIED))?
            .scope(Scope::from_all(TRIED))?
            .create()?
            .restrict_self()
    };
    match sealed() {
        Ok(status) => landlock_status(status.ruleset, status.landlock),
        Err(error) => Landlock::None {
            reason: error.to_string(),
        },
    }
}

fn try_to(needs: &SandboxNeeds) -> Result<RestrictionStatus, String> {
    let text = |error: landlock::RulesetError| error.to_string();
    let mut ruleset = ruleset(needs).map_err(text)?;
    for folder in &needs.folders {
        ruleset = below(ruleset, folder, OURS)?;
    }
    for folder in &needs.socket_folders {
        ruleset = below(ruleset, folder, SOCKETS)?;
    }
    for port in &needs.ports_connected_to {
        let rule = NetPort::new(*port, AccessNet::ConnectTcp);
        ruleset = ruleset.add_rule(rule).map_err(text)?;
    }
    for port in &needs.ports_listened_on {
        let rule = NetPort::new(*port, AccessNet::BindTcp);
        ruleset = ruleset.add_rule(rule).map_err(text)?;
    }
    ruleset.restrict_self().map_err(text)
}

/// Builds the set of operations that are refused unless a rule allows them. Reading is not restricted: sources and
/// projects may be anywhere.
fn ruleset(needs: &SandboxNeeds) -> Result<RulesetCreated, landlock::RulesetError> {
    let ruleset = Ruleset::default()
        // A kernel without rules for renames between folders refuses them all, and blobs are
        // written that way: Landlock cannot be used there.
        .set_compatibility(CompatLevel::SoftRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(TRIED) | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(TRIED))?
        .scope(Scope::Signal)?;
    let ruleset = if needs.abstract_sockets {
        ruleset
    } else {
        ruleset.scope(Scope::AbstractUnixSocket)?
    };
    ruleset.create()
}

fn below(
    ruleset: RulesetCreated,
    folder: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    let folder = PathFd::new(folder).map_err(|error| error.to_string())?;
    ruleset
        .add_rule(PathBeneath::new(folder, access))
        .map_err(|error| error.to_string())
}

fn landlock_status(ruleset: RulesetStatus, landlock: LandlockStatus) -> Landlock {
    let none = |reason: &str| Landlock::None {
        reason: reason.to_owned(),
    };
    let abi = match landlock {
        LandlockStatus::NotEnabled => return none("the kernel has Landlock switched off"),
        LandlockStatus::NotImplemented => return none("the kernel has no Landlock"),
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
    };
    let number = abi as u32;
    match ruleset {
        RulesetStatus::FullyEnforced => Landlock::Full { abi: number },
        RulesetStatus::PartiallyEnforced => Landlock::Partial {
            abi: number,
            lacks: lacks(abi),
        },
        RulesetStatus::NotEnforced => none("the kernel's Landlock is too old (ABI 1; 2 is needed)"),
    }
}

/// Returns the restrictions that a version does not support.
fn lacks(abi: ABI) -> Vec<&'static str> {
    [
        (ABI::V3, "truncation of files"),
        (ABI::V4, "TCP"),
        (ABI::V5, "commands to devices"),
        (ABI::V6, "signals and abstract sockets"),
    ]
    .into_iter()
    .filter(|(since, _)| abi < *since)
    .map(|(_, what)| what)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn available(effective_abi: ABI) -> LandlockStatus {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi: None,
        }
    }

    /// Missing restrictions of an older kernel are reported, and so is the reason when nothing is restricted.
    #[test]
    fn what_is_not_refused_is_told() {
        for (ruleset, landlock, wanted) in [
            (
                RulesetStatus::FullyEnforced,
                available(ABI::V7),
                "full: ABI 7",
            ),
            (
                RulesetStatus::PartiallyEnforced,
                available(ABI::V5),
                "partial: ABI 5, without signals and abstract sockets",
            ),
            (
                RulesetStatus::PartiallyEnforced,
                available(ABI::V3),
                "partial: ABI 3, without TCP, commands to devices, signals and abstract sockets",
            ),
            (
                RulesetStatus::NotEnforced,
                available(ABI::V1),
                "none: the kernel's Landlock is too old (ABI 1; 2 is needed)",
            ),
            (
                RulesetStatus::NotEnforced,
                LandlockStatus::NotEnabled,
                "none: the kernel has Landlock switched off",
            ),
            (
                RulesetStatus::NotEnforced,
                LandlockStatus::NotImplemented,
                "none: the kernel has no Landlock",
            ),
        ] {
            assert_eq!(landlock_status(ruleset, landlock).to_string(), wanted);
        }
    }

    /// Without a folder to write below there are no rules, and nothing is restricted.
    #[test]
    fn a_missing_folder_is_told() {
        let needs = SandboxNeeds {
            folders: vec!["/no/such/folder".into()],
            ..SandboxNeeds::default()
        };
        let said = restrict(&needs).to_string();
        assert!(
            said.starts_with("none: ") && said.contains("/no/such/folder"),
            "{said}"
        );
    }
}
