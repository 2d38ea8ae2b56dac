//! Content codings: valid bodies, broken ones, and bombs, which are built here.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use testkit::brotli;
use web::{DecodeError, Decoded, decode};

const CAP: u64 = 64 << 10;
/// The codings that we can encode as well; `raw` is `deflate` without its zlib frame.
const CODINGS: [&str; 6] = ["gzip", "x-gzip", "deflate", "raw", "br", "zstd"];

fn encode(coding: &str, text: &[u8]) -> Vec<u8> {
    let level = Compression::fast();
    match coding {
        "gzip" | "x-gzip" => write_all(GzEncoder::new(Vec::new(), level), text).finish(),
        "deflate" => write_all(ZlibEncoder::new(Vec::new(), level), text).finish(),
        "raw" => write_all(DeflateEncoder::new(Vec::new(), level), text).finish(),
        "br" => Ok(brotli::stored(text)),
        "zstd" => zstd::encode_all(text, 1),
        _ => Ok(text.to_vec()),
    }
    .expect("memory does not fail")
}

/// The smallest bomb.
fn best(coding: &str, text: &[u8]) -> Vec<u8> {
    let level = Compression::best();
    match coding {
        "deflate" => write_all(ZlibEncoder::new(Vec::new(), level), text).finish(),
        "raw" => write_all(DeflateEncoder::new(Vec::new(), level), text).finish(),
        _ => write_all(GzEncoder::new(Vec::new(), level), text).finish(),
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
        headers.append(
            CONTENT_ENCODING,
            HeaderValue::from_str(name).expect("a field"),
        );
    }
    decode(&headers, &Bytes::copy_from_slice(body).into(), cap)
}

fn whole(text: &[u8]) -> Decoded {
    Decoded {
        bytes: Bytes::copy_from_slice(text),
        truncated: false,
        error: None,
    }
}

#[test]
fn every_coding_is_decoded() {
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
        let decoded = decode(&headers, &body.clone().into(), CAP);
        assert_eq!(decoded, whole(b"plain"), "{field:?}");
        assert_eq!(
            decoded.bytes.as_ptr(),
            body.as_ptr(),
            "{field:?} was copied"
        );
    }
    assert_eq!(
        decoded(&[" GZip "], &encode("gzip", b"x"), CAP),
        whole(b"x")
    );
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
        (&answer.bytes[..], answer.error),
        (&too_often[..], Some(DecodeError::Layers))
    );
}

#[test]
fn a_name_that_is_no_coding_is_skipped() {
    for field in ["compress", "utf-8", "none", "x-zstd", "binary, identity"] {
        let answer = decoded(&[field], b"bytes", CAP);
        assert_eq!(
            (&answer.bytes[..], answer.error),
            (&b"bytes"[..], Some(DecodeError::Unknown))
        );
    }
    let coded = encode("gzip", b"page");
    for field in ["gzip, utf-8", "aws-chunked,gzip"] {
        let answer = decoded(&[field], &coded, CAP);
        assert_eq!(
            (&answer.bytes[..], answer.error),
            (&b"page"[..], Some(DecodeError::Unknown))
        );
    }
    assert_eq!(decoded(&["gzip;q=1"], &coded, CAP), whole(b"page"));
}

#[test]
fn members_of_gzip_and_frames_of_zstd_follow_each_other() {
    for coding in ["gzip", "zstd"] {
        let two = [encode(coding, b"one, "), encode(coding, b"two")].concat();
        assert_eq!(
            decoded(&[coding], &two, CAP),
            whole(b"one, two"),
            "{coding}"
        );
    }
}

#[test]
fn members_and_frames_are_counted() {
    const MOST: usize = 4096;
    for coding in ["gzip", "zstd"] {
        for piece in [&b""[..], b"x"] {
            let piece_coded = encode(coding, piece);
            let most = piece_coded.repeat(MOST);
            assert_eq!(
                decoded(&[coding], &most, CAP),
                whole(&piece.repeat(MOST)),
                "{coding}"
            );
            let answer = decoded(&[coding], &[most, piece_coded].concat(), CAP);
            assert_eq!(answer.error, Some(DecodeError::Broken), "{coding}");
            assert_eq!(
                &answer.bytes[..],
                piece.repeat(MOST),
                "what comes before is kept: {coding}"
            );
        }
    }
    // Skippable frames count as frames (RFC 8878 section 3.1.2).
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, b'?'];
    let page = encode("zstd", b"page");
    assert_eq!(
        decoded(&["zstd"], &[&skipped[..], &page, &skipped].concat(), CAP),
        whole(b"page")
    );
    let answer = decoded(&["zstd"], &[skipped.repeat(MOST), page].concat(), CAP);
    assert_eq!(
        (answer.bytes.len(), answer.error),
        (0, Some(DecodeError::Broken))
    );
}

#[test]
fn a_text_is_whole_at_the_cap_and_cut_one_byte_past_it() {
    for coding in CODINGS.into_iter().chain(["identity"]) {
        let body = encode(coding, b"0123456789");
        assert_eq!(
            decoded(&[coding], &body, 10),
            whole(b"0123456789"),
            "{coding}"
        );
        let cut = Decoded {
            bytes: Bytes::from_static(b"012345678"),
            truncated: true,
            error: None,
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
            (answer.truncated, answer.error),
            (false, Some(DecodeError::Broken)),
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

/// Such a body counted as a broken one, and browsers ignore what follows the end.
#[test]
fn rubbish_behind_a_whole_body_is_ignored() {
    // At 512 bytes, the rubbish begins within the bytes that tell the coding.
    let noise: Vec<u8> = (0..700_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for coding in CODINGS {
        for length in (0..8).chain(450..550) {
            let page = &noise[..length];
            for rubbish in [&b"<!-- cached -->"[..], b"\n", &[0; 600]] {
                let body = [&encode(coding, page), rubbish].concat();
                assert_eq!(decoded(&[coding], &body, CAP), whole(page), "{coding}");
            }
        }
    }
}

#[test]
fn a_whole_body_in_a_layer_that_breaks_off_is_not_whole() {
    for coding in ["gzip", "zstd"] {
        let mut body = encode("gzip", &encode(coding, b"page"));
        body.truncate(body.len() - 8);
        let answer = decoded(&[coding, "gzip"], &body, CAP);
        assert_eq!(
            (&answer.bytes[..], answer.error),
            (&b"page"[..], Some(DecodeError::Broken)),
            "{coding}"
        );
    }
}

#[test]
fn a_further_member_or_frame_that_breaks_off_is_missing() {
    for coding in ["gzip", "zstd"] {
        let (first, second) = (encode(coding, b"one, "), encode(coding, b"two"));
        for length in 1..second.len() {
            let answer = decoded(&[coding], &[&first, &second[..length]].concat(), CAP);
            assert_eq!(answer.error, Some(DecodeError::Broken), "{coding} {length}");
            assert!(answer.bytes.starts_with(b"one, "), "{coding} {length}");
        }
    }
}

/// Such a page was lost with its links, and a robots.txt with its rules.
#[test]
fn a_body_that_is_not_in_its_coding_is_read_as_it_is() {
    let long = "Grüße. ".repeat(1_000);
    let latin: Vec<u8> = [&b"<p>Gr\xfc\xdfe"[..], &b" again".repeat(50)].concat();
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
    for coding in ["gzip", "x-gzip", "deflate", "br", "zstd"] {
        for body in [
            &b"<html>not coded</html>"[..],
            b"33",
            long.as_bytes(),
            &latin,
            image,
        ] {
            let answer = decoded(&[coding], body, CAP);
            assert_eq!(
                (&answer.bytes[..], answer.error),
                (body, Some(DecodeError::Misnamed)),
                "{coding}"
            );
        }
    }
}

#[test]
fn a_body_in_another_coding_than_it_names_is_decoded() {
    for (named, coding) in [
        ("gzip", "deflate"),
        ("gzip", "zstd"),
        ("deflate", "gzip"),
        ("br", "gzip"),
        ("zstd", "gzip"),
        ("gzip, gzip", "gzip"),
        ("gzip, br, deflate", "zstd"),
    ] {
        let answer = decoded(&[named], &encode(coding, b"page"), CAP);
        assert_eq!(
            (&answer.bytes[..], answer.error),
            (&b"page"[..], Some(DecodeError::Misnamed)),
            "{named}"
        );
    }
}

#[test]
fn bombs_stop_at_the_cap() {
    let zeros = vec![0; 8 << 20];
    for coding in CODINGS {
        let bomb = match coding {
            "br" => brotli::bomb(4),
            "zstd" => encode(coding, &zeros),
            _ => best(coding, &zeros),
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
fn a_body_that_grows_a_thousandfold_is_abandoned_at_a_mebibyte() {
    const ROOM: u64 = 64 << 20;
    let zeros = vec![0; 8 << 20];
    for coding in CODINGS {
        let bomb = match coding {
            "br" => brotli::bomb(64),
            "gzip" | "x-gzip" | "deflate" | "raw" => best(coding, &zeros),
            _ => encode(coding, &zeros),
        };
        let answer = decoded(&[coding], &bomb, ROOM);
        assert_eq!(
            (answer.truncated, answer.error),
            (true, Some(DecodeError::Bomb)),
            "{coding}"
        );
        assert!(
            (1 << 20..2 << 20).contains(&answer.bytes.len()),
            "{coding}: {}",
            answer.bytes.len()
        );
        // The same bomb in two layers stops, too.
        let twice = decoded(&[coding, "gzip"], &best("gzip", &bomb), ROOM);
        assert_eq!(twice.error, Some(DecodeError::Bomb), "{coding} in gzip");
    }
}

#[test]
fn a_repetitive_page_is_not_a_bomb() {
    let row = "<tr><td>0</td><td>0</td></tr>\n";
    let mut table = String::new();
    for number in 0..200_000 {
        if number % 20 == 0 {
            table.push_str(&format!("<tr><th>{number}</th></tr>\n"));
        }
        table.push_str(row);
    }
    for coding in ["gzip", "deflate", "raw", "zstd"] {
        assert_eq!(
            decoded(&[coding], &encode(coding, table.as_bytes()), 64 << 20),
            whole(table.as_bytes()),
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
    // The inner layer is cut as well: its output up to there is kept.
    assert!(answer.bytes.len() as u64 <= CAP);
    assert!(answer.truncated || answer.error.is_some());
}

#[test]
fn a_layer_that_yields_nothing_is_not_read_for_ever() {
    // Empty stored blocks: five bytes each that decode to none (RFC 1951 section 3.2.4).
    let hollow = [0, 0, 0, 0xff, 0xff].repeat(1 << 20);
    let bomb = encode("zstd", &[hollow, encode("raw", b"never reached")].concat());
    assert!(bomb.len() < 10_000, "{} bytes", bomb.len());
    let answer = decoded(&["raw", "zstd"], &bomb, CAP);
    assert_eq!(
        (answer.bytes.len(), answer.error),
        (0, Some(DecodeError::Broken))
    );
}

#[test]
fn windows_larger_than_the_web_allows_are_refused() {
    // brotli's extension: 0x11, then the number of bits (30: a gibibyte).
    let answer = decoded(&["br"], &[0x11, 30, 0x03], CAP);
    assert_eq!(answer.error, Some(DecodeError::Broken));

    // A frame header that asks for 16 MiB (RFC 8878 section 3.1.1.1.2: exponent 14 in the high five
    // bits).
    let wide = [
        0x28,
        0xb5,
        0x2f,
        0xfd,
        0x00,
        14 << 3,
        0x09,
        0x00,
        0x00,
        b'x',
    ];
    assert_eq!(
        decoded(&["zstd"], &wide, CAP).error,
        Some(DecodeError::Broken)
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
