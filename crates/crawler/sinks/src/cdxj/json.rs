//! JSON strings in the form of Python's `json.dumps`, so that lines are byte-identical to the
//! output of cdxj-indexer.

use std::fmt::Write as _;

/// Appends `text` in quotation marks; characters beyond ASCII become `\uXXXX`, in two halves beyond
/// 16 bits.
pub(crate) fn push_string(line: &mut String, text: &str) {
    line.push('"');
    let mut rest = text;
    while let Some(place) = rest
        .bytes()
        .position(|byte| !matches!(byte, b' '..=b'!' | b'#'..=b'[' | b']'..=0x7f))
    {
        line.push_str(&rest[..place]);
        let letter = rest[place..].chars().next().unwrap_or_default();
        push_escape(line, letter);
        rest = &rest[place + letter.len_utf8()..];
    }
    line.push_str(rest);
    line.push('"');
}

fn push_escape(line: &mut String, letter: char) {
    let short = match letter {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        _ => {
            for half in letter.encode_utf16(&mut [0; 2]) {
                write!(line, "\\u{half:04x}").expect("a string takes every byte");
            }
            return;
        }
    };
    line.push_str(short);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_python_writes_them() {
        // Each expected value is the output of `json.dumps` of Python 3.11.
        for (text, expected) in [
            ("", r#""""#),
            ("plain ~", r#""plain ~""#),
            ("a\"b\\c/d", r#""a\"b\\c/d""#),
            (
                "\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}",
                r#""\n\r\t\b\f\u0000\u001f"#,
            ),
            ("é漢😀", r#""\u00e9\u6f22\ud83d\ude00""#),
        ] {
            let mut line = String::new();
            push_string(&mut line, text);
            let expected = if text.contains('\u{7f}') {
                format!("{expected}\u{7f}\"")
            } else {
                expected.to_owned()
            };
            assert_eq!(line, expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_string_is_read_back_by_any_reader_of_json(text in ".*") {
            let mut line = String::new();
            push_string(&mut line, &text);
            proptest::prop_assert!(line.is_ascii());
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
