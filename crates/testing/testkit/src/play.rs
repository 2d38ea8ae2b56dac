//! From a [`Reply`] to bytes, and the steps in which they are sent.
//!
//! Pure, so that the plain server and the TLS server cannot disagree, and so that it is tested
//! without a socket.

use std::ops::Range;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use crate::gate::Gate;
use crate::http::{Delivery, End, Framing, Reply, reason};

/// Something to do while a body is sent.
#[derive(Debug)]
pub(crate) enum Step {
    Send(Range<usize>),
    Wait(Gate),
    Pause(Duration),
    End(End),
}

/// The steps in which a body of `length` framed bytes is sent, after its head.
pub(crate) fn steps(delivery: Option<&Delivery>, length: usize) -> Vec<Step> {
    let mut steps = Vec::with_capacity(1);
    let Some(delivery) = delivery else {
        if length > 0 {
            steps.push(Step::Send(0..length));
        }
        return steps;
    };
    let mut gate = delivery.gate_within.as_ref();
    let mut at = 0;
    loop {
        if let Some((_, end)) = delivery.end.filter(|&(place, _)| place <= at) {
            steps.push(Step::End(end));
            return steps;
        }
        if let Some((_, held)) = gate.take_if(|(place, _)| *place <= at) {
            steps.push(Step::Wait(held.clone()));
        }
        if at >= length {
            return steps;
        }
        let mut next = length;
        for place in [
            delivery.end.map(|(place, _)| place),
            gate.map(|(place, _)| *place),
        ]
        .into_iter()
        .flatten()
        {
            next = next.min(place);
        }
        if let Some((piece, pause)) = delivery.drip {
            if at > 0 {
                steps.push(Step::Pause(pause));
            }
            next = next.min(at + piece);
        }
        steps.push(Step::Send(at..next));
        at = next;
    }
}

/// Status line and header fields for HTTP/1.1, up to and with the empty line.
pub(crate) fn head(reply: &Reply) -> Bytes {
    let mut head = BytesMut::with_capacity(256);
    if reply.framing == Framing::Raw {
        return head.freeze();
    }
    head.put_slice(format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status)).as_bytes());
    for (name, value) in &reply.headers {
        put_field(&mut head, name, value);
    }
    match reply.framing {
        Framing::Length
            if reply.header_value("content-length").is_none() && reply.status != 304 =>
        {
            put_field(
                &mut head,
                b"Content-Length",
                reply.body.len().to_string().as_bytes(),
            );
        }
        Framing::Length | Framing::Raw => {}
        Framing::Chunked(_) => put_field(&mut head, b"Transfer-Encoding", b"chunked"),
        Framing::UntilClose => put_field(&mut head, b"Connection", b"close"),
    }
    head.put_slice(b"\r\n");
    head.freeze()
}

/// The body as it follows the head over HTTP/1.1.
pub(crate) fn framed(reply: &Reply) -> Bytes {
    let Framing::Chunked(size) = reply.framing else {
        return reply.body.clone();
    };
    let mut framed = BytesMut::with_capacity(reply.body.len() + 64);
    for chunk in reply.body.chunks(size) {
        framed.put_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        framed.put_slice(chunk);
        framed.put_slice(b"\r\n");
    }
    framed.put_slice(b"0\r\n\r\n");
    framed.freeze()
}

fn put_field(head: &mut BytesMut, name: &[u8], value: &[u8]) {
    head.put_slice(name);
    head.put_slice(b": ");
    head.put_slice(value);
    head.put_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn described(reply: &Reply) -> String {
        let describe = |step| match step {
            Step::Send(range) => format!("{range:?}"),
            Step::Wait(_) => "wait".into(),
            Step::Pause(_) => "pause".into(),
            Step::End(end) => format!("{end:?}"),
        };
        let steps = steps(reply.delivery.as_deref(), reply.body.len());
        steps
            .into_iter()
            .map(describe)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_body_is_sent_in_the_steps_of_its_mode() {
        let gate = Gate::new();
        for (reply, expected) in [
            (Reply::text("sixsix"), "0..6"),
            (Reply::text(""), ""),
            (Reply::text("sixsix").delay(SECOND).hold(&gate), "0..6"),
            (Reply::text("sixsix").hold_after(2, &gate), "0..2 wait 2..6"),
            (Reply::text("sixsix").hold_after(0, &gate), "wait 0..6"),
            (Reply::text("sixsix").hold_after(6, &gate), "0..6 wait"),
            (Reply::text("sixsix").hold_after(9, &gate), "0..6"),
            (Reply::text("sixsix").break_after(4), "0..4 Reset"),
            (Reply::text("sixsix").break_after(0), "Reset"),
            (Reply::text("sixsix").close_after(6), "0..6 Close"),
            (Reply::text("sixsix").close_after(7), "0..6"),
            (Reply::text("sixsix").drip(4, SECOND), "0..4 pause 4..6"),
            (
                Reply::text("sixsix")
                    .drip(3, SECOND)
                    .hold_after(4, &gate)
                    .break_after(5),
                "0..3 pause 3..4 wait pause 4..5 Reset",
            ),
        ] {
            assert_eq!(described(&reply), expected, "{reply:?}");
        }
    }

    proptest! {
        #[test]
        fn chunks_put_together_are_the_body(body: Vec<u8>, size in 1_usize..40) {
            let framed = framed(&Reply::document("a/b", body.clone()).chunked(size));
            let (mut rest, mut together) = (&framed[..], Vec::new());
            loop {
                let parsed = httparse::parse_chunk_size(rest);
                let Ok(httparse::Status::Complete((line, length))) = parsed else {
                    panic!("no chunk at {rest:?}");
                };
                let (chunk, after) = rest[line..].split_at(usize::try_from(length).unwrap());
                prop_assert!(chunk.len() <= size && after.starts_with(b"\r\n"));
                together.extend_from_slice(chunk);
                rest = &after[2..];
                if chunk.is_empty() {
                    break;
                }
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(together, body);
        }
    }
}
