//! The tantivy schema: a unit's words with their counts, and some columns. It has no texts, no positions and no
//! rounded lengths.

use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field as Place, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};

use super::super::indexed_text::Class;
use super::super::memory_segment::MemorySegment;
use super::super::postings::{Field, PerField, PostingsPart};
use super::word_list;

/// The fields of the schema.
#[derive(Clone, Copy)]
pub struct Fields {
    /// Text fields with the words.
    pub words: PerField<Place>,
    key: Place,
    kind: Place,
    group: Place,
    session: Place,
    number: Place,
    time: Place,
    length: Place,
    around: Place,
}

/// Builds the schema and its fields.
pub fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(word_list::NAME)
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(false),
    );
    let words = PerField {
        documents: schema.add_text_field("documents", words.clone()),
        talk: schema.add_text_field("talk", words.clone()),
        around: schema.add_text_field("around_words", words),
    };
    let fields = Fields {
        words,
        key: schema.add_u64_field("key", FAST),
        kind: schema.add_u64_field("kind", FAST),
        group: schema.add_u64_field("group", FAST),
        session: schema.add_u64_field("session", FAST),
        number: schema.add_u64_field("number", FAST),
        time: schema.add_u64_field("time", FAST),
        length: schema.add_u64_field("length", FAST),
        around: schema.add_u64_field("around", FAST),
    };
    (schema.build(), fields)
}

impl Fields {
    /// Converts an in-memory unit to a tantivy document.
    pub fn document(&self, fresh: &MemorySegment, at: u32) -> TantivyDocument {
        let unit = fresh.unit(at);
        let [own, around] = fresh.lengths_of(at);
        let mut document = TantivyDocument::new();
        document.add_u64(self.key, unit.key);
        document.add_u64(self.kind, unit.kind.code());
        document.add_u64(self.group, unit.group);
        document.add_u64(self.session, unit.session);
        document.add_u64(self.number, u64::from(unit.number));
        document.add_u64(self.time, unit.time);
        document.add_u64(self.length, u64::from(own));
        let class = unit.kind.class();
        for field in Field::of(class) {
            let mut words = word_list::WordList::default();
            fresh.words_of(at, *field, &mut |term, count| words.push(term, count));
            document.add_text(*self.words.get(*field), words.text);
        }
        match class {
            Class::Documents => {}
            Class::Talk => document.add_u64(self.around, u64::from(around)),
        }
        document
    }
}
