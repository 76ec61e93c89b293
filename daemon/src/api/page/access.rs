//! Who may look: links that work once, and the browsers that have used one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{StatusCode, Uri};
use lore::protocol::{Code, ErrorBody};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// Time in which a link can be used.
const LINK_MAX: Duration = Duration::from_mins(5);
/// Maximum number of unused links; the oldest ones end first.
const LINKS_MAX: usize = 16;
/// Maximum number of browsers.
const VIEWERS_MAX: usize = 64;
/// Maximum number of open streams.
const STREAMS_MAX: usize = 24;
/// Browsers state with it which page a request comes from.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Names of this machine in a `Host`.
const HOSTS: [&str; 2] = ["127.0.0.1", "localhost"];

/// A refusal: the status and what was wrong.
pub type RefusedRequest = (StatusCode, ErrorBody);

/// Who may look at the page on one port.
pub struct PageAccess {
    port: u16,
    state: Mutex<AccessState>,
}

struct AccessState {
    links: Vec<Link>,
    /// The users of browsers, by the hashes of their cookies.
    viewers: HashMap<[u8; 32], u32>,
    streams: usize,
    last_seen: Instant,
}

struct Link {
    hash: [u8; 32],
    uid: u32,
    until: Instant,
}

/// An open stream; it counts until it is dropped.
pub struct StreamGuard(Arc<PageAccess>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.streams = state.streams.saturating_sub(1);
        state.last_seen = Instant::now();
    }
}

impl PageAccess {
    /// Lets no browser look yet.
    pub fn new(port: u16) -> Self {
        let state = AccessState {
            links: Vec::new(),
            viewers: HashMap::new(),
            streams: 0,
            last_seen: Instant::now(),
        };
        Self {
            port,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, AccessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an address that lets one browser look at the memory of a user. Its secret is in the fragment, which browsers
    /// send to no server.
    pub fn link(&self, uid: u32, secret: [u8; 32], now: Instant) -> String {
        let secret = hexadecimal(&secret);
        let mut state = self.state();
        state.last_seen = now;
        state.links.retain(|link| link.until > now);
        if state.links.len() >= LINKS_MAX {
            state.links.remove(0);
        }
        state.links.push(Link {
            hash: hash(&secret),
            uid,
            until: now + LINK_MAX,
        });
        format!("http://127.0.0.1:{}/#{secret}", self.port)
    }

    /// Exchanges the secret of a link for a cookie, made of these random bytes. Returns the value of `Set-Cookie`.
    ///
    /// # Errors
    /// When the secret is wrong, too old or used.
    pub fn enter(
        &self,
        secret: &[u8],
        random: [u8; 32],
        now: Instant,
    ) -> Result<String, RefusedRequest> {
        let mut state = self.state();
        // Hashes are compared, so the time reveals nothing about a secret.
        let wanted: [u8; 32] = Sha256::digest(secret).into();
        let is_it = |link: &Link| link.hash == wanted && link.until > now;
        let Some(at) = state.links.iter().position(is_it) else {
            let body = ErrorBody::new(Code::Forbidden, "this link was used already, or is too old")
                .hint("`lore page` makes a new one.");
            return Err((StatusCode::FORBIDDEN, body));
        };
        if state.viewers.len() >= VIEWERS_MAX {
            let body = ErrorBody::new(
                Code::RateLimited,
                format!("{VIEWERS_MAX} browsers look at this page already"),
            )
            .hint("The page closes when it has had no viewer for half an hour; `lore page` then opens it again.");
            return Err((StatusCode::TOO_MANY_REQUESTS, body));
        }
        let link = state.links.remove(at);
        let cookie = hexadecimal(&random);
        state.viewers.insert(hash(&cookie), link.uid);
        state.last_seen = now;
        Ok(format!(
            "{}={cookie}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie_name()
        ))
    }

    /// Browsers send cookies to every port of a machine, so the name has the port.
    fn cookie_name(&self) -> String {
        format!("lore_page_{}", self.port)
    }

    /// Returns the user whose memory a request may see.
    ///
    /// # Errors
    /// When the browser has used no link.
    pub fn viewer(&self, headers: &HeaderMap) -> Result<u32, RefusedRequest> {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter();
        let mut cookies = cookies
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='));
        let value = cookies.find_map(|(key, value)| (key == name).then_some(value));
        let mut state = self.state();
        let uid = value.and_then(|value| state.viewers.get(&hash(value)).copied());
        let Some(uid) = uid else {
            let body = ErrorBody::new(Code::Unauthorized, "this browser has not used a link")
                .hint("`lore page` opens the page.");
            return Err((StatusCode::UNAUTHORIZED, body));
        };
        state.last_seen = Instant::now();
        Ok(uid)
    }

    /// Counts a stream.
    ///
    /// # Errors
    /// When there are too many.
    pub fn stream(self: &Arc<Self>) -> Result<StreamGuard, RefusedRequest> {
        let mut state = self.state();
        if state.streams >= STREAMS_MAX {
            let body = ErrorBody::new(
                Code::RateLimited,
                format!("{STREAMS_MAX} views follow the log already"),
            )
            .hint("Close some of them; views that do not follow still work.");
            return Err((StatusCode::TOO_MANY_REQUESTS, body));
        }
        state.streams += 1;
        Ok(StreamGuard(Arc::clone(self)))
    }

    /// Returns when the page closes unless it has a viewer before; `None` while a stream is open.
    pub fn idle_from(&self, idle_max: Duration) -> Option<Instant> {
        let state = self.state();
        (state.streams == 0).then(|| state.last_seen + idle_max)
    }

    /// Checks that a request is meant for this page and comes from it.
    ///
    /// # Errors
    /// 421 for another host, 403 for a request of another page.
    pub fn check_place(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let of_uri = uri.authority().map(|authority| authority.as_str());
        let (Some(host), None) = (host.filter(|host| self.is_ours(host)), hosts.next()) else {
            return Err(misdirected());
        };
        if !of_uri.is_none_or(|authority| self.is_ours(authority)) {
            return Err(misdirected());
        }
        let own = format!("http://{host}");
        let mut origins = headers.get_all(ORIGIN).iter();
        let is_own = origins.all(|origin| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes()));
        let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
        let is_known = sites.all(|site| matches!(site.as_bytes(), b"none" | b"same-origin"));
        if !is_own || !is_known {
            let body = ErrorBody::new(Code::Forbidden, "other pages may not call this one")
                .hint("Open the link that `lore page` prints.");
            return Err((StatusCode::FORBIDDEN, body));
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else {
            return false;
        };
        port.parse() == Ok(self.port) && HOSTS.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

fn misdirected() -> RefusedRequest {
    let body = ErrorBody::new(Code::Forbidden, "the Host is not this page")
        .hint("Open the link that `lore page` prints.");
    (StatusCode::MISDIRECTED_REQUEST, body)
}

fn hexadecimal(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PORT: u16 = 7555;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            let name: HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        map
    }

    fn place(uri: &str, pairs: &[(&str, &str)]) -> u16 {
        let access = PageAccess::new(PORT);
        match access.check_place(&uri.parse().unwrap(), &headers(pairs)) {
            Ok(()) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    fn secret(link: &str) -> &[u8] {
        link.split_once('#').unwrap().1.as_bytes()
    }

    #[test]
    fn only_its_own_host_is_served() {
        for host in ["127.0.0.1:7555", "localhost:7555", "LocalHost:7555"] {
            assert_eq!(place("/", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "evil.example:7555",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:7555.evil.example",
            "127.0.0.1.evil.example:7555",
            "[::1]:7555",
            "user@127.0.0.1:7555",
            "",
        ] {
            assert_eq!(place("/", &[("host", host)]), 421, "{host}");
        }
        assert_eq!(place("/", &[]), 421, "no host");
        let two = [("host", "127.0.0.1:7555"), ("host", "evil.example:7555")];
        assert_eq!(place("/", &two), 421);
        let home = ("host", "127.0.0.1:7555");
        assert_eq!(place("http://evil.example/", &[home]), 421);
    }

    #[test]
    fn other_pages_are_refused() {
        let home = ("host", "127.0.0.1:7555");
        for (name, value, status) in [
            ("origin", "http://127.0.0.1:7555", 200),
            ("origin", "http://localhost:7555", 403),
            ("origin", "http://127.0.0.1:7556", 403),
            ("origin", "https://127.0.0.1:7555", 403),
            ("origin", "http://evil.example", 403),
            ("origin", "null", 403),
            ("sec-fetch-site", "same-origin", 200),
            ("sec-fetch-site", "none", 200),
            ("sec-fetch-site", "same-site", 403),
            ("sec-fetch-site", "cross-site", 403),
            ("sec-fetch-site", "", 403),
        ] {
            assert_eq!(
                place("/", &[home, (name, value)]),
                status,
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn a_link_works_once_and_for_its_user() {
        let access = PageAccess::new(PORT);
        let now = Instant::now();
        let link = access.link(1000, [1; 32], now);
        assert!(link.starts_with("http://127.0.0.1:7555/#01"), "{link}");
        let refused = access.enter(b"01", [2; 32], now).unwrap_err();
        assert_eq!(refused.0, StatusCode::FORBIDDEN);
        let cookie = access.enter(secret(&link), [2; 32], now).unwrap();
        assert!(
            cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
            "{cookie}"
        );
        let refused = access.enter(secret(&link), [3; 32], now).unwrap_err();
        assert_eq!(refused.0, StatusCode::FORBIDDEN, "used");
        let (pair, _) = cookie.split_once(';').unwrap();
        let viewer = |cookie: &str| {
            let viewer = access.viewer(&headers(&[("cookie", cookie)]));
            viewer.map_err(|(status, _)| status.as_u16())
        };
        assert_eq!(viewer(pair), Ok(1000));
        assert_eq!(viewer(&format!("other=1; {pair}")), Ok(1000));
        for wrong in [
            "",
            "lore_page_7555=",
            "lore_page_7555=02",
            &pair.replace("7555", "7556"),
        ] {
            assert_eq!(viewer(wrong), Err(401), "{wrong}");
        }
        let old = access.link(1000, [4; 32], now);
        assert!(
            access.enter(secret(&old), [5; 32], now + LINK_MAX).is_err(),
            "too old"
        );
    }

    #[test]
    fn links_browsers_and_streams_are_bounded() {
        let access = Arc::new(PageAccess::new(PORT));
        let now = Instant::now();
        let first = access.link(1, [0; 32], now);
        for number in 1..=LINKS_MAX {
            access.link(1, [u8::try_from(number).unwrap(); 32], now);
        }
        assert!(access.enter(secret(&first), [9; 32], now).is_err());
        for number in 0..VIEWERS_MAX {
            let number = u8::try_from(number).unwrap() + 100;
            let link = access.link(1, [number; 32], now);
            access.enter(secret(&link), [number; 32], now).unwrap();
        }
        let link = access.link(1, [250; 32], now);
        let refused = access.enter(secret(&link), [250; 32], now).unwrap_err();
        assert_eq!(refused.0, StatusCode::TOO_MANY_REQUESTS);
        let mut streams: Vec<StreamGuard> = Vec::new();
        for _ in 0..STREAMS_MAX {
            streams.push(access.stream().map_err(|(status, _)| status).unwrap());
        }
        assert!(access.stream().is_err());
        let minute = Duration::from_mins(1);
        assert!(access.idle_from(minute).is_none(), "a stream is a viewer");
        streams.clear();
        assert!(access.idle_from(minute) >= Some(now + minute));
        assert!(access.stream().is_ok());
    }
}
