//! Secrets that are sent to some servers only. They are read first, bound to the seeds, and never
//! written to a file.
//!
//! No error or warning in this file repeats a value or an unreadable line.

mod options;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fetch::{BadCookie, Cookie, Secrets, read_cookies, read_netrc};
use http::header::AUTHORIZATION;
use messages::{CommandError, usage};
use requests::SecretField;
use settings::{Settings, input};
use web::{Clock, Host, HostPattern, HostTable, PageUrl};

pub use self::options::SecretArgs;
use self::options::USUAL_NETRC;

/// Maximum size of a file of fields or passwords, and of a file of cookies.
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_COOKIES_BYTES: u64 = 64 << 20;
/// Maximum number of header fields: more than any server accepts.
const MAX_FIELDS: usize = 64;
/// Maximum number of bad lines in a cookie file that are listed individually.
const MAX_LISTED: usize = 10;

/// The secrets that were given, not yet bound to seeds.
#[derive(Debug, Default)]
pub struct GivenSecrets {
    fields: Vec<SecretField>,
    of_hosts: Vec<(HostPattern, Vec<SecretField>)>,
    logins: Vec<(HostPattern, SecretField)>,
    cookies: Vec<Cookie>,
    /// The options that were given.
    pub options: Vec<String>,
    warnings: Vec<String>,
}

impl GivenSecrets {
    /// Reads the options and the files that they name.
    pub fn gather(args: &SecretArgs) -> Result<Self, CommandError> {
        let mut given = Self::default();
        for header in &args.header {
            given.used("header");
            match header.0.strip_prefix('@') {
                Some(file) => {
                    for field in read_fields(Path::new(file), "--header")? {
                        given.add(field, "--header")?;
                    }
                }
                None => given.add(parsed(&header.0, "--header")?, "--header")?,
            }
        }
        given.log_in(args)?;
        if let Some(file) = &args.netrc {
            given.used("netrc");
            given.read_netrc(file)?;
        }
        if let Some(file) = &args.load_cookies {
            given.used("load-cookies");
            given.read_cookies(file)?;
        }
        Ok(given)
    }

    /// Reads the header fields of single hosts from the settings and the files that these name.
    pub fn add_hosts(&mut self, settings: &Settings) -> Result<(), CommandError> {
        for (pattern, own) in settings.resolved_hosts() {
            let place = format!("[host.\"{pattern}\"] headers");
            let mut fields = Vec::new();
            for text in &own.headers.0 {
                match text.strip_prefix('@') {
                    Some(file) => fields.extend(read_fields(Path::new(file), &place)?),
                    None => fields.push(parsed(text, &place)?),
                }
            }
            if let Some(bad) = fields.iter().find(|field| field.origin().is_some()) {
                let name = bad.name();
                return Err(usage(format!(
                    "{place}: {name} belongs to the host; omit the origin"
                )));
            }
            if fields.len() > MAX_FIELDS {
                return Err(usage(format!(
                    "{place}: more than {MAX_FIELDS} header fields"
                )));
            }
            if !fields.is_empty() {
                // Not a header option: the settings file contains these fields, but the crawl's
                // copy does not.
                self.used("config");
                self.of_hosts.push((pattern, fields));
            }
        }
        Ok(())
    }

    /// Returns true if there are secrets to bind.
    pub fn has_any(&self) -> bool {
        let has_fields = !(self.fields.is_empty() && self.of_hosts.is_empty());
        has_fields || !self.logins.is_empty() || !self.cookies.is_empty()
    }

    /// Binds the secrets to the seeds, and returns warnings for the user.
    pub fn bind(self, seeds: &[PageUrl], clock: &Clock) -> (Secrets, Vec<String>) {
        let mut warnings = self.warnings;
        let now = clock.now();
        let expired = self.cookies.iter().filter(|cookie| cookie.is_over(now));
        let (expired, cookies) = (expired.count(), self.cookies.len());
        let some_for_all = self.fields.iter().any(|field| field.origin().is_none());
        let of_hosts = with_logins(self.of_hosts, self.logins);
        let secrets =
            Secrets::new(self.fields, self.cookies, seeds).with_fields_of_hosts(of_hosts, seeds);
        let (origins, open_origins) = secrets.origins();
        let (sendable, open_cookies) = secrets.cookies();
        if expired > 0 {
            warnings.push(format!(
                "{expired} of {cookies} cookies have expired and are not sent"
            ));
        }
        if sendable < cookies {
            let others = cookies - sendable;
            warnings.push(format!(
                "{others} of {cookies} cookies do not match the host of a seed and are not sent"
            ));
        }
        if some_for_all && origins > 1 {
            warnings.push(format!(
                "secrets are sent to {origins} origins; use 'https://example.org Name: value' to \
                 send a header to one origin"
            ));
        }
        if open_origins > 0 {
            warnings.push(format!(
                "secrets are sent to {open_origins} of {origins} origins over http: an attacker on \
                 the network can read them"
            ));
        }
        if open_cookies > 0 {
            warnings.push(format!(
                "{open_cookies} cookies are sent over http: an attacker on the network can read \
                 them"
            ));
        }
        (secrets, warnings)
    }

    fn used(&mut self, option: &str) {
        if !self.options.iter().any(|used| used == option) {
            self.options.push(option.to_owned());
        }
    }

    fn add(&mut self, field: SecretField, place: &str) -> Result<(), CommandError> {
        if self.fields.len() == MAX_FIELDS {
            return Err(usage(format!(
                "{place}: more than {MAX_FIELDS} header fields"
            )));
        }
        self.fields.push(field);
        Ok(())
    }

    fn log_in(&mut self, args: &SecretArgs) -> Result<(), CommandError> {
        let Some(login) = &args.http_user else {
            return Ok(());
        };
        self.used("http-user");
        let file = args.http_password_file.as_deref();
        let text = file.map(|file| read_text(file, "--http-password-file"));
        let text = text.transpose()?;
        let in_file = text
            .as_deref()
            .map(|text| text.lines().next().unwrap_or(""));
        let given = args.http_password.as_ref().map(|given| given.0.as_str());
        let field = SecretField::basic(&login.0, in_file.or(given))
            .map_err(|error| usage(format!("--http-user: {error}")).with_remedy(ONE_PASSWORD))?;
        let Some(field) = field else {
            return Err(usage("--http-user: no password given").with_remedy(ONE_PASSWORD));
        };
        let mut names = self.fields.iter().map(SecretField::name);
        if names.any(|name| name == AUTHORIZATION) {
            let remedy = "give only one of --header and --http-user";
            return Err(
                usage("--http-user and --header both set Authorization").with_remedy(remedy)
            );
        }
        self.add(field, "--http-user")
    }

    fn read_netrc(&mut self, given: &Path) -> Result<(), CommandError> {
        let file = match given == Path::new(USUAL_NETRC) {
            false => given.to_owned(),
            true => match std::env::home_dir() {
                Some(home) => home.join(".netrc"),
                None => return Err(usage("--netrc: no home directory; use --netrc=FILE")),
            },
        };
        let name = file.display();
        let read = read_netrc(&read_text(&file, "--netrc")?);
        let netrc = read.map_err(|error| usage(format!("--netrc: {name}, {error}")))?;
        let mode = file
            .metadata()
            .map_or(0, |about| about.permissions().mode());
        if mode & 0o077 != 0 && file.is_file() {
            self.warnings.push(format!(
                "other users of this machine can read {name}: `chmod 600` it"
            ));
        }
        if netrc.has_default {
            self.warnings.push(format!(
                "the default entry of {name} is not used: it would be sent to any host"
            ));
        }
        self.logins = netrc.logins;
        Ok(())
    }

    fn read_cookies(&mut self, file: &Path) -> Result<(), CommandError> {
        let read = read_cookies(&read_file(file, "--load-cookies", MAX_COOKIES_BYTES)?);
        let name = file.display();
        if read.cookies.is_empty()
            && let Some(bad) = read.bad.first()
        {
            let remedy = "Netscape format: domain, TRUE or FALSE, path, TRUE or FALSE, expiry, \
                          name, value, with tabs between them";
            return Err(usage(format!(
                "--load-cookies {name}: no line is a cookie; line {}: {}",
                bad.line, bad.why
            ))
            .with_remedy(remedy));
        }
        let (listed, more) = read.bad.split_at(read.bad.len().min(MAX_LISTED));
        let warn = |bad: &BadCookie| format!("{name}, line {} is skipped: {}", bad.line, bad.why);
        self.warnings.extend(listed.iter().map(warn));
        if !more.is_empty() {
            let more = more.len();
            self.warnings
                .push(format!("{name}: {more} more lines are skipped"));
        }
        self.cookies = read.cookies;
        Ok(())
    }
}

fn parsed(text: &str, place: &str) -> Result<SecretField, CommandError> {
    SecretField::parse(text).map_err(|error| usage(format!("{place}: {error}")))
}

/// Reads a file of header fields, one per line. Blank lines and # comments are ignored.
fn read_fields(file: &Path, option: &str) -> Result<Vec<SecretField>, CommandError> {
    let text = read_text(file, option)?;
    let lines = text.lines().enumerate();
    let fields = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let parse = |(index, line): (usize, &str)| {
        let place = format!("{option} @{}, line {}", file.display(), index + 1);
        parsed(line, &place)
    };
    fields.map(parse).collect()
}

/// Adds logins to the fields of single hosts. A host keeps its own fields if they contain a login.
fn with_logins(
    of_hosts: Vec<(HostPattern, Vec<SecretField>)>,
    logins: Vec<(HostPattern, SecretField)>,
) -> HostTable<Vec<SecretField>> {
    let known: HostTable<_> = of_hosts.iter().cloned().collect();
    let added = logins.into_iter().map(|(pattern, login)| {
        // The pattern is a host, and its new table would hide the table that the host already has.
        let mut fields = known
            .get(&Host::new(&pattern.to_string()))
            .cloned()
            .unwrap_or_default();
        if !fields.iter().any(|field| field.name() == AUTHORIZATION) {
            fields.push(login);
        }
        (pattern, fields)
    });
    let added: Vec<_> = added.collect();
    of_hosts.into_iter().chain(added).collect()
}

const ONE_PASSWORD: &str = "give the password once: as USER:PASSWORD, in --http-password-file, or \
    in --http-password";

/// Returns a warning about secret options that an earlier run had but this run lacks.
pub fn missing(before: &[String], now: &[String]) -> Option<String> {
    let missing: Vec<String> = before
        .iter()
        .filter(|option| !now.contains(option))
        .map(|option| format!("--{option}"))
        .collect();
    let given = missing.join(" and ");
    (!missing.is_empty()).then(|| {
        format!(
            "this crawl was run with {given}, which is never stored: give it again, or servers \
             will not accept the login"
        )
    })
}

fn read_text(file: &Path, option: &str) -> Result<String, CommandError> {
    let bytes = read_file(file, option, MAX_FILE_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_not_text| usage(format!("{option}: {} is not UTF-8", file.display())))
}

fn read_file(file: &Path, option: &str, cap: u64) -> Result<Vec<u8>, CommandError> {
    let shown = file.display();
    let bytes = input::read(file, cap + 1)
        .map_err(|error| usage(format!("{option}: cannot read {shown}: {error}")))?;
    if bytes.len() as u64 > cap {
        return Err(usage(format!("{option}: {shown} exceeds {cap} bytes")));
    }
    Ok(bytes)
}
