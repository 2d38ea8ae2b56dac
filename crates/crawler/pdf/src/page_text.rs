//! The text of pages: glyphs at places become words and blocks.
//!
//! A PDF places glyphs and has neither spaces nor lines. A gap is a space, a step to the next line
//! of the same size continues the block, and any other move begins a new block. Glyphs are taken in
//! the order of the file, which is the reading order of nearly all PDFs.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{BezPath, Point, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};
use unicode_normalization::UnicodeNormalization;

/// Minimum gap that is a space, in font sizes.
const SPACE: f64 = 0.15;
/// Minimum move across the line that ends it, in font sizes: more than a superscript takes.
const LINE: f64 = 0.5;
/// Maximum distance of two lines of a block, in font sizes.
const LEADING: f64 = 1.7;
/// Maximum ratio of the font sizes in a block.
const SIZES: f64 = 1.2;
/// Width of a glyph that does not tell it, in font sizes.
const USUAL_WIDTH: f64 = 0.5;
/// Units of a font size in the space of a glyph.
const UNITS: f64 = 1000.0;

/// A device that draws text as text.
#[derive(Default)]
pub(crate) struct PageText {
    text: String,
    last: Option<Place>,
    /// Origin and text of the last run: a bold or outlined one is drawn more than once.
    last_run: Option<(Point, String)>,
}

/// The place of a glyph.
#[derive(Clone, Copy)]
struct Place {
    start: Point,
    end: Point,
    /// Direction of the line, of length 1.
    along: Vec2,
    size: f64,
}

impl PageText {
    /// Returns the text so far, one block per line.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Ends the page: the next one begins with a block.
    pub(crate) fn end_page(&mut self) {
        self.last = None;
        self.last_run = None;
        self.end_block();
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn end_block(&mut self) {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        if end > 0 {
            self.text.push('\n');
        }
    }

    fn push(&mut self, place: Place, glyph: &str) {
        match self.last.map(|last| last.step_to(&place)) {
            Some(Step::Space) => self.push_space(),
            Some(Step::Line) => self.end_line(glyph),
            Some(Step::Block) => self.end_block(),
            Some(Step::Next) | None => {}
        }
        self.last = Some(place);
        match glyph.trim().is_empty() {
            true => self.push_space(),
            false => self.text.push_str(glyph),
        }
    }

    fn push_space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }

    /// Continues the block on the next line, and joins a word that was hyphenated.
    fn end_line(&mut self, next: &str) {
        let line = self.text.trim_end().len();
        self.text.truncate(line);
        let mut end = self.text.chars().rev();
        let is_hyphen = end
            .next()
            .is_some_and(|c| matches!(c, '-' | '\u{2010}' | '\u{ad}'));
        let is_word = end.next().is_some_and(char::is_lowercase);
        if is_hyphen && is_word && next.starts_with(char::is_lowercase) {
            self.text.pop();
        } else {
            self.push_space();
        }
    }
}

/// The move from one glyph to the next.
enum Step {
    Next,
    Space,
    Line,
    Block,
}

impl Place {
    fn step_to(&self, next: &Self) -> Step {
        let (small, large) = (self.size.min(next.size), self.size.max(next.size));
        let gap = next.start - self.end;
        let (forward, across) = (gap.dot(next.along), gap.cross(next.along));
        if across.abs() <= LINE * large && forward >= -large {
            return if forward > SPACE * large {
                Step::Space
            } else {
                Step::Next
            };
        }
        // The page's vertical axis points up, so the next line is on this side.
        let is_below = across >= LINE * large && across <= LEADING * large;
        match is_below && large <= SIZES * small {
            true => Step::Line,
            false => Step::Block,
        }
    }
}

impl Device<'_> for PageText {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let mut glyphs = Vec::with_capacity(run.glyphs().len());
        for glyph in run.glyphs() {
            let transform = props.transform * glyph.transform();
            let start = transform * Point::ZERO;
            let along = transform * Point::new(UNITS, 0.0) - start;
            let size = (transform * Point::new(0.0, UNITS) - start).hypot();
            let width = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(_) => None,
            };
            let width = width.map_or(USUAL_WIDTH, |width| f64::from(width) / UNITS);
            let place = Place {
                start,
                end: start + along * width,
                along: along / along.hypot(),
                size,
            };
            if let Some(text) = text_of(glyph) {
                glyphs.push((place, text));
            }
        }
        let Some((first, _)) = glyphs.first() else {
            return;
        };
        let (origin, size) = (first.start, first.size);
        let text: String = glyphs.iter().map(|(_, text)| text.as_str()).collect();
        let is_repeated = self
            .last_run
            .as_ref()
            .is_some_and(|(start, last)| *last == text && (*start - origin).hypot() < SPACE * size);
        self.last_run = Some((origin, text));
        if !is_repeated {
            for (place, text) in &glyphs {
                self.push(*place, text);
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Returns the text of a glyph, with ligatures split into letters; `None` without text.
fn text_of(glyph: &Glyph<'_>) -> Option<String> {
    let text = match glyph.as_unicode()? {
        BfString::Char(c) => String::from(c),
        BfString::String(text) => text,
    };
    let is_readable = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
    let text: String = text.chars().filter(is_readable).collect();
    let is_ligature = |c: char| ('\u{fb00}'..='\u{fb06}').contains(&c);
    let text = match text.contains(is_ligature) {
        true => text.nfkc().collect(),
        false => text,
    };
    Some(text).filter(|text| !text.is_empty())
}
