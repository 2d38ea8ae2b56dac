//! A web that means harm, or is merely broken: one host for each way of it.
//!
//! A [`Mode`] is a way to misbehave, with a name for ever, a sentence about what it does, and what
//! a crawler may make of it ([`Expect`]). A [`HostileServer`] serves all of them on loopback, byte
//! by byte and without an HTTP library in between: the mode is the first label of the host name
//! (`http://endless-body.hostile.test:PORT/`), so that each has a robots.txt and a back-off of its
//! own.
//!
//! What is endless is paced, ends when the peer leaves, and is made while it is sent: the server
//! itself stays small. What lies about HTTP follows RFC 9112, whose sections the families name.
//!
//! Whoever wants to see how another program fares: `cargo run -p testkit --features tls --example
//! hostile`.

mod article;
mod bombs;
mod breaks;
mod charsets;
mod chunks;
mod content;
mod endless;
mod fields;
#[cfg(feature = "tls")]
mod floods;
mod html;
mod lengths;
mod links;
mod redirects;
mod reuse;
mod robots;
mod script;
mod server;
mod sitemaps;
mod statuses;
#[cfg(feature = "tls")]
mod tls;
mod waits;

use std::borrow::Cow;

use crate::Request;
use script::Script;

pub use reuse::POISON;
pub use server::HostileServer;

/// The domain whose subdomains are the modes.
pub const DOMAIN: &str = "hostile.test";

/// A way to misbehave.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name, in kebab case; the first label of its host's name.
    pub name: Cow<'static, str>,
    /// What it belongs to: `lengths`, `chunks`, …
    pub family: &'static str,
    /// What it does, in a sentence.
    pub does: &'static str,
    /// What a crawler may make of it.
    pub expect: Expect,
    /// Where it is served.
    place: Place,
    /// What tells it from others of its kind: an offset.
    parameter: usize,
    answer: fn(&Asked<'_>) -> Script,
}

/// What a visit of a mode's front page comes to.
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

/// What a crawler may make of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A page; the oddity does no harm.
    Page,
    /// A page that is marked as cut.
    Truncated,
    /// A failure, with a reason.
    Failed,
    /// A failure, or a page, cut or not: the standards leave it open, or how the bytes happen to
    /// arrive.
    FailedOrPage,
    /// Left out: a rule forbids it or where it leads.
    Excluded,
}

impl Expect {
    /// Whether that is a good end.
    #[must_use]
    pub fn allows(self, end: End) -> bool {
        match self {
            Self::Page => end == End::Page,
            Self::Truncated => end == End::Truncated,
            Self::Failed => end == End::Failed,
            Self::FailedOrPage => end != End::Excluded,
            Self::Excluded => end == End::Excluded,
        }
    }
}

/// Where a mode is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Over HTTP, on the port that most modes share.
    Shared,
    /// On a port of its own, because it misbehaves before anything was asked.
    Own(OwnPort),
    /// Over TLS, on the shared port: the first byte tells.
    #[cfg(feature = "tls")]
    Tls(tls::Handshake),
}

/// What happens on a port that only one mode has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnPort {
    /// The answer is played at once, whatever is asked.
    Eager,
    /// Nobody listens.
    Refused,
    /// It listens, and nobody ever takes a connection from the queue.
    Unaccepted,
    /// It listens with a queue of one, which is full: no connection comes about.
    Full,
}

/// What a mode is asked, and what it may want to know for its answer.
struct Asked<'a> {
    mode: &'a Mode,
    request: &'a Request,
    /// Requests before this one: for this mode, robots.txt not counted, and on this connection.
    before: u64,
    before_on_connection: u64,
    /// The port that was asked.
    port: u16,
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

    /// All of them, family by family; those over TLS only with the feature `tls`.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let families = [
            lengths::modes(),
            chunks::modes(),
            endless::modes(),
            bombs::modes(),
            breaks::modes(),
            #[cfg(feature = "tls")]
            tls::modes(),
            redirects::modes(),
            statuses::modes(),
            fields::modes(),
            robots::modes(),
            sitemaps::modes(),
            charsets::modes(),
            html::modes(),
            content::modes(),
            links::modes(),
            waits::modes(),
            reuse::modes(),
        ];
        families.into_iter().flatten().collect()
    }

    /// One for every byte of a small answer (a body with a length, a chunked one, and one that ends
    /// with its connection), broken off before that byte by a reset and by an orderly end.
    #[must_use]
    pub fn breaks_at_every_byte() -> Vec<Self> {
        breaks::at_every_byte()
    }

    /// Floods of HTTP/2 frames, which keep a core busy for as long as they are listened to.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn floods() -> Vec<Self> {
        floods::modes()
    }

    /// Whether something of it goes on, or stays silent, until its visitor has had enough.
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

    fn new(
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

    fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// What is answered. Modes that have nothing to do with robots.txt have none, and none has
    /// pages but its own: a crawler comes to what it is about.
    fn script(&self, asked: &Asked<'_>) -> Script {
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

#[cfg(test)]
mod tests;
