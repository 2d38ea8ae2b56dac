//! Charts as inline SVG, of numbers and escaped labels.
//!
//! A plot contains no words: it is stretched to the width of the page, and its scales are in HTML
//! around it, so that they can be read at any width. Each has a title and a description for people
//! who do not see it; the template puts a table next to it. Colours are classes of the style sheet,
//! which defines them for the light and the dark scheme.

use std::fmt::{self, Display, Write};

use askama::filters::{Html, HtmlSafe, escape};

use crate::format;

/// The height of a plot, in its own units.
const HEIGHT: f64 = 100.0;
/// The width of a column, including the gap after it.
const COLUMN: f64 = 10.0;
/// The widest gap, and the share of the chart that a gap takes at most: a few wide columns stay
/// close to each other.
const GAP: f64 = 1.5;
const GAP_SHARE: f64 = 0.004;
/// The width of a bar.
const BAR: f64 = 1000.0;

/// An SVG element. It is written as it is: everything in it is a number, a name of ours or escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Svg(String);

impl Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Svg {}

/// A part of a chart: the class of its colour, and its name in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
}

/// Returns a part of a chart.
pub(crate) const fn part(class: &'static str, name: &'static str) -> Part {
    Part { class, name }
}

/// A column of a chart: its label, and a value for each part, from the bottom up.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) label: String,
    pub(crate) values: Vec<u64>,
}

impl Column {
    fn sum(&self) -> u64 {
        self.values.iter().sum()
    }
}

/// A chart of columns with the labels of its scales.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) svg: Svg,
    /// Maximum value of the vertical scale, which begins at 0.
    pub(crate) top: u64,
    /// The labels of the horizontal scale, one per column: empty if they would not fit.
    labels: Vec<String>,
}

impl Plot {
    /// Returns the labels of the horizontal scale.
    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the middle of the vertical scale.
    pub(crate) const fn half(&self) -> u64 {
        self.top / 2
    }
}

/// Draws stacked columns. `every` is the number of columns per label.
pub(crate) fn columns(
    title: &str,
    description: &str,
    parts: &[Part],
    columns: &[Column],
    every: usize,
) -> Plot {
    let most = columns.iter().map(Column::sum).max().unwrap_or(0);
    let top = ceiling(most);
    let width = COLUMN * columns.len().max(1) as f64;
    let mut svg = begin("plot", width, HEIGHT, title, description);
    for line in [0.0, HEIGHT / 2.0, HEIGHT] {
        put(
            &mut svg,
            format_args!("<path class=\"grid\" d=\"M0 {line}H{width}\"/>"),
        );
    }
    for (place, column) in columns.iter().enumerate() {
        let left = COLUMN * place as f64;
        draw_column(
            &mut svg,
            (left, GAP.min(width * GAP_SHARE)),
            column,
            parts,
            top,
        );
    }
    svg.push_str("</svg>");
    let every = every.max(1);
    let labels = columns.iter().enumerate();
    let labels = labels.map(|(place, column)| match place % every {
        0 => column.label.clone(),
        _ => String::new(),
    });
    Plot {
        svg: Svg(svg),
        top,
        labels: labels.collect(),
    }
}

fn draw_column(
    svg: &mut String,
    (left, gap): (f64, f64),
    column: &Column,
    parts: &[Part],
    top: u64,
) {
    if column.sum() == 0 {
        return;
    }
    let left = left + gap / 2.0;
    let mut above = HEIGHT;
    let mut hint = column.label.clone();
    svg.push_str("<g>");
    for (part, value) in parts.iter().zip(&column.values) {
        if *value == 0 {
            continue;
        }
        let height = HEIGHT * *value as f64 / top.max(1) as f64;
        above -= height;
        put(
            svg,
            format_args!(
                "<rect class=\"{}\" x=\"{left}\" y=\"{above:.2}\" width=\"{}\" \
                 height=\"{height:.2}\"/>",
                part.class,
                COLUMN - gap
            ),
        );
        put(
            &mut hint,
            format_args!("; {}: {}", part.name, format::count(*value)),
        );
    }
    put(svg, format_args!("<title>{}</title></g>", escaped(&hint)));
}

/// Draws one bar that is divided into parts.
pub(crate) fn bar(title: &str, description: &str, parts: &[(Part, u64)]) -> Svg {
    let whole: u64 = parts.iter().map(|(_, value)| value).sum();
    let mut svg = begin("bar", BAR, HEIGHT, title, description);
    let mut left = 0.0;
    for (part, value) in parts.iter().filter(|(_, value)| *value > 0) {
        let width = BAR * *value as f64 / whole.max(1) as f64;
        put(
            &mut svg,
            format_args!(
                "<g><rect class=\"{}\" x=\"{left:.2}\" y=\"0\" width=\"{width:.2}\" \
                 height=\"{HEIGHT}\"/><title>{}: {} ({})</title></g>",
                part.class,
                escaped(part.name),
                format::count(*value),
                format::share(*value, whole)
            ),
        );
        left += width;
    }
    svg.push_str("</svg>");
    Svg(svg)
}

/// Draws the length of a bar next to a number in a table. The number contains the same information,
/// so screen readers skip the bar.
pub(crate) fn meter(value: u64, most: u64) -> Svg {
    let width = HEIGHT * value.min(most) as f64 / most.max(1) as f64;
    Svg(format!(
        "<svg class=\"meter\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect class=\"s-rest\" width=\"100\" height=\"8\"/>\
         <rect class=\"s-accent\" width=\"{width:.2}\" height=\"8\"/></svg>"
    ))
}

fn begin(class: &str, width: f64, height: f64, title: &str, description: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" \
         role=\"img\"><title>{}</title><desc>{}</desc>",
        escaped(title),
        escaped(description)
    )
}

/// Escapes a label, and makes characters visible that have an effect and no glyph.
fn escaped(label: &str) -> String {
    let label = web::printable(label);
    let Ok(safe) = escape(&label, Html);
    safe.to_string()
}

fn put(text: &mut String, more: fmt::Arguments<'_>) {
    text.write_fmt(more)
        .expect("a string takes all that is written");
}

/// Returns the least of 1, 2 and 5 times a power of ten that is not below `most`, and at least 2,
/// so that half of it is whole.
fn ceiling(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for step in [1, 2, 5].map(|step| power.saturating_mul(step)) {
            if step >= most.max(2) && step.is_multiple_of(2) || step == u64::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [Part; 2] = [part("s-unique", "unique"), part("s-failed", "failed")];

    #[test]
    fn a_scale_ends_at_a_round_even_number() {
        for (most, top) in [
            (0, 2),
            (1, 2),
            (3, 10),
            (10, 10),
            (11, 20),
            (21, 50),
            (51, 100),
            (1_234, 2_000),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(ceiling(most), top, "{most}");
        }
    }

    #[test]
    fn columns_fill_the_height_by_their_share_and_labels_are_escaped() {
        let column = |label: &str, values: &[u64]| Column {
            label: label.to_owned(),
            values: values.to_vec(),
        };
        let drawn = [
            column("<b>", &[5, 5]),
            column("two", &[0, 0]),
            column("3", &[1, 0]),
        ];
        let plot = columns("A & B", "\u{202e}", &PARTS, &drawn, 2);
        assert_eq!(plot.top, 10);
        assert_eq!(plot.labels, ["<b>", "", "3"]);
        let svg = plot.svg.to_string();
        assert!(
            svg.contains("<title>A &#38; B</title><desc>\\u{202e}</desc>"),
            "{svg}"
        );
        assert!(
            svg.contains("y=\"50.00\" width=\"9.88\" height=\"50.00\""),
            "{svg}"
        );
        assert!(
            svg.contains("<title>&#60;b&#62;; unique: 5; failed: 5</title>"),
            "{svg}"
        );
        assert_eq!(svg.matches("<rect").count(), 3);
    }

    #[test]
    fn a_chart_of_nothing_has_no_parts() {
        let none = PARTS.map(|part| (part, 0));
        assert!(!bar("t", "d", &none).to_string().contains("<rect"));
        assert!(
            !columns("t", "d", &PARTS, &[], 1)
                .svg
                .to_string()
                .contains("<rect")
        );
        assert!(meter(3, 0).to_string().contains("width=\"0.00\""));
    }
}
