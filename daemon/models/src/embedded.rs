//! The models that the program carries, as the bytes of their files. A program that asks for none of
//! them carries none. Where they come from, and under which licences, is in README.md.

/// The files of one model.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedModel {
    /// What the model is called here: the name of its folder.
    pub name: &'static str,
    /// The hash of its files, as the daemon makes it: known without reading them.
    pub fingerprint: u64,
    /// `config.json`: which architecture it is, and its sizes.
    pub config: &'static [u8],
    /// `vocab.txt`: one word piece a line.
    pub vocabulary: &'static [u8],
    /// `model.safetensors`: the weights, int8 rows with one f32 scale a row.
    pub weights: &'static [u8],
}

/// Declares one model once: the function that gives it, and its folder.
macro_rules! embedded {
    ($(#[$doc:meta])* $name:ident $folder:literal $fingerprint:literal) => {
        $(#[$doc])*
        #[must_use]
        // Inlined, or as a public static, all bytes would also be in what the compiler reads of this crate.
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
    /// potion-base-8M: static embeddings, 256 numbers, microseconds a text.
    potion "potion-8m" 0x9e0e_2ac2_b431_3462
}

#[cfg(feature = "second-tier")]
embedded! {
    /// all-MiniLM-L6-v2: a transformer, 384 numbers, milliseconds a text.
    minilm "minilm-l6" 0x2926_5824_7ace_535c
}
