//! Files of logins in the netrc format: `machine HOST login USER password PASSWORD`.
//!
//! Words are separated by blanks and line ends, and may be quoted, with a backslash before a quote
//! or a backslash (curl and GNU do so). `account` is skipped, `macdef` up to a blank line, and
//! lines that begin with `#`. `default`, a login for every other host, is not used: a crawler asks
//! hosts that its user does not know.
//!
//! No error repeats a word of the file.

use requests::SecretField;
use web::HostPattern;

/// Maximum number of logins per file.
const MOST: usize = 1_000;

/// The logins of a file.
#[derive(Debug, Default)]
pub struct Netrc {
    /// The field that logs in at each host; the first login per host counts.
    pub logins: Vec<(HostPattern, SecretField)>,
    /// True if there is a login for all other hosts.
    pub has_default: bool,
}

/// A file that is not in the netrc format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct NetrcError {
    /// The line, from 1.
    pub line: usize,
    /// The mistake.
    pub why: &'static str,
}

/// The login of a machine, possibly incomplete.
#[derive(Default)]
struct Entry {
    line: usize,
    host: Option<HostPattern>,
    login: Option<String>,
    password: Option<String>,
}

/// Reads a file in the netrc format.
///
/// # Errors
/// [`NetrcError`] for the first mistake.
pub fn read_netrc(text: &str) -> Result<Netrc, NetrcError> {
    let mut netrc = Netrc::default();
    let mut entry: Option<Entry> = None;
    let mut words = words(text)?.into_iter().peekable();
    while let Some((line, word)) = words.next() {
        let wrong = |why| NetrcError { line, why };
        let mut value = || {
            let next = words.next().map(|(_, value)| value);
            next.ok_or(wrong("the last word has no value"))
        };
        match word.as_str() {
            "machine" | "default" => {
                let host = match word.as_str() {
                    "machine" => {
                        let parsed = value()?.parse::<HostPattern>().ok();
                        let host = parsed.filter(|host| !host.to_string().starts_with('*'));
                        Some(host.ok_or(wrong("the machine is not a host, such as example.org"))?)
                    }
                    _ => None,
                };
                netrc.end(entry.replace(Entry {
                    line,
                    host,
                    ..Entry::default()
                }))?;
            }
            "login" | "password" | "account" => {
                let given = value()?;
                let Some(entry) = &mut entry else {
                    return Err(wrong("a login or password precedes the first machine"));
                };
                match word.as_str() {
                    "login" => entry.login = Some(given),
                    "password" => entry.password = Some(given),
                    _ => {}
                }
            }
            _ => {
                return Err(wrong(
                    "the keywords are machine, default, login, password, account",
                ));
            }
        }
    }
    netrc.end(entry)?;
    Ok(netrc)
}

impl Netrc {
    /// Adds the login of a machine.
    fn end(&mut self, entry: Option<Entry>) -> Result<(), NetrcError> {
        let Some(entry) = entry else {
            return Ok(());
        };
        let wrong = |why| NetrcError {
            line: entry.line,
            why,
        };
        let Some(host) = entry.host else {
            self.has_default = true;
            return Ok(());
        };
        let Some((login, password)) = entry.login.zip(entry.password) else {
            return Err(wrong("the machine has no login, or no password"));
        };
        if self.logins.len() == MOST {
            return Err(wrong("there are more than 1000 machines"));
        }
        // The first colon ends the user (RFC 7617, section 2).
        let field = match login.contains(':') {
            true => None,
            false => SecretField::basic(&format!("{login}:{password}"), None)
                .ok()
                .flatten(),
        };
        let unsayable = "its login or password is not valid in HTTP authentication";
        let field = field
            .filter(|field| field.origin().is_none())
            .ok_or(wrong(unsayable))?;
        if !self.logins.iter().any(|(known, _)| *known == host) {
            self.logins.push((host, field));
        }
        Ok(())
    }
}

/// Returns the words of a file with their lines, without macros and comments.
fn words(text: &str) -> Result<Vec<(usize, String)>, NetrcError> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut in_macro = false;
    for (line, text) in (1..).zip(text.lines()) {
        let mut rest = text.trim_start();
        if in_macro || rest.starts_with('#') {
            in_macro &= !rest.is_empty();
            continue;
        }
        while !rest.is_empty() {
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => unquoted(quoted).ok_or(NetrcError {
                    line,
                    why: "a quote is not closed",
                })?,
                None => {
                    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            if word == "macdef" {
                in_macro = true;
                break;
            }
            found.push((line, word));
            rest = after.trim_start();
        }
    }
    Ok(found)
}

/// Returns the text up to the closing quote, and what follows it.
pub(super) fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((word, &text[at + 1..])),
            '\\' => word.push(characters.next()?.1),
            other => word.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use super::*;

    fn logins(text: &str) -> Vec<(String, String)> {
        let netrc = read_netrc(text).unwrap();
        let shown = |(host, field): &(HostPattern, SecretField)| {
            let value = field
                .value()
                .to_str()
                .unwrap()
                .strip_prefix("Basic ")
                .unwrap();
            let login = BASE64.decode(value.as_bytes()).unwrap();
            (host.to_string(), String::from_utf8(login).unwrap())
        };
        netrc.logins.iter().map(shown).collect()
    }

    #[test]
    fn machines_have_a_login_and_a_password_in_any_layout() {
        let text = "# machine x login y password z\nmachine a.test\n\tlogin me\n\tpassword one\n\
                    machine B.test login \"a b\" account x password \"q\\\"\\\\:#\"\n\
                    macdef init\nmachine c.test login no password no\n\n\
                    machine a.test login other password two\n";
        let pair = |host: &str, login: &str| (host.to_owned(), login.to_owned());
        let expected = [pair("a.test", "me:one"), pair("b.test", "a b:q\"\\:#")];
        assert_eq!(logins(text), expected);
        let with_default = read_netrc("default login a password b").unwrap();
        assert!(with_default.has_default && with_default.logins.is_empty());
        assert_eq!(logins(""), []);
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_no_word_of_the_file() {
        for (text, line) in [
            ("machine a.test login me", 1),
            ("\nmachine a.test login me password", 2),
            ("login me password hidden", 1),
            ("machine a.test\nlogin me\nhidden x\n", 3),
            ("machine http://hidden/ login a password b", 1),
            ("machine *.a.test login a password b", 1),
            ("machine a.test login a:hidden password b", 1),
            ("machine a.test login a password \"hidden", 1),
        ] {
            let error = read_netrc(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }
}
