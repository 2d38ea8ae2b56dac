//! A small site with everything that a page needs to be shown, in every place that may name it, and
//! the truth about it.
//!
//! [`HOST`] has a home page and three rooms; [`ELSEWHERE`] is another domain, which one picture and
//! one style sheet come from. What a browser asks for, without running a script that makes URLs, is
//! in [`SHOWN_AT_HOME`] and so on: found out by hand, from the standards, and not by any reader of
//! ours. Pictures are PNGs of one colour each. The font is one by its first bytes only: a browser
//! fetches it and then does without.

use std::fmt::Write;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::http::{Reply, Request, Site};
use crate::prose::Prose;

/// The site's name.
pub const HOST: &str = "gallery.test";

/// Another domain, which some of what the site shows comes from.
pub const ELSEWHERE: &str = "pictures.test";

/// The pages, from the first.
pub const PAGES: [&str; 4] = ["/", "/rooms/1", "/rooms/2", "/rooms/3"];

/// Targets on its own host that the home page needs.
pub const SHOWN_AT_HOME: &[&str] = &[
    // link, script, img, picture, video
    "/icon.png",
    "/style/main.css",
    "/a/box.css",
    "/app.js",
    "/img/one.png",
    "/img/one-2x.png",
    "/img/wide.png",
    "/img/fallback.png",
    "/img/poster.png",
    "/img/lazy.png",
    "/img/lazy-loader.png",
    "/img/linked.png",
    "/img/button.png",
    // A redirect, and where it leads.
    "/img/moved.png",
    "/img/target.png",
    // A drawing in the page, a drawing of its own and what that is made of.
    "/img/drawn.png",
    "/img/sprite.svg",
    "/img/plan.svg",
    "/img/plan-part.png",
    // A style element and an attribute.
    "/img/styled.png",
    "/img/inline.png",
    "/style/late.css",
    // What the sheets name, relative to themselves.
    "/style/more/type.css",
    "/style/more/deep.css",
    "/img/paper.png",
    "/img/deep (1).png",
    "/font/plain.woff2",
    "/a/box.png",
    // A page in the page, and what that needs.
    "/frame",
    "/img/framed.png",
];

/// Targets that each room needs beside its numbered picture.
pub const SHOWN_IN_ROOMS: &[&str] = &["/b/box.css", "/b/box.png", "/icon.png"];

/// Targets at [`ELSEWHERE`] that the home page needs.
pub const SHOWN_FROM_ELSEWHERE: &[&str] = &["/theme.css", "/theme.png", "/logo.png"];

/// Targets that are named and that no browser fetches, at least without scripts.
pub const NEVER_SHOWN: &[&str] = &[
    "/img/from-script.png",
    "/img/commented.png",
    "/img/in-a-string.png",
    "/style/too-late.css",
    "/namespace",
];

/// The site.
#[must_use]
pub fn site() -> Site {
    Site::new(answer)
}

fn answer(request: &Request) -> Reply {
    let port = request
        .port
        .map_or_else(String::new, |port| format!(":{port}"));
    let path = request.path();
    if path == "/robots.txt" {
        return Reply::status(404);
    }
    if request.host == ELSEWHERE {
        return match path {
            "/theme.css" => sheet("footer { background: url(theme.png) }"),
            "/theme.png" | "/logo.png" => picture(path),
            _ => Reply::status(404),
        };
    }
    match path {
        "/" => Reply::html(home(&port)),
        "/frame" => Reply::html(page(
            "A frame",
            "<p>Framed.</p><img src=img/framed.png alt=framed>",
        )),
        "/app.js" => Reply::document("text/javascript", "const never = '/img/from-script.png';\n"),
        "/style/main.css" => sheet(
            "@charset \"utf-8\"; @import 'more/type.css' screen; @namespace url(/namespace);\n\
             /* url(/img/commented.png) */ body { background: #eee url( '../img/paper.png' ) }\n\
             h1::after { content: 'url(/img/in-a-string.png)' }\n@import 'too-late.css';\n",
        ),
        "/style/more/type.css" => sheet(
            "@import url(deep.css);\n\
             @font-face { font-family: Plain; src: local('No Such Font'),\n  \
             url('../../font/plain.woff2') format('woff2') }\n\
             body { font-family: Plain, serif }\n",
        ),
        "/style/more/deep.css" => {
            sheet("h1 { background-image: image-set('../../img/deep\\20 (1).png' 1x) }\n")
        }
        "/style/late.css" => sheet("h1 { letter-spacing: 1px }\n"),
        "/a/box.css" | "/b/box.css" => {
            sheet(".box { background: url(box.png); width: 64px; height: 64px }\n")
        }
        "/font/plain.woff2" => {
            Reply::document("font/woff2", [b"wOF2".as_slice(), &[0; 60]].concat())
        }
        "/img/moved.png" => Reply::redirect(302, "target.png"),
        "/img/sprite.svg" => drawing("<symbol id='mark'><circle r='9' cx='9' cy='9'/></symbol>"),
        "/img/plan.svg" => drawing("<image href='plan-part.png' width='64' height='64'/>"),
        _ => other(path),
    }
}

fn other(path: &str) -> Reply {
    if let Some(number) = path
        .strip_prefix("/rooms/")
        .and_then(|room| room.parse().ok())
    {
        return match number {
            1..=3_u8 => Reply::html(room(number)),
            _ => Reply::status(404),
        };
    }
    // Spaces in a path come encoded.
    let shown = SHOWN_AT_HOME
        .iter()
        .chain(SHOWN_IN_ROOMS)
        .chain(&["/b/box.png"]);
    let is_shown = shown
        .into_iter()
        .any(|known| known.replace(' ', "%20") == path);
    if path.ends_with(".png") && (is_shown || path.starts_with("/img/room-")) {
        return picture(path);
    }
    Reply::status(404)
}

fn home(port: &str) -> String {
    let mut main = String::from(
        "<p>The gallery has three rooms, and this hall where everything hangs that a page can hang \
         something on.</p>",
    );
    for room in 1..=3 {
        let _ = write!(main, "<a href=/rooms/{room}>Room {room}</a> ");
    }
    let _ = write!(
        main,
        "<img src=/img/one.png srcset='/img/one.png 1x, /img/one-2x.png 2x' alt=one>\n\
         <picture><source srcset=/img/wide.png media='(min-width: 40em)'>\
         <img src=/img/fallback.png alt=wide></picture>\n\
         <img loading=lazy src=/img/lazy.png alt=lazy><img data-src=/img/lazy-loader.png alt=''>\n\
         <video poster=/img/poster.png></video><input type=image src=/img/button.png alt=button>\n\
         <a href=/img/linked.png><img src=/img/linked.png alt=linked></a><img src=/img/moved.png \
         alt=moved>\n\
         <svg width=64 height=64><image href=/img/drawn.png width=64 height=64 />\
         <use href='/img/sprite.svg#mark'/></svg>\n\
         <object data=/img/plan.svg type=image/svg+xml></object>\n\
         <div style='background: url(&quot;/img/inline.png&quot;); height: 64px'></div>\
         <div class=box></div>\n\
         <iframe src=/frame></iframe><img src='//{ELSEWHERE}{port}/logo.png' alt=logo><footer>An \
         end.</footer>"
    );
    let head = format!(
        "<link rel=icon href=/icon.png><link rel=stylesheet href=/style/main.css>\
         <link rel=stylesheet href=/a/box.css>\n\
         <link rel=stylesheet href='//{ELSEWHERE}{port}/theme.css'>\n\
         <style>@import '/style/late.css'; main {{ border-image: url(/img/styled.png) 9 \
         }}</style>\n\
         <script src=/app.js defer></script>"
    );
    page_with("The gallery", &head, &main)
}

fn room(number: u8) -> String {
    // Texts of their own, so that no room is taken for another.
    let words = Prose::new(1, u64::from(number)).paragraph(150);
    let head = "<link rel=icon href=/icon.png><link rel=stylesheet href=/b/box.css>";
    let main = format!(
        "<img src=/img/room-{number}.png alt=room><div class=box></div><p>{words}</p>\
         <a href=/>Back</a>"
    );
    page_with(&format!("Room {number}"), head, &main)
}

fn page(title: &str, main: &str) -> String {
    page_with(title, "", main)
}

fn page_with(title: &str, head: &str, main: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=en><head>\
         <meta charset=utf-8><title>{title}</title>{head}</head>\n\
         <body><h1>{title}</h1><main>{main}</main></body></html>\n"
    )
}

fn sheet(css: &'static str) -> Reply {
    Reply::document("text/css", css)
}

fn drawing(inside: &str) -> Reply {
    let drawing =
        format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'>{inside}</svg>\n");
    Reply::document("image/svg+xml", drawing)
}

fn picture(name: &str) -> Reply {
    // FNV-1a: a colour of its own for each name.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let [red, green, blue, _] = hash.to_le_bytes();
    Reply::document("image/png", png(64, [red, green, blue]))
}

/// A square of one colour (Portable Network Graphics, third edition).
fn png(side: u32, colour: [u8; 3]) -> Vec<u8> {
    let mut row = vec![0];
    row.extend(colour.repeat(side as usize));
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..side {
        packed.write_all(&row).expect("memory takes everything");
    }
    let packed = packed.finish().expect("memory takes everything");
    let mut header = [side.to_be_bytes(), side.to_be_bytes()].concat();
    header.extend([8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", header), (b"IDAT", packed), (b"IEND", Vec::new())] {
        let length = u32::try_from(content.len()).expect("it is small");
        let chunk = [kind.as_slice(), &content].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        png.extend(length.to_be_bytes());
        png.extend(chunk);
        png.extend(sum.sum().to_be_bytes());
    }
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_shown_is_served_and_nothing_else() {
        let site = site();
        let ask = |host: &str, path: &str| {
            let path = path.replace(' ', "%20");
            site.answer(&Request::get(&format!("http://{host}:80{path}")))
                .code()
        };
        for path in PAGES.iter().chain(SHOWN_AT_HOME).chain(SHOWN_IN_ROOMS) {
            assert!(matches!(ask(HOST, path), 200 | 302), "{path}");
        }
        for path in SHOWN_FROM_ELSEWHERE {
            assert_eq!(ask(ELSEWHERE, path), 200, "{path}");
        }
        for path in NEVER_SHOWN {
            assert_eq!(ask(HOST, path), 404, "{path}");
        }
    }

    #[test]
    fn pictures_differ_in_colour() {
        let (one, other) = (picture("/img/one.png"), picture("/img/deep (1).png"));
        assert!(one.body().starts_with(b"\x89PNG\r\n\x1a\n"));
        assert_ne!(one.body(), other.body());
    }
}
