//! The active templates: the user's override the built-in ones, and the project's override both.

use super::error::{Reason, TemplateError};
use super::{TEMPLATES_MAX, Template};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The origin of a template; later layers override templates with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Built into the program.
    BuiltIn,
    /// The user's template folder.
    User,
    /// The project's template folder.
    Project,
}

impl Layer {
    /// Returns the layer's display name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A template file that was read.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Layer of the file.
    pub layer: Layer,
    /// Display name of the file, unique in its layer.
    pub file: &'a str,
    /// Text of the file, or the reason why it cannot be read.
    pub text: Result<&'a str, String>,
}

/// An active template and its origin.
#[derive(Clone, Debug)]
pub struct ActiveTemplate {
    /// The template.
    pub template: Arc<Template>,
    /// Layer of the template.
    pub layer: Layer,
    /// Display name of the file.
    pub file: String,
}

/// The active templates by name, and the errors of invalid files.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    in_force: BTreeMap<String, ActiveTemplate>,
    broken: Vec<TemplateError>,
    /// The last valid content of each existing file.
    good: BTreeMap<(Layer, String), Good>,
}

#[derive(Clone, Debug)]
struct Good {
    text: Arc<str>,
    template: Arc<Template>,
}

impl Layers {
    /// Loads only the built-in templates.
    #[must_use]
    pub fn built_in() -> Self {
        Self::load(&[], None)
    }

    /// Loads the built-in templates and the files. A file that is now invalid keeps its template from
    /// `previous`. A removed file loses its template. An unchanged file is not parsed again.
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

    /// Returns the template of a file type.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ActiveTemplate> {
        self.in_force.get(name)
    }

    /// Returns all active templates, by name.
    pub fn all(&self) -> impl Iterator<Item = &ActiveTemplate> {
        self.in_force.values()
    }

    /// Lists the errors of files that are not active with their current content.
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
