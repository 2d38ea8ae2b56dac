//! Strings that try to be more than text.

/// Strings that a page, a server or a host's owner may choose, with the form in which they are
/// shown.
pub(crate) const HOSTILE: [(&str, &str); 20] = [
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    (
        "</style><script>alert(1)</script>",
        "</style><script>alert(1)</script>",
    ),
    ("</td></table><h1>owned", "</td></table><h1>owned"),
    (
        "<img src=x onerror=alert(1)>",
        "<img src=x onerror=alert(1)>",
    ),
    ("\" onmouseover=\"alert(1)", "\" onmouseover=\"alert(1)"),
    (
        "' autofocus onfocus='alert(1)",
        "' autofocus onfocus='alert(1)",
    ),
    ("javascript:alert(1)", "javascript:alert(1)"),
    ("<!-- ", "<!-- "),
    ("--><b>", "--><b>"),
    ("]]><svg onload=alert(1)>", "]]><svg onload=alert(1)>"),
    ("</title></desc></svg><b>", "</title></desc></svg><b>"),
    ("&lt;b&gt;&#60;&amp", "&lt;b&gt;&#60;&amp"),
    ("{{ settings }} {% raw %}", "{{ settings }} {% raw %}"),
    ("${7*7} #{7*7} <%= 7*7 %>", "${7*7} #{7*7} <%= 7*7 %>"),
    ("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}"),
    (
        "\u{1b}]0;title\u{7}\u{9b}2J",
        "\\u{1b}]0;title\\u{7}\\u{9b}2J",
    ),
    ("a\0b\u{7f}c", "a\\u{0}b\\u{7f}c"),
    ("a\r\nb\tc\u{2028}d", "a\\r\\nb\\tc\\u{2028}d"),
    ("</textarea><plaintext>", "</textarea><plaintext>"),
    (
        "<base href=//evil.test><meta http-equiv=refresh content=0>",
        "<base href=//evil.test><meta http-equiv=refresh content=0>",
    ),
];
