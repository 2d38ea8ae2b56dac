//! The sections of docs/measurements/quality.md that other commands write: `dynamic-sites` and
//! `just real-sites`. They are the last ones, each between two marks.

use std::io::{self, ErrorKind};
use std::path::Path;

/// The names of the sections, in their order.
const SECTIONS: [&str; 2] = [DYNAMIC_SITES, "real sites"];
pub(crate) const DYNAMIC_SITES: &str = "dynamic sites";

/// Reads the report; returns an empty text if there is none yet.
pub(crate) fn read(file: &Path) -> io::Result<String> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Adds the marked sections of the earlier report at the end of the new one.
pub(crate) fn with_kept_sections(text: &str, earlier: &str) -> String {
    let kept = SECTIONS.iter().filter_map(|name| section(earlier, name));
    joined(text, kept.map(str::to_owned))
}

/// Puts `new` in the place of the section of this name; adds the section if there was none.
pub(crate) fn with_section(text: &str, name: &str, new: &str) -> String {
    let sections = SECTIONS.iter().filter_map(|known| {
        if *known == name {
            return Some(format!(
                "{}\n{}\n{}",
                begin(name),
                new.trim_end(),
                end(name)
            ));
        }
        section(text, known).map(str::to_owned)
    });
    let begins = SECTIONS.iter().filter_map(|name| text.find(&begin(name)));
    let body = &text[..begins.min().unwrap_or(text.len())];
    joined(body, sections)
}

/// Returns a marked section, with its marks.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let from = text.find(&begin(name))?;
    let end = end(name);
    let to = text[from..].find(&end)? + end.len();
    Some(&text[from..from + to])
}

fn joined(body: &str, sections: impl Iterator<Item = String>) -> String {
    let mut text = body.to_owned();
    for section in sections {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&section);
    }
    text
}

fn begin(name: &str) -> String {
    format!("<!-- {name}: begin -->")
}

fn end(name: &str) -> String {
    format!("<!-- {name}: end -->\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(name: &str, text: &str) -> String {
        format!("{}\n{text}\n{}", begin(name), end(name))
    }

    #[test]
    fn the_text_between_the_marks_is_kept_in_a_new_report() {
        let real = marked("real sites", "## Real sites");
        let both = format!("{}\n{real}", marked("dynamic sites", "## Dynamic sites"));
        for (earlier, expected) in [
            (String::new(), "# New\n".to_owned()),
            ("# Old\n".to_owned(), "# New\n".to_owned()),
            (
                format!("# Old\n{}\n", begin("real sites")),
                "# New\n".to_owned(),
            ),
            (real.clone(), format!("# New\n\n{real}")),
            (format!("# Old\n\n{real}tail\n"), format!("# New\n\n{real}")),
            (format!("# Old\n\n{both}"), format!("# New\n\n{both}")),
        ] {
            let kept = with_kept_sections("# New\n", &earlier);
            assert_eq!(kept, expected, "{earlier}");
        }
    }

    #[test]
    fn a_section_takes_the_place_of_the_earlier_one() {
        let real = marked("real sites", "real");
        let [old, new] = ["old", "new"].map(|text| marked("dynamic sites", text));
        for (earlier, expected) in [
            (String::new(), new.clone()),
            ("# Old\n".to_owned(), format!("# Old\n\n{new}")),
            (
                format!("# Old\n\n{real}"),
                format!("# Old\n\n{new}\n{real}"),
            ),
            (
                format!("# Old\n\n{old}\n{real}"),
                format!("# Old\n\n{new}\n{real}"),
            ),
        ] {
            let written = with_section(&earlier, DYNAMIC_SITES, "new\n");
            assert_eq!(written, expected, "{earlier}");
        }
    }
}
