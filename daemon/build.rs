//! Writes the o200k vocabulary for `src/tokens.rs`: each token's length in one byte and its bytes, by rank.
//!
//! The source is tiktoken-rs, which is not a dependency of the daemon itself (see `tokens.rs` for the reason).

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let o200k = tiktoken_rs::o200k_base()?;
    let mut vocabulary = Vec::new();
    for rank in 0.. {
        // Ordinary tokens are contiguous; only special tokens follow.
        let Ok(token) = o200k.decode_bytes(&[rank]) else {
            break;
        };
        vocabulary.push(u8::try_from(token.len())?);
        vocabulary.extend(token);
    }
    let out = std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?;
    std::fs::write(PathBuf::from(out).join("o200k"), vocabulary)?;
    Ok(())
}
