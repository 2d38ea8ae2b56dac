//! Forums and tag pages: templates with many words, and pages that are mostly links.

use std::fmt::Write as _;

use super::site::{KnownSite, html, link_list};
use crate::prose::Prose;
use crate::random::Random;

/// Two threads of a forum with the template of vBulletin: other posts by other members in the same
/// frame.
///
/// Each post has the mark of a comment, as many themes give it.
#[must_use]
pub fn two_threads() -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("forum.test/index.php");
    let mut links = Vec::new();
    for thread in [1_u64, 2] {
        let target = format!("showthread.php?t={thread}");
        let title = title_of(thread);
        known.add(
            format!("forum.test/{target}"),
            format!("thread {thread}"),
            thread_page(thread, 8, "postbit postcontainer comment"),
        );
        links.push((target, title));
    }
    let list = format!("<div id=\"threads\">{}</div>", link_list(&links));
    known.add(
        "forum.test/index.php",
        "index",
        forum_page("The Forum", &list),
    );
    known
}

/// Threads that a page of the forum's index lists.
const THREADS_A_PAGE: u64 = 100;

/// A forum whose first threads are deleted, and all say so in the same words; the others have posts
/// of their own.
#[must_use]
pub fn deleted_threads(deleted: u64, good: u64) -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("forum.test/forumdisplay.php?page=1");
    let threads = deleted + good;
    let pages = threads.div_ceil(THREADS_A_PAGE);
    for page in 1..=pages {
        let first = (page - 1) * THREADS_A_PAGE + 1;
        let listed = first..=threads.min(first + THREADS_A_PAGE - 1);
        let mut links: Vec<(String, String)> = listed
            .map(|thread| (format!("showthread.php?t={thread}"), title_of(thread)))
            .collect();
        if page < pages {
            links.push((
                format!("forumdisplay.php?page={}", page + 1),
                "Next page".to_owned(),
            ));
        }
        known.add(
            format!("forum.test/forumdisplay.php?page={page}"),
            format!("index {page}"),
            forum_page(
                "The Forum",
                &format!("<div id=\"threads\">{}</div>", link_list(&links)),
            ),
        );
    }
    for thread in 1..=threads {
        let address = format!("forum.test/showthread.php?t={thread}");
        if thread <= deleted {
            let message = "<div class=\"panel\"><p>Invalid Thread specified. This thread was \
                           deleted by its author or by a moderator. If you followed a valid link, \
                           please notify the administrator.</p></div>";
            known.add(address, "deleted", forum_page("vBulletin Message", message));
        } else {
            known.add(
                address,
                format!("thread {thread}"),
                thread_page(thread, 3, "postbit postcontainer"),
            );
        }
    }
    known
}

fn title_of(thread: u64) -> String {
    Prose::new(61, thread).title()
}

/// A thread of `posts` posts with some 45 words each.
fn thread_page(thread: u64, posts: usize, class_of_post: &str) -> String {
    let mut prose = Prose::new(61, thread);
    let title = prose.title();
    let mut random = Random::of(62, thread);
    let mut content = format!("<h1>{title}</h1><ol id=\"posts\">");
    for post in 1..=posts {
        let _infallible = write!(
            content,
            "<li class=\"{class_of_post}\" id=\"post_{thread}{post:02}\">\
             <div class=\"posthead\"><span class=\"postdate\">Join Date: 2009</span> \
             <a href=\"#post{post}\">#{post}</a></div>\
             <div class=\"userinfo\">Member {} Posts: {}</div>\
             <div class=\"postbody\"><div id=\"post_message_{thread}{post:02}\">\
             <blockquote class=\"postcontent\">{}\
             </blockquote></div></div><div class=\"postfoot\">Reply With Quote</div></li>",
            crate::prose::coined(&mut random, 2),
            random.below(5_000),
            prose.paragraph(45),
        );
    }
    content.push_str("</ol>");
    // In-page links lead nowhere else.
    let content = content.replace(" href=\"#", " data-target=\"#");
    forum_page(&title, &content)
}

/// The frame of a page: some 250 words that stand on every one.
fn forum_page(title: &str, content: &str) -> String {
    let before = "<div id=\"header\"><a name=\"top\"></a><div>Welcome to The Forum. If this is \
                  your first visit, be sure to check out the FAQ by clicking the link above. You \
                  may have to register before you can post: click the register link above to \
                  proceed. To start viewing messages, select the forum that you want to visit from \
                  the selection below.</div><div>Register Help Members List Calendar Search \
                  Today's Posts Mark Forums Read</div></div>";
    let rules = "You may not post new threads. You may not post replies. You may not post \
                 attachments. You may not edit your posts. BB code is On. Smilies are On. [IMG] \
                 code is On. [VIDEO] code is On. HTML code is Off. Forum Rules.";
    let jump = "Quick Navigation: User Control Panel, Private Messages, Subscriptions, Who's \
                Online, Search Forums, Forums Home, Announcements, General Discussion, \
                Introductions, Questions and Answers, Projects, Show and Tell, Marketplace, \
                Wanted, For Sale, Events, Off Topic, The Lounge, Feedback, Archive.";
    let after = format!(
        "<div id=\"thread_info\"><h4>Thread Information</h4><p>There are currently users browsing \
         this thread. (members and guests)</p></div><div><h4>Bookmarks</h4><p>Submit Thread to \
         Digg, del.icio.us, StumbleUpon, Google</p></div>\
         <div id=\"forumrules\"><h2>Posting Permissions</h2><p>{rules}</p></div>\
         <div id=\"navpopup\"><p>{jump}</p></div>\
         <div id=\"footer\"><div>Contact Us - The Forum - Archive - Top. All times are GMT. The \
         time now is 08:15 AM. Powered by vBulletin Version 4.2.5. Copyright &copy; 2026 vBulletin \
         Solutions Inc. All rights reserved.</div></div>"
    );
    html(
        title,
        before,
        &format!("<div id=\"pagecontent\">{content}</div>"),
        &after,
    )
}

/// Articles of each tag.
const TAGGED: u64 = 30;

/// Two tag pages with the same words whose links lead to other articles: a front page, two tags,
/// sixty articles.
#[must_use]
pub fn tag_twins() -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("blog.test/");
    let tags = [("/tag/wood", "Wood"), ("/tag/timber", "Timber")];
    let front = format!("<main><h1>A blog</h1>{}</main>", link_list(&tags));
    known.add("blog.test/", "front", html("A blog", "", &front, ""));
    for (tag, (address, _)) in (0..).zip(tags) {
        let teaser = Prose::new(71, 0).paragraph(60);
        let mut main = format!("<main><h1>Articles</h1><p>{teaser}</p>");
        for number in tag * TAGGED..(tag + 1) * TAGGED {
            let _infallible = write!(
                main,
                "<p><a href=\"/article/{number}\">Read the article</a></p>"
            );
            let mut prose = Prose::new(72, number);
            let title = prose.title();
            let text = format!(
                "<main><h1>{title}</h1><p>{}</p></main>",
                prose.paragraph(150)
            );
            known.add(
                format!("blog.test/article/{number}"),
                format!("article {number}"),
                html(&title, "", &text, ""),
            );
        }
        main.push_str("</main>");
        known.add(
            format!("blog.test{address}"),
            "tag",
            html("Articles", "", &main, ""),
        );
    }
    known
}
