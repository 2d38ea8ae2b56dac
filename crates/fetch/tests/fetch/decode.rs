//! Content codings taken off: honest bodies, broken ones, and bombs, which are built here.

use std::io::Write;

use bytes::Bytes;
use fetch::{DecodeTrouble, Decoded, decode};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

const CAP: u64 = 64 << 10;
/// The names under which we can both encode and decode; `raw` is `deflate` without its zlib frame.
const CODINGS: [&str; 6] = ["gzip", "x-gzip", "deflate", "raw", "br", "zstd"];

fn encode(coding: &str, text: &[u8]) -> Vec<u8> {
    let level = Compression::fast();
    match coding {
        "gzip" | "x-gzip" => write_all(GzEncoder::new(Vec::new(), level), text).finish(),
        "deflate" => write_all(ZlibEncoder::new(Vec::new(), level), text).finish(),
        "raw" => write_all(DeflateEncoder::new(Vec::new(), level), text).finish(),
        "br" => Ok(brotli_stored(text)),
        "zstd" => zstd::encode_all(text, 1),
        _ => Ok(text.to_vec()),
    }
    .expect("memory does not fail")
}

fn write_all<W: Write>(mut encoder: W, text: &[u8]) -> W {
    encoder.write_all(text).expect("memory does not fail");
    encoder
}

fn decoded(codings: &[&str], body: &[u8], cap: u64) -> Decoded {
    let mut headers = HeaderMap::new();
    for coding in codings {
        let name = if *coding == "raw" { "deflate" } else { coding };
        headers.append(CONTENT_ENCODING, HeaderValue::from_str(name).expect("a field"));
    }
    decode(&headers, &Bytes::copy_from_slice(body), cap)
}

fn whole(text: &[u8]) -> Decoded {
    Decoded {
        bytes: Bytes::copy_from_slice(text),
        truncated: false,
        trouble: None,
    }
}

#[test]
fn every_coding_is_taken_off() {
    for coding in CODINGS {
        for text in [
            &b""[..],
            b"a",
            "Grüße, and the same again, and the same again".as_bytes(),
        ] {
            assert_eq!(
                decoded(&[coding], &encode(coding, text), CAP),
                whole(text),
                "{coding} {text:?}"
            );
        }
    }
}

#[test]
fn names_are_read_loosely_and_nothing_is_copied_without_a_coding() {
    let body = Bytes::from_static(b"plain");
    for field in ["", "identity", " IDENTITY ,, identity"] {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(field));
        let decoded = decode(&headers, &body, CAP);
        assert_eq!(decoded, whole(b"plain"), "{field:?}");
        assert_eq!(decoded.bytes.as_ptr(), body.as_ptr(), "{field:?} was copied");
    }
    assert_eq!(decoded(&[" GZip "], &encode("gzip", b"x"), CAP), whole(b"x"));
}

#[test]
fn codings_on_top_of_each_other_come_off_in_reverse() {
    let twice = encode("br", &encode("gzip", b"page"));
    assert_eq!(decoded(&["gzip, br"], &twice, CAP), whole(b"page"));
    assert_eq!(decoded(&["gzip", "br"], &twice, CAP), whole(b"page"));
    let thrice = encode("zstd", &twice);
    assert_eq!(
        decoded(&["gzip, identity, br", "zstd"], &thrice, CAP),
        whole(b"page")
    );

    let too_often = encode("gzip", &thrice);
    let answer = decoded(&["gzip, br, zstd, gzip"], &too_often, CAP);
    assert_eq!(
        (&answer.bytes[..], answer.trouble),
        (&too_often[..], Some(DecodeTrouble::Layers))
    );
}

#[test]
fn an_unknown_coding_leaves_the_bytes_alone() {
    for field in ["compress", "gzip, sdch", "x-zstd", "gzip;q=1"] {
        let answer = decoded(&[field], b"bytes", CAP);
        assert_eq!(
            (&answer.bytes[..], answer.trouble),
            (&b"bytes"[..], Some(DecodeTrouble::Unknown))
        );
    }
}

#[test]
fn members_of_gzip_and_frames_of_zstd_follow_each_other() {
    for coding in ["gzip", "zstd"] {
        let two = [encode(coding, b"one, "), encode(coding, b"two")].concat();
        assert_eq!(decoded(&[coding], &two, CAP), whole(b"one, two"), "{coding}");
    }
}

#[test]
fn a_text_is_whole_at_the_cap_and_cut_one_byte_past_it() {
    for coding in CODINGS.into_iter().chain(["identity"]) {
        let body = encode(coding, b"0123456789");
        assert_eq!(decoded(&[coding], &body, 10), whole(b"0123456789"), "{coding}");
        let cut = Decoded {
            bytes: Bytes::from_static(b"012345678"),
            truncated: true,
            trouble: None,
        };
        assert_eq!(decoded(&[coding], &body, 9), cut, "{coding}");
    }
}

#[test]
fn a_broken_tail_costs_only_the_tail() {
    let text: Vec<u8> = (0..60_000_u32)
        .flat_map(|word| (word.wrapping_mul(2_654_435_761)).to_le_bytes())
        .collect();
    for coding in CODINGS {
        let mut body = encode(coding, &text);
        body.truncate(body.len() / 2);
        let answer = decoded(&[coding], &body, 1 << 20);
        assert_eq!(
            (answer.truncated, answer.trouble),
            (false, Some(DecodeTrouble::Broken)),
            "{coding}"
        );
        assert!(text.starts_with(&answer.bytes), "{coding}");
        assert!(
            answer.bytes.len() > text.len() / 4,
            "{coding}: {} bytes",
            answer.bytes.len()
        );
    }
}

#[test]
fn rubbish_after_gzip_does_not_spoil_what_came_before() {
    let body = [encode("gzip", b"page"), b"<!-- cached -->".to_vec()].concat();
    assert_eq!(&decoded(&["gzip"], &body, CAP).bytes[..], b"page");
}

#[test]
fn what_is_not_coded_at_all_is_trouble() {
    for coding in ["gzip", "br", "zstd"] {
        let answer = decoded(&[coding], b"<html>not coded</html>", CAP);
        assert_eq!(answer.trouble, Some(DecodeTrouble::Broken), "{coding}");
    }
}

#[test]
fn bombs_stop_at_the_cap() {
    let zeros = vec![0; 8 << 20];
    for coding in CODINGS {
        let bomb = if coding == "br" {
            brotli_bomb(4)
        } else {
            encode(coding, &zeros)
        };
        assert!(
            bomb.len() < 48 << 10,
            "{coding}: {} bytes are no bomb",
            bomb.len()
        );
        let answer = decoded(&[coding], &bomb, CAP);
        assert_eq!(
            (answer.bytes.len() as u64, answer.truncated),
            (CAP, true),
            "{coding}"
        );
    }
}

#[test]
fn a_bomb_inside_a_bomb_stops_at_the_cap() {
    let zeros = vec![0; 16 << 20];
    let bomb = encode("gzip", &encode("gzip", &zeros));
    assert!(bomb.len() < 8 << 10, "{} bytes are no bomb", bomb.len());
    let answer = decoded(&["gzip", "gzip"], &bomb, CAP);
    // The inner layer is cut as well: whatever came out of it before is kept.
    assert!(answer.bytes.len() as u64 <= CAP);
    assert!(answer.truncated || answer.trouble.is_some());
}

#[test]
fn a_layer_that_yields_nothing_is_not_read_for_ever() {
    // Empty stored blocks: five bytes each that stand for none (RFC 1951 section 3.2.4).
    let hollow = [0, 0, 0, 0xff, 0xff].repeat(1 << 20);
    let bomb = encode("zstd", &[hollow, encode("raw", b"never reached")].concat());
    assert!(bomb.len() < 10_000, "{} bytes", bomb.len());
    let answer = decoded(&["raw", "zstd"], &bomb, CAP);
    assert_eq!(
        (answer.bytes.len(), answer.trouble),
        (0, Some(DecodeTrouble::Broken))
    );
}

#[test]
fn windows_larger_than_the_web_allows_are_refused() {
    // brotli's extension: 0x11, then the number of bits (30: a gibibyte).
    let answer = decoded(&["br"], &[0x11, 30, 0x03], CAP);
    assert_eq!(answer.trouble, Some(DecodeTrouble::Broken));

    // A frame header that asks for 16 MiB (RFC 8878 section 3.1.1.1.2: exponent 14 in the high five bits).
    let wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 0x09, 0x00, 0x00, b'x'];
    assert_eq!(
        decoded(&["zstd"], &wide, CAP).trouble,
        Some(DecodeTrouble::Broken)
    );
    let mut fits = wide;
    fits[5] = 13 << 3;
    assert_eq!(decoded(&["zstd"], &fits, CAP), whole(b"x"));
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(
        text in prop::collection::vec(any::<u8>(), 0..4096),
        stack in prop::collection::vec(prop::sample::select(&CODINGS[..]), 0..=3),
    ) {
        let body = stack.iter().fold(text.clone(), |body, coding| encode(coding, &body));
        prop_assert_eq!(decoded(&stack, &body, CAP), whole(&text));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic_or_exceed_the_cap(
        body in prop::collection::vec(any::<u8>(), 0..512),
        coding in prop::sample::select(&CODINGS[..]),
    ) {
        prop_assert!(decoded(&[coding], &body, 100).bytes.len() <= 100);
    }
}

/// Brotli without compression: one stored meta-block for every 64 KiB (RFC 7932 section 9.2).
fn brotli_stored(text: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 KiB
    for block in text.chunks(1 << 16) {
        bits.push(0, 1); // not the last
        bits.push(0, 2); // four nibbles of length
        bits.push(block.len() - 1, 16);
        bits.push(1, 1); // stored
        bits.align();
        bits.bytes.extend_from_slice(block);
    }
    bits.push(0b11, 2); // the last, empty
    bits.bytes
}

/// Brotli that writes one zero and copies it until there are 16 MiB, as often as is wanted.
fn brotli_bomb(blocks: usize) -> Vec<u8> {
    const LENGTH: usize = 16 << 20;
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 KiB
    for _ in 0..blocks {
        bits.push(0, 1); // not the last
        bits.push(2, 2); // six nibbles of length
        bits.push(LENGTH - 1, 24);
        bits.push(0, 1); // compressed
        bits.push(0, 3); // one type of block for each of literals, commands, distances
        bits.push(0, 2 + 4); // no postfix bits, no direct distances
        bits.push(0, 2); // a context mode
        bits.push(0, 2); // one tree for literals, one for distances
        for (symbol, width) in [(0, 8), (399, 10), (16, 6)] {
            bits.push(1, 2); // a simple code…
            bits.push(0, 2); // …of one symbol, which then costs no bits
            bits.push(symbol, width);
        }
        bits.push(LENGTH - 1 - 2118, 24); // command 399: insert 1, copy 2118 and so many more
        bits.push(0, 1); // distance code 16: 1 and so many more
    }
    bits.push(0b11, 2); // the last, empty
    bits.bytes
}

/// Bits into bytes, the least significant first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: usize,
}

impl Bits {
    fn push(&mut self, value: usize, width: usize) {
        for bit in 0..width {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("one was pushed");
            *last |= u8::from(value >> bit & 1 == 1) << self.used;
            self.used = (self.used + 1) % 8;
        }
    }

    fn align(&mut self) {
        self.used = 0;
    }
}
