//! Settings of a crawl where documents are expected: `crawler dedup settings.toml`.

use std::path::PathBuf;

use corpus::is_standard_input;
use messages::{CommandError, pasted, usage};

use crate::input;
use crate::settings::Settings;

/// Maximum size of a file that is recognised as settings, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;

/// Refuses a file of settings that is the only input. A single document has no duplicates, so the
/// user means the settings. Next to other documents, the file is a text like any other.
///
/// # Errors
/// A usage error that names the file.
pub fn refuse(paths: &[PathBuf]) -> Result<(), CommandError> {
    let [path] = paths else { return Ok(()) };
    let is_toml = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    if !is_toml || is_standard_input(path) || !path.is_file() {
        return Ok(());
    }
    let text = input::read(path, MAX_SETTINGS).map_err(input::unreadable(path))?;
    if !is_settings(&String::from_utf8_lossy(&text)) {
        return Ok(());
    }
    let shown = pasted(path);
    Err(usage(format!(
        "{} contains settings of a crawl, not documents",
        path.display()
    ))
    .with_remedy(format!(
        "`crawler --config {shown}` crawls with them; to compare the file as a text, name \
                 other documents, too"
    )))
}

/// Returns true for TOML with at least one key, all of which are settings.
fn is_settings(text: &str) -> bool {
    let Ok(table) = toml::from_str::<toml::Table>(text) else {
        return false;
    };
    let known = Settings::keys();
    !table.is_empty() && table.keys().all(|key| known.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_only_keys_of_settings() {
        for (text, expected) in [
            ("delay = \"2s\"\nmax-pages = 10\n", true),
            ("delay = \"2s\"\n[host.\"a.test\"]\ndelay = \"1s\"\n", true),
            ("[package]\nname = \"a\"\n", false),
            ("delay = \"2s\"\ntitle = \"a\"\n", false),
            ("# delay = \"2s\"\n", false),
            ("A text that is not TOML.", false),
        ] {
            assert_eq!(is_settings(text), expected, "{text}");
        }
    }
}
