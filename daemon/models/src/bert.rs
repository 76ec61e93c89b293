//! BERT's forward pass: word piece and position embeddings, layers of attention and two linear steps, then the mean
//! over all pieces. Weights stay int8; sums are exact integers.

use serde::Deserialize;

use super::attention::attend;
use super::linear::{Linear, Quantized};
use super::pointwise::{add_and_norm, gelu};
use super::weights::{Matrix, Weights};
use super::{BERT_PIECES, MAX_DIMENSION, ModelError, WordPiece, normalise};

/// Limit on word pieces per batch: large batches make the unpacking of weights cheap.
const BATCH_PIECES: usize = 512;
/// A text to embed: its pieces, and the first of them that makes the vector.
struct PooledText {
    pieces: Vec<u32>,
    pooled_from: usize,
}

/// Limit on layers.
const MAX_LAYERS: usize = 48;

/// Sizes from `config.json`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelDimensions {
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    hidden_act: String,
}

pub(super) struct Bert {
    words: Matrix,
    places: Matrix,
    /// Embedding of the first segment, added to every piece.
    segment: Vec<f32>,
    first: Norm,
    layers: Vec<Layer>,
    heads: usize,
    epsilon: f32,
    /// Ids of `[CLS]` and `[SEP]`.
    marks: (u32, u32),
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    after_attention: Norm,
    widening: Linear,
    narrowing: Linear,
    after_all: Norm,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl ModelDimensions {
    /// Returns the vector dimension.
    pub fn dimension(&self) -> Result<usize, ModelError> {
        self.check()?;
        Ok(self.hidden_size)
    }

    fn check(&self) -> Result<(), ModelError> {
        let bounds = [
            ("hidden_size", self.hidden_size, MAX_DIMENSION),
            (
                "intermediate_size",
                self.intermediate_size,
                4 * MAX_DIMENSION,
            ),
            ("num_attention_heads", self.num_attention_heads, 256),
            ("num_hidden_layers", self.num_hidden_layers, MAX_LAYERS),
            (
                "max_position_embeddings",
                self.max_position_embeddings,
                1 << 16,
            ),
        ];
        for (name, value, limit) in bounds {
            if !(1..=limit).contains(&value) {
                return Err(ModelError::config(format!(
                    "{name} is {value}; it must be from 1 to {limit}"
                )));
            }
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(ModelError::config(
                "hidden_size is not a multiple of num_attention_heads",
            ));
        }
        if self.hidden_act != "gelu" {
            return Err(ModelError::config(
                "hidden_act is not \"gelu\", the only one known",
            ));
        }
        Ok(())
    }
}

impl Norm {
    fn new(weights: &Weights, name: &str, width: usize) -> Result<Self, ModelError> {
        let weight = weights.vector(&format!("{name}.weight"), width)?;
        Ok(Self {
            weight,
            bias: weights.vector(&format!("{name}.bias"), width)?,
        })
    }
}

impl Layer {
    fn new(weights: &Weights, number: usize, shape: &ModelDimensions) -> Result<Self, ModelError> {
        let (hidden, wide) = (shape.hidden_size, shape.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Self {
            query: Linear::new(weights, &name("attention.self.query"), hidden, hidden)?,
            key: Linear::new(weights, &name("attention.self.key"), hidden, hidden)?,
            value: Linear::new(weights, &name("attention.self.value"), hidden, hidden)?,
            joined: Linear::new(weights, &name("attention.output.dense"), hidden, hidden)?,
            after_attention: Norm::new(weights, &name("attention.output.LayerNorm"), hidden)?,
            widening: Linear::new(weights, &name("intermediate.dense"), wide, hidden)?,
            narrowing: Linear::new(weights, &name("output.dense"), hidden, wide)?,
            after_all: Norm::new(weights, &name("output.LayerNorm"), hidden)?,
        })
    }
}

impl Bert {
    pub fn new(
        shape: &ModelDimensions,
        weights: &Weights,
        tokenizer: &WordPiece,
    ) -> Result<Self, ModelError> {
        shape.check()?;
        let hidden = shape.hidden_size;
        let mark = |mark| {
            let why = format!("it has no {mark}");
            tokenizer.mark(mark).ok_or(ModelError::Damaged {
                file: "vocab.txt",
                why,
            })
        };
        Ok(Self {
            words: weights.matrix(
                "embeddings.word_embeddings.weight",
                tokenizer.size(),
                hidden,
            )?,
            places: weights.matrix(
                "embeddings.position_embeddings.weight",
                shape.max_position_embeddings,
                hidden,
            )?,
            segment: weights.float_row("embeddings.token_type_embeddings.weight", 0, hidden)?,
            first: Norm::new(weights, "embeddings.LayerNorm", hidden)?,
            layers: (0..shape.num_hidden_layers)
                .map(|number| Layer::new(weights, number, shape))
                .collect::<Result<_, _>>()?,
            heads: shape.num_attention_heads,
            epsilon: shape.layer_norm_eps as f32,
            marks: (mark("[CLS]")?, mark("[SEP]")?),
        })
    }

    pub fn dimension(&self) -> usize {
        self.words.width
    }

    /// Embeds texts together, as many as fit a batch. The context of a text comes before it and is read with it, but only
    /// the text's own pieces make its vector.
    pub fn embed_many(&self, tokenizer: &WordPiece, texts: &[(&str, &str)]) -> Vec<Vec<f32>> {
        let limit = BERT_PIECES.min(self.places.scales.len()).saturating_sub(2);
        let mut vectors = Vec::with_capacity(texts.len());
        let mut batch: Vec<PooledText> = Vec::new();
        for (context, text) in texts {
            let own = tokenizer.pieces(text, limit);
            let room = limit - own.len().min(limit);
            let mut context = match context.is_empty() {
                true => Vec::new(),
                false => tokenizer.pieces(context, BERT_PIECES),
            };
            // The end of the context is nearest to the text.
            context.drain(..context.len().saturating_sub(room));
            let pooled_from = match context.len() {
                0 => 0,
                before => before + 1,
            };
            let mut pieces = vec![self.marks.0];
            pieces.append(&mut context);
            pieces.extend(own);
            pieces.push(self.marks.1);
            let waiting: usize = batch.iter().map(|text| text.pieces.len()).sum();
            if waiting + pieces.len() > BATCH_PIECES {
                vectors.extend(self.forward(&std::mem::take(&mut batch)));
            }
            batch.push(PooledText {
                pieces,
                pooled_from,
            });
        }
        vectors.extend(self.forward(&batch));
        vectors
    }

    fn forward(&self, texts: &[PooledText]) -> Vec<Vec<f32>> {
        let batch: Vec<&[u32]> = texts.iter().map(|text| text.pieces.as_slice()).collect();
        let mut rows = self.embeddings(&batch);
        for layer in &self.layers {
            self.step(layer, &batch, &mut rows);
        }
        let width = self.dimension();
        let mut rest = rows.as_slice();
        let mean = |text: &PooledText| {
            let (own, after) = rest
                .split_at_checked(text.pieces.len() * width)
                .unwrap_or_default();
            rest = after;
            let mut sum = vec![0.0; width];
            for row in own.chunks_exact(width).skip(text.pooled_from) {
                sum.iter_mut()
                    .zip(row)
                    .for_each(|(sum, number)| *sum += number);
            }
            normalise(&mut sum);
            sum
        };
        texts.iter().map(mean).collect()
    }

    /// Returns a row for each piece: the sum of its word, position and segment embeddings.
    fn embeddings(&self, batch: &[&[u32]]) -> Vec<f32> {
        let width = self.dimension();
        let count = batch.iter().map(|pieces| pieces.len()).sum::<usize>();
        let mut rows = vec![0.0; count * width];
        let pieces = batch.iter().flat_map(|pieces| pieces.iter().enumerate());
        for ((place, word), row) in pieces.zip(rows.chunks_exact_mut(width)) {
            self.words.add_row(*word as usize, row);
            self.places.add_row(place, row);
        }
        let segments = self.segment.repeat(count);
        self.norm(&mut rows, &segments, &self.first);
        rows
    }

    /// Applies one layer, in place.
    fn step(&self, layer: &Layer, batch: &[&[u32]], rows: &mut [f32]) {
        let width = self.dimension();
        let quantized = Quantized::new(rows, width);
        let (queries, keys, values) = (
            layer.query.apply(&quantized),
            layer.key.apply(&quantized),
            layer.value.apply(&quantized),
        );
        let mut taken = Vec::with_capacity(rows.len());
        for pieces in batch {
            let text = taken.len()..taken.len() + pieces.len() * width;
            let part = |rows: &'_ [f32]| rows.get(text.clone()).unwrap_or_default().to_vec();
            taken.extend(attend(
                &part(&queries),
                &part(&keys),
                &part(&values),
                width,
                self.heads,
            ));
        }
        let joined = layer.joined.apply(&Quantized::new(&taken, width));
        self.norm(rows, &joined, &layer.after_attention);
        let mut wide = layer.widening.apply(&Quantized::new(rows, width));
        gelu(&mut wide);
        let width = wide.len().checked_div(rows.len() / width).unwrap_or(0);
        let narrow = layer.narrowing.apply(&Quantized::new(&wide, width));
        self.norm(rows, &narrow, &layer.after_all);
    }

    fn norm(&self, rows: &mut [f32], more: &[f32], norm: &Norm) {
        add_and_norm(rows, more, &norm.weight, &norm.bias, self.epsilon);
    }
}
