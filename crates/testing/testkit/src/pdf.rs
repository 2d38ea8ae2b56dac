//! PDF files, object by object: documents of text, and files that harm their readers.

use std::fmt::Write;

use bytes::Bytes;

/// Characters per line of a page.
const LINE: usize = 80;

/// A PDF of text. Its first page has the links.
#[derive(Clone, Debug, Default)]
pub struct Pdf {
    title: Option<&'static str>,
    pages: Vec<String>,
    links: Vec<String>,
}

impl Pdf {
    /// Creates a PDF with a page for each of these ASCII texts.
    pub fn of(pages: &[impl AsRef<str>]) -> Self {
        Self {
            pages: pages.iter().map(|page| page.as_ref().to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Sets its title.
    #[must_use]
    pub fn title(self, title: &'static str) -> Self {
        Self {
            title: Some(title),
            ..self
        }
    }

    /// Adds a link.
    #[must_use]
    pub fn link(mut self, target: impl Into<String>) -> Self {
        self.links.push(target.into());
        self
    }

    /// Returns its bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        let title = self.title.map(|title| format!("/Title({title})"));
        let kids = (0..self.pages.len()).map(|page| format!("{} 0 R ", 5 + 2 * page));
        let mut objects = vec![
            "<</Type/Catalog/Pages 2 0 R/Lang(en-GB)>>".to_owned(),
            format!(
                "<</Type/Pages/Kids[{}]/Count {}/Resources<</Font<</F 3 0 R>>>>>>",
                kids.collect::<String>(),
                self.pages.len()
            ),
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
            format!("<<{}>>", title.unwrap_or_default()),
        ];
        for (page, text) in self.pages.iter().enumerate() {
            let links = self.links.iter().filter(|_| page == 0);
            let links = links.map(|target| {
                format!("<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI({target})>>>> ")
            });
            objects.push(format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R/Annots[{}]>>",
                6 + 2 * page,
                links.collect::<String>()
            ));
            objects.push(stream("", drawn(text).as_bytes()));
        }
        file(&objects, "/Info 4 0 R").into()
    }
}

/// Returns the operators that draw a text.
fn drawn(text: &str) -> String {
    let mut operators = "BT /F 9 Tf 11 TL 20 780 Td".to_owned();
    let mut line = String::new();
    for word in text.split_whitespace().chain([""]) {
        if word.is_empty() || line.len() + word.len() >= LINE {
            write!(operators, "\n({line}) Tj T*").expect("a string takes everything");
            line.clear();
        }
        line.push_str(word);
        line.push(' ');
    }
    operators + "\nET"
}

fn stream(entries: &str, content: &[u8]) -> String {
    let content: String = content.iter().copied().map(char::from).collect();
    let length = content.chars().count();
    format!("<</Length {length}{entries}>> stream\n{content}\nendstream")
}

/// Returns a file of these objects, numbered from 1; the first is the catalogue. Each character is
/// a byte.
fn file(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file: Vec<u8> = b"%PDF-1.4\n".to_vec();
    let mut places = String::from("0000000000 65535 f \n");
    for (index, object) in objects.iter().enumerate() {
        writeln!(places, "{:010} 00000 n ", file.len()).expect("a string takes everything");
        let object = format!("{} 0 obj {object} endobj\n", index + 1);
        file.extend(
            object
                .chars()
                .map(|c| u8::try_from(c).expect("a byte is a character")),
        );
    }
    let (start, count) = (file.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {count}\n{places}trailer <</Root 1 0 R/Size {count}{trailer}>>\nstartxref\n\
         {start}\n%%EOF\n"
    );
    file.extend(end.bytes());
    file
}

/// Number of filters of the bomb.
const BOMB_LAYERS: usize = 5;

/// Returns 73 bytes that five filters make 64 GiB of: each makes 128 bytes out of two (ISO 32000-2,
/// section 7.4.5).
fn run_length_bomb() -> Vec<u8> {
    const END: u8 = 128;
    let mut end = vec![END];
    for _ in 1..BOMB_LAYERS {
        // A literal run brings the end of the next layer.
        let length = u8::try_from(end.len() - 1).expect("the end is short");
        end = [&[length], end.as_slice(), &[END]].concat();
    }
    [&[0x81; 64], end.as_slice()].concat()
}

/// Returns PDF files that harm their readers, by name.
#[must_use]
pub fn hostile_pdfs() -> Vec<(&'static str, Bytes)> {
    let one_page = |page: &str, content: String, trailer: &str| {
        let objects = [
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
            format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R{page}>>"),
            content,
        ];
        Bytes::from(file(&objects, trailer))
    };
    let filters = "/RunLengthDecode".repeat(BOMB_LAYERS);
    let bomb = stream(&format!("/Filter[{filters}]"), &run_length_bomb());
    let itself = stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", b"/X Do");
    let password = format!(
        "/ID[(a)(a)]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O({0})/U({0})>>",
        "x".repeat(32)
    );
    let kids = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>".to_owned(),
    ];
    vec![
        ("bomb", one_page("", bomb, "")),
        (
            "form-in-itself",
            one_page("/Resources<</XObject<</X 4 0 R>>>>", itself, ""),
        ),
        ("pages-in-themselves", file(&kids, "").into()),
        (
            "table-before-itself",
            one_page("", stream("", b""), "/Prev 9"),
        ),
        (
            "nested",
            one_page("", stream("", "[".repeat(1 << 20).as_bytes()), ""),
        ),
        ("nested-object", one_page("", "<</A".repeat(1 << 18), "")),
        ("password", one_page("", stream("", b""), &password)),
        ("nothing", Bytes::from_static(b"%PDF-1.7\n")),
    ]
}
