//! The templates in force: those of the program, over them the user's, over them the project's.

use super::error::{Reason, TemplateError};
use super::{TEMPLATES_MAX, Template};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a template comes from; a later one replaces an earlier one of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The program.
    BuiltIn,
    /// The user's folder of templates.
    User,
    /// The project's own.
    Project,
}

impl Layer {
    /// Its name, as people are told it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A template file as it was found.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Where.
    pub layer: Layer,
    /// Its name, for people; one layer has it once.
    pub file: &'a str,
    /// Its text, or why it cannot be read.
    pub text: Result<&'a str, String>,
}

/// A template in force, and where it comes from.
#[derive(Clone, Debug)]
pub struct ActiveTemplate {
    /// The template.
    pub template: Arc<Template>,
    /// Where it comes from.
    pub layer: Layer,
    /// Its file.
    pub file: String,
}

/// The templates in force by their names, and the files that are not used.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    in_force: BTreeMap<String, ActiveTemplate>,
    broken: Vec<TemplateError>,
    /// The last good content of each file that is there.
    good: BTreeMap<(Layer, String), Good>,
}

#[derive(Clone, Debug)]
struct Good {
    text: Arc<str>,
    template: Arc<Template>,
}

impl Layers {
    /// The templates of the program alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self::load(&[], None)
    }

    /// Those of the program and of some files. `former` is what was in force before: a file that has
    /// been broken since stays as it was, one that is gone goes, one that is the same is not read again.
    #[must_use]
    pub fn load(files: &[Source<'_>], previous: Option<&Self>) -> Self {
        let built_in = Template::built_in().map(|(file, text)| Source {
            layer: Layer::BuiltIn,
            file,
            text: Ok(text),
        });
        let mut sources: Vec<&Source<'_>> = built_in.iter().chain(files).collect();
        sources.sort_by_key(|source| (source.layer, source.file));
        let mut layers = Self::default();
        let mut counts: BTreeMap<Layer, usize> = BTreeMap::new();
        for source in &sources {
            let count = counts.entry(source.layer).or_default();
            *count += 1;
            if *count <= TEMPLATES_MAX {
                layers.add(source, previous);
            }
        }
        for (layer, count) in counts {
            if count > TEMPLATES_MAX {
                layers.too_many(layer, count, &sources);
            }
        }
        layers
    }

    /// The template of a file type.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ActiveTemplate> {
        self.in_force.get(name)
    }

    /// All templates in force, by name.
    pub fn all(&self) -> impl Iterator<Item = &ActiveTemplate> {
        self.in_force.values()
    }

    /// The files that are not used as they are, and why.
    #[must_use]
    pub fn broken(&self) -> &[TemplateError] {
        &self.broken
    }

    fn add(&mut self, source: &Source<'_>, previous: Option<&Self>) {
        let key = (source.layer, source.file.to_owned());
        let last = previous.and_then(|previous| previous.good.get(&key));
        let read = match &source.text {
            Ok(text) => match last.filter(|last| &*last.text == *text) {
                Some(last) => Ok(last.clone()),
                None => Template::parse(text, source.file).map(|template| Good {
                    text: Arc::from(*text),
                    template: Arc::new(template),
                }),
            },
            Err(why) => Err(TemplateError {
                file: source.file.to_owned(),
                line: 1,
                reason: Reason::Unreadable(why.clone()),
            }),
        };
        let good = match read {
            Ok(good) => Some(good),
            Err(broken) => {
                self.broken.push(broken);
                last.cloned()
            }
        };
        if let Some(good) = good {
            self.put(source, &good.template);
            self.good.insert(key, good);
        }
    }

    fn put(&mut self, source: &Source<'_>, template: &Arc<Template>) {
        let name = &template.name;
        if let Some(other) = self.in_force.get(name)
            && other.layer == source.layer
        {
            self.broken.push(TemplateError {
                file: source.file.to_owned(),
                line: 1,
                reason: Reason::Duplicate {
                    name: name.clone(),
                    other: other.file.clone(),
                },
            });
            return;
        }
        let in_force = ActiveTemplate {
            template: Arc::clone(template),
            layer: source.layer,
            file: source.file.to_owned(),
        };
        self.in_force.insert(name.clone(), in_force);
    }

    fn too_many(&mut self, layer: Layer, count: usize, sources: &[&Source<'_>]) {
        let mut of_layer = sources.iter().filter(|source| source.layer == layer);
        if let Some(first) = of_layer.nth(TEMPLATES_MAX) {
            let most = TEMPLATES_MAX;
            self.broken.push(TemplateError {
                file: first.file.to_owned(),
                line: 1,
                reason: Reason::TooManyFiles { count, most },
            });
        }
    }
}
