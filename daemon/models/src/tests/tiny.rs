//! A BERT of odd sizes with weights from a formula, small enough to be run hundreds of times.

use std::fmt::Write;

use super::super::{Model, ModelFiles};

const HIDDEN: usize = 18;
const WIDE: usize = 35;
const WORDS: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\none\ntwo\nthree\n##e\nfour\n";

pub(super) fn model() -> Model {
    Model::from_files("tiny", files()).unwrap()
}

/// Returns the model's files, in memory.
pub(super) fn files() -> ModelFiles {
    let config = r#"{"model_type": "bert", "hidden_size": 18, "intermediate_size": 35, "num_attention_heads": 3,
        "num_hidden_layers": 2, "max_position_embeddings": 300, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}"#;
    ModelFiles {
        config: config.as_bytes().into(),
        vocabulary: WORDS.as_bytes().into(),
        weights: weights().into(),
    }
}

/// Returns static embeddings of the same vocabulary and a few words, in memory, with four dimensions.
pub(super) fn statics() -> ModelFiles {
    let vocabulary = format!("{WORDS}the\ncat\nsat\nhow\npump\n");
    let mut writer = Writer::default();
    writer.matrix("embeddings", vocabulary.lines().count(), 4);
    ModelFiles {
        config: br#"{"model_type": "model2vec"}"#.into(),
        vocabulary: vocabulary.into_bytes().into(),
        weights: writer.finish().into(),
    }
}

#[derive(Default)]
struct Writer {
    header: String,
    data: Vec<u8>,
}

impl Writer {
    fn add(&mut self, name: &str, kind: &str, shape: &[usize], bytes: &[u8]) {
        let start = self.data.len();
        self.data.extend_from_slice(bytes);
        let comma = if self.header.is_empty() { "" } else { "," };
        write!(
            self.header,
            r#"{comma}"{name}":{{"dtype":"{kind}","shape":{shape:?},"data_offsets":[{start},{}]}}"#,
            self.data.len()
        )
        .unwrap();
    }

    fn floats(&mut self, name: &str, shape: &[usize], around: f32) {
        let count = shape.iter().product::<usize>();
        let bytes: Vec<u8> = (0..count)
            .flat_map(|number| (around + ((number * 7 + 3) % 11) as f32 / 100.0).to_le_bytes())
            .collect();
        self.add(name, "F32", shape, &bytes);
    }

    fn matrix(&mut self, name: &str, rows: usize, width: usize) {
        let bytes: Vec<u8> = (0..rows * width)
            .map(|number| (number * 7919 % 251) as u8)
            .collect();
        self.add(name, "I8", &[rows, width], &bytes);
        self.floats(&format!("{name}.scale"), &[rows], 0.002);
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.matrix(&format!("{name}.weight"), outputs, inputs);
        self.floats(&format!("{name}.bias"), &[outputs], -0.05);
    }

    /// Returns the complete file.
    fn finish(self) -> Vec<u8> {
        let header = format!("{{{}}}", self.header);
        [
            &(header.len() as u64).to_le_bytes()[..],
            header.as_bytes(),
            &self.data,
        ]
        .concat()
    }

    fn norm(&mut self, name: &str) {
        self.floats(&format!("{name}.weight"), &[HIDDEN], 1.0);
        self.floats(&format!("{name}.bias"), &[HIDDEN], 0.0);
    }
}

fn weights() -> Vec<u8> {
    let mut writer = Writer::default();
    writer.matrix(
        "embeddings.word_embeddings.weight",
        WORDS.lines().count(),
        HIDDEN,
    );
    writer.matrix("embeddings.position_embeddings.weight", 300, HIDDEN);
    writer.floats("embeddings.token_type_embeddings.weight", &[2, HIDDEN], 0.0);
    writer.norm("embeddings.LayerNorm");
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for part in [
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ] {
            writer.linear(&name(part), HIDDEN, HIDDEN);
        }
        writer.norm(&name("attention.output.LayerNorm"));
        writer.linear(&name("intermediate.dense"), WIDE, HIDDEN);
        writer.linear(&name("output.dense"), HIDDEN, WIDE);
        writer.norm(&name("output.LayerNorm"));
    }
    writer.finish()
}
