//! Pages that are not in plain UTF-8, each with another way of saying what it is in.

use encoding_rs::{Encoding, KOI8_R, SHIFT_JIS, UTF_8, WINDOWS_1252};

use super::draft::{Draft, Fate};
use crate::http::Reply;

/// A page whose charset has to be found out.
#[derive(Clone, Copy, Debug)]
pub struct CharsetPage {
    /// Host name and target.
    pub page: &'static str,
    /// The charset, by its name in the Encoding Standard.
    pub charset: &'static Encoding,
    /// The place of the declaration.
    pub declared: Declared,
    /// Its language, as in BCP 47.
    pub language: &'static str,
    /// The text, decoded correctly, one paragraph a line.
    pub text: &'static str,
}

/// The place where a page declares its charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// In `Content-Type`.
    Header,
    /// In a `<meta>` element.
    Meta,
    /// By a byte order mark only.
    Mark,
    /// Not at all.
    Nowhere,
}

pub(super) const PAGES: &[CharsetPage] = &[
    CharsetPage {
        page: "library.test/charsets/windows-1252.html",
        charset: WINDOWS_1252,
        declared: Declared::Header,
        language: "fr",
        text: FRENCH,
    },
    CharsetPage {
        page: "library.test/charsets/shift_jis.html",
        charset: SHIFT_JIS,
        declared: Declared::Meta,
        language: "ja",
        text: JAPANESE,
    },
    CharsetPage {
        page: "library.test/charsets/utf-8.html",
        charset: UTF_8,
        declared: Declared::Mark,
        language: "cs",
        text: CZECH,
    },
    CharsetPage {
        page: "library.test/charsets/koi8-r.html",
        charset: KOI8_R,
        declared: Declared::Nowhere,
        language: "ru",
        text: RUSSIAN,
    },
];

pub(super) fn add(draft: &mut Draft) {
    for page in PAGES {
        let name = page.charset.name();
        let meta = match page.declared {
            Declared::Meta => format!("<meta charset=\"{name}\">"),
            Declared::Header | Declared::Mark | Declared::Nowhere => String::new(),
        };
        let content_type = match page.declared {
            Declared::Header => format!("text/html; charset={name}"),
            Declared::Meta | Declared::Mark | Declared::Nowhere => "text/html".to_owned(),
        };
        let mark = if page.declared == Declared::Mark {
            "\u{feff}"
        } else {
            ""
        };
        let title = page.text.split(['.', '。']).next().unwrap_or_default();
        let paragraphs: String = page
            .text
            .lines()
            .map(|line| format!("<p>{line}</p>\n"))
            .collect();
        let html = format!(
            "{mark}<!DOCTYPE html>\n<html>\n<head>{meta}<title>{title}</title></head>\n\
             <body>\n<main>\n{paragraphs}</main>\n</body>\n</html>\n"
        );
        let (bytes, _, _) = page.charset.encode(&html);
        draft.add(
            page.page,
            Reply::document(content_type, bytes.into_owned()),
            Fate::Unique,
        );
    }
}

const FRENCH: &str = "\
La bibliothèque du port a été fondée à l’époque où les bateaux ne partaient qu’au printemps. Les \
marins y laissaient leurs livres avant l’hiver, et ceux qui restaient à terre les lisaient près du \
poêle. On raconte que le premier bibliothécaire, un ancien pêcheur, notait dans un grand cahier le \
nom de chaque lecteur et ce qu’il avait pensé de l’œuvre ; ce cahier existe encore, et l’on peut \
le feuilleter moyennant deux € de caution.
Aujourd’hui, la salle de lecture est ouverte tous les après-midi, sauf le mardi. Les élèves de \
l’école voisine y viennent après la classe, s’installent sous les fenêtres et se disputent les \
albums illustrés. Le soir, des bénévoles réparent les reliures abîmées, recollent les pages \
déchirées et rangent les rayonnages. « Un livre prêté n’est jamais perdu », dit une vieille \
affiche au-dessus de la porte, et c’est à peu près vrai : depuis la guerre, il n’en manque que \
dix-sept. Le dix-huitième est revenu l’été dernier, sans un mot, dans une enveloppe expédiée \
d’Amérique.";

const JAPANESE: &str = "\
港の図書館は、船が春にしか出なかった時代に建てられました。船乗りたちは冬の前に自分の本をここに預け、陸に残った人々は\
ストーブのそばでそれを読みました。最初の館長は年をとった漁師で、大きな帳面に読者の名前と感想を一つずつ書きとめていた\
そうです。その帳面は今も残っていて、誰でも手に取って読むことができます。
現在、閲覧室は火曜日を除いて毎日午後に開いています。近くの学校の子供たちは授業が終わるとやって来て、窓の下に座り、\
絵本を取り合います。夜になると、町の人々が集まって、傷んだ表紙を直し、破れたページを貼り合わせ、本を棚に戻します。\
入口の上には「貸した本は決してなくならない」という古い札が掛かっています。それはほとんど本当のことで、戦争のあとで\
戻って来なかった本は十七冊しかありません。十八冊目は去年の夏、手紙もなしに、外国から届いた封筒に入って帰って来ました。\
館長はその本を棚のいちばん上に置き、毎朝ほこりを払っています。";

const CZECH: &str = "\
Přístavní knihovna byla založena v dobách, kdy lodě vyplouvaly jen na jaře. Námořníci v ní před \
zimou nechávali své knihy a ti, kdo zůstali na břehu, si je četli u kamen. Říká se, že první \
knihovník, starý rybář, zapisoval do velkého sešitu jméno každého čtenáře i to, co si o knize \
myslel; ten sešit se dochoval a každý si jej smí prohlédnout.
Dnes je čítárna otevřena každé odpoledne kromě úterý. Žáci z nedaleké školy přicházejí po \
vyučování, sedají si pod okna a přou se o obrázkové knížky. Večer dobrovolníci opravují poškozené \
vazby, slepují roztržené stránky a rovnají police. „Půjčená kniha se nikdy neztratí,“ hlásá stará \
cedule nade dveřmi a je to téměř pravda: od války jich chybí pouze sedmnáct. Osmnáctá se vrátila \
loni v létě, beze slova, v obálce poslané odněkud zpoza moře. Knihovník ji uložil na nejvyšší \
polici, každé ráno z ní stírá prach a nikomu neprozradí, kdo ji tehdy poslal. Děti však tvrdí, že \
to dávno vědí, a po cestě domů si o tom vyprávějí příběhy, které jsou rok od roku delší a pokaždé \
končí trochu jinak.";

const RUSSIAN: &str = "\
Портовая библиотека была основана в те времена, когда корабли уходили в море только весной. Моряки \
оставляли в ней свои книги перед зимой, а те, кто оставался на берегу, читали их у печки. \
Рассказывают, что первый библиотекарь, старый рыбак, записывал в большую тетрадь имя каждого \
читателя и то, что он думал о прочитанном; эта тетрадь сохранилась до сих пор, и её может \
полистать любой желающий.
Сегодня читальный зал открыт каждый день после обеда, кроме вторника. Ученики соседней школы \
приходят сюда после уроков, садятся под окнами и спорят из-за книг с картинками. По вечерам \
добровольцы чинят испорченные переплёты, склеивают порванные страницы и расставляют книги по \
полкам. Старая надпись над дверью гласит, что взятая книга никогда не пропадает, и это почти \
правда: со времён войны не хватает только семнадцати. Восемнадцатая вернулась прошлым летом, без \
единого слова, в конверте, присланном откуда-то из-за моря. Библиотекарь поставил её на самую \
верхнюю полку, каждое утро стирает с неё пыль и никому не говорит, кто её тогда прислал. Но дети \
уверяют, что давно обо всём догадались.";
