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
//! `cargo run -p testkit --features tls --example hostile` serves the modes to any program.

mod article;
mod bombs;
mod breaks;
#[cfg(feature = "tls")]
mod certificates;
mod charsets;
mod chunks;
mod connection;
mod content;
mod endless;
mod fields;
#[cfg(feature = "tls")]
mod floods;
mod html;
mod lengths;
mod links;
mod mode;
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

pub use mode::{DOMAIN, End, Expect, Mode};
pub use reuse::POISON;
pub use server::HostileServer;

impl Mode {
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
}

#[cfg(test)]
mod tests;
