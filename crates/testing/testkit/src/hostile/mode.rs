//! A way to misbehave, and everything that is known of it.

use std::borrow::Cow;

#[cfg(feature = "tls")]
use super::certificates::Certificate;
use super::script::Script;
use crate::http::Request;

/// The domain whose subdomains are the modes.
pub const DOMAIN: &str = "hostile.test";

/// A way to misbehave.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name, in kebab case; the first label of its host's name.
    pub name: Cow<'static, str>,
    /// The family: `lengths`, `chunks`, …
    pub family: &'static str,
    /// A description in one sentence.
    pub does: &'static str,
    /// The results that a crawler may come to.
    pub expect: Expect,
    /// The port and protocol that serve it.
    pub(super) place: Place,
    /// An offset that distinguishes modes of one kind.
    pub(super) parameter: usize,
    pub(super) answer: fn(&Asked<'_>) -> Script,
}

/// The result of a visit to a mode's front page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A page, as far as the visitor knows all of it.
    Page,
    /// A page that the visitor knows to be cut.
    Truncated,
    /// No page.
    Failed,
    /// A rule forbids it, or where it leads.
    Excluded,
}

/// The results that a crawler may come to at a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A page; the warning does no harm.
    Page,
    /// A page that is marked as cut.
    Truncated,
    /// A page, cut or, as a duplicate of another, not marked.
    Kept,
    /// A failure, with a reason.
    Failed,
    /// A failure, or a page, cut or not: the standards leave it open, or how the bytes happen to
    /// arrive.
    FailedOrPage,
    /// Left out: a rule forbids it or where it leads.
    Excluded,
}

impl Expect {
    /// Returns true if `end` is one of them.
    #[must_use]
    pub fn allows(self, end: End) -> bool {
        match self {
            Self::Page => end == End::Page,
            Self::Truncated => end == End::Truncated,
            Self::Kept => matches!(end, End::Page | End::Truncated),
            Self::Failed => end == End::Failed,
            Self::FailedOrPage => end != End::Excluded,
            Self::Excluded => end == End::Excluded,
        }
    }
}

/// The port and protocol that serve a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Over HTTP, on the port that most modes share.
    Shared,
    /// On a port of its own, because it misbehaves before anything was asked.
    Own(OwnPort),
    /// Over TLS, on the shared port: recognized by the first byte.
    #[cfg(feature = "tls")]
    Tls(Handshake),
}

#[cfg(feature = "tls")]
/// The answer to a client's TLS greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    /// With the script, as plain bytes.
    Plain,
    /// Properly, with this certificate; the script is played within.
    Shows(Certificate),
    /// Properly, and both speak HTTP/2: the script is what the server says.
    Frames,
    /// Properly, and then the script follows outside of the encryption.
    Forgets,
}

/// The behaviour of a port that only one mode has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnPort {
    /// The answer is played at once, whatever is asked.
    Eager,
    /// Nobody listens.
    Refused,
    /// It listens, and never takes a connection from the queue.
    Unaccepted,
    /// It listens with a queue of one, which is full: no connection comes about.
    Full,
}

/// A request to a mode, with the state that its answer may depend on.
pub(super) struct Asked<'a> {
    pub(super) mode: &'a Mode,
    pub(super) request: &'a Request,
    /// Requests before this one: for this mode, robots.txt not counted, and on this connection.
    pub(super) before: u64,
    pub(super) before_on_connection: u64,
    /// The port that was asked.
    pub(super) port: u16,
}

impl Mode {
    /// The host name: NAME.hostile.test.
    #[must_use]
    pub fn host(&self) -> String {
        format!("{}.{DOMAIN}", self.name)
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self.place {
            Place::Shared | Place::Own(_) => "http",
            #[cfg(feature = "tls")]
            Place::Tls(_) => "https",
        }
    }

    /// Returns true if some answer continues, or stays silent, until the client gives up.
    #[must_use]
    pub fn needs_a_deadline(&self) -> bool {
        if let Place::Own(kind) = self.place {
            return matches!(kind, OwnPort::Unaccepted | OwnPort::Full);
        }
        if self.expect == Expect::Page && self.family != "sitemaps" {
            return false;
        }
        let host = self.host();
        let mut targets = ["/robots.txt", "/sitemap.xml", "/"].into_iter();
        targets.any(|target| {
            let request = Request::get(&format!("http://{host}{target}"));
            let script = self.script(&Asked {
                mode: self,
                request: &request,
                before: 0,
                before_on_connection: u64::from(target == "/"),
                port: 0,
            });
            script.is_endless()
        })
    }

    pub(super) fn new(
        family: &'static str,
        name: &'static str,
        does: &'static str,
        expect: Expect,
        answer: fn(&Asked<'_>) -> Script,
    ) -> Self {
        Self {
            name: name.into(),
            family,
            does,
            expect,
            place: Place::Shared,
            parameter: 0,
            answer,
        }
    }

    pub(super) fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Returns the script of the answer. Modes that do not concern robots.txt have none, and each
    /// mode has only its own pages, so that a crawler reaches the fault itself.
    pub(super) fn script(&self, asked: &Asked<'_>) -> Script {
        let of_its_own = matches!(self.family, "robots" | "sitemaps" | "reuse");
        if asked.request.target == "/robots.txt"
            && !of_its_own
            && self.place != Place::Own(OwnPort::Eager)
        {
            return Script::not_found();
        }
        (self.answer)(asked)
    }
}
