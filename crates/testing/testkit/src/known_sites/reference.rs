//! A reference manual: small pages in a large frame, and pages that differ in their subject more
//! than in their words.

use std::fmt::Write as _;

use super::site::{KnownSite, html, link_list};
use crate::prose::{Prose, coined};
use crate::random::Random;

/// Packages, and classes of a package.
const PACKAGES: u64 = 12;
const CLASSES: u64 = 10;
/// Pairs of classes of which one is made from the other, by renaming.
const TWINS: u64 = 12;
/// Type definitions of one template.
const TYPES: u64 = 60;
/// Operands of instructions: a few words each.
const OPERANDS: u64 = 120;

/// The reference of a library, 344 pages of five kinds, after javadoc, Boost's and LLVM's manuals.
///
/// - classes with descriptions of their own, in a frame that lists all of them;
/// - twins such as `StringBuilder` and `StringBuffer`: the same methods and nearly the
///   same words, under two names;
/// - type definitions such as `ranlux3` and `ranlux4`: name and synopsis differ,
///   the prose is the same;
/// - operands: twenty words, some of which are links, in a frame of three hundred;
/// - index pages.
#[must_use]
pub fn api_reference() -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("reference.test/api/index.html");
    let frame = Frame::new();
    let mut packages = Vec::new();
    for package in 0..PACKAGES {
        let name = package_name(package);
        let mut links = Vec::new();
        for class in 0..CLASSES {
            let number = package * CLASSES + class;
            let class = class_name(number);
            known.add(
                format!("reference.test/api/{name}/{class}.html"),
                format!("class {number}"),
                frame.page(&class, &name, &class_text(&class, number)),
            );
            links.push((format!("{class}.html"), class));
        }
        for (class, text) in twins(package) {
            known.add(
                format!("reference.test/api/{name}/{class}.html"),
                format!("twin {class}"),
                frame.page(&class, &name, &text),
            );
            links.push((format!("{class}.html"), class));
        }
        known.add(
            format!("reference.test/api/{name}/package-summary.html"),
            format!("package {package}"),
            frame.page(
                &name,
                &name,
                &format!("<h1>Package {name}</h1>{}", link_list(&links)),
            ),
        );
        packages.push((format!("{name}/package-summary.html"), name));
    }
    packages.push(("types/index.html".to_owned(), "Type definitions".to_owned()));
    packages.push(("operands/index.html".to_owned(), "Operands".to_owned()));
    let contents = format!("<h1>All packages</h1>{}", link_list(&packages));
    known.add(
        "reference.test/api/index.html",
        "index",
        frame.page("Overview", "Overview", &contents),
    );
    add_types(&mut known);
    add_operands(&mut known, &frame);
    known
}

/// A frame that names every package and says what such frames say.
struct Frame(String);

impl Frame {
    fn new() -> Self {
        let mut random = Random::of(91, 0);
        let mut menu = String::from("<div class=\"sidebar\"><h3>All modules</h3><ul>");
        for _ in 0..150 {
            let _infallible = write!(
                menu,
                "<li><a href=\"/api/index.html\">{} {}</a></li>",
                coined(&mut random, 3),
                coined(&mut random, 2)
            );
        }
        menu.push_str("</ul></div>");
        Self(menu)
    }

    fn page(&self, title: &str, package: &str, content: &str) -> String {
        let before = format!(
            "<header role=\"banner\"><nav>Overview Package Class Use Tree New Deprecated Index \
             Help</nav><div>Summary: Nested Field Constr Method Detail: Field Constr \
             Method</div></header>{}",
            self.0
        );
        let after = "<footer>Report a bug or suggest an enhancement. For further reference and \
                     developer documentation see the documentation, which contains more detailed, \
                     developer-targeted descriptions with conceptual overviews, definitions of \
                     terms, workarounds, and working code examples. All rights reserved.</footer>";
        let main = format!("<main role=\"main\">{content}</main>");
        html(&format!("{title} ({package})"), &before, &main, after)
    }
}

fn package_name(package: u64) -> String {
    format!("lib.{}", coined(&mut Random::of(92, package), 2))
}

fn class_name(number: u64) -> String {
    let mut random = Random::of(93, number);
    let mut name = coined(&mut random, 3);
    name[..1].make_ascii_uppercase();
    name
}

fn class_text(class: &str, number: u64) -> String {
    let mut prose = Prose::new(94, number);
    let mut text = format!(
        "<h1>Class {class}</h1><pre>public final class {class}</pre><p>{}</p>",
        prose.paragraph(40)
    );
    for _ in 0..number % 5 {
        let _infallible = write!(
            text,
            "<h3>{}</h3><p>{}</p>",
            prose.title(),
            prose.paragraph(25)
        );
    }
    text
}

/// Two classes of a package: the second has the words of the first but for the name and one
/// sentence in twenty.
fn twins(package: u64) -> Vec<(String, String)> {
    if package >= TWINS {
        return Vec::new();
    }
    let stem = class_name(1_000 + package);
    let describe = |class: &str, is_second: bool| {
        let mut prose = Prose::new(95, package);
        let mut own = Prose::new(96, package);
        let mut text = format!("<h1>Class {class}</h1><pre>public final class {class}</pre>");
        for method in 0..60 {
            let mut sentence = prose.sentence();
            if is_second && method % 20 == 0 {
                sentence = own.sentence();
            }
            let _infallible = write!(
                text,
                "<h3>method{method}</h3><p>{sentence} Returns this {class}.</p>"
            );
        }
        text
    };
    let (first, second) = (format!("{stem}Builder"), format!("{stem}Buffer"));
    let texts = [describe(&first, false), describe(&second, true)];
    [first, second].into_iter().zip(texts).collect()
}

/// Type definitions: most of the prose stands in one block that all of them share.
fn add_types(known: &mut KnownSite) {
    let shared = Prose::new(97, 0).paragraph(140);
    let mut links = Vec::new();
    for number in 0..TYPES {
        let mut random = Random::of(98, number);
        let name = coined(&mut random, 3);
        let (low, high) = (20 + random.below(200), 300 + random.below(900));
        let content = format!(
            "<div class=\"refentry\"><div class=\"refnamediv\"><h2>\
             <span class=\"refentrytitle\">Type definition {name}</span>\
             </h2><p>{name}</p></div><h2>Synopsis</h2><div class=\"refsynopsisdiv\"><pre>typedef \
             discard_block_engine&lt; {name}_base, {low}, {high} &gt; {name};</pre></div>\
             <div class=\"refsect1\"><h2>Description</h2><p>{shared}</p>\
             </div></div>"
        );
        let before = "<div class=\"spirit-nav\">Prev Up Home Next</div>";
        let after = "<div class=\"copyright-footer\">Copyright the authors. Distributed under the \
                     licence of the library.</div>";
        known.add(
            format!("reference.test/api/types/{name}.html"),
            format!("type {number}"),
            html(&format!("Type definition {name}"), before, &content, after),
        );
        links.push((format!("{name}.html"), name));
    }
    let list = format!("<h1>Type definitions</h1>{}", link_list(&links));
    known.add(
        "reference.test/api/types/index.html",
        "types",
        html("Type definitions", "", &list, ""),
    );
}

/// Operands: pages of some twenty words. Four of a kind have one title; two of these have one size,
/// too, and differ in the linked operands only.
fn add_operands(known: &mut KnownSite, frame: &Frame) {
    const REGISTERS: [&str; 5] = ["v", "s", "a", "ttmp", "literal"];
    let mut links = Vec::new();
    for number in 0..OPERANDS {
        let kind = number / 4;
        let name = format!("{}_{number:x}", coined(&mut Random::of(99, kind), 2));
        let title = name.split('_').next().unwrap_or_default().to_owned();
        let size = 1 + number % 4 / 2;
        let mut registers = String::new();
        for register in REGISTERS.iter().take(2 + (number % 4) as usize) {
            let _infallible = write!(registers, "<a href=\"index.html\">{register}</a>, ");
        }
        let mut prose = Prose::new(100, kind);
        let (adjective, subject) = (prose.title(), prose.title());
        let content = format!(
            "<section id=\"{title}\"><h1>{title}</h1><p>Instruction input: {adjective}, \
             {subject}.</p><p><em>Size:</em> {size} {}.</p><p><em>Operands:</em> {}</p></section>",
            if size == 1 { "dword" } else { "dwords" },
            registers.trim_end_matches(", "),
        );
        known.add(
            format!("reference.test/api/operands/{name}.html"),
            format!("operand {number}"),
            frame.page(&title, "Operands", &content),
        );
        links.push((format!("{name}.html"), name));
    }
    let list = format!("<h1>Operands</h1>{}", link_list(&links));
    known.add(
        "reference.test/api/operands/index.html",
        "operands",
        frame.page("Operands", "Operands", &list),
    );
}
