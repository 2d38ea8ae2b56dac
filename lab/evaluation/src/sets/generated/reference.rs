//! Reference pages as doxygen makes them: a frame longer than most pages, a list of all classes
//! beside each, tables of methods, and the same methods, described in the same words, in nearly
//! every class.
//!
//! Every class has 3 to 14 methods of its own, so that no two pages say the same.

use std::collections::BTreeSet;

use crate::random::Random;
use crate::sets::labelled::distinct;
use crate::sets::page::Page;
use crate::sets::set::{Goal, Set};

const CLASSES: usize = 800;

const PARTS: [&str; 40] = [
    "buffer", "matrix", "vector", "stream", "socket", "parser", "token", "node", "edge", "graph",
    "index", "cursor", "table", "record", "frame", "image", "pixel", "colour", "font", "glyph",
    "widget", "window", "event", "signal", "thread", "queue", "stack", "cache", "key", "value",
    "range", "filter", "codec", "packet", "header", "channel", "sample", "track", "format",
    "option",
];

const VERBS: [&str; 16] = [
    "read", "write", "open", "close", "append", "remove", "find", "count", "merge", "split",
    "encode", "decode", "bind", "attach", "flush", "reset",
];

const WORDS: [&str; 48] = [
    "the", "of", "a", "and", "to", "is", "in", "for", "this", "from", "with", "by", "that",
    "given", "if", "not", "are", "all", "when", "which", "it", "on", "or", "returned", "number",
    "first", "last", "current", "position", "length", "object", "caller", "memory", "pointer",
    "owned", "bytes", "copied", "must", "valid", "before", "after", "calls", "throws", "error",
    "empty", "default", "size", "limit",
];

/// Methods of nearly every class; `§` stands for its name.
const COMMON: [(&str, &str); 8] = [
    (
        "§ ()",
        "Default constructor. Creates an empty § object without allocating any memory.",
    ),
    (
        "§ (const § &other)",
        "Copy constructor. Creates a deep copy of another § object.",
    ),
    (
        "virtual ~§ ()",
        "Destructor. Frees all resources that this § object owns.",
    ),
    (
        "§ & operator= (const § &other)",
        "Assignment operator. Replaces the contents of this § by a copy of those of other.",
    ),
    (
        "bool operator== (const § &other) const",
        "Returns true if and only if this § and other are equal.",
    ),
    (
        "bool operator!= (const § &other) const",
        "Returns true if and only if this § and other are not equal.",
    ),
    (
        "bool isEmpty () const",
        "Returns true if this § has no elements; this function takes constant time.",
    ),
    (
        "void swap (§ &other)",
        "Exchanges the contents of this § and other; it never throws and takes constant time.",
    ),
];

pub(crate) fn reference() -> Set {
    manual(CLASSES)
}

/// Returns a manual of this many classes.
fn manual(classes: usize) -> Set {
    let mut random = Random::new(1_997);
    let names: Vec<String> = (0..classes)
        .map(|number| {
            format!(
                "{}{}",
                capital(PARTS[number % 40]),
                capital(PARTS[(number / 40 + number) % 40])
            )
        })
        .collect();
    let tree: Vec<String> = names
        .iter()
        .map(|name| format!("<li><a href=\"class{name}.html\">{name}</a></li>"))
        .collect();
    let tree = tree.concat();
    let pages = names.iter().filter_map(|name| {
        let html = class_page(name, &tree, &mut random);
        Page::of_html(format!("class{name}.html"), html.as_bytes())
    });
    let pages: Vec<Page> = pages.collect();
    Set {
        name: "reference-generated",
        about: format!(
            "{} generated pages of a reference manual in the manner of doxygen: one frame, a list \
             of all classes on each page, eight methods in common.",
            pages.len()
        ),
        pages,
        questions: vec![distinct(Goal::MergedBelow(0.01), BTreeSet::new())],
    }
}

fn class_page(name: &str, tree: &str, random: &mut Random) -> String {
    let common = COMMON.map(|(method, text)| (method.replace('§', name), text.replace('§', name)));
    let own = (0..random.between(3, 14)).map(|_| {
        let (verb, part, argument): (&&str, &&str, &&str) = (
            random.pick(&VERBS),
            random.pick(&PARTS),
            random.pick(&PARTS),
        );
        let part = capital(part);
        (
            format!("int {verb}{part} (const {} &{argument})", capital(argument)),
            sentence(random),
        )
    });
    let methods: Vec<(String, String)> = common.into_iter().chain(own).collect();
    let summary: Vec<String> = methods
        .iter()
        .map(|(method, _)| {
            format!("<tr class=\"memitem\"><td class=\"memItemRight\">{method}</td></tr>\n")
        })
        .collect();
    let details: Vec<String> = methods
        .iter()
        .map(|(method, text)| {
            format!(
                "<div class=\"memitem\"><div class=\"memproto\">{method}</div>\
                <div class=\"memdoc\"><p>{text}</p></div></div>\n"
            )
        })
        .collect();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Library: {name} \
         Class Reference</title></head><body>\n\
         <div id=\"top\"><div id=\"titlearea\">Library 1.4 — a library for everything</div>\n\
         <div id=\"navrow1\" class=\"tabs\"><ul class=\"tablist\"><li><a href=\"index.html\">Main \
         Page</a></li>\
         <li><a href=\"annotated.html\">Classes</a></li><li>\
         <a href=\"files.html\">Files</a></li></ul></div></div>\n\
         <div id=\"side-nav\"><ul>{tree}</ul></div>\n\
         <div class=\"header\"><div class=\"headertitle\">{name} Class Reference</div></div>\n\
         <div class=\"contents\"><p>{}</p><p>#include &lt;{}.h&gt;</p>\n\
         <h2>Public Member Functions</h2><table class=\"memberdecls\">{}</table>\n\
         <h2>Detailed Description</h2><p>{} {}</p>\n<h2>Member Function \
         Documentation</h2>\n{}</div>\n\
         <hr class=\"footer\"/><address class=\"footer\"><small>Generated on Fri Nov 20 2026 for \
         Library by doxygen 1.9.4</small></address>\
         </body></html>",
        sentence(random),
        name.to_lowercase(),
        summary.concat(),
        sentence(random),
        sentence(random),
        details.concat(),
    )
}

fn sentence(random: &mut Random) -> String {
    let words: Vec<&str> = (0..random.between(5, 16))
        .map(|place| {
            // About every third word is a technical term.
            if place % 3 == 2 {
                *random.pick(&PARTS)
            } else {
                *random.pick_by_rank(&WORDS)
            }
        })
        .collect();
    format!("{}.", capital(&words.join(" ")))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_classes_have_the_same_name_or_page() {
        let set = manual(60);
        assert_eq!(set.pages.len(), 60);
        let names: BTreeSet<&str> = set.pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names.len(), 60);
        let texts: BTreeSet<&str> = set.pages.iter().map(|page| page.full()).collect();
        assert_eq!(texts.len(), 60);
    }
}
