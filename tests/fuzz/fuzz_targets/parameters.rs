//! Variables in parameters: any JSON is filled in from the results of two steps with any text, by any accepted
//! extractor. The input is five texts separated by zero bytes.
#![no_main]

use std::convert::Infallible;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use lored::steps::extract::{Extractor, ExtractorSet};
use lored::steps::parameters::resolve_parameters;
use lored::steps::resolve::{History, Resolver, StepData};
use serde_json::{Map, Value};

struct Steps([Arc<StepData>; 2]);

impl History for Steps {
    type Error = Infallible;

    fn last(&self) -> Result<Option<u32>, Infallible> {
        Ok(Some(2))
    }

    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Infallible> {
        Ok(self.0.iter().find(|known| known.step == step).cloned())
    }
}

fuzz_target!(|texts: &str| {
    let mut texts = texts.splitn(5, '\0');
    let [parameters, first, second, pattern, field] =
        [(); 5].map(|()| texts.next().unwrap_or_default());
    let parameters: Value = serde_json::from_str(parameters).unwrap_or_else(|_| parameters.into());
    let extractor = Extractor {
        name: "own".to_owned(),
        pattern: (!pattern.is_empty()).then(|| pattern.to_owned()),
        group: None,
        fields: vec![field.to_owned()],
    };
    let set = Arc::new(ExtractorSet::new(&[extractor], &[]).unwrap_or_default());
    let step = |number, raw: &str| {
        StepData::new(number, 1, number.into(), raw.to_owned(), Arc::clone(&set))
    };
    let history = Steps([step(1, first), step(2, second)].map(Arc::new));
    let resolver = Resolver {
        history: &history,
        set: &set,
        current_step: Some(3),
        all_values: true,
        explain: false,
    };
    let Ok(resolved) = resolve_parameters(&resolver, &parameters, &Map::new());
    let again =
        resolve_parameters(&resolver, &parameters, &Map::new()).map(|again| again.parameters);
    assert_eq!(Ok(resolved.parameters), again);
});
