//! Backup segments and manifests of arbitrary bytes are read or refused without a panic, and use no more memory
//! than their length.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use lored::backup::manifest::Manifest;
use lored::backup::segment::{Content, events, object, parts};
use lored::log::{Hash, Position};

fuzz_target!(|bytes: &[u8]| {
    let _ = Manifest::parse(bytes, Path::new("manifest.json"));
    for content in [Content::Log, Content::Objects] {
        let whole = [content.line(), bytes].concat();
        for text in [bytes, &whole] {
            let (mut link, mut at) = (Hash::default(), Position(0));
            let _ = parts::<()>(&mut &*text, content, &mut |part| {
                let _ = events(part, &mut link, &mut at);
                let _ = object(part);
                Ok(())
            });
        }
    }
});
