//! Writes the vocabulary of o200k for `src/tokens.rs`: each token's length in one byte and its
//! bytes, by rank.
//!
//! It comes from tiktoken-rs, which is no dependency of the daemon itself (see `tokens.rs` for why).

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let o200k = tiktoken_rs::o200k_base()?;
    let mut vocabulary = Vec::new();
    for rank in 0.. {
        // The ordinary tokens have no gap between them; behind the last one only special ones follow.
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
