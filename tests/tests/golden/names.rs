//! Names and numbers that scripts rely on: operations, error codes, settings, exit codes.

use super::*;

/// Names that scripts and clients rely on are stable: operations, error codes with their meaning, settings, kinds
/// of redaction.
#[test]
fn public_names_stay() {
    let mut lines: Vec<String> = lored::api::TABLE
        .values()
        .map(|operation| format!("operation {} {:?}", operation.name, operation.access))
        .collect();
    lines.extend(Code::ALL.iter().map(|code| {
        let again = if code.retryable() {
            "retryable"
        } else {
            "final"
        };
        format!("error {} {} {again}", code.as_str(), code.status())
    }));
    lines.extend(
        lored::config::keys()
            .iter()
            .map(|key| format!("setting {key}")),
    );
    let kinds: std::collections::BTreeSet<&str> =
        lored_redact::kinds::all().map(|kind| kind.id).collect();
    lines.extend(kinds.iter().map(|kind| format!("redaction {kind}")));
    hold("surface.txt", SURFACE, &lines);
}

/// The operations that the client retries after a lost connection are the daemon's reads, as in the table.
#[test]
fn both_sides_agree_on_what_reads() {
    let reads = lored::api::TABLE
        .values()
        .filter(|operation| operation.access == Access::Read)
        .map(|operation| operation.name);
    let mut said = READ_OPERATIONS.to_vec();
    said.sort_unstable();
    assert_eq!(reads.collect::<Vec<_>>(), said);
}

/// The daemon's exit codes: 0 success, 1 refused or damage found, 2 usage, 3 not started; one command shows each.
#[test]
fn exit_codes_of_the_daemon() {
    let home = home!();
    let code = |arguments: &[&str]| home.run(arguments).status.code();
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["--no-such-flag"]), Some(2));
    assert_eq!(code(&["verify"]), Some(3), "there is no store yet");
    home.start().stop();
    assert_eq!(code(&["verify"]), Some(0));
    home.configure("[engine]\nno_such_setting = 1");
    assert_eq!(code(&["serve"]), Some(2));
    home.configure("");
    for superblock in ["lore-store", "lore-store.copy"] {
        std::fs::write(home.data().join("store").join(superblock), "other").unwrap();
    }
    assert_eq!(code(&["serve"]), Some(3));
}

/// The client's exit codes: 0 success, 1 refused, 2 usage, 3 no daemon, 5 conflict, 75 no daemon is started in this place;
/// one call shows each.
#[test]
fn exit_codes_of_the_client() {
    let home = home!();
    let code_with = |variables: &[(&str, &str)], arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .env_clear()
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", "/nowhere/lored")
            .envs(variables.iter().copied())
            .args(arguments)
            .output()
            .unwrap()
            .status
            .code()
    };
    let code = |arguments: &[&str]| code_with(&[], arguments);
    let sandboxed = [("SANDBOX_RUNTIME", "1")];
    assert_eq!(code_with(&sandboxed, &["status"]), Some(75));
    assert_eq!(code(&["call", "status", "{}"]), Some(3), "nobody serves");
    let _daemon = home.start();
    assert_eq!(code(&["call", "status", "{}"]), Some(0));
    assert_eq!(code(&["no-such-verb"]), Some(2));
    assert_eq!(code(&["call", "no_such_operation", "{}"]), Some(1));
    let session = r#"{"session":"s-1"}"#;
    assert_eq!(code(&["call", "create_session", session]), Some(0));
    assert_eq!(code(&["call", "create_session", session]), Some(5));
}
