//! TLS that fails, in each of the ways in which it can (RFC 8446), and HTTP that goes wrong within
//! it.
//!
//! The host name is read from the client's first message, so that these modes share a port with all
//! others.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

use super::certificates::Certificate;
use super::connection::{Shared, Wire, converse, play};
use super::mode::{Asked, Expect, Handshake, Mode, Place};
use super::script::{SLOW, Script, Step, TICK};
use crate::http::Request;

const FAMILY: &str = "tls";
/// The first byte of a handshake record (RFC 8446 section 5.1).
pub(super) const HANDSHAKE: u8 = 22;

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Kept, Page};
    let plain = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Failed, answer).at(Place::Tls(Handshake::Plain))
    };
    let shows = |name, does, expect, certificate, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer).at(Place::Tls(Handshake::Shows(certificate)))
    };
    let page = |asked: &Asked<'_>| asked.page();
    vec![
        plain("tls-plain-http", "answers in plain HTTP", |_| {
            Script::only("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        }),
        plain(
            "tls-garbage",
            "answers with bytes that are no record",
            |_| Script::only([0xde, 0xad, 0xbe, 0xef].repeat(200)),
        ),
        plain(
            "tls-echo",
            "answers with a handshake record of nonsense",
            |_| Script::only([&[HANDSHAKE, 3, 3, 0, 100][..], &[0x55; 100]].concat()),
        ),
        plain("tls-stalls", "takes the greeting and says nothing", |_| {
            Script::new().hang()
        }),
        plain(
            "tls-stalls-in-record",
            "begins a record and does not end it",
            |_| {
                Script::new()
                    .send(&[HANDSHAKE, 3, 3, 0x40, 0, 2, 0, 0][..])
                    .hang()
            },
        ),
        plain("tls-drips", "a record of three bytes a second", |_| {
            Script::new().drip(
                [
                    &[HANDSHAKE, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc, 3, 3][..],
                    &[7; 2000],
                ]
                .concat(),
                SLOW,
            )
        }),
        plain(
            "tls-record-too-long",
            "a record of more bytes than records may have",
            |_| {
                Script::new()
                    .send([&[HANDSHAKE, 3, 3, 0xff, 0xff][..], &[0; 65_535]].concat())
                    .hang()
            },
        ),
        plain("tls-records-endless", "hollow records without end", |_| {
            Script::new().endless([20, 3, 3, 0, 1, 1].repeat(100), TICK)
        }),
        plain("tls-warnings-endless", "warnings without end", |_| {
            Script::new().endless([21, 3, 3, 0, 2, 1, 112].repeat(100), TICK)
        }),
        plain("tls-alert-refused", "refuses the handshake", |_| {
            Script::only(&[21, 3, 3, 0, 2, 2, 40][..])
        }),
        plain("tls-alert-version", "wants another version", |_| {
            Script::only(&[21, 3, 1, 0, 2, 2, 70][..])
        }),
        plain("tls-alert-unknown", "an alert that nobody knows", |_| {
            Script::only(&[21, 3, 3, 0, 2, 2, 255][..])
        }),
        plain("tls-closes", "closes instead of a handshake", |_| {
            Script::new().close()
        }),
        plain("tls-resets", "resets instead of a handshake", |_| {
            Script::new().reset()
        }),
        shows(
            "tls-self-signed",
            "a certificate that vouches for itself",
            Failed,
            Certificate::SelfSigned,
            page,
        ),
        shows(
            "tls-expired",
            "a certificate that expired in 2001",
            Failed,
            Certificate::Expired,
            page,
        ),
        shows(
            "tls-not-yet",
            "a certificate that begins in 2090",
            Failed,
            Certificate::NotYet,
            page,
        ),
        shows(
            "tls-wrong-name",
            "a certificate for another name",
            Failed,
            Certificate::WrongName,
            page,
        ),
        shows(
            "tls-stranger",
            "a certificate of an authority that nobody trusts",
            Failed,
            Certificate::Stranger,
            page,
        ),
        shows(
            "tls-many-names",
            "a certificate for 2,000 names, ours the last",
            FailedOrPage,
            Certificate::ManyNames,
            page,
        ),
        shows(
            "tls-good",
            "nothing is wrong",
            Page,
            Certificate::Good,
            page,
        ),
        shows(
            "tls-no-farewell",
            "a page without a length, and leaves without a farewell",
            FailedOrPage,
            Certificate::Good,
            |asked| {
                Script::until_close("")
                    .send(asked.article(""))
                    .then(Step::Vanish)
            },
        ),
        shows(
            "tls-no-farewell-cut",
            "half a page with a length, and leaves without a farewell",
            Kept,
            Certificate::Good,
            |asked| {
                let page = asked.article("");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
                Script::new()
                    .send(head + &page[..page.len() / 2])
                    .then(Step::Vanish)
            },
        ),
        shows(
            "tls-reset-in-body",
            "resets within a page",
            Kept,
            Certificate::Good,
            |asked| {
                let page = asked.article("");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
                Script::new().send(head + &page[..page.len() / 2]).reset()
            },
        ),
        shows(
            "tls-tiny-records",
            "a record for every byte of a page",
            Page,
            Certificate::Good,
            |asked| {
                let page = asked.article("");
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
                    page.len()
                );
                Script::new().drip(head + &page, Duration::ZERO)
            },
        ),
        shows(
            "tls-never-answers",
            "a good handshake, and no answer",
            Failed,
            Certificate::Good,
            |_| Script::new().hang(),
        ),
        shows(
            "tls-endless-body",
            "a page without end",
            FailedOrPage,
            Certificate::Good,
            |_| Script::until_close("").endless("<p>and more</p>\n".repeat(1000), TICK),
        ),
        shows(
            "tls-downgrade",
            "redirects to plain HTTP",
            Page,
            Certificate::Good,
            |asked| {
                if !asked.is_front() {
                    return asked.page();
                }
                Script::redirect(format!(
                    "http://{}:{}/landed",
                    asked.request.host, asked.port
                ))
            },
        ),
        Mode::new(
            FAMILY,
            "tls-forgets",
            "a good handshake, and then plain bytes",
            Failed,
            |asked| asked.page().close(),
        )
        .at(Place::Tls(Handshake::Forgets)),
    ]
}

/// A connection that begins with a handshake.
pub(super) async fn receive(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let greeted = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let host = greeted
        .client_hello()
        .server_name()
        .unwrap_or_default()
        .to_owned();
    let Some((mode, handshake)) = shared.mode(&host).and_then(|mode| match mode.place {
        Place::Tls(handshake) => Some((mode, handshake)),
        _ => None,
    }) else {
        return Ok(());
    };
    let certificate = match handshake {
        Handshake::Plain => return play_outside(greeted.io, shared, mode).await,
        Handshake::Shows(certificate) => certificate,
        Handshake::Frames => return play_frames(greeted, shared, mode).await,
        Handshake::Forgets => Certificate::Good,
    };
    let configuration = shared.identities.configuration(certificate);
    let stream = greeted.into_stream(configuration).await?;
    if handshake == Handshake::Forgets {
        return play_outside(stream.into_inner().0, shared, mode).await;
    }
    converse(stream, shared).await
}

/// Plays a mode in HTTP/2, whatever it is asked.
async fn play_frames(
    greeted: StartHandshake<TcpStream>,
    shared: &Shared,
    mode: &Mode,
) -> io::Result<()> {
    let mut configuration = (*shared.identities.configuration(Certificate::Good)).clone();
    configuration.alpn_protocols = vec![b"h2".to_vec()];
    let mut stream = greeted.into_stream(Arc::new(configuration)).await?;
    let request = Request::get(&format!("https://{}/", mode.host()));
    let script = shared.script(mode, &request, 0);
    play(&mut stream, &mut BytesMut::new(), script).await?;
    Ok(())
}

/// Plays a mode without TLS to a peer that expects TLS.
async fn play_outside(mut stream: TcpStream, shared: &Shared, mode: &Mode) -> io::Result<()> {
    let request = Request::get(&format!("https://{}/", mode.host()));
    let script = shared.script(mode, &request, 0);
    play(&mut stream, &mut BytesMut::new(), script).await?;
    stream.shutdown().await
}

impl Wire for TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}
