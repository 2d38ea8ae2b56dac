//! The markup around the text of a page.
//!
//! Everything that all pages share is rendered once; a page is put together by copying.

use super::pool::Section;
use crate::prose::coined;
use crate::random::Random;

/// The HTML of a real-shaped page, in bytes.
const REAL_SIZE: usize = 170 * 1024;
/// Menu entries on a real-shaped page.
const MENU: usize = 130;
/// Bytes in a paragraph, about.
const PARAGRAPH: usize = 500;
/// The depth of the text below the body.
const DEPTH: usize = 24;

/// The fixed parts of a page.
#[derive(Debug)]
pub(super) struct Shell {
    /// Bytes of text that a page draws from the pool.
    pub(super) text: usize,
    /// Paragraphs that stand together in one section. Many are quick to copy, few make pages differ
    /// more surely.
    pub(super) paragraphs: usize,
    /// Bytes of HTML on a page, about.
    pub(super) size: usize,
    head: String,
    top: String,
    before_section: String,
    after_section: String,
    bottom: String,
}

impl Shell {
    pub(super) fn plain() -> Self {
        Self {
            text: 23_900,
            paragraphs: 4,
            size: 26 * 1024,
            head: "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">".into(),
            top: "</head>\n<body><main>".into(),
            before_section: "<p>".into(),
            after_section: "</p>\n".into(),
            bottom: "</main></body></html>\n".into(),
        }
    }

    pub(super) fn real(seed: u64) -> Self {
        let mut random = Random::of(seed, 0x5e11);
        let mut shell = Self {
            text: 7_300,
            paragraphs: 1,
            size: REAL_SIZE,
            head: String::from(
                "<!DOCTYPE html>\n<html lang=\"en\" class=\"no-js\"><head><meta charset=\"utf-8\">",
            ),
            top: String::new(),
            before_section: String::new(),
            after_section: String::new(),
            bottom: String::new(),
        };
        shell.head.push_str(
            "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>",
        );
        write_style(&mut shell.head, &mut random, 24_000);
        shell.head.push_str("</style>\n<script>");
        write_script(&mut shell.head, &mut random, 30_000);
        shell.head.push_str("</script>\n");

        shell.top.push_str(
            "</head>\n<body class=\"page page--article theme-light\" data-page-type=\"article\">\n",
        );
        write_menu(&mut shell.top, &mut random);
        for level in 0..DEPTH {
            let id = random.next();
            shell.top.push_str(&format!(
                "<div class=\"layout__level layout__level--{level} grid \
                 grid--12\" data-component-id=\"{id:016x}\" \
                 data-tracking='{{\"level\":{level},\"zone\":\"content\"}}'>\n"
            ));
        }
        shell.top.push_str(
            "<main id=\"content\" role=\"main\"><article itemscope \
             itemtype=\"https://schema.org/Article\">",
        );

        for level in 0..6 {
            let id = random.next();
            shell.before_section.push_str(&format!(
                "<div class=\"block block--text \
                 block__inner-{level} col-xs-12 col-md-8 col-lg-6 u-margin-bottom-m\" \
                 id=\"b{id:x}\" data-module=\"reveal\" \
                 data-options='{{\"offset\":{level},\"once\":true}}' \
                 style=\"position:relative;z-index:{level}\" aria-live=\"off\">"
            ));
        }
        shell
            .before_section
            .push_str("<p class=\"text text--body\" itemprop=\"articleBody\">");
        shell.after_section.push_str("</p>");
        shell.after_section.push_str(&"</div>".repeat(6));
        shell.after_section.push('\n');

        let mut tail = "</article></main>".to_owned();
        tail.push_str(&"</div>".repeat(DEPTH));
        tail.push_str("\n<script>");
        // The rest of the size is state for scripts, as single-page frameworks leave it behind.
        let sections = shell.text.div_ceil(PARAGRAPH);
        let around = sections * (shell.before_section.len() + shell.after_section.len());
        let so_far =
            shell.head.len() + shell.top.len() + tail.len() + around + shell.text + 20 * 50;
        write_script(&mut tail, &mut random, REAL_SIZE.saturating_sub(so_far));
        tail.push_str("</script></body></html>\n");
        shell.bottom = tail;
        shell
    }

    pub(super) fn open(&self, html: &mut Vec<u8>, title: &[u8], date: &str, counter: usize) {
        html.extend_from_slice(self.head.as_bytes());
        html.extend_from_slice(b"<title>");
        html.extend_from_slice(title);
        html.extend_from_slice(b"</title>");
        html.extend_from_slice(self.top.as_bytes());
        html.extend_from_slice(b"<h1>");
        html.extend_from_slice(title);
        html.extend_from_slice(b"</h1>\n<p>Last updated on ");
        html.extend_from_slice(date.as_bytes());
        html.extend_from_slice(b". This page was read ");
        html.extend_from_slice(counter.to_string().as_bytes());
        html.extend_from_slice(b" times.</p>\n");
    }

    pub(super) fn open_section(&self, html: &mut Vec<u8>, section: Section<'_>) {
        html.extend_from_slice(self.before_section.as_bytes());
        html.extend_from_slice(section.instead);
        html.extend_from_slice(section.text);
    }

    pub(super) fn close_section(&self, html: &mut Vec<u8>) {
        html.extend_from_slice(self.after_section.as_bytes());
    }

    pub(super) fn close(&self, html: &mut Vec<u8>) {
        html.extend_from_slice(self.bottom.as_bytes());
    }
}

/// A menu whose entries lead to places on the same page, so that the links of a page stay the ones
/// of its text.
fn write_menu(top: &mut String, random: &mut Random) {
    top.push_str(
        "<header class=\"site-header\"><nav aria-label=\"Main\"><ul class=\"menu menu--mega\">\n",
    );
    for entry in 0..MENU {
        let (id, label) = (random.next(), coined(random, 2));
        let (x, y) = (random.below(24), random.below(24));
        top.push_str(&format!(
            "<li class=\"menu__item menu__item--depth-2 js-menu-item\" \
             data-id=\"{id:016x}\" role=\"none\">\
             <a class=\"menu__link\" role=\"menuitem\" tabindex=\"-1\" href=\"#menu-{entry}\" \
             data-analytics='{{\"event\":\"menu\",\"position\":{entry}}}'>\
             <svg class=\"icon\" width=\"16\" height=\"16\" viewBox=\"0 0 24 24\" \
             aria-hidden=\"true\">\
             <path d=\"M{x} {y}l4.5 4.5-4.5 4.5M{y} {x}h12v2.25H4.5z\" fill=\"none\" \
             stroke=\"currentColor\"/></svg>\
             <span class=\"menu__label\">{label}</span></a></li>\n"
        ));
    }
    top.push_str("</ul></nav></header>\n");
}

fn write_style(out: &mut String, random: &mut Random, size: usize) {
    let until = out.len() + size;
    while out.len() < until {
        let (name, width, colour) = (
            coined(random, 2),
            random.below(100),
            random.below(0xff_ff_ff),
        );
        out.push_str(&format!(
            ".{name}__inner>li:not(:last-child){{margin:0 {width}px;color:#{colour:06x};flex:1 1 \
             {width}%}}\n"
        ));
    }
}

fn write_script(out: &mut String, random: &mut Random, size: usize) {
    let until = out.len() + size;
    while out.len() < until {
        let (name, value) = (coined(random, 2), random.next());
        out.push_str(&format!(
            "window.{name}=window.{name}||function(e,t){{return \
            e<t&&\"<b>{value:x}</b>\"!==t?{name}(t):e}};\n"
        ));
    }
}
