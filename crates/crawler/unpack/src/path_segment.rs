//! One part of a path, made from one part of a URL.
//!
//! Letters of any script stay readable. Anything that a usual file system rejects, or that would
//! escape the directory, is percent-encoded as in URLs: control characters, `\ / : * ? " < > | %`,
//! a dot or a space at the end, the names `.` and `..`, and device names (Microsoft, "Naming Files,
//! Paths, and Namespaces").

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a part, in bytes: file systems allow 255, and a number may be appended.
pub const MAX_SEGMENT: usize = 200;

/// Maximum length of an extension that a shortened name keeps, in bytes including the dot.
const MAX_EXTENSION: usize = 12;

/// Punctuation that is kept.
const PUNCTUATION: &str = "-_.~+=,@()!&' ";

/// Device names, which Windows reserves in every directory, with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Decodes the escapes of a part of a URL, and escapes what a file name must not contain.
pub(crate) fn escape(part: &str) -> String {
    let bytes: Vec<u8> = percent_decode_str(part).collect();
    let mut name = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if is_plain(letter) {
                name.push(letter);
            } else {
                push_escaped(&mut name, letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        push_escaped(&mut name, chunk.invalid());
    }
    name
}

/// Makes a name a valid part of a path, by escaping its ends and shortening it.
pub(crate) fn guard(name: &str) -> String {
    let mut name = name.to_owned();
    if name.is_empty() {
        return "_".to_owned();
    }
    if name.starts_with(' ') || name == "." || name == ".." || is_device(&name) {
        let first = name.remove(0);
        let mut escaped = String::new();
        push_escaped(&mut escaped, first.encode_utf8(&mut [0; 4]).as_bytes());
        name.insert_str(0, &escaped);
    }
    if let Some(last @ (b'.' | b' ')) = name.as_bytes().last().copied() {
        name.pop();
        push_escaped(&mut name, &[last]);
    }
    if name.len() > MAX_SEGMENT {
        let hash = xxh3_64(name.as_bytes());
        return with_suffix(&name, &format!("~{hash:016x}"));
    }
    name
}

/// Returns a name with a suffix before its extension, shortened to [`MAX_SEGMENT`].
pub(crate) fn with_suffix(name: &str, suffix: &str) -> String {
    let (stem, extension) = split_extension(name);
    let mut end = stem.len().min(MAX_SEGMENT - suffix.len() - extension.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}{extension}", &stem[..end])
}

/// Returns a name without its extension, and the extension with its dot; no extension if it is
/// long.
fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && name.len() - dot <= MAX_EXTENSION => name.split_at(dot),
        _ => (name, ""),
    }
}

fn is_plain(letter: char) -> bool {
    match letter.is_ascii() {
        true => letter.is_ascii_alphanumeric() || PUNCTUATION.contains(letter),
        false => letter.is_alphanumeric(),
    }
}

/// Returns true if Windows treats the name as a device.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_ascii_uppercase();
    let port = |name: &str| {
        let number = stem.strip_prefix(name).map(str::chars).map(Vec::from_iter);
        number.is_some_and(|number| matches!(number[..], ['0'..='9' | '¹' | '²' | '³']))
    };
    DEVICES.contains(&stem.as_str()) || port("COM") || port("LPT")
}

fn push_escaped(name: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(name, "%{byte:02X}").expect("a string takes every byte");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_readable_where_file_systems_accept_them() {
        for (part, name) in [
            ("page.html", "page.html"),
            ("caf%C3%A9", "café"),
            ("caf%E9", "caf%E9"),
            ("a%20b", "a b"),
            ("%20a%20", "%20a%20"),
            ("a%2Fb", "a%2Fb"),
            ("..%2f..%2Fetc", "..%2F..%2Fetc"),
            ("%2e%2e", "%2E%2E"),
            (".", "%2E"),
            ("...", "..%2E"),
            (".htaccess", ".htaccess"),
            ("a%00b", "a%00b"),
            ("a:b*c|d\\e", "a%3Ab%2Ac%7Cd%5Ce"),
            ("100%25", "100%25"),
            ("%F0%9F%98%80", "%F0%9F%98%80"),
            ("CON", "%43ON"),
            ("con.txt", "%63on.txt"),
            ("Lpt9", "%4Cpt9"),
            ("com1.tar.gz", "%63om1.tar.gz"),
            ("com10", "com10"),
            ("console", "console"),
            ("", "_"),
        ] {
            assert_eq!(guard(&escape(part)), name, "{part}");
        }
    }

    #[test]
    fn a_long_name_is_shortened_with_a_hash_and_keeps_its_extension() {
        let limit = "é".repeat(MAX_SEGMENT / 2);
        assert_eq!(guard(&limit), limit);
        let long = format!("{limit}x.html");
        let short = guard(&long);
        assert!(
            short.len() <= MAX_SEGMENT && short.ends_with(".html"),
            "{short}"
        );
        assert_ne!(short, guard(&format!("{limit}y.html")));
    }
}
