//! The compared methods of finding main content, each from bytes to text.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lol_html::{HtmlRewriter, Settings, element, text};
use web::{CanonicalForm, PageUrl, ReadLimits, ResponseMetadata};

use crate::corpus::LabelledPage;

/// A method of finding main content.
pub struct Method {
    pub name: &'static str,
    pub extract: fn(&LabelledPage) -> String,
}

/// All methods; ours first.
pub const METHODS: &[Method] = &[
    Method {
        name: "ours",
        extract: ours,
    },
    Method {
        name: "ours, all visible text",
        extract: all_text,
    },
    Method {
        name: "lol_html, paragraphs outside of the frame",
        extract: streamed,
    },
    Method {
        name: "dom_smoothie 0.19",
        extract: dom_smoothie,
    },
    Method {
        name: "trafilatura 0.6",
        extract: trafilatura,
    },
    Method {
        name: "rs-trafilatura 0.2.2",
        extract: rs_trafilatura,
    },
];

/// Reads a page as the crawl does: encoding, tree, links, title, language and text.
pub fn read(page: &LabelledPage) -> web::Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse(&page.url, &form)
        .or_else(|_| PageUrl::parse("http://example.org/", &form))
        .expect("the second one is a URL");
    let hints = ResponseMetadata {
        agent: "crawler",
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    web::read(&page.html, &hints, &form, &ReadLimits::default())
}

fn ours(page: &LabelledPage) -> String {
    read(page).text
}

fn all_text(page: &LabelledPage) -> String {
    read(page).full_text().to_owned()
}

fn dom_smoothie(page: &LabelledPage) -> String {
    let html = String::from_utf8_lossy(&page.html).into_owned();
    dom_smoothie::Readability::new(html, None, None)
        .and_then(|mut readability| readability.parse())
        .map(|article| article.text_content.to_string())
        .unwrap_or_default()
}

fn trafilatura(page: &LabelledPage) -> String {
    let html = String::from_utf8_lossy(&page.html);
    let extracted = trafilatura::extract(&html, &trafilatura::Options::default());
    extracted
        .map(|extracted| extracted.content_text)
        .unwrap_or_default()
}

fn rs_trafilatura(page: &LabelledPage) -> String {
    let html = String::from_utf8_lossy(&page.html);
    let options = rs_trafilatura::Options {
        url: Some(page.url.clone()),
        ..Default::default()
    };
    let extracted = rs_trafilatura::extract_with_options(&html, &options);
    extracted
        .map(|extracted| extracted.content_text)
        .unwrap_or_default()
}

/// Extracts without a tree, from a stream of tags: paragraphs, items, headings and code outside the
/// frame that are not mostly links.
fn streamed(page: &LabelledPage) -> String {
    const FRAME: &str = "nav, aside, footer, form, dialog, [role=navigation], [role=banner], \
                         [role=contentinfo], [class*=comment], [class*=related], [class*=share], \
                         [class*=sidebar]";
    const LINE: &str = "p, li, h1, h2, h3, h4, pre, blockquote, td, th, dt, dd";
    let frames = Rc::new(Cell::new(0_usize));
    let links = Rc::new(Cell::new(0_usize));
    let line = Rc::new(RefCell::new((String::new(), 0)));
    let all = Rc::new(RefCell::new(String::new()));
    let end_line = {
        let (line, all) = (line.clone(), all.clone());
        move || {
            let (text, linked) = std::mem::take(&mut *line.borrow_mut());
            if linked * 2 <= text.len() && !text.trim().is_empty() {
                all.borrow_mut().push_str(text.trim());
                all.borrow_mut().push('\n');
            }
        }
    };
    let count = |counter: &Rc<Cell<usize>>| {
        let counter = counter.clone();
        move |element: &mut lol_html::html_content::Element<'_, '_>| {
            counter.set(counter.get() + 1);
            let at_end = counter.clone();
            if let Some(handlers) = element.end_tag_handlers() {
                handlers.push(Box::new(move |_| {
                    at_end.set(at_end.get() - 1);
                    Ok(())
                }));
            } else {
                counter.set(counter.get() - 1);
            }
            Ok(())
        }
    };
    let begin_line = {
        let end_line = end_line.clone();
        move |element: &mut lol_html::html_content::Element<'_, '_>| {
            end_line();
            let end_line = end_line.clone();
            if let Some(handlers) = element.end_tag_handlers() {
                handlers.push(Box::new(move |_| {
                    end_line();
                    Ok(())
                }));
            }
            Ok(())
        }
    };
    let add = {
        let (frames, links, line) = (frames.clone(), links.clone(), line.clone());
        move |chunk: &mut lol_html::html_content::TextChunk<'_>| {
            if frames.get() == 0 {
                let mut line = line.borrow_mut();
                line.0.push_str(chunk.as_str());
                if links.get() > 0 {
                    line.1 += chunk.as_str().len();
                }
            }
            Ok(())
        }
    };
    let settings = Settings::new()
        .append_element_content_handler(element!(FRAME, count(&frames)))
        .append_element_content_handler(element!("a", count(&links)))
        .append_element_content_handler(element!(LINE, begin_line))
        .append_element_content_handler(text!(LINE, add));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(&page.html).is_ok() {
        // A page that cannot be read to its end counts as far as it was read.
        drop(rewriter.end());
    }
    end_line();
    all.take()
}
