//! The HTTP transport: an accepted request, whatever its headers, has the token, a host name of this machine, and
//! no origin that the settings do not list. One header per line, the address first.
#![no_main]

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{StatusCode, Uri};
use libfuzzer_sys::fuzz_target;
use lored::api::HttpAuth;

const TOKEN: &str = "0123456789abcdef";

fuzz_target!(|bytes: &[u8]| {
    let auth = HttpAuth::new(TOKEN, 4000, vec!["http://localhost:3000".to_owned()]);
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(Ok(uri)) = lines.next().map(Uri::try_from) else {
        return;
    };
    let mut headers = HeaderMap::new();
    for line in lines {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            continue;
        };
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            headers.append(name, value);
        }
    }
    match auth.check(&uri, &headers) {
        Ok(()) => {
            let said = headers
                .get(AUTHORIZATION)
                .and_then(|said| said.to_str().ok());
            assert!(said.is_some_and(|said| said.trim_end().ends_with(TOKEN)));
            assert!(
                headers
                    .get_all(ORIGIN)
                    .iter()
                    .all(|origin| origin == "http://localhost:3000")
            );
            assert!(
                uri.authority()
                    .is_none_or(|called| called.as_str().ends_with(":4000"))
            );
        }
        Err((status, _)) => {
            assert!([StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED].contains(&status))
        }
    }
});
