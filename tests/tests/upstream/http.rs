//! Servers over streamable HTTP, with answers as JSON and as events.

use std::process::{Child, Command, Stdio};

use lored::upstream::{Resolution, Server, State};
use tempfile::TempDir;
use tests::until;

use super::{Fixture, LIMIT};

/// A server listening on its port, killed when dropped.
struct ServerGuard {
    process: Child,
    url: String,
}

impl ServerGuard {
    fn start(mode: &str, folder: &TempDir) -> Self {
        let process = Command::new(env!("CARGO_BIN_EXE_mcp-server-for-tests"))
            .arg(mode)
            .arg(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = until("the server's address", LIMIT, || {
            std::fs::read_to_string(folder.path().join("address")).ok()
        });
        let url = format!("http://{address}/mcp");
        Self { process, url }
    }
}

impl Drop for ServerGuard {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Both forms of answers are read, in the server's session; a server that ends causes a warning.
#[test]
fn servers_over_http_are_asked() {
    for mode in ["http", "http-events"] {
        let folder = TempDir::new().unwrap();
        let server = ServerGuard::start(mode, &folder);
        let fixture = Fixture::of(Server::Url(server.url.clone()), folder, |_| {});
        let found = fixture.resolve("ams1");
        assert!(
            matches!(&found, Resolution::Found { .. }),
            "{mode}: {found:?}"
        );
        assert_eq!(fixture.resolve("none-such"), Resolution::Nothing, "{mode}");
        assert_eq!(fixture.state(), State::Running);
        drop(server);
        let said = fixture.failure("ams2");
        let wanted = "did not start: Client error: no connection: Connection refused";
        assert!(said.contains(wanted), "{said}");
        fixture.close();
        assert_eq!(fixture.left("start").len(), 1);
    }
}
