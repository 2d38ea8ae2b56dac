//! The URLs that a browser requests for a style sheet.
//!
//! cssparser provides the tokens (CSS Syntax Module Level 3, section 4). The grammar covers only
//! what distinguishes fetched URLs from others: `@import` (CSS Cascade 5, section 2), `url()` and
//! `src()` (CSS Values 4, section 4.5), the strings of `image-set()` and `image()` (CSS Images 4,
//! section 2). URLs in names (`@namespace`, `@document`) and other strings are not fetched.
//!
//! All rules count, even if they do not apply to the page now: a replay may have another width or
//! colour scheme.
//!
//! Invariant: the parser is not recursive, and its time is proportional to the steps taken, for any
//! nesting of blocks. cssparser skips blocks or recurses into them; so a new parser begins at each
//! block, and a list records the open blocks.

use std::ops::Range;

use cssparser::{Parser, Token};

use crate::html::work_budget::WorkBudget;
use crate::letter_case::is_one_of;

/// Maximum nesting of blocks; deeper ones are not read.
const DEEPEST: usize = 256;

/// Tokens per step; one token takes about twenty nanoseconds.
const TOKENS_PER_STEP: usize = 4;

/// Bytes of a long token per step.
const STRIDE: usize = 256;

/// The position of CSS, which decides whether it may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CssContext {
    /// A style sheet, or a `<style>` element.
    Sheet,
    /// A `style` attribute: declarations only.
    Attribute,
}

/// Passes every URL of `css`, unescaped, to `found` in document order, until the text or the budget
/// ends.
pub(crate) fn each_url(
    css: &str,
    context: CssContext,
    budget: &mut WorkBudget,
    mut found: impl FnMut(&str),
) {
    each_place(css, context, budget, |url, _place| found(url));
}

/// Does the same, and also passes the place of each URL's token.
pub(crate) fn each_place(
    css: &str,
    context: CssContext,
    budget: &mut WorkBudget,
    mut found: impl FnMut(&str, Range<usize>),
) {
    let mut reader = Reader {
        open: Vec::new(),
        rule: Rule::Other,
        imports: context == CssContext::Sheet,
    };
    let (mut rest, mut tokens) = (css, 0_usize);
    'blocks: loop {
        let mut parser = Parser::new(rest);
        loop {
            let before = parser.position().byte_index();
            let Ok(token) = parser.next_including_whitespace_and_comments() else {
                return;
            };
            tokens += 1;
            // The token borrows the parser, so its end is known only later.
            let mut url = None;
            let progress =
                reader.read_token(token, &mut |found: &str| url = Some(found.to_owned()));
            let after = parser.position().byte_index();
            if let Some(url) = url {
                let start = css.len() - rest.len();
                found(&url, start + before..start + after);
            }
            let steps =
                usize::from(tokens.is_multiple_of(TOKENS_PER_STEP)) + (after - before) / STRIDE;
            if steps > 0 && !budget.take(steps) {
                return;
            }
            match progress {
                Progress::Token => {}
                Progress::BlockBegins if reader.open.len() > DEEPEST => return,
                Progress::BlockBegins => {
                    rest = &rest[after..];
                    continue 'blocks;
                }
            }
        }
    }
}

/// An open block, and the meaning of strings in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// `(`, or a function.
    Round(Strings),
    Square,
    Curly,
}

/// The meaning of strings directly in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strings {
    Words,
    /// The first string is a URL: `url()`.
    OneUrl,
    /// Each string is a URL: `image-set()`.
    Urls,
}

/// The at-rule whose prelude is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// An at-rule without special URLs.
    Other,
    /// An import before its URL.
    Import,
    /// An at-rule at this depth whose URLs are not fetched.
    Names(usize),
}

struct Reader {
    open: Vec<Open>,
    rule: Rule,
    /// True if imports are still allowed: only before the first block.
    imports: bool,
}

enum Progress {
    Token,
    BlockBegins,
}

impl Reader {
    fn read_token(&mut self, token: &Token<'_>, found: &mut impl FnMut(&str)) -> Progress {
        match token {
            Token::UnquotedUrl(url) => self.url(url, found),
            Token::QuotedString(string) => self.string(string, found),
            Token::AtKeyword(name) => self.at_rule(name),
            Token::Semicolon => self.rule_ends(),
            Token::CurlyBracketBlock => {
                self.imports &= !self.open.is_empty();
                self.rule_ends();
                return self.begins(Open::Curly);
            }
            Token::SquareBracketBlock => return self.begins(Open::Square),
            Token::ParenthesisBlock => return self.begins(Open::Round(Strings::Words)),
            Token::Function(name) => return self.begins(Open::Round(strings_of(name))),
            // A closing token that does not match the innermost block closes nothing (CSS Syntax 3,
            // section 5.4.8).
            Token::CloseParenthesis => _ = self.open.pop_if(|open| matches!(open, Open::Round(_))),
            Token::CloseSquareBracket => _ = self.open.pop_if(|open| *open == Open::Square),
            Token::CloseCurlyBracket => _ = self.open.pop_if(|open| *open == Open::Curly),
            _ => {}
        }
        Progress::Token
    }

    fn begins(&mut self, open: Open) -> Progress {
        self.open.push(open);
        Progress::BlockBegins
    }

    fn at_rule(&mut self, name: &str) {
        let depth = self.open.len();
        if name.eq_ignore_ascii_case("import") {
            self.rule = if self.imports && depth == 0 {
                Rule::Import
            } else {
                Rule::Names(depth)
            };
        } else if is_one_of(name, &["namespace", "document", "-moz-document"]) {
            self.rule = Rule::Names(depth);
        }
    }

    fn rule_ends(&mut self) {
        match self.rule {
            Rule::Import if self.open.is_empty() => self.rule = Rule::Other,
            Rule::Names(depth) if self.open.len() <= depth => self.rule = Rule::Other,
            _ => {}
        }
    }

    fn string(&mut self, string: &str, found: &mut impl FnMut(&str)) {
        match self.open.last_mut() {
            Some(Open::Round(strings @ Strings::OneUrl)) => {
                *strings = Strings::Words;
                self.url(string, found);
            }
            Some(Open::Round(Strings::Urls)) => self.url(string, found),
            None if self.rule == Rule::Import => self.url(string, found),
            _ => {}
        }
    }

    fn url(&mut self, url: &str, found: &mut impl FnMut(&str)) {
        match self.rule {
            Rule::Names(_) => return,
            // The conditions of the import follow.
            Rule::Import => self.rule = Rule::Names(0),
            Rule::Other => {}
        }
        found(url);
    }
}

fn strings_of(function: &str) -> Strings {
    if is_one_of(function, &["url", "src"]) {
        Strings::OneUrl
    } else if is_one_of(function, &["image-set", "-webkit-image-set", "image"]) {
        Strings::Urls
    } else {
        Strings::Words
    }
}

#[cfg(test)]
mod tests {
    use cssparser::serialize_string;
    use proptest::prelude::*;

    use super::*;

    fn urls_in(css: &str, context: CssContext) -> Vec<String> {
        let mut urls = Vec::new();
        each_url(css, context, &mut WorkBudget::new(600_000), |url| {
            urls.push(url.to_owned());
        });
        urls
    }

    #[test]
    fn exactly_the_urls_that_a_browser_fetches_are_found() {
        for (css, urls) in [
            ("a { background: url(x.png) }", &["x.png"][..]),
            (
                "a{b:url( 'x y.png' ) no-repeat,URL(\"z\" )}",
                &["x y.png", "z"],
            ),
            ("a{b:url(a\\29 b\\)c)}", &["a)b)c"]),
            ("a{b:url('\\78 .png')} c{d:\\75 rl(e)}", &["x.png", "e"]),
            ("/* url(a) */ a{b:'url(c)'}", &[]),
            ("a{b:url(/*c*/)}", &["/*c*/"]),
            (
                "@font-face{src:url(a.eot?#iefix)format('x'),local('Y'),url('b.woff2')tech('z')}",
                &["a.eot?#iefix", "b.woff2"],
            ),
            (
                "a{b:image-set('1.png' 1x,url(2.png) 2x,'3.avif' type('image/avif'))}",
                &["1.png", "2.png", "3.avif"],
            ),
            (
                "a{b:-webkit-image-set(url(1.png) 1x);c:image('d' , red);e:src('f')}",
                &["1.png", "d", "f"],
            ),
            (
                "@charset 'x';@import 'a';@IMPORT url(b) print;@import url('c') supports(d: \
                 url(e));@layer f;@import'g'",
                &["a", "b", "c", "g"],
            ),
            ("a{}@import 'late';b{c:url(d)}", &["d"]),
            ("@media x{@import 'inner';a{b:url(c)}}", &["c"]),
            (
                "@namespace url(http://a/);@namespace b 'c';@-moz-document url(d){e{f:url(g)}}",
                &["g"],
            ),
            ("@media{@supports(a:b){@layer c{d{e{f:url(g)}}}}}", &["g"]),
            ("a{b:url(c d)}e{f:url(g)}", &["g"]),
            ("a{b:'open\n;c:url(d)}", &["d"]),
            ("a{b:url(unclosed", &["unclosed"]),
            ("a{b:rgb(1,2})}c{d:url(e)}", &["e"]),
            ("a{b:url()}c{d:url('')}", &["", ""]),
            ("a{--b:url(c);d:var(--b)}", &["c"]),
            (
                "a{b:url(data:image/png;base64,AAAA)}",
                &["data:image/png;base64,AAAA"],
            ),
            ("<!-- a{b:url(c)} -->", &["c"]),
            ("}}}a{b:url(c)}", &["c"]),
        ] {
            assert_eq!(urls_in(css, CssContext::Sheet), urls, "{css}");
        }
    }

    #[test]
    fn an_attribute_has_declarations_and_imports_nothing() {
        let css = "background:url(a);cursor:url('b'),auto";
        assert_eq!(urls_in(css, CssContext::Attribute), ["a", "b"]);
        assert!(urls_in("@import 'a'", CssContext::Attribute).is_empty());
    }

    #[test]
    fn endless_nesting_ends_the_reading_without_recursion() {
        for open in [
            "{", "(", "[", "a(", "url('", "@import(", "@media{", "url(\\",
        ] {
            let css = format!("a{{b:url(first)}}{}", open.repeat(100_000));
            assert_eq!(urls_in(&css, CssContext::Sheet)[0], "first", "{open}");
        }
        let deep = |depth: usize| format!("{}b:url(c)", "a{".repeat(depth));
        assert_eq!(urls_in(&deep(DEEPEST), CssContext::Sheet), ["c"]);
        assert!(urls_in(&deep(DEEPEST + 1), CssContext::Sheet).is_empty());
    }

    #[test]
    fn a_sheet_is_read_as_far_as_the_budget_goes() {
        let css = "a{b:url(c)}".repeat(10_000);
        let mut budget = WorkBudget::new(100);
        let mut urls = 0;
        each_url(&css, CssContext::Sheet, &mut budget, |_url| urls += 1);
        assert!(budget.is_spent());
        assert!((10..=100 * TOKENS_PER_STEP).contains(&urls), "{urls}");
    }

    /// Escapes a URL for use between `url(` and `)`.
    fn unquoted(url: &str) -> String {
        let escaped = url.chars().map(|c| format!("\\{:x} ", u32::from(c)));
        escaped.collect()
    }

    proptest! {
        #[test]
        fn a_quoted_url_is_found_unquoted(
            url in "[^\0]{0,40}",
            before in "[a-z{};: /*]{0,3}",
        ) {
            let mut string = String::new();
            serialize_string(&url, &mut string).unwrap();
            for css in [
                format!("a{{b:url({string})}}"),
                format!("a{{b:image-set({string} 1x)}}"),
                format!("@import {string};"),
                format!("a{{b:url({})}}", unquoted(&url)),
            ] {
                let expected = vec![url.clone()];
                prop_assert_eq!(urls_in(&css, CssContext::Sheet), expected);
            }
            let _urls = urls_in(&format!("{before}{url}"), CssContext::Sheet);
        }

        #[test]
        fn any_text_is_read_and_earlier_urls_stay(
            text in "[a-z(){}\\[\\]@;:'\"\\\\/* \n]{0,200}",
        ) {
            let css = format!("@import 'first';a{{b:url(second)}}{text}");
            let found = urls_in(&css, CssContext::Sheet);
            prop_assert_eq!(&found[..2], ["first", "second"]);
        }
    }
}
