//! Reading of pages.

use web::{
    CanonicalForm, Document, MainContent, Media, PageUrl, ParseWarning, ReadLimits, Relations,
    ResponseMetadata, read,
};

fn page(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).expect("a URL")
}

fn read_as(
    body: &[u8],
    content_type: Option<&str>,
    x_robots_tag: &[&str],
    limits: &ReadLimits,
) -> Document {
    let url = page("http://example.org/dir/page");
    let hints = ResponseMetadata {
        content_type,
        x_robots_tag,
        agent: "ourbot",
        ..ResponseMetadata::of(&url)
    };
    read(body, &hints, &CanonicalForm::default(), limits)
}

fn html(text: &str) -> Document {
    read_as(
        text.as_bytes(),
        Some("text/html; charset=utf-8"),
        &[],
        &ReadLimits::default(),
    )
}

fn words(prefix: &str, count: usize) -> String {
    (0..count)
        .map(|n| format!("{prefix}{n}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn visible_text_is_read_block_by_block_with_white_space_folded() {
    for (source, text) in [
        ("<p>one\n  two\t three</p><p>four", "one two three\nfour"),
        ("<p>w<b>or</b>d <i> and </i> more</p>", "word and more"),
        ("a<br>b<hr>c", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<table><tr><td>a<td>b<tr><th>c</table>", "a b\nc"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("<p>a&nbsp;&amp;&#x3000;b", "a & b"),
        ("caf\u{e9} \u{a0} x", "caf\u{e9} x"),
        (
            "<script>x<y</script><style>p{}</style><noscript>n</noscript>a",
            "a",
        ),
        ("<template><p>t</template><svg><text>s</text></svg>a", "a"),
        (
            "<div><template shadowrootmode=open>shown<template>t</template></template></div>",
            "shown",
        ),
        ("<head><title>t</title></head><body>a", "a"),
        ("<textarea>typed</textarea><select><option>o</select>a", "a"),
        ("<!-- c --><?pi?>a", "a"),
        ("<pre>a\n  b</pre>", "a b"),
        ("", ""),
    ] {
        assert_eq!(html(source).full_text(), text, "{source}");
    }
}

#[test]
fn the_title_is_the_first_one_outside_drawings() {
    for (source, title) in [
        (
            "<title> A\n title </title><title>B</title>",
            Some("A title"),
        ),
        ("<body><svg><title>drawing</title></svg>", None),
        ("<title></title>", None),
        ("<p>no title", None),
    ] {
        assert_eq!(html(source).title.as_deref(), title, "{source}");
    }
    let limits = ReadLimits {
        title_chars: 3,
        ..ReadLimits::default()
    };
    let capped = read_as(
        "<title>éàüö</title>".as_bytes(),
        Some("text/html"),
        &[],
        &limits,
    );
    assert_eq!(capped.title.as_deref(), Some("éàü"));
}

#[test]
fn main_content_is_what_its_author_marked_or_what_is_left_without_the_frame() {
    let own = words("own", 60);
    let other = words("other", 60);
    for (source, text) in [
        (format!("<nav>{other}</nav><main>{own}</main>"), own.clone()),
        (
            format!("<div>{other}</div><div role=main>{own}</div>"),
            own.clone(),
        ),
        (
            format!("<div>{other}</div><article>{own}</article>"),
            own.clone(),
        ),
        (
            format!("<article>{own}</article><p>{other}<article>{other}</article>"),
            format!("{own}\n{other}\n{other}"),
        ),
        (
            format!("<main>{own}<aside>{other}</aside><nav>{other}</nav></main>"),
            own.clone(),
        ),
        (
            format!("<main><header>head</header><p>{own}</main>"),
            format!("head\n{own}"),
        ),
        (
            format!("<header>{other}</header><p>{own}<footer>{other}</footer>"),
            own.clone(),
        ),
        (
            format!("<div role=banner>{other}</div><p>{own}<form>few words</form>"),
            own.clone(),
        ),
        (
            format!("<div class='x sidebar'>{other}</div><p>{own}"),
            own.clone(),
        ),
        (
            format!("<div class='navy barside'>side</div><p>{own}"),
            format!("side\n{own}"),
        ),
        (
            format!("<p>{own}<ul><li><a href=/x>one</a><li><a href=/y>two</a></ul>"),
            own.clone(),
        ),
        // A table of contents of docutils 0.17 and of 0.18: two manuals that differed in nothing
        // else were taken for near-duplicates.
        (
            format!("<main><div class='contents topic'><p>Contents</div><p>{own}</main>"),
            own.clone(),
        ),
        (
            format!("<main><nav class=contents><p>Contents</nav><p>{own}</main>"),
            own.clone(),
        ),
        (
            format!("<main><div class=contents>{own}</div></main>"),
            own.clone(),
        ),
        // Footnotes are content in any element.
        (
            format!(
                "<main><p>{own}<aside class='footnote-list brackets'><aside class='footnote \
                 brackets' role=note>note</aside></aside></main>"
            ),
            format!("{own}\nnote"),
        ),
        // Some frameworks put the whole page into one form.
        (format!("<form><p>{own}</p></form>"), own.clone()),
        // A page of links alone is content.
        (
            format!(
                "<main>{}</main>",
                "<p><a href=/x>linked words</a> n".repeat(60)
            ),
            ["linked words n"; 60].join("\n"),
        ),
    ] {
        let document = html(&source);
        assert_eq!(document.text, text, "{source}");
        assert_eq!(document.own, MainContent::Main, "{source}");
    }
}

#[test]
fn a_page_with_little_main_text_is_compared_whole_and_its_main_text_is_reported() {
    let frame = words("frame", 100);
    let document = html(&format!("<nav>{frame}</nav><p>Not found</p>"));
    assert_eq!(document.text, format!("{frame}\nNot found"));
    assert_eq!(
        document.own,
        MainContent::PageFallback {
            main_text: "Not found".into()
        }
    );
    assert_eq!(document.main_text(), "Not found");
    // The text is short, but most of the page.
    let document = html("<nav>home</nav><p>A short page with a few words");
    assert_eq!(document.text, "home\nA short page with a few words");
    assert_eq!(document.own, MainContent::Main);
}

/// A paragraph of so many words.
fn prose(prefix: &str, count: usize) -> String {
    format!("<p>{}</p>", words(prefix, count))
}

#[test]
fn the_surroundings_of_an_article_are_excluded_by_name_and_by_prose() {
    let (own, text) = (prose("own", 120), words("own", 120));
    let other = prose("other", 60);
    for around in [
        format!("<div class=post-comments>{other}</div>"),
        format!("<div class=relatedPosts>{other}</div>"),
        format!("<div id=newsletter-signup>{other}</div>"),
        format!("<div class='c-share__bar'>{other}</div>"),
        format!("<div style='color: red; display: none'>{other}</div>"),
        format!("<div hidden>{other}</div>"),
        format!("<form>{other}</form>"),
        format!("<figure><figcaption>{other}</figcaption></figure>"),
        // The block has no name, but nearly all prose is elsewhere.
        "<div><div>Some words beside</div></div>".to_owned(),
    ] {
        let source = format!("<div>{around}</div><div><div>{own}{own}</div></div>");
        assert_eq!(html(&source).text, format!("{text}\n{text}"), "{around}");
    }
}

#[test]
fn a_class_name_on_most_of_a_page_is_not_trusted() {
    let posts = format!("<div class=comment>{}</div>", prose("post", 60)).repeat(4);
    let forum = format!("<nav>menu</nav><div id=comments>{posts}</div>");
    assert_eq!(
        html(&forum).text,
        [words("post", 60).as_str(); 4].join("\n")
    );
    // Beside an article they are comments, however many there are.
    let news = format!(
        "<article>{}</article><div id=comments>{posts}</div>",
        prose("own", 80)
    );
    assert_eq!(html(&news).text, words("own", 80));
    // A script shows the text later.
    let hidden = format!("<div>loading</div><div hidden>{}</div>", prose("own", 80));
    assert_eq!(html(&hidden).main_text(), words("own", 80));
}

#[test]
fn marked_text_is_chosen_over_longer_other_text() {
    let (own, other) = (prose("own", 60), prose("other", 50));
    for mark in [
        "itemprop=articleBody",
        "class=entry-content",
        "id=article-body",
    ] {
        let source = format!("<div><div {mark}>{own}</div><div>{other}{other}</div></div>");
        assert_eq!(html(&source).text, words("own", 60), "{mark}");
    }
}

#[test]
fn a_title_beside_the_text_is_kept() {
    let source = format!(
        "<main><div><h1>What it is about</h1><div>by someone</div></div><div>{}</div></main>",
        prose("own", 120)
    );
    assert!(
        html(&source).text.starts_with("What it is about\n"),
        "{}",
        html(&source).text
    );
}

#[test]
fn a_section_of_a_manual_is_not_its_content() {
    // Ids are derived from headings: a section about comments is not a comment.
    let source = format!(
        "<div role=main><section id=comments><h2>Comments</h2>{}</section><section \
         id=related><h2>Related</h2>{}</section></div>",
        prose("long", 400),
        prose("short", 20)
    );
    let expected = format!(
        "Comments\n{}\nRelated\n{}",
        words("long", 400),
        words("short", 20)
    );
    assert_eq!(html(&source).text, expected);
}

#[test]
fn a_page_made_by_scripts_is_read_by_its_noscript_content() {
    let source = format!(
        "<div id=app>Loading</div><noscript><div class=crawler><a \
         href=/next>next</a>{}</div></noscript>",
        prose("own", 80)
    );
    let document = html(&source);
    assert!(
        document.text.contains(&words("own", 80)),
        "{}",
        document.text
    );
    assert_eq!(document.links.len(), 1);
    // They are excluded if the page has other text.
    let source = format!(
        "{}<noscript>{}</noscript>",
        prose("own", 60),
        prose("other", 80)
    );
    assert_eq!(html(&source).full_text(), words("own", 60));
}

#[test]
fn main_content_is_long_enough_at_fifty_words() {
    for (count, is_enough) in [(49, false), (50, true)] {
        let document = html(&format!(
            "<nav>{}</nav><p>{}</p>",
            words("n", 200),
            words("m", count)
        ));
        assert_eq!(document.text == words("m", count), is_enough, "{count}");
    }
    let ideographs = "漢".repeat(50);
    assert_eq!(
        html(&format!(
            "<nav>{}</nav><p>{ideographs}</p>",
            words("n", 200)
        ))
        .text,
        ideographs
    );
}

#[test]
fn links_are_resolved_once_each_in_their_order() {
    let document = html(
        "<a href=b>B</a> <a href='/c#x' rel='ugc NOFOLLOW'>C <b>and</b>\n more</a> <a \
         href=b>again</a>
         <map><area href=d></map><iframe src=e></iframe>
         <a href='mailto:x@y'>m</a><a href='javascript:x()'>j</a><a \
         href='http://['>bad</a><a>none</a>
         <a href='#top'>self</a><a href='page'>self</a><a href=''>self</a>
         <a href='https://other.example/?utm_source=x&amp;y=1'>&Uuml;</a>
         <a href='/c'>followed here</a><template><a href=t></a></template>",
    );
    let links: Vec<_> = document
        .links
        .iter()
        .map(|link| {
            (
                link.url.as_str(),
                link.relations == Relations::NOFOLLOW,
                link.anchor.as_str(),
            )
        })
        .collect();
    assert_eq!(
        links,
        [
            ("http://example.org/dir/b", false, "B"),
            ("http://example.org/c", false, "C and more"),
            ("http://example.org/dir/d", false, ""),
            ("http://example.org/dir/e", false, ""),
            ("https://other.example/?y=1", false, "Ü"),
        ]
    );
    assert_eq!(document.warnings, []);
}

#[test]
fn the_first_base_applies_to_earlier_links_too() {
    for (source, link) in [
        (
            "<base href='/base/'><base href='/other/'><a href=x>",
            "http://example.org/base/x",
        ),
        (
            "<a href=x></a><base href='http://b.example/c/d'>",
            "http://b.example/c/x",
        ),
        (
            "<base target=_top><base href='/base/'><a href=x>",
            "http://example.org/base/x",
        ),
        ("<base href='data:x'><a href=x>", "http://example.org/dir/x"),
        (
            "<frameset><frame src=x></frameset>",
            "http://example.org/dir/x",
        ),
        (
            "<meta http-equiv=Refresh content='0; url=x'>",
            "http://example.org/dir/x",
        ),
    ] {
        let document = html(source);
        assert_eq!(document.links.len(), 1, "{source}");
        assert_eq!(document.links[0].url.as_str(), link, "{source}");
    }
}

#[test]
fn a_link_is_nofollow_only_if_all_its_occurrences_are() {
    let nofollow = |source| {
        html(source).links[0]
            .relations
            .has_any_of(Relations::NOFOLLOW)
    };
    assert!(nofollow("<a rel=nofollow href=x>"));
    assert!(nofollow(
        "<a rel=nofollow href=x></a><a rel='nofollow noopener' href=./x>"
    ));
    assert!(!nofollow("<a rel=nofollow href=x></a><a href=./x>"));
    assert!(!nofollow("<a rel=nofollowing href=x></a>"));
}

#[test]
fn links_are_capped_and_that_is_noted() {
    let limits = ReadLimits {
        links: 3,
        anchor_chars: 2,
        ..ReadLimits::default()
    };
    let links = |count: usize| {
        (0..count)
            .map(|n| format!("<a href={n}>word</a>"))
            .collect::<String>()
    };
    for (count, warnings) in [(3, &[][..]), (4, &[ParseWarning::TooManyLinks][..])] {
        let document = read_as(links(count).as_bytes(), Some("text/html"), &[], &limits);
        assert_eq!(document.links.len(), 3);
        assert_eq!(document.links[0].anchor, "wo");
        assert_eq!(document.warnings, warnings, "{count}");
    }
}

#[test]
fn a_page_can_declare_its_canonical_url() {
    let canonical = |source| html(source).canonical.map(|url| url.to_string());
    assert_eq!(
        canonical("<link rel='Canonical' href='/x?utm_source=a'>").as_deref(),
        Some("http://example.org/x")
    );
    assert_eq!(canonical("<link rel=stylesheet href='/x'>"), None);
    assert_eq!(canonical("<link rel=canonical href='ftp://x/'>"), None);
}

#[test]
fn directives_come_from_the_page_and_from_its_header() {
    for (source, header, noindex, nofollow, noarchive) in [
        ("", &[][..], false, false, false),
        (
            "<meta name=robots content='noindex'>",
            &[],
            true,
            false,
            false,
        ),
        (
            "<meta name=ROBOTS content='NOINDEX,NOFOLLOW, noarchive'>",
            &[],
            true,
            true,
            true,
        ),
        ("<meta name=OurBot content=none>", &[], true, true, false),
        (
            "<meta name=otherbot content=none>",
            &[],
            false,
            false,
            false,
        ),
        (
            "<meta name=robots content=index><meta name=robots content=nofollow>",
            &[],
            false,
            true,
            false,
        ),
        (
            "<body><meta name=robots content=nofollow>",
            &[],
            false,
            true,
            false,
        ),
        (
            "",
            &["noindex", "ourbot: nofollow", "otherbot: noarchive"],
            true,
            true,
            false,
        ),
        (
            "<meta name=robots content=noarchive>",
            &["noindex"],
            true,
            false,
            true,
        ),
    ] {
        let found = read_as(
            source.as_bytes(),
            Some("text/html"),
            header,
            &ReadLimits::default(),
        )
        .directives;
        assert_eq!(
            (found.noindex, found.nofollow, found.noarchive),
            (noindex, nofollow, noarchive),
            "{source} {header:?}"
        );
    }
    let image = read_as(
        b"\x89PNG",
        Some("image/png"),
        &["noindex"],
        &ReadLimits::default(),
    );
    assert!(image.directives.noindex);
}

#[test]
fn the_language_is_declared_or_recognised() {
    let english = "The cat lies on the stove and sleeps, because outside the wind goes over the \
    fields and nobody wants to \
                   go before the door on such a day as this one.";
    for (source, language) in [
        ("<html lang=de-AT><p>the", Some("de")),
        (&format!("<p>{english}"), Some("en")),
        (&format!("<html lang=''><p>{english}"), Some("en")),
        ("<p>404", None),
    ] {
        assert_eq!(html(source).language.as_deref(), language, "{source}");
    }
}

#[test]
fn other_media_are_not_read_and_plain_text_is_only_text() {
    let other = read_as(
        b"%PDF-1.7 <a href=x>",
        Some("application/pdf"),
        &[],
        &ReadLimits::default(),
    );
    assert_eq!(
        (other.media, other.charset, &*other.text, other.links.len()),
        (Media::Other, "", "", 0)
    );
    let text = read_as(
        b"a <b>\n c\xe9",
        Some("text/plain; charset=latin1"),
        &[],
        &ReadLimits::default(),
    );
    assert_eq!(
        (text.media, text.charset, &*text.text),
        (Media::Text, "windows-1252", "a <b>\n cé")
    );
    assert_eq!(text.full_text(), text.text);
    let sniffed = read_as(
        b" <!DOCTYPE HTML><a href=x>a</a>",
        None,
        &[],
        &ReadLimits::default(),
    );
    assert_eq!((sniffed.media, sniffed.links.len()), (Media::Html, 1));
}

#[test]
fn the_encoding_is_read_where_declared_and_guessed_otherwise() {
    let shift_jis = b"\x82\xb1\x82\xea\x82\xcd\x93\xfa\
          \x96{\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81B";
    let utf16: Vec<u8> = b"\xff\xfe"
        .iter()
        .copied()
        .chain("<p>é".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let late = format!("{}<meta charset=windows-1251>", " ".repeat(1024));
    let guessed = [b"<p>".as_slice(), shift_jis].concat();
    for (body, content_type, charset) in [
        // a byte order mark takes precedence
        (
            &b"\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa9"[..],
            "text/html; charset=latin1",
            "UTF-8",
        ),
        (&utf16, "text/html; charset=utf-8", "UTF-16LE"),
        // the header
        (
            b"<meta charset=koi8-r>\xe9",
            "text/html; charset=ISO-8859-1",
            "windows-1252",
        ),
        (b"\xe9", "text/html; charset=\"iso-8859-2\"", "ISO-8859-2"),
        (b"\xe9", "text/html;CharSet = 'euc-kr'", "EUC-KR"),
        // the page
        (b"<meta charset=\"koi8-r\">\xe9", "text/html", "KOI8-R"),
        (
            b"<!-- <meta charset=big5> --><meta charset=koi8-r>\xe9",
            "text/html",
            "KOI8-R",
        ),
        (
            b"<META content='text/html; charset=Shift_JIS' http-equiv=Content-Type>\xe9",
            "text/html",
            "Shift_JIS",
        ),
        (
            b"<meta name=x content='charset=big5'><meta charset=gbk>\xe9",
            "text/html",
            "GBK",
        ),
        (
            b"<?xml version='1.0' encoding='iso-8859-5'?><html>\xe9",
            "application/xhtml+xml",
            "ISO-8859-5",
        ),
        (b"<meta charset=utf-16>\xc3\xa9", "text/html", "UTF-8"),
        (
            b"<meta charset=nonsense><meta charset=big5>\xe9",
            "text/html",
            "Big5",
        ),
        (
            b"<meta charset=koi8-r>\xe9",
            "text/html; charset=nonsense",
            "KOI8-R",
        ),
        // the bytes
        (b"<p>plain", "text/html", "UTF-8"),
        ("<p>déjà".as_bytes(), "text/html", "UTF-8"),
        (&guessed, "text/html", "Shift_JIS"),
        (late.as_bytes(), "text/html", "UTF-8"),
    ] {
        let document = read_as(body, Some(content_type), &[], &ReadLimits::default());
        assert_eq!(
            document.charset,
            charset,
            "{content_type} {}",
            String::from_utf8_lossy(body)
        );
    }
    let document = read_as(&guessed, Some("text/html"), &[], &ReadLimits::default());
    assert_eq!(document.text, "これは日本語の文章です。");
}

#[test]
fn invalid_bytes_are_replaced_with_a_warning() {
    let document = read_as(
        b"<p>a\xff b",
        Some("text/html; charset=utf-8"),
        &[],
        &ReadLimits::default(),
    );
    assert_eq!(
        (&*document.text, &*document.warnings),
        ("a\u{fffd} b", &[ParseWarning::Undecodable][..])
    );
}

/// Product tiles and lists of threads vanished, because their titles are links.
#[test]
fn a_list_that_is_titled_by_links_stays_and_a_menu_does_not() {
    let tiles: String = (0..20)
        .map(|n| {
            format!("<li class=tile-{n}><a href=/{n}>Lamp number {n}</a><p>{n}.99 EUR</p></li>")
        })
        .collect();
    let threads: String = (0..20)
        .map(|n| {
            format!(
                "<tr><td><a href=/{n}>How is thing {n} done?</a><td>by author{n}<td>{n} \
            answers</tr>"
            )
        })
        .collect();
    for (list, items) in [
        (format!("<ul>{tiles}</ul>"), "Lamp number 7\n7.99 EUR"),
        (
            format!("<table>{threads}</table>"),
            "How is thing 7 done? by author7 7 answers",
        ),
    ] {
        let source = format!("<h1>All of them</h1>{}{list}", prose("own", 60));
        let text = html(&source).text;
        assert!(text.contains(items) && text.contains("own59"), "{text}");
    }
    let menu: String = (0..40)
        .map(|n| format!("<li><a href=/{n}>Entry {n}</a></li>"))
        .collect();
    let document = html(&format!("<ul>{menu}</ul>{}", prose("own", 120)));
    assert_eq!(document.text, words("own", 120));
    assert!(document.compared_text().contains("Entry 7"));
}

/// Each post of a thread is marked as a comment, and none is most of the page: whole threads were
/// emptied, and two threads of one forum became near-duplicates by their frame.
#[test]
fn marks_of_comments_are_summed_over_all_posts() {
    let posts: String = (0..10)
        .map(|n| {
            format!(
                "<div class=comment>{}</div>",
                prose(&format!("post{n}x"), 30)
            )
        })
        .collect();
    let document = html(&format!("{}<div>{posts}</div>", prose("hint", 20)));
    assert!(document.text.contains("post0x0") && document.text.contains("post9x29"));
}

#[test]
fn a_footer_is_never_chosen_over_a_short_text() {
    for mark in ["footer", "div class=footer", "div role=contentinfo"] {
        let end = mark.split(' ').next().unwrap();
        let foot = prose("foot", 90);
        let document = html(&format!(
            "<p>{}</p><{mark}>{foot}</{end}>",
            words("own", 55)
        ));
        assert_eq!(document.text, words("own", 55), "{mark}");
        assert_eq!(document.compared_text(), words("own", 55), "{mark}");
    }
    // A class name around the whole page is not trusted.
    let document = html(&format!(
        "<div class=has-footer><h1>Title</h1>{}</div>",
        prose("own", 60)
    ));
    assert_eq!(document.text, format!("Title\n{}", words("own", 60)));
}

/// A product of thirty words beside five goods that changed with every visit was, by its main
/// content, a new page each time: of a shop's pages 63 % had the sidebar in it.
#[test]
fn the_sidebar_of_a_short_page_is_left_out_whatever_its_name() {
    let goods: String = (0..5)
        .map(|number| format!("<li><a href=/{number}>Lamp of brass {number}</a> 9.15</li>"))
        .collect();
    let side = format!("<h4>Bought often</h4><ul>{goods}</ul><p>Read our letter once a month.</p>");
    for (main, beside) in [
        ("class=col-main", "class=col-right"),
        ("id=a", "id=b"),
        ("", ""),
    ] {
        let page = |own: &str| {
            html(&format!(
                "<body><div {main}><h1>Wood screw</h1>{own}</div><div {beside}>{side}</div>"
            ))
        };
        let short = page(&prose("own", 30));
        assert_eq!(short.text, format!("Wood screw\n{}", words("own", 30)));
        let split = page(&format!("<div>{}</div>", prose("own", 70)));
        assert_eq!(split.text, format!("Wood screw\n{}", words("own", 70)));
        assert!(short.compared_text().contains("own0"));
    }
    // The title of a list, or of an article in another block, is not all of the content.
    let list: String = (0..40)
        .map(|number| format!("<li><a href=/{number}>Class {number}</a></li>"))
        .collect();
    let index = html(&format!("<div><h1>All classes</h1></div><ul>{list}</ul>"));
    assert!(index.text.contains("Class 39"), "{}", index.text);
    let story = html(&format!(
        "<article><header><h1>Title</h1><p>By Jo, today</p></header><div>{}</div></article>",
        prose("own", 80)
    ));
    assert!(story.text.contains("own79"), "{}", story.text);
}

#[test]
fn reviews_are_excluded_beside_a_description_and_kept_on_a_page_of_reviews() {
    let reviews: String = (0..9)
        .map(|n| format!("<article>{}</article>", prose(&format!("buyer{n}x"), 40)))
        .collect();
    let reviews = format!("<div class=reviews>{reviews}</div>");
    let document = html(&format!(
        "<div><h1>Lamp</h1>{}</div>{reviews}",
        prose("own", 80)
    ));
    assert_eq!(document.text, format!("Lamp\n{}", words("own", 80)));
    assert!(document.compared_text().contains("buyer8x0"));
    let document = html(&format!("<h1>All reviews</h1>{reviews}"));
    assert!(document.text.contains("buyer8x0"), "{}", document.text);
}

#[test]
fn a_paragraph_for_another_screen_is_read_once_and_an_answer_behind_a_tab_is_read() {
    let (one, other) = (prose("one", 60), prose("other", 60));
    let document = html(&format!(
        "<div>{one}{other}{one}</div><p><a href=/x>more</a>"
    ));
    assert_eq!(
        document.text,
        format!("{}\n{}", words("one", 60), words("other", 60))
    );
    let document = html(&format!(
        "<div>{one}<div class=faq><div hidden>{other}</div></div></div>"
    ));
    assert!(document.text.contains("other59"));
}

#[test]
fn the_words_of_buttons_are_not_text_except_in_headings() {
    let document = html(&format!(
        "<div><h3><button>Why so?</button></h3>{}<p>before <button>Copy it</button> \
         behind</p></div>",
        prose("own", 60)
    ));
    assert_eq!(
        document.text,
        format!("Why so?\n{}\nbefore\nbehind", words("own", 60))
    );
    assert!(document.compared_text().contains("Copy it"));
}

/// All 302 routes of an application were called repeats of its first page, and no word said that
/// scripts were missing.
#[test]
fn a_page_needs_its_scripts_if_they_run_and_it_has_next_to_no_text_without_them() {
    let (few, many) = (words("w", 49), words("w", 50));
    let file = "<script src=/app.js></script>";
    let data = "<script type=application/ld+json>{\"a\": 1}</script>";
    let deep = "<div>".repeat(5_000);
    for (source, expected) in [
        (format!("<div id=root></div>{file}"), true),
        (format!("<p>{few}</p>{file}"), true),
        (format!("<p>{many}</p>{file}"), false),
        (few.clone(), false),
        (String::new(), false),
        // The scripts: in a file or not, of any name of the language.
        ("<script>start()</script>".to_owned(), true),
        ("<script type=module>start()</script>".to_owned(), true),
        (
            "<script type=Text/JavaScript1.5>x()</script>".to_owned(),
            true,
        ),
        (
            "<script type=application/x-javascript src=x></script>".to_owned(),
            true,
        ),
        ("<head><script>start()</script></head>".to_owned(), true),
        ("<svg><script>start()</script></svg>".to_owned(), true),
        (format!("{deep}<p>a</p>{file}"), true),
        // No script that runs.
        ("<script> \n</script>".to_owned(), false),
        (data.to_owned(), false),
        (
            "<script type=application/json src=x>{}</script>".to_owned(),
            false,
        ),
        ("<script type=importmap>{}</script>".to_owned(), false),
        (
            "<script type=text/template><p>x</p></script>".to_owned(),
            false,
        ),
        (format!("<template>{file}</template>"), false),
        (format!("<noscript>{file}</noscript>"), false),
        (format!("<iframe srcdoc='{file}'></iframe>"), false),
        (
            "<a href=javascript:go() onclick=go()>x</a>".to_owned(),
            false,
        ),
        // What readers without scripts see counts if it is a text.
        (format!("{file}<body><noscript>{many}</noscript>"), false),
        (format!("{file}<body><noscript>{few}</noscript>"), true),
        (
            format!("{file}<p>{few}</p><noscript>{few}</noscript>"),
            true,
        ),
        // In Chinese, every sign is a word.
        (format!("{file}<p>{}</p>", "\u{6f22}".repeat(60)), false),
    ] {
        let start = &source[..source.floor_char_boundary(99)];
        assert_eq!(html(&source).needs_scripts, expected, "{start}");
    }
    let data = read_as(
        few.as_bytes(),
        Some("text/javascript"),
        &[],
        &ReadLimits::default(),
    );
    assert!(!data.needs_scripts);
}
