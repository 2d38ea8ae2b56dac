//! The text that verdicts are made from, the heading that names a page, and selectors of both.

use web::{
    CanonicalForm, Document, MainContent, MainSelectors, PageUrl, ReadLimits, ResponseMetadata,
    read,
};

fn read_with(source: &str, main: Option<&MainSelectors>) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/dir/page", &form).expect("a URL");
    let hints = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        main,
        ..ResponseMetadata::of(&url)
    };
    read(source.as_bytes(), &hints, &form, &ReadLimits::default())
}

fn html(source: &str) -> Document {
    read_with(source, None)
}

fn words(prefix: &str, count: usize) -> String {
    (0..count)
        .map(|n| format!("{prefix}{n}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn prose(prefix: &str, count: usize) -> String {
    format!("<p>{}</p>", words(prefix, count))
}

/// 307 of 508 wrongly merged pairs of LLVM's pages were equal only without their lines of links.
#[test]
fn a_verdict_is_made_from_everything_outside_the_frame() {
    let own = prose("own", 120);
    for (source, inside, outside) in [
        // Lines of links beside the prose and inside it.
        (
            format!(
                "<div>{own}<ul><li><a href=/a>class alpha</a><li><a href=/b>beta</a></ul></div>"
            ),
            "class alpha\nbeta",
            "",
        ),
        // A synopsis and a title outside the block with the prose: Boost's ranlux3 and ranlux4.
        (
            format!(
                "<h2>ranlux4</h2><div><pre>typedef ranlux4</pre></div><div><div>{own}</div></div>"
            ),
            "ranlux4\ntypedef ranlux4",
            "",
        ),
        // Posts of a forum, each marked as a comment.
        (
            format!("<div class=comment>{own}</div><div class=comment><p>a reply</p></div>"),
            "a reply",
            "",
        ),
        // Comments below an article.
        (
            format!("<article>{own}</article><div id=comments><p>a reply</p></div>"),
            "a reply",
            "",
        ),
        // Tiles of products, and links to related articles.
        (
            format!("{own}<div class=related><a href=/x>Lamp 17</a></div>"),
            "Lamp 17",
            "",
        ),
        (
            format!("<header>Site</header>{own}<footer>{own} foot</footer>"),
            "own0 own1",
            "foot",
        ),
        (format!("<nav>menu</nav>{own}"), "own0", "menu"),
        (format!("<aside>side</aside>{own}"), "own0", "side"),
        (
            format!("<div role=search>find it</div>{own}"),
            "own0",
            "find it",
        ),
        (
            format!("<div class=sidebar>side</div>{own}"),
            "own0",
            "side",
        ),
        (format!("<div class=footer>foot</div>{own}"), "own0", "foot"),
        // Only the table of contents distinguishes the index pages of two languages.
        (
            format!(
                "<h1>The FAQ</h1><div class=toc>{}</div>{own}",
                "<p><a href=/x>A question</a>".repeat(300)
            ),
            "A question",
            "",
        ),
        // A class name on most of a page is not trusted.
        (
            format!("<div class=has-sidebar>{own}</div><p>few"),
            "own0",
            "",
        ),
        // A large menu of links beside the title.
        (
            format!(
                "<div class=sidebar>{}</div><h1>What it is</h1>{}",
                "<p><a href=/x>an entry</a>".repeat(300),
                prose("own", 60)
            ),
            "What it is\nown0",
            "an entry",
        ),
        // The head of a section, of an article, and notes in the content.
        (
            format!("<section><header>of a part</header>{own}</section>"),
            "of a part",
            "",
        ),
        (
            format!("<main>{own}<aside>do NOT use this in production</aside></main>"),
            "do NOT use this",
            "",
        ),
    ] {
        let document = html(&source);
        assert_eq!(document.compared_own(), &MainContent::Main, "{source}");
        let judged = document.compared_text();
        assert!(judged.contains(inside), "{source}: {judged}");
        assert!(
            outside.is_empty() || !judged.contains(outside),
            "{source}: {judged}"
        );
    }
}

#[test]
fn a_main_element_is_trusted_even_if_it_is_short() {
    let (frame, side) = (words("frame", 200), prose("side", 300));
    for source in [
        format!("<nav>{frame}</nav><main>Ten words</main>"),
        format!("<div>{side}</div><main>Ten words</main><div>{side}</div>"),
        format!("<article>{side}</article><div role=main>Ten words<nav>{side}</nav></div>"),
        // Pages of gi-docgen.
        format!(
            "<nav class=sidebar>{side}</nav><section id=main class=content>Ten words</section>"
        ),
        // Pages of mdBook and old Sphinx.
        format!(
            "<nav id=sidebar class=sidebar>{side}</nav><div class=page><main>Ten words</main></div>"
        ),
        format!(
            "<div role=main class=body>Ten words</div><div class=sphinxsidebar \
             role=navigation>{side}</div>"
        ),
    ] {
        let document = html(&source);
        assert_eq!(document.compared_text(), "Ten words", "{source}");
        assert_eq!(document.compared_own(), &MainContent::Main, "{source}");
        assert_eq!(document.text, "Ten words", "{source}");
        assert_eq!(document.own, MainContent::Main, "{source}");
    }
    // A `<main>` without words is ignored.
    let document = html(&format!(
        "<main><nav>{frame}</nav></main>{}",
        prose("own", 60)
    ));
    assert_eq!(document.compared_text(), words("own", 60));
}

#[test]
fn a_page_that_is_all_boilerplate_is_compared_whole_and_its_main_text_is_reported() {
    let frame = words("frame", 100);
    for (count, is_own) in [(49, false), (50, true)] {
        let document = html(&format!("<nav>{frame}</nav>{}", prose("own", count)));
        let main_text = words("own", count);
        if is_own {
            assert_eq!(document.compared_text(), main_text);
            assert_eq!(document.compared_own(), &MainContent::Main);
        } else {
            assert_eq!(document.compared_text(), format!("{frame}\n{main_text}"));
            assert_eq!(
                document.compared_own(),
                &MainContent::PageFallback { main_text }
            );
        }
    }
    // The text is short, but most of the page.
    let document = html("<nav>home</nav><p>A short page with a few words");
    assert_eq!(document.compared_text(), "A short page with a few words");
    assert_eq!(document.compared_own(), &MainContent::Main);
}

#[test]
fn a_heading_names_the_page() {
    for (source, heading) in [
        (
            "<h1> What\n it <b>is</b> </h1><h1>B</h1>",
            Some("What it is"),
        ),
        ("<h2>Lesser</h2><h1>First</h1>", Some("First")),
        ("<h3>Lesser</h3><h2>Greater</h2>", Some("Lesser")),
        (
            "<header><h1>The site</h1></header><h2>The page</h2>",
            Some("The page"),
        ),
        ("<nav><h2>Menu</h2></nav><p>text", None),
        (
            "<article><header><h1>Story</h1></header><p>text</article>",
            Some("Story"),
        ),
        ("<h1>Beside</h1><main><h2>Part</h2></main>", Some("Beside")),
        (
            "<h1>Beside</h1><main><h1>Inside</h1></main>",
            Some("Inside"),
        ),
        (
            "<h1><img src=logo alt=Logo></h1><h2>The page</h2>",
            Some("The page"),
        ),
        ("<h1>One<br>two</h1>", Some("One two")),
        (
            "<main><h1>Section<a href='#s'>¶</a></h1></main>",
            Some("Section"),
        ),
        ("<h1>C#</h1>", Some("C#")),
        ("<p>text", None),
    ] {
        assert_eq!(html(source).heading.as_deref(), heading, "{source}");
    }
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/", &form).unwrap();
    let limits = ReadLimits {
        title_chars: 3,
        ..ReadLimits::default()
    };
    let capped = read(
        "<h1>éàüö</h1>".as_bytes(),
        &ResponseMetadata::of(&url),
        &form,
        &limits,
    );
    assert_eq!(capped.heading.as_deref(), Some("éàü"));
}

#[test]
fn the_first_selector_that_matches_gives_main_content_and_compared_text() {
    let source = format!(
        "<main>{}</main><div id=post-1 class=post data-x=y>one <nav>inner</nav></div><span \
         class=post>two</span>",
        prose("main", 80)
    );
    for (selectors, text) in [
        (&[".post"][..], "one\ninner\ntwo"),
        (&[".absent", "#post-1"], "one\ninner"),
        (&["other.example=main", "span.post"], "two"),
        (&["EXAMPLE.org=span.post", "main"], "two"),
        // Attributes that are otherwise omitted.
        (&["[data-x]"], "one\ninner"),
        // The selector matches, but the element has no words.
        (&["head"], &*words("main", 80)),
        (&[".absent"], &*words("main", 80)),
    ] {
        let main = MainSelectors::parse(selectors).unwrap();
        let document = read_with(&source, Some(&main));
        assert_eq!(document.text, text, "{selectors:?}");
        assert_eq!(document.compared_text(), text, "{selectors:?}");
        assert_eq!(document.own, MainContent::Main);
    }
}
