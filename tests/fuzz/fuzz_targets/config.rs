//! `config.toml` and `.lore.toml`: any text is valid settings or is refused with a message.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use lored::config::Config;
use lored::projects::Marker;

fuzz_target!(|text: &str| {
    if let Err(refused) = Config::parse(text, Path::new("config.toml")) {
        assert!(refused.to_string().contains("config.toml"), "{refused}");
    }
    if let Ok(marker) = toml::from_str::<Marker>(text)
        && let Some(problem) = marker.problem()
    {
        assert!(problem.starts_with('`'), "{problem}");
    }
});
