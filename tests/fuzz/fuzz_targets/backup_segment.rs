//! A segment or manifest of a backup of arbitrary bytes is refused or read, never a panic, and takes no more memory
//! than it has bytes.
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
