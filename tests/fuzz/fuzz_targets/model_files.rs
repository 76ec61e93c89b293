//! Models: files with arbitrary bytes are refused, or the vectors of a text are finite numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_models::{Model, ModelFiles, WordPiece};

/// The default configuration, unless the input contains one.
const STATICS: &[u8] = br#"{"model_type": "model2vec"}"#;
const BERT: &[u8] = br#"{"model_type": "bert", "hidden_size": 2, "intermediate_size": 3, "num_attention_heads": 1,
    "num_hidden_layers": 1, "max_position_embeddings": 9, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}"#;

fuzz_target!(|bytes: &[u8]| {
    // Layout of the input: the configuration's kind, its length, the vocabulary's length.
    let Some(([kind, config, vocabulary], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let (own, rest) = rest.split_at(usize::from(*config).min(rest.len()));
    let (vocabulary, weights) = rest.split_at(usize::from(*vocabulary).min(rest.len()));
    let config = match kind % 3 {
        0 => STATICS,
        1 => BERT,
        _ => own,
    };
    let text = String::from_utf8_lossy(own);
    if let Ok(vocabulary) = WordPiece::new(vocabulary) {
        let pieces = vocabulary.pieces(&text, 64);
        assert!(pieces.len() <= 64);
        assert!(
            pieces
                .iter()
                .all(|piece| (*piece as usize) < vocabulary.size())
        );
    }
    let files = ModelFiles {
        config: config.to_vec().into(),
        vocabulary: vocabulary.to_vec().into(),
        weights: weights.to_vec().into(),
    };
    match Model::from_files("fuzz", files) {
        Ok(model) => {
            let vector = model.embed(&text);
            assert_eq!(vector.len(), model.dimension());
            assert!(vector.iter().all(|number| number.is_finite()));
        }
        Err(refused) => assert!(refused.to_string().len() < 4096),
    }
});
