//! MCP over HTTP on a loopback port: only programs of this machine with the token are accepted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};
use tests::{Daemon, Home, has_words, home};

/// Returns a free port.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

pub(super) fn serving(home: &Home, more: &str) -> (Daemon, u16) {
    let port = free_port();
    home.configure(&format!("[http]\nlisten = \"127.0.0.1:{port}\"\n{more}"));
    (home.start(), port)
}

pub(super) fn token(home: &Home) -> String {
    let path = home.data().join("http.token");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    std::fs::read_to_string(&path).unwrap().trim().to_owned()
}

/// Sends a request; returns status, head and body of the answer.
fn send(port: u16, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

pub(super) fn post(port: u16, headers: &str, body: &Value) -> (u16, String, String) {
    let body = body.to_string();
    let length = body.len();
    send(
        port,
        &format!(
            "POST /mcp HTTP/1.1\r\n{headers}Accept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ),
    )
}

fn record() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "record_step", "arguments": {"tool": "t", "result": {"id": 7}}},
    })
}

fn steps(daemon: &Daemon) -> Value {
    daemon.call("status", json!({}))["counts"]["steps"].clone()
}

/// With the token a program calls as the daemon's own user.
#[test]
fn a_program_with_the_token_calls() {
    let home = home!();
    let (daemon, port) = serving(&home, "");
    let headers = format!(
        "Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {}\r\nMCP-Protocol-Version: 2025-06-18\r\n",
        token(&home)
    );
    let (status, head, body) = post(port, &headers, &record());
    assert_eq!(status, 200, "{body}");
    assert!(!head.contains("access-control"), "{head}");
    assert_eq!(steps(&daemon), 1);
    let kept = token(&home);
    daemon.stop();
    home.start().stop();
    assert_eq!(token(&home), kept, "the token outlives a restart");
}

/// A malicious page, a host name that resolves to this machine, and a caller without the token are refused before
/// anything is done. No answer permits an origin that the settings do not list.
#[test]
fn nobody_else_is_answered() {
    let home = home!();
    let (daemon, port) = serving(&home, "origins = [\"http://localhost:5173\"]\n");
    let bearer = format!("Authorization: Bearer {}\r\n", token(&home));
    let ours = format!("Host: localhost:{port}\r\n");
    let rebound = format!("Host: attacker.example:{port}\r\n");
    for (what, headers, wanted) in [
        ("a rebinding host", format!("{rebound}{bearer}"), 403),
        (
            "its page",
            format!("{rebound}Origin: http://attacker.example:{port}\r\n{bearer}"),
            403,
        ),
        (
            "another origin",
            format!("{ours}Origin: http://attacker.example\r\n{bearer}"),
            403,
        ),
        (
            "no origin at all",
            format!("{ours}Origin: null\r\n{bearer}"),
            403,
        ),
        (
            "our own port's page",
            format!("{ours}Origin: http://localhost:{port}\r\n{bearer}"),
            403,
        ),
        (
            "a page's plain request",
            format!("{ours}Sec-Fetch-Site: cross-site\r\n{bearer}"),
            403,
        ),
        ("no token", ours.clone(), 401),
        (
            "a wrong token",
            format!("{ours}Authorization: Bearer {}\r\n", "0".repeat(64)),
            401,
        ),
        ("no host", bearer.clone(), 400),
        (
            "a known page without the token",
            format!("{ours}Origin: http://localhost:5173\r\n"),
            401,
        ),
    ] {
        let (status, head, body) = post(port, &headers, &record());
        // Without a Host either hyper or the authorization may refuse.
        let is_refused = status == wanted || (what == "no host" && status == 403);
        assert!(is_refused, "{what}: {status} {body}");
        // A page in the settings may read that it is refused.
        let is_named = what == "a known page without the token";
        assert_eq!(head.contains("access-control"), is_named, "{what}: {head}");
        assert!(!body.contains(&token(&home)), "{what}");
    }
    let preflight = format!(
        "OPTIONS /mcp HTTP/1.1\r\n{ours}Origin: http://attacker.example\r\n\
         Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
    );
    let (status, head, _) = send(port, &preflight);
    assert!(
        status == 403 && !head.contains("access-control"),
        "{status} {head}"
    );
    assert_eq!(steps(&daemon), 0, "nothing was done for any of them");
    let said = daemon.stop().stderr;
    assert!(!said.contains(&token(&home)), "the token is in no log");
}

/// A page in the settings calls with a browser's CORS: a preflight request without the token comes first, and only
/// answers that name the page's origin are shown to it.
#[test]
fn a_named_page_calls() {
    let home = home!();
    let (daemon, port) = serving(&home, "origins = [\"http://localhost:5173\"]\n");
    let ours = format!("Host: localhost:{port}\r\n");
    let ask = |host: &str, origin: &str| {
        send(
            port,
            &format!(
                "OPTIONS /mcp HTTP/1.1\r\n{host}Origin: {origin}\r\nSec-Fetch-Site: same-site\r\n\
                 Sec-Fetch-Mode: cors\r\nAccess-Control-Request-Method: POST\r\n\
                 Access-Control-Request-Headers: authorization,content-type,mcp-protocol-version\r\n\r\n"
            ),
        )
    };
    let (status, head, body) = ask(&ours, "http://localhost:5173");
    assert_eq!((status, body.as_str()), (204, ""), "{head}");
    let value = |head: &str, name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let origin = "access-control-allow-origin";
    assert_eq!(value(&head, origin), "http://localhost:5173");
    assert_eq!(value(&head, "access-control-allow-methods"), "post");
    assert_eq!(value(&head, "vary"), "origin");
    assert_eq!(value(&head, "access-control-max-age"), "600");
    assert_eq!(value(&head, "access-control-allow-credentials"), "");
    let headers = value(&head, "access-control-allow-headers");
    for name in [
        "authorization",
        "content-type",
        "accept",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "last-event-id",
    ] {
        assert!(headers.split(", ").any(|known| known == name), "{headers}");
    }
    let foreign = format!("Host: attacker.example:{port}\r\n");
    for (host, origin) in [
        (&ours, "http://localhost:5174"),
        (&ours, "http://attacker.example"),
        (&ours, "null"),
        (&foreign, "http://localhost:5173"),
    ] {
        let (status, head, _) = ask(host, origin);
        let is_told = head.contains("access-control");
        assert!(
            status == 403 && !is_told,
            "{host} {origin}: {status} {head}"
        );
    }
    let page = format!(
        "{ours}Origin: http://localhost:5173\r\nSec-Fetch-Site: same-site\r\n\
         Authorization: Bearer {}\r\n",
        token(&home)
    );
    let (status, head, body) = post(port, &page, &record());
    assert_eq!(status, 200, "{body}");
    assert_eq!(value(&head, origin), "http://localhost:5173", "{head}");
    let exposed = value(&head, "access-control-expose-headers");
    assert!(exposed.contains("mcp-session-id"), "{head}");
    assert_eq!(steps(&daemon), 1);
    daemon.stop();
}

/// A refused client does not keep a connection: it would block permitted clients.
#[test]
fn who_is_turned_away_is_let_go() {
    let home = home!();
    let (daemon, port) = serving(&home, "");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(
        answer.to_lowercase().contains("connection: close"),
        "{answer}"
    );
    daemon.stop();
}

/// The other transports are not available on the port: frames and MCP lines over TCP are not HTTP.
#[test]
fn http_alone() {
    let home = home!();
    let (daemon, port) = serving(&home, "");
    for bytes in [
        &b"\0\0\0\x01\xa0"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    assert_eq!(steps(&daemon), 0);
    daemon.stop();
}

/// A port in use, other machines' addresses, and a readable token are refused at the start with the remedy.
#[test]
fn what_cannot_be_served_is_said_at_the_start() {
    let home = home!();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    home.configure(&format!("[http]\nlisten = \"127.0.0.1:{port}\"\n"));
    let reported = |home: &Home| match home.try_start() {
        Ok(_) => panic!("it serves"),
        Err(ended) => (ended.status.code(), ended.stderr),
    };
    let (code, said) = reported(&home);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains(&port.to_string()) && said.contains("http.listen"),
        "{said}"
    );
    drop(taken);
    home.configure("[http]\nlisten = \"0.0.0.0:7433\"\n");
    let (code, said) = reported(&home);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("loopback"), "{said}");
    let (daemon, _) = serving(&home, "");
    daemon.stop();
    let path = home.data().join("http.token");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&path, open).unwrap();
    let (code, said) = reported(&home);
    assert_eq!(code, Some(3), "{said}");
    has_words(&said, &["http.token", "remove it"]);
}
