//! The models embedded in the program, as the bytes of their files. A program that references none of them embeds
//! none. README.md lists their sources and licences.

/// The files of one model.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedModel {
    /// Model name: the name of its folder.
    pub name: &'static str,
    /// Hash of its files, as the daemon computes it: known without reading them.
    pub fingerprint: u64,
    /// `config.json`: architecture and sizes.
    pub config: &'static [u8],
    /// `vocab.txt`: one word piece per line.
    pub vocabulary: &'static [u8],
    /// `model.safetensors`: the weights, int8 rows with one f32 scale per row.
    pub weights: &'static [u8],
}

/// Declares one model: its function and its folder.
macro_rules! embedded {
    ($(#[$doc:meta])* $name:ident $folder:literal $fingerprint:literal) => {
        $(#[$doc])*
        #[must_use]
        // If it were inlined or a public static, all bytes would also be in this crate's metadata for the compiler.
        #[inline(never)]
        pub fn $name() -> EmbeddedModel {
            EmbeddedModel {
                name: $folder,
                fingerprint: $fingerprint,
                config: include_bytes!(concat!("../", $folder, "/config.json")),
                vocabulary: include_bytes!(concat!("../", $folder, "/vocab.txt")),
                weights: include_bytes!(concat!("../", $folder, "/model.safetensors")),
            }
        }
    };
}

embedded! {
    /// potion-base-8M: static embeddings, 256 dimensions, microseconds per text.
    potion "potion-8m" 0x9e0e_2ac2_b431_3462
}

#[cfg(feature = "second-tier")]
embedded! {
    /// all-MiniLM-L6-v2: a transformer, 384 dimensions, milliseconds per text.
    minilm "minilm-l6" 0x2926_5824_7ace_535c
}
