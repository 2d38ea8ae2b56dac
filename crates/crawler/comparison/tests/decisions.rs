//! Decisions on pairs of pages, each of one kind.

use comparison::{
    ComparedPage, Decision, DifferingBlock, Frames, HostFrame, Outcome, PageParts, Reason, decide,
    differing_blocks,
};
use proptest::prelude::*;

const ARTICLE: &str = "The committee met on Tuesday and approved the new bridge over the river \
after a long debate about cost and noise.\n\
It will be built in three years, and the ferry will run until the last cable has been hung.\n\
Those who live near the pier asked for quiet hours, and the council promised to write them down.";

fn page<'a>(heading: &'a str, main: &'a str, judged: &'a str) -> ComparedPage {
    ComparedPage::of(&PageParts {
        url: "",
        title: Some(heading),
        heading: Some(heading),
        main,
        judged,
        is_partial: false,
        is_plain: false,
    })
}

/// Returns a page that is nothing but its main content.
fn plain(heading: &str, text: &str) -> ComparedPage {
    let text = format!("{heading}\n{text}");
    page(heading, &text, &text)
}

fn decision(one: &ComparedPage, other: &ComparedPage) -> Decision {
    decide(one, other, Frames::default(), false)
}

/// Returns the boilerplate for two pages of one host.
fn of_one_host(frame: &HostFrame) -> Frames<'_> {
    Frames {
        page: Some(frame),
        original: Some(frame),
        common: None,
    }
}

fn reason(one: &ComparedPage, other: &ComparedPage) -> Option<Reason> {
    let (there, back) = (decision(one, other), decision(other, one));
    assert_eq!(there.outcome, back.outcome);
    there.reason
}

#[test]
fn a_number_that_differs_makes_two_pages() {
    let of = |memory: &str| {
        let needs = format!("A normal installation needs {memory} of memory and 2 GB of disk.");
        plain("Memory", &format!("{needs}\n{ARTICLE}"))
    };
    assert_eq!(
        reason(&of("780 MB"), &of("260 MB")),
        Some(Reason::Number("780".to_owned(), "260".to_owned()))
    );
}

/// Of 56 pairs that people judged to be duplicates, given as stems without sentences, 35 were
/// distinct: dates and counts of their boilerplate differ, and nothing tells boilerplate from a
/// text.
#[test]
fn a_number_in_stems_without_sentences_leaves_the_verdict_to_the_signatures() {
    let stems = "committe met tuesday approv new bridg river long debat cost nois built three \
        year ferri run until last cabl hung live near pier ask quiet hour council promis write";
    let of = |seen: u32, stems: &str| {
        let text = format!("{stems} {stems} {seen} time");
        ComparedPage::of(&PageParts {
            main: &text,
            judged: &text,
            is_plain: true,
            ..PageParts::default()
        })
    };
    let decided = |stems: &str| decision(&of(17, stems), &of(29, stems)).outcome;
    assert_eq!(decided(stems), Outcome::Undecided);
    assert_eq!(
        decided(&ARTICLE.to_lowercase().repeat(2)),
        Outcome::Distinct
    );
}

/// Old revisions of an article differ in a paragraph each, and five such articles taught that
/// articles change by themselves: 105 of 217 contents of a wiki were lost.
#[test]
fn a_paragraph_that_is_edited_in_each_article_does_not_change_by_itself() {
    let own = |content: &str, text: &str| text.replace("bridge", content).replace("ferry", content);
    let menu = "All articles of this encyclopaedia are written by everybody who wants to do so.";
    let of = |content: &str, edited: &str| {
        let text = format!(
            "{menu}\n{}\n{}",
            own(content, ARTICLE),
            own(content, edited)
        );
        plain(&format!("The {content}"), &text)
    };
    let contents = [
        "harbour", "meadow", "railway", "orchard", "quarry", "castle", "market", "chapel", "forest",
    ];
    let mut frame = HostFrame::default();
    contents
        .iter()
        .for_each(|content| frame.learn(&of(content, "Nothing else is known.")));
    let edits = [
        "The oldest stone of it was found by two children in a dry summer long ago, and it is \
            shown to every visitor who asks the keeper politely enough on a weekday.",
        "Nobody remembers who paid for the roof, although all bills were kept in a chest under \
            the stairs until a flood took them away together with the furniture and the door.",
    ];
    for content in contents {
        let (page, older) = (of(content, edits[0]), of(content, edits[1]));
        let frames = of_one_host(&frame);
        let decision = decide(&page, &older, frames, false);
        assert_ne!(decision.outcome, Outcome::Repeat, "{content}");
        frame.learn_changes(&decision.changes, page.content());
    }
    assert_eq!(frame.changing_places(), 0);
}

#[test]
fn a_slip_beside_a_number_in_a_name_is_no_other_number() {
    let text = "The image debian-testing-i386-netinst has all files that a first boot needs, and \
        it fits on media of 512MB. Write it with any tool that copies blocks to the device sda1.";
    let page_of = |text: &str| page("Image", text, text);
    let slipped = page_of(&text.replace("netinst", "netimst"));
    assert_eq!(reason(&slipped, &page_of(text)), None);
    for fact in [("i386", "i686"), ("512MB", "512GB"), ("sda1", "sdb1")] {
        let other = page_of(&text.replace(fact.0, fact.1));
        assert!(
            matches!(reason(&other, &page_of(text)), Some(Reason::Number(..))),
            "{fact:?}"
        );
    }
}

/// A sentence without blanks was one word, so a slip of the pen in a sentence with a number was
/// another number: 11 of 30 Chinese texts with 1 % of their characters changed were distinct.
#[test]
fn a_number_in_a_text_without_blanks_is_no_longer_than_the_number() {
    let text = "每个磁盘分区的表示，是通过在磁盘名称后面附加一个十进制数字：sda1和sda2分别表示您系统中\
        第一块SCSI磁盘的第一和第二分区。在实际应用中，假设您的系统有2个SCSI磁盘。\
        ご使用のコンピュータの電源を入れてから、インストーラのメニューが表示されるまでお待ちください。";
    let page_of = |text: &str| page("磁盘", text, text);
    let original = page_of(text);
    for slip in [
        ("名称", "名弥"),
        ("一个", "d个"),
        ("インストーラ", "インストーヲ"),
    ] {
        let slipped = page_of(&text.replace(slip.0, slip.1));
        assert_eq!(reason(&slipped, &original), None, "{slip:?}");
    }
    for fact in [("sda2", "sda3"), ("有2个", "有3个")] {
        let other = page_of(&text.replace(fact.0, fact.1));
        assert!(
            matches!(reason(&other, &original), Some(Reason::Number(..))),
            "{fact:?}"
        );
    }
}

#[test]
fn a_letter_of_a_script_without_blanks_is_no_name_and_an_ideograph_is_one() {
    let text = "เลือกปุ่มวงกลมเพื่อแสดงรายการทั้งหมด\n\
        เลือกปุ่มวงกลมเพื่อซ่อนรายการทั้งหมดในหน้าต่าง";
    let page_of = |text: &str| page("ปุ่ม", text, text);
    let slipped = page_of(&text.replace("วง", "รง"));
    assert_eq!(reason(&slipped, &page_of(text)), None);
    let text =
        "请把设备的左侧朝向墙壁放置，并检查电源线。\n连接之前，请再次确认左侧没有任何障碍物。";
    let page_of = |text: &str| page("安装", text, text);
    let other = page_of(&text.replace('左', "右"));
    assert!(matches!(
        reason(&other, &page_of(text)),
        Some(Reason::Name(..))
    ));
}

#[test]
fn a_name_that_stands_in_place_of_another_again_and_again_makes_two_pages() {
    let of = |class: &str| {
        let text = format!("{class} Member List\nAll members of {class}, inherited ones too.");
        plain("Toolkit", &format!("{text}\n{ARTICLE}"))
    };
    assert_eq!(
        reason(&of("Slider"), &of("Gauge")),
        Some(Reason::Name("slider".to_owned(), "gauge".to_owned()))
    );
}

#[test]
fn the_part_of_a_dotted_name_that_differs_is_the_name() {
    let of = |kind: &str| {
        let text = format!("Module Control.Monad.{kind} of the library, see Data.{kind} for more.");
        plain(
            &format!("Control/Monad/{kind}.hs"),
            &format!("{text}\n{ARTICLE}"),
        )
    };
    assert_eq!(
        reason(&of("Lazy"), &of("Strict")),
        Some(Reason::Name("lazy".to_owned(), "strict".to_owned()))
    );
}

#[test]
fn a_word_that_is_added_to_heading_and_text_makes_two_pages() {
    let of = |kind: &str| {
        plain(
            &format!("atomic {kind}"),
            &format!("{ARTICLE}\nIt holds a {kind}."),
        )
    };
    let reason = reason(&of("unsigned long"), &of("unsigned long long"));
    assert_eq!(reason, Some(Reason::Name(String::new(), "long".to_owned())));
}

#[test]
fn signs_between_the_same_words_make_two_pages() {
    for (one, other) in [
        ("Solutions in C", "Solutions in C++"),
        ("It has -5 degrees today", "It has 5 degrees today"),
        ("It costs $10 in the shop", "It costs €10 in the shop"),
    ] {
        let of = |said: &str| plain("Today", &format!("{said}\n{ARTICLE}"));
        assert!(
            matches!(reason(&of(one), &of(other)), Some(Reason::Sign(..))),
            "{one}"
        );
    }
}

#[test]
fn headings_of_signs_alone_are_compared_sign_by_sign() {
    let (plus, slash) = (plain("+", ARTICLE), plain("/", ARTICLE));
    assert!(matches!(
        reason(&plus, &slash),
        Some(Reason::Heading(..) | Reason::Sign(..))
    ));
}

/// Index pages of operators were equal to the letter: `.` was left out for `!`.
#[test]
fn an_operator_in_place_of_another_makes_two_pages_and_a_separator_does_not() {
    let of = |entry: &str| plain("Index", &format!("{entry}\n{ARTICLE}"));
    let reason_of = |one: &str, other: &str| reason(&of(one), &of(other));
    let reason = reason_of(". . GHC.Prelude", "! !! GHC.Prelude");
    assert!(matches!(reason, Some(Reason::Sign(..))), "{reason:?}");
    assert_eq!(reason_of("Home | Prelude", "Home · Prelude"), None);
}

/// A shop had an endless list of items without a word of their own, each with its number.
#[test]
fn the_number_of_a_page_in_its_url_is_no_fact() {
    let of = |number: u32, price: u32| {
        let text = format!("{ARTICLE}\nItem {number} costs {price} pounds.");
        ComparedPage::of(&PageParts {
            url: &format!("http://shop.test/item/{number}"),
            heading: Some("Item"),
            main: &text,
            judged: &text,
            ..PageParts::default()
        })
    };
    assert_eq!(
        decision(&of(1_001, 5), &of(1_002, 5)).outcome,
        Outcome::Repeat
    );
    assert_eq!(
        decision(&of(1_001, 5), &of(1_002, 6)).outcome,
        Outcome::Distinct
    );
}

/// A list that was cut after another number of goods was left out: one of 24 goods is a small rest.
/// 135 lists of a shop were lost so.
#[test]
fn a_list_with_another_item_is_another_list() {
    let list = |goods: &mut dyn Iterator<Item = u8>| {
        let named = goods.map(|number| {
            let name = char::from(b'a' + number).to_string().repeat(5);
            format!("{name}ery {name}ing {name}wood {name}glass")
        });
        let goods: Vec<String> = named.collect();
        plain("Lamps", &goods.join("\n"))
    };
    let (first, second) = (list(&mut (0..24)), list(&mut (1..25)));
    assert_eq!(decision(&first, &second).outcome, Outcome::Undecided);
    let shuffled = list(&mut (0..24).rev());
    assert_eq!(decision(&first, &shuffled).outcome, Outcome::Repeat);
    let whole = list(&mut (0..25));
    assert_eq!(decision(&first, &whole).outcome, Outcome::View);
    assert_eq!(decision(&whole, &first).outcome, Outcome::ViewOfPage);
}

/// Of two editions, one lacked the last sections. It was not archived as a view of the other.
#[test]
fn a_part_of_a_page_without_a_frame_is_no_view_of_it() {
    let section = "Those who install from a tape need the second part of this chapter, too.";
    let (part, whole) = (
        plain("Disks", ARTICLE),
        plain("Disks", &format!("{ARTICLE}\n{section}")),
    );
    let frame = HostFrame::default();
    let frames = of_one_host(&frame);
    assert_eq!(
        decide(&part, &whole, frames, false).outcome,
        Outcome::Undecided
    );
    assert_eq!(decision(&part, &whole).outcome, Outcome::View);
}

/// A chapter for one machine was left out for the same chapter for another one, which has a
/// paragraph more in its midst.
#[test]
fn prose_without_a_part_of_its_midst_is_no_view() {
    let (first, rest) = ARTICLE.split_once('\n').unwrap();
    let more =
        "On this machine the loader must be written to the first sectors of the disk before.";
    let whole = plain("Disks", &format!("{first}\n{more}\n{rest}"));
    assert_eq!(
        decision(&plain("Disks", ARTICLE), &whole).outcome,
        Outcome::Undecided
    );
}

#[test]
fn a_page_that_was_read_in_part_repeats_none() {
    let part = ComparedPage::of(&PageParts {
        main: ARTICLE,
        judged: ARTICLE,
        is_partial: true,
        ..PageParts::default()
    });
    assert_eq!(reason(&part, &part.clone()), Some(Reason::PartlyRead));
}

#[test]
fn what_stands_beside_the_main_content_does_not_count() {
    let main = format!("Walnut shelf\n{ARTICLE}");
    let of = |offers: &str| {
        page(
            "Walnut shelf",
            &main,
            &format!("{main}\nBestsellers\n{offers}"),
        )
    };
    let (one, other) = (of("clay pot\nbrass lamp"), of("pine chair\nfelt hat"));
    assert_eq!(decision(&one, &other).outcome, Outcome::Repeat);
}

/// The number of a product stood in no block of the main content, and a product was lost for
/// another one of its name.
#[test]
fn a_number_between_the_heading_and_the_text_counts() {
    let main = format!("Walnut shelf\n{ARTICLE}");
    let of = |number: &str| {
        let judged = format!("Walnut shelf\nNumber {number}. In stock.\n{ARTICLE}");
        page("Walnut shelf", &main, &judged)
    };
    assert_eq!(
        decision(&of("lib-2.0"), &of("lib-3.0")).outcome,
        Outcome::Distinct
    );
}

#[test]
fn a_print_view_stands_in_the_page_and_the_page_does_not_stand_in_it() {
    let print = "By wren, 5 May\nPrinted from http://blog.test/bridge on 7 June. Press to print.";
    let print = plain("Bridge", &format!("{ARTICLE}\n{print}"));
    let comments = "Whoever sows in rows can hoe between them, which saves an hour a week.\n\
        Slugs come at night after rain and hide under boards until the morning comes.";
    let post = format!("Posted on 5 May by wren in News.\n{ARTICLE}\n{comments}");
    let post = plain("Bridge", &post);
    assert_eq!(decision(&print, &post).outcome, Outcome::View);
    assert_eq!(decision(&post, &print).outcome, Outcome::ViewOfPage);
}

#[test]
fn a_page_under_another_heading_is_no_view_unless_it_names_the_other_as_canonical() {
    let (post, month) = (plain("Bridge", ARTICLE), plain("Posts of May", ARTICLE));
    assert_eq!(decision(&post, &month).outcome, Outcome::Undecided);
    let by_canonical = decide(&post, &month, Frames::default(), true);
    assert_eq!(by_canonical.outcome, Outcome::View);
}

#[test]
fn one_text_in_the_frames_of_two_editions_is_a_repeat() {
    let of =
        |before: &str, behind: &str| plain("Opacity", &format!("{before}\n{ARTICLE}\n{behind}"));
    let german = of(
        "Anmerkung für Fortgeschrittene und alle anderen",
        "Fehler in der Dokumentation bitte melden",
    );
    let french = of(
        "Note pour les experts et pour tous les autres",
        "Signaler une erreur de la documentation",
    );
    assert_eq!(decision(&german, &french).outcome, Outcome::Repeat);
}

/// The foreword of a handbook was lost as a repeat of its preface: they have one title, and the
/// paragraphs after it in other editions had taught that the place behind it changes.
#[test]
fn a_page_whose_text_is_in_a_changing_place_is_no_repeat() {
    let bar = "Read the handbook as a book or search it for a word.";
    let of = |heading: &str, text: &str| plain(heading, &format!("{bar}\n{text}"));
    let sayings = [
        "A stitch in time saves nine.",
        "Still waters run deep.",
        "All roads lead to Rome.",
    ];
    let contents = [
        "harbour", "meadow", "railway", "orchard", "quarry", "castle", "market", "chapel", "forest",
    ];
    let saying = |content: &str, saying: &str| {
        let article = ARTICLE.replace("bridge", content).replace("ferry", content);
        plain(
            &format!("The {content}"),
            &format!("{article}\n{bar}\n{saying}"),
        )
    };
    let pages = |content: &str| sayings.map(|text| saying(content, text));
    let mut frame = HostFrame::default();
    for content in contents {
        frame.learn(&saying(content, ""));
    }
    for content in contents {
        let [one, other, _] = pages(content);
        let frames = of_one_host(&frame);
        let decision = decide(&one, &other, frames, false);
        frame.learn_changes(&decision.changes, one.content());
    }
    assert_eq!(frame.changing_places(), 1);
    let frames = of_one_host(&frame);
    let [one, other] = ["bridge", "abbey"].map(|content| {
        of(
            "Preface",
            &ARTICLE.replace("bridge", content).replace('t', content),
        )
    });
    assert_eq!(
        decide(&one, &other, frames, false).outcome,
        Outcome::Undecided
    );
    let [first, .., last] = pages("abbey");
    assert_eq!(
        decide(&first, &last, frames, false).outcome,
        Outcome::Repeat
    );
}

/// A counter is learned from pairs of three contents, and not from one page in three states.
#[test]
fn a_number_that_changes_by_itself_is_learned_from_three_contents() {
    let of = |content: u32, seen: u32| {
        let own = ["harbour", "meadow", "railway", "orchard"][content as usize];
        let text = ARTICLE.replace("bridge", own).replace("ferry", own);
        plain(
            &format!("The {own}"),
            &format!("{text}\nSeen {seen} times."),
        )
    };
    let mut frame = HostFrame::default();
    let decided = |frame: &HostFrame, content, seen| {
        let frames = of_one_host(frame);
        decide(&of(content, seen), &of(content, 4_711), frames, false)
    };
    for seen in 0..9 {
        let decision = decided(&frame, 0, seen);
        assert_eq!(decision.outcome, Outcome::Distinct);
        frame.learn_changes(&decision.changes, of(0, 0).content());
    }
    for content in [1, 2] {
        let decision = decided(&frame, content, 90 + content);
        assert_eq!(decision.outcome, Outcome::Distinct, "{content}");
        frame.learn_changes(&decision.changes, of(content, 0).content());
    }
    assert_eq!(decided(&frame, 3, 17).outcome, Outcome::Repeat);
}

/// A crawl of 64 sites of one software learned for each of them that dates change, and kept three
/// copies on each.
#[test]
fn a_date_that_changes_on_three_hosts_changes_on_a_fourth_and_so_does_a_day_in_it() {
    let of = |content: &str, date: &str| {
        let text = ARTICLE.replace("bridge", content).replace("ferry", content);
        plain(
            &format!("The {content}"),
            &format!("Last updated on {date}. It was read often.\n{text}"),
        )
    };
    let mut common = HostFrame::default();
    let decided = |common: &HostFrame, content, [one, other]: [&str; 2]| {
        let frames = Frames {
            common: Some(common),
            ..Frames::default()
        };
        decide(&of(content, one), &of(content, other), frames, false)
    };
    let dates = [
        "5 May 2004",
        "12 June 2009",
        "28 August 2012",
        "9 March 2016",
        "30 July 2021",
    ];
    let other = "1 January 2000";
    for (host, date) in (0..).zip(dates) {
        let decision = decided(&common, "harbour", [date, other]);
        assert_eq!(decision.outcome, Outcome::Distinct, "{date}");
        common.learn_changes(&decision.changes, host % 3);
    }
    for dates in [
        ["17 April 2011", "2 May 2013"],
        ["3 April 2012", "24 April 2019"],
    ] {
        let decision = decided(&common, "meadow", dates);
        assert_eq!(decision.outcome, Outcome::Repeat, "{dates:?}");
    }
    let decision = decided(&common, "meadow", ["3 April 2012", "3 April 2012, page 2"]);
    assert_ne!(decision.outcome, Outcome::Repeat);
}

#[test]
fn a_letter_and_its_accent_are_one_character_however_they_are_written() {
    let text = ARTICLE.replace("bridge", "château");
    let apart = text.replace('â', "a\u{302}");
    assert_ne!(text, apart);
    let decision = decision(
        &plain("Le château", &text),
        &plain("Le cha\u{302}teau", &apart),
    );
    assert_eq!(decision.outcome, Outcome::Repeat);
}

/// Articles with comments on one of two hosts taught nothing: a fifth of what a blog's archive had
/// came twice before short articles without comments had shown that a counter changes.
#[test]
fn a_number_that_changes_by_itself_is_learned_from_views_with_more_on_one_side() {
    let of = |content: &str, seen: u32, comments: &str| {
        let text = ARTICLE.replace("bridge", content).replace("ferry", content);
        let main = format!("{text}\nSeen {seen} times.\n{comments}");
        plain(&format!("The {content}"), &main)
    };
    let comments = "I remember well how it looked before all of this was built.\n\
                    So do I, and I would give a lot to see it again as it was then.";
    let mut frame = HostFrame::default();
    let contents = ["harbour", "meadow", "railway", "orchard", "quarry"];
    for (content, seen) in contents.into_iter().zip(1..) {
        let frames = of_one_host(&frame);
        let one = of(content, seen, "");
        let decision = decide(&one, &of(content, 4_711, comments), frames, false);
        assert_eq!(decision.outcome, Outcome::Distinct, "{content}");
        frame.learn_changes(&decision.changes, one.content());
    }
    let frames = of_one_host(&frame);
    let other = [of("castle", 8, ""), of("castle", 9, comments)];
    let decision = decide(&other[0], &other[1], frames, false);
    assert_ne!(decision.outcome, Outcome::Distinct);
}

/// Libraries of one family have one heading, and a price each. Three such families taught that a
/// price changes by itself, and two products were lost, though no view of one shows another price.
#[test]
fn a_number_that_most_views_have_in_common_is_a_fact_though_it_differs_under_some_headings() {
    let of = |content: &str, price: u32, button: &str| {
        let text = ARTICLE.replace("bridge", content).replace("ferry", content);
        let main = format!("{text}\nAll of it for {price} Euro with the postage.\n{button}");
        plain(&format!("The {content}"), &main)
    };
    let button = "Put it into the basket and go on looking for more of this kind of thing.";
    let contents = ["harbour", "meadow", "railway", "orchard", "quarry"];
    let mut frame = HostFrame::default();
    let mut decided = |content: &str, prices: [u32; 2]| {
        let (page, view) = (of(content, prices[0], button), of(content, prices[1], ""));
        let frames = of_one_host(&frame);
        let decision = decide(&page, &view, frames, false);
        frame.learn_changes(&decision.changes, page.content());
        decision.outcome
    };
    for (content, price) in contents.into_iter().zip(1..) {
        assert_eq!(decided(content, [price, price + 7]), Outcome::Distinct);
        for _ in 0..9 {
            assert_ne!(decided(content, [price, price]), Outcome::Distinct);
        }
    }
    assert_eq!(decided("castle", [3, 4]), Outcome::Distinct);
}

/// Sizes are facts: an operand of two words was left out for one of one word.
#[test]
fn a_number_of_a_few_values_is_a_fact() {
    let of = |content: &str, size: u32| {
        let text = ARTICLE.replace("bridge", content).replace("ferry", content);
        plain(
            &format!("The {content}"),
            &format!("{text}\nSize: {size} words."),
        )
    };
    let mut frame = HostFrame::default();
    for content in ["harbour", "meadow", "railway", "orchard", "quarry"] {
        let (one, two) = (of(content, 1), of(content, 2));
        let frames = of_one_host(&frame);
        let decision = decide(&one, &two, frames, false);
        assert_eq!(decision.outcome, Outcome::Distinct, "{content}");
        frame.learn_changes(&decision.changes, one.content());
    }
}

#[test]
fn a_long_block_under_eight_headings_is_a_part_of_the_frame() {
    let terms = "All goods remain ours until they are paid for, and the courts of Exeter decide.";
    let goods = |number: u8| {
        let own = char::from(b'a' + number).to_string().repeat(4);
        let text = ARTICLE.replace("bridge", &own).replace("river", &own);
        plain(&format!("Shelf of {own}"), &format!("{text}\n{terms}"))
    };
    let mut frame = HostFrame::default();
    let page = goods(0);
    let block = page.blocks().last().unwrap();
    for number in 0..20 {
        if number < 8 {
            assert!(frame.part(&block).is_none(), "{number}");
        }
        frame.learn(&goods(number));
    }
    assert!(frame.part(&block).is_some());
}

#[test]
fn each_block_that_differs_is_shown_with_what_it_counts() {
    let terms = "All goods remain ours until they are paid for, and the courts of Exeter decide.";
    let goods = |number: u8| {
        let own = char::from(b'a' + number).to_string().repeat(4);
        let text = ARTICLE.replace("bridge", &own).replace("river", &own);
        plain(&format!("Shelf of {own}"), &format!("{text}\n{terms}"))
    };
    let mut frame = HostFrame::default();
    (0..20).for_each(|number| frame.learn(&goods(number)));
    let frames = of_one_host(&frame);
    let beside = format!("{ARTICLE}\nThe pier\nNeeds 260 MB.\n{terms}\nPrint");
    let original = page("The pier", &beside, &beside);
    let main = format!("{ARTICLE}\nThe pier\nNeeds 780 MB.");
    let page = page("The pier", &main, &format!("{main}\nHelp"));
    let shown = |block: &DifferingBlock| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (page, original) = (text(&block.page), text(&block.original));
        format!("{}: {page} | {original}", block.weight.as_str())
    };
    let blocks = differing_blocks(&page, &original, frames);
    let shown: Vec<String> = blocks.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "counts: Needs 780 MB. | Needs 260 MB.",
            "aside: Help | ",
            &format!("frame:  | {terms}"),
            "counts:  | Print",
        ]
    );
    assert!(differing_blocks(&page, &page, frames).is_empty());
}

/// Overloads of one function were views of each other: what the longer one has more are an argument
/// in a line of seven words and a table of short lines (four pages of Boost's reference).
#[test]
fn a_short_reference_page_is_no_view_of_one_with_another_argument_in_its_midst() {
    let of = |arguments: &str, listed: &str| {
        plain(
            "Function safe_dump_to",
            &format!(
                "In header dump.hpp is size_t safe_dump_to({arguments}const char * file)\n\
                 Complexity: O(N) where N is the length of the call sequence, or O(1) with NOOP.\n\
                 Safety: Safe in a handler of asynchronous signals.\nParameters:\nfile\n\
                 File to store current function call sequence.\n{listed}Returns:\n\
                 Stored call sequence depth including terminating zero frame."
            ),
        )
    };
    let short = of("", "");
    let long = of(
        "size_t skip, size_t max_depth, ",
        "max_depth\nMax depth to collect.\nskip\nHow many top calls to skip.\n",
    );
    assert_eq!(decision(&short, &long).outcome, Outcome::Undecided);
    assert_eq!(decision(&long, &short).outcome, Outcome::Undecided);
}

/// Half of the print views of a shop were kept: all that a product's page had more was its frame,
/// so that "In stock" in the line with the price was an edit of a short text.
#[test]
fn a_short_print_view_stands_in_its_page_although_a_line_of_the_page_has_more_words() {
    let text = "A screw with a countersunk head and a cross recess, sold in boxes of forty.";
    let of = |name: &str, price: &str, frame: &str| {
        plain(name, &format!("{price}\n{text} Made for {name}.{frame}"))
    };
    let terms = "\nAll goods remain ours until they are paid for, and the courts of Exeter decide.";
    let menu = "\nBasket: empty\nBought often\nHammer\nScrew\nOur letter\nHelp";
    let mut frame = HostFrame::default();
    for number in 0..20 {
        let name = format!(
            "Screw of {}",
            char::from(b'a' + number).to_string().repeat(4)
        );
        frame.learn(&of(&name, "Sold out", menu));
        frame.learn(&of(&name, "Not sold", terms));
    }
    let frames = of_one_host(&frame);
    let product = of("Screw of aaaa", "SKU WS-2117. 3.69 Euro. In stock.", menu);
    let decided = |page: &ComparedPage| decide(page, &product, frames, false).outcome;
    let printed = of("Screw of aaaa", "WS-2117, 3.69 Euro", terms);
    assert_eq!(decided(&printed), Outcome::View);
    let edited = of("Screw of aaaa", "WS-2117, 3.69 Euro", menu);
    assert_eq!(
        decided(&edited),
        Outcome::Undecided,
        "no view: it has the frame"
    );
}

/// Blocks of words that no other block has.
fn blocks() -> impl Strategy<Value = Vec<String>> {
    let block = prop::collection::vec("[a-z]{4,9}", 6..14);
    prop::collection::vec(block, 3..12).prop_map(|blocks| {
        let numbered = blocks.into_iter().enumerate();
        numbered
            .map(|(at, words)| format!("block{} {}", "x".repeat(at + 1), words.join(" ")))
            .collect()
    })
}

proptest! {
    #[test]
    fn a_page_repeats_itself_in_any_order_of_its_blocks(
        (blocks, shuffled) in blocks().prop_flat_map(|blocks| {
            (Just(blocks.clone()), Just(blocks).prop_shuffle())
        }),
    ) {
        let (one, other) = (plain("List", &blocks.join("\n")), plain("List", &shuffled.join("\n")));
        prop_assert_eq!(decision(&one, &other).outcome, Outcome::Repeat);
    }

    #[test]
    fn pages_that_differ_in_one_number_are_distinct(
        blocks in blocks(), at in any::<prop::sample::Index>(), number in 0_u32..10_000,
    ) {
        let of = |number: u32| {
            let mut blocks = blocks.clone();
            let at = at.index(blocks.len());
            blocks[at] = format!("{} {number}", blocks[at]);
            plain("Report", &blocks.join("\n"))
        };
        prop_assert_eq!(decision(&of(number), &of(number + 1)).outcome, Outcome::Distinct);
    }

    #[test]
    fn whether_pages_are_distinct_does_not_depend_on_their_order(
        ours in blocks(), theirs in blocks(), shared in blocks(),
    ) {
        let of = |own: &[String]| {
            plain("Page", &format!("{}\n{}", shared.join("\n"), own.join("\n")))
        };
        let (one, other) = (of(&ours), of(&theirs));
        let (there, back) = (decision(&one, &other), decision(&other, &one));
        prop_assert_eq!(there.outcome == Outcome::Distinct, back.outcome == Outcome::Distinct);
    }
}

/// A page of a site: one of its contents, in one of its views.
#[derive(Clone, Debug)]
struct SitePage {
    content: usize,
    page: ComparedPage,
}

/// Returns all views of all contents of a site: the page with its frame and comments, its print
/// view, and the page with its blocks in another order.
fn site(contents: &[Vec<String>], frame: &[String]) -> Vec<SitePage> {
    let mut pages = Vec::new();
    for (content, blocks) in contents.iter().enumerate() {
        let heading = blocks[0].split(' ').nth(1).unwrap_or_default();
        let text = blocks.join("\n");
        let reversed: Vec<&str> = blocks.iter().rev().map(String::as_str).collect();
        let reversed = reversed.join("\n");
        let comment =
            format!("Someone said of {heading} that it was worth reading more than once.");
        let main = format!("{text}\n{comment}");
        let frame = frame.join("\n");
        for (main, judged) in [
            (&main, format!("{frame}\n{main}")),
            (&text, text.clone()),
            (&reversed, format!("{frame}\n{reversed}\n{comment}")),
        ] {
            let page = page(heading, main, &judged);
            pages.push(SitePage { content, page });
        }
    }
    pages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn in_any_order_a_page_of_each_content_is_kept(
        (pages, frame) in (prop::collection::vec(blocks(), 1..6), blocks())
            .prop_map(|(contents, frame)| (site(&contents, &frame), frame))
            .prop_flat_map(|(pages, frame)| (Just(pages).prop_shuffle(), Just(frame))),
    ) {
        let mut host = HostFrame::default();
        let mut kept: Vec<SitePage> = Vec::new();
        for visited in pages {
            let frames = Frames { page: Some(&host), original: Some(&host), common: None };
            let original = kept.iter().find(|kept| {
                let decision = decide(&visited.page, &kept.page, frames, false);
                matches!(decision.outcome, Outcome::Repeat | Outcome::View)
            });
            match original {
                Some(original) => prop_assert_eq!(original.content, visited.content, "{:?}", frame),
                None => {
                    host.learn(&visited.page);
                    kept.push(visited);
                }
            }
        }
    }
}
