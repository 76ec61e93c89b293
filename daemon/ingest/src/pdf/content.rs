//! Extracts the text of a page from its content streams.

use super::font::Font;
use super::matrix::Matrix;
use super::object::{Dict, Lexer, Object};
use super::store::Store;
use crate::IngestError;
use crate::limits::Budget;
use std::collections::HashMap;
use std::rc::Rc;

/// Limit on the nesting of forms.
const FORM_DEPTH_MAX: usize = 6;
/// Limit on the forms drawn on one page.
const FORMS_MAX: usize = 500;
/// Limit on the operands of one operator.
const OPERANDS_MAX: usize = 1000;
/// Limit on the saved graphics states.
const STATES_MAX: usize = 32;
/// Operators between two checks of the time limit.
const OPERATORS_PER_CHECK: usize = 10_000;
/// Width from which a gap separates words, as a factor of the font size.
const WORD_GAP: f64 = 0.18;
/// Downward step from which a paragraph begins, as a factor of the font size.
const PARAGRAPH_STEP: f64 = 1.9;

/// Limit on the cached fonts.
const FONTS_MAX: usize = 64;

/// Fonts by object number, cached across pages.
pub(super) type Fonts = HashMap<u32, Rc<Font>>;

/// Collects the text of a page in drawing order.
pub(super) struct Page<'s, 'p> {
    store: &'s Store<'p>,
    fonts: &'s mut Fonts,
    budget: &'s Budget<'s>,
    text: String,
    /// End position (x, y) and height of the last character, in page coordinates.
    pen: Option<(f64, f64, f64)>,
    forms: usize,
    operators: usize,
    /// Number of characters without a known text.
    pub unknown: usize,
}

/// The graphics state: values that operators set and other operators read.
#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    rise: f64,
    char_space: f64,
    word_space: f64,
    stretch: f64,
}

/// A content stream during interpretation.
struct Follow<'r> {
    resources: &'r Dict,
    depth: usize,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
}

impl<'s, 'p> Page<'s, 'p> {
    pub fn new(store: &'s Store<'p>, fonts: &'s mut Fonts, budget: &'s Budget<'s>) -> Self {
        Self {
            store,
            fonts,
            budget,
            text: String::new(),
            pen: None,
            forms: 0,
            operators: 0,
            unknown: 0,
        }
    }

    /// Returns the page's text, once all of its streams have been interpreted.
    pub fn finish(self) -> String {
        self.text
    }

    /// Interprets the page's content.
    pub fn follow(&mut self, content: &[u8], resources: &Dict) -> Result<(), IngestError> {
        self.stream(content, resources, Matrix::NONE, 0)
    }

    fn stream(
        &mut self,
        content: &[u8],
        resources: &Dict,
        matrix: Matrix,
        depth: usize,
    ) -> Result<(), IngestError> {
        let state = State {
            matrix,
            font: None,
            size: 1.0,
            leading: 0.0,
            rise: 0.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
        };
        let mut follow = Follow {
            resources,
            depth,
            state,
            saved: Vec::new(),
            text: Matrix::NONE,
            line: Matrix::NONE,
        };
        let mut lexer = Lexer::of_content(content);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.next() {
            let Object::Word(word) = object else {
                if operands.len() < OPERANDS_MAX {
                    operands.push(object);
                }
                continue;
            };
            self.operators += 1;
            if self.operators.is_multiple_of(OPERATORS_PER_CHECK) {
                self.budget.check()?;
            }
            if word == b"ID" {
                pass_image(&mut lexer);
            } else {
                self.operator(&word, &operands, &mut follow)?;
            }
            operands.clear();
            if self.text.len() > self.budget.limits.text_bytes {
                break;
            }
        }
        Ok(())
    }

    fn operator(
        &mut self,
        word: &[u8],
        operands: &[Object],
        follow: &mut Follow<'_>,
    ) -> Result<(), IngestError> {
        let number = |at: usize| operands.get(at).and_then(Object::number);
        let first = number(0);
        let state = &mut follow.state;
        match word {
            b"q" if follow.saved.len() < STATES_MAX => follow.saved.push(state.clone()),
            b"Q" => {
                if let Some(saved) = follow.saved.pop() {
                    *state = saved;
                }
            }
            b"cm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    state.matrix = matrix.then(state.matrix);
                }
            }
            b"BT" => {
                follow.text = Matrix::NONE;
                follow.line = Matrix::NONE;
            }
            b"Tf" => {
                state.size = number(1).unwrap_or(1.0);
                let name = operands.first().and_then(Object::name);
                state.font = name.and_then(|name| self.font(follow.resources, name));
            }
            b"TL" => state.leading = first.unwrap_or_default(),
            b"Tc" => state.char_space = first.unwrap_or_default(),
            b"Tw" => state.word_space = first.unwrap_or_default(),
            b"Ts" => state.rise = first.unwrap_or_default(),
            b"Tz" => state.stretch = first.unwrap_or(100.0) / 100.0,
            b"Td" | b"TD" => {
                let (x, y) = (first.unwrap_or_default(), number(1).unwrap_or_default());
                if word == b"TD" {
                    state.leading = -y;
                }
                follow.step(x, y);
            }
            b"Tm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    follow.text = matrix;
                    follow.line = matrix;
                }
            }
            b"T*" => follow.next_line(),
            b"Tj" => self.show(operands.first(), follow),
            b"'" | b"\"" => {
                follow.next_line();
                self.show(operands.last(), follow);
            }
            b"TJ" => {
                let parts = operands.first().and_then(Object::array).unwrap_or_default();
                for part in parts {
                    match part {
                        Object::Number(back) => {
                            let back = back / 1000.0 * follow.state.size * follow.state.stretch;
                            follow.text = Matrix::moved(-back, 0.0).then(follow.text);
                        }
                        other => self.show(Some(other), follow),
                    }
                }
            }
            b"Do" => {
                if let Some(name) = operands.first().and_then(Object::name) {
                    self.form(name, follow)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn font(&mut self, resources: &Dict, name: &[u8]) -> Option<Rc<Font>> {
        let fonts = self.store.dict(resources, b"Font")?;
        let value = fonts.get(name)?;
        let number = match value {
            Object::Reference(number) => Some(*number),
            _ => None,
        };
        if let Some(known) = number.and_then(|number| self.fonts.get(&number)) {
            return Some(Rc::clone(known));
        }
        let Some(Object::Dict(dict)) = self.store.resolved(value) else {
            return None;
        };
        let font = Rc::new(Font::read(self.store, &dict));
        if let Some(number) = number {
            if self.fonts.len() >= FONTS_MAX {
                self.fonts.clear();
            }
            self.fonts.insert(number, Rc::clone(&font));
        }
        Some(font)
    }

    fn show(&mut self, operand: Option<&Object>, follow: &mut Follow<'_>) {
        let (Some(Object::Text(bytes)), Some(font)) = (operand, follow.state.font.clone()) else {
            return;
        };
        let state = follow.state.clone();
        for shown in font.glyphs(bytes) {
            let on_page = Matrix::moved(0.0, state.rise)
                .then(follow.text)
                .then(state.matrix);
            let space = state.char_space
                + if shown.is_space {
                    state.word_space
                } else {
                    0.0
                };
            let step = (shown.width / 1000.0 * state.size + space) * state.stretch;
            match shown.text {
                Some(text) => self.put(&text, on_page, state.size, shown.width),
                None => self.unknown += 1,
            }
            follow.text = Matrix::moved(step, 0.0).then(follow.text);
        }
    }

    /// Appends a character by its position: to the current word, after a gap, or on a new line.
    fn put(&mut self, text: &str, on_page: Matrix, size: f64, width: f64) {
        let (x, y) = on_page.place();
        let height = (size * on_page.height()).abs().max(0.1);
        let end = x + width / 1000.0 * size * on_page.width();
        if let Some((last_x, last_y, last_height)) = self.pen {
            let taller = height.max(last_height);
            let down = last_y - y;
            if down.abs() > taller * 0.4 {
                let is_paragraph = down > taller * PARAGRAPH_STEP
                    || height > last_height * 1.25
                    || height < last_height * 0.8;
                self.end_line(is_paragraph && down > 0.0);
            } else if x - last_x > height * WORD_GAP || x < last_x - height {
                self.space();
            }
        }
        self.pen = Some((end, y, height));
        for c in text.chars() {
            match c {
                ' ' | '\u{a0}' => self.space(),
                c if c.is_control() => {}
                c => self.text.push(c),
            }
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn end_line(&mut self, is_paragraph: bool) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        match is_paragraph && !self.text.ends_with("\n\n") {
            true if !self.text.is_empty() => self.text.push_str("\n\n"),
            _ if !self.text.is_empty() && !self.text.ends_with('\n') => self.text.push('\n'),
            _ => {}
        }
    }

    /// Interprets a form that the content draws.
    fn form(&mut self, name: &[u8], follow: &Follow<'_>) -> Result<(), IngestError> {
        self.forms += 1;
        if self.forms > FORMS_MAX || follow.depth >= FORM_DEPTH_MAX {
            return Ok(());
        }
        let forms = self.store.dict(follow.resources, b"XObject");
        let Some(Object::Reference(number)) = forms.as_ref().and_then(|forms| forms.get(name))
        else {
            return Ok(());
        };
        // The dictionary is checked first, because an image need not be inflated.
        let Some(Object::Dict(dict)) = self.store.get(*number) else {
            return Ok(());
        };
        if dict.get(&b"Subtype"[..]).and_then(Object::name) != Some(b"Form") {
            return Ok(());
        }
        let Some(Ok((dict, content))) = self.store.stream(*number) else {
            return Ok(());
        };
        let own = self.store.dict(&dict, b"Resources");
        let matrix = match self.store.value(&dict, b"Matrix") {
            Some(Object::Array(numbers)) => Matrix::of(&numbers),
            _ => None,
        };
        let matrix = matrix.unwrap_or(Matrix::NONE).then(follow.state.matrix);
        let resources = own.as_ref().unwrap_or(follow.resources);
        self.stream(&content, resources, matrix, follow.depth + 1)
    }
}

impl Follow<'_> {
    fn step(&mut self, x: f64, y: f64) {
        self.line = Matrix::moved(x, y).then(self.line);
        self.text = self.line;
    }

    fn next_line(&mut self) {
        self.step(0.0, -self.state.leading);
    }
}

/// Skips the data of an inline image.
fn pass_image(lexer: &mut Lexer<'_>) {
    let rest = lexer.rest();
    let is_end = |window: &[u8]| {
        matches!(window, [before, b'E', b'I', after]
            if super::object::is_space(*before) && super::object::is_space(*after))
    };
    let end = rest.windows(4).position(is_end);
    lexer.at += end.map_or(rest.len(), |end| end + 3);
}
