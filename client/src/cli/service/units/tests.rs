//! Installed files contain the actual program, socket and folders, and no other change.

use super::*;

fn user(variables: &[(&str, &str)], daemon: &str) -> Units {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    let paths = Paths::from_variables(variable, 7, None).unwrap();
    of_user(&paths, Path::new(daemon), variable).unwrap_or_else(|_| panic!("refused"))
}

const USUAL: [(&str, &str); 2] = [("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/7")];

#[test]
fn a_usual_place_needs_nothing_but_the_program() {
    let units = user(&USUAL, "/h/.cargo/bin/lored");
    assert!(
        units
            .service
            .contains("\nExecStart=/h/.cargo/bin/lored serve\n")
    );
    // Only what the units set for every place.
    assert_eq!(units.service.matches("Environment=").count(), 1);
    assert!(units.socket.ends_with(USER_SOCKET));
    assert!(!units.are_as_shipped);
    let shipped = user(
        &[USUAL[0], USUAL[1], ("XDG_DATA_HOME", "/h/.local/share")],
        "/usr/bin/lored",
    );
    assert!(shipped.are_as_shipped);
    assert!(shipped.service.ends_with(USER_SERVICE));
}

#[test]
fn other_places_are_told() {
    let units = user(
        &[USUAL[0], USUAL[1], ("XDG_DATA_HOME", "/d 50%")],
        "/o p$/lored",
    );
    assert!(
        units
            .service
            .contains("\nEnvironment=\"XDG_DATA_HOME=/d 50%%\"\n"),
        "{}",
        units.service
    );
    assert!(
        units
            .service
            .contains("\nExecStart=\"/o p$/lored\" serve\n"),
        "{}",
        units.service
    );
    assert!(!units.are_as_shipped);

    let units = user(
        &[USUAL[0], USUAL[1], ("LORE_HOME", "/x%y")],
        "/usr/bin/lored",
    );
    assert!(
        units.service.contains("\nEnvironment=LORE_HOME=/x%%y\n"),
        "{}",
        units.service
    );
    assert!(
        units
            .socket
            .contains("\nListenStream=/x%%y/run/lore.sock\n"),
        "{}",
        units.socket
    );
    assert!(!units.are_as_shipped);
}

#[test]
fn what_the_other_daemon_cannot_see_is_refused() {
    assert!(of_system(Path::new("/root/.cargo/bin/lored")).is_err());
    let units = of_system(Path::new("/usr/local/bin/lored")).unwrap_or_else(|_| panic!("refused"));
    assert!(
        units
            .service
            .contains("\nExecStart=/usr/local/bin/lored serve --system\n")
    );
    for odd in ["/usr/bin/lo\nred", "/opt/a\"/lored", "/opt/a\\/lored"] {
        assert!(of_system(Path::new(odd)).is_err(), "{odd}");
    }
}

/// The job is a valid property list with the expected values. It was never tried with launchd itself.
#[test]
fn the_job_of_launchd_is_a_property_list() {
    let variable = |name: &str| (name == "HOME" || name == "LORE_HOME").then(|| "/h & <co>".into());
    let paths = Paths::from_variables(variable, 7, None).unwrap();
    let text =
        job(&paths, Path::new("/opt/<l>/lored"), variable).unwrap_or_else(|_| panic!("refused"));
    assert!(crate::cli::service::steps::is_ours(&text), "{text}");
    let job: plist::Dictionary = plist::from_bytes(text.as_bytes()).unwrap();
    let string =
        |value: Option<&plist::Value>| value.and_then(plist::Value::as_string).map(str::to_owned);
    assert_eq!(
        string(job.get("Label")).as_deref(),
        Some(lore::manager::LAUNCHD_LABEL)
    );
    let arguments = job
        .get("ProgramArguments")
        .and_then(plist::Value::as_array)
        .unwrap();
    assert_eq!(string(arguments.first()).as_deref(), Some("/opt/<l>/lored"));
    let environment = job
        .get("EnvironmentVariables")
        .and_then(plist::Value::as_dictionary)
        .unwrap();
    assert_eq!(
        string(environment.get("LORE_HOME")).as_deref(),
        Some("/h & <co>")
    );
    assert_eq!(
        string(environment.get("LORE_SOCKET")).as_deref(),
        Some("/h & <co>/run/lore.sock")
    );
    assert_eq!(
        string(job.get("StandardErrorPath")).as_deref(),
        Some("/h & <co>/state/lored.log")
    );
    assert_eq!(
        job.get("RunAtLoad").and_then(plist::Value::as_boolean),
        Some(true)
    );
    assert!(
        job.get("KeepAlive")
            .and_then(plist::Value::as_dictionary)
            .is_some()
    );
    let sockets = job
        .get("Sockets")
        .and_then(plist::Value::as_dictionary)
        .unwrap();
    let socket = sockets
        .get("Listeners")
        .and_then(plist::Value::as_dictionary)
        .unwrap();
    assert_eq!(
        string(socket.get("SockPathName")).as_deref(),
        Some("/h & <co>/run/lore.sock")
    );
    let mode = socket
        .get("SockPathMode")
        .and_then(plist::Value::as_signed_integer);
    assert_eq!(mode, Some(0o600));
    assert!(!text.contains("/Users/user"), "{text}");
}
