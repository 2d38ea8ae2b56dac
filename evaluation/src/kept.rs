//! The section of docs/measurements/quality.md that another program writes: `just real-sites`.

use std::io::{self, ErrorKind};
use std::path::Path;

const BEGIN: &str = "<!-- real sites: begin -->";
const END: &str = "<!-- real sites: end -->\n";

/// Reads the report; returns an empty text if there is none yet.
pub(crate) fn read(file: &Path) -> io::Result<String> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Adds the marked section of the earlier report, if it has one, at the end of the new one.
pub(crate) fn with_kept_section(text: &str, earlier: &str) -> String {
    let section = earlier.find(BEGIN).and_then(|from| {
        let to = earlier[from..].find(END)? + END.len();
        Some(&earlier[from..from + to])
    });
    match section {
        Some(section) => format!("{}\n\n{section}", text.trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_between_the_marks_is_kept_in_a_new_report() {
        let section = format!("{BEGIN}\n## Real sites\n{END}");
        for (earlier, expected) in [
            (String::new(), "# New\n".to_owned()),
            ("# Old\n".to_owned(), "# New\n".to_owned()),
            (format!("# Old\n{BEGIN}\n"), "# New\n".to_owned()),
            (section.clone(), format!("# New\n\n{section}")),
            (
                format!("# Old\n\n{section}tail\n"),
                format!("# New\n\n{section}"),
            ),
        ] {
            assert_eq!(
                with_kept_section("# New\n", &earlier),
                expected,
                "{earlier}"
            );
        }
    }
}
