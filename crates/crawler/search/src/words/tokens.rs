//! Index tokens: a folded word, its parts, or two characters of a script without spaces.
//!
//! A word joined by full stops, colons or underscores has one token for the whole, and one per
//! part: `concurrent.futures` gives concurrent.futures and concurrent at one position, and futures
//! at the next. So a search finds the whole and each part, a phrase finds consecutive parts, and
//! the next word has the same position as after separate words. A query uses the whole only, and
//! counts positions in the same way. Full stops between digits join a number, which has no parts.
//! (Lucene's `WordDelimiterGraphFilter` with `preserveOriginal`.)
//!
//! The token of an unspaced character is the pair of this character and the directly following
//! character, or the character alone at the end of a run: `東京都` gives 東⸱京, 京⸱都, 都⸱, with U+001F for
//! the dot. So there is one token per piece. A run of characters in a query is a phrase of pairs,
//! which are far rarer than single characters, and a single character matches all tokens that begin
//! with it and the dot. A search finds exactly what a scan for the consecutive characters finds.
//! (Bigrams as in Lucene's `CJKBigramFilter`, without its separate single characters.)

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::fold::fold_into;
use super::pieces::{Piece, Pieces, is_mark, says_something};

/// Separates the characters of a pair. As a control character, it never occurs in a word.
pub(crate) const PAIR: char = '\u{1f}';

/// The tokenizer for tantivy.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        Tokens::of(text)
    }
}

/// The tokens of a text.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    pieces: Pieces<'t>,
    /// Next piece, if it was read ahead for the pair.
    ahead: Option<Piece>,
    /// First piece of the token.
    piece: Piece,
    /// Range of the parts of the word that are still to come.
    parts: Option<Range<usize>>,
    /// Position of the next part or word.
    next_position: usize,
    is_part: bool,
    token: Token,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            text,
            pieces: Pieces::of(text),
            ahead: None,
            piece: Piece::default(),
            parts: None,
            next_position: 0,
            is_part: false,
            token: Token::default(),
        }
    }

    /// Returns the first piece of the token.
    pub(crate) fn piece(&self) -> &Piece {
        &self.piece
    }

    /// Returns true if the token is a part of the word before it.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    fn append(&mut self, place: Range<usize>) {
        fold_into(
            &mut self.token.text,
            &self.text[place],
            self.pieces.letters(),
        );
    }

    /// Advances to the token of the next part of the current word, if there is one.
    fn advance_to_part(&mut self) -> bool {
        while let Some(rest) = self.parts.take() {
            let (mut part, behind) = first_part(self.text, rest);
            self.parts = behind;
            // Marks after a joint belong to it (WB4).
            let without = self.text[part.clone()].trim_start_matches(is_mark);
            part.start = part.end - without.len();
            if says_something(&self.text[part.clone()]) {
                self.is_part = true;
                self.token.text.clear();
                self.append(part.clone());
                self.token.position = self.next_position;
                self.next_position += 1;
                (self.token.offset_from, self.token.offset_to) = (part.start, part.end);
                return true;
            }
        }
        false
    }
}

/// Splits a word at its first joint: the part before it, and the rest, if there is one.
fn first_part(text: &str, word: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let bytes = text[word.clone()].as_bytes();
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let joint = bytes.iter().enumerate().position(|(at, byte)| match byte {
        b'_' | b':' => true,
        b'.' => !is_digit(at.checked_sub(1)) && !is_digit(Some(at + 1)),
        _ => false,
    });
    match joint {
        Some(joint) => {
            let joint = word.start + joint;
            (word.start..joint, Some(joint + 1..word.end))
        }
        None => (word, None),
    }
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        if self.advance_to_part() {
            return true;
        }
        let Some(piece) = self.ahead.take().or_else(|| self.pieces.next()) else {
            return false;
        };
        self.is_part = false;
        self.token.text.clear();
        self.append(piece.place.clone());
        self.token.position = self.next_position;
        if piece.unspaced {
            self.token.text.push(PAIR);
            self.ahead = self.pieces.next();
            let follows = |next: &&Piece| next.unspaced && next.place.start == piece.place.end;
            if let Some(next) = self.ahead.as_ref().filter(follows).cloned() {
                self.append(next.place);
            }
            self.next_position += 1;
        } else if first_part(self.text, piece.place.clone()).1.is_some() {
            // The first part has the same position as the whole word.
            self.parts = Some(piece.place.clone());
        } else {
            self.next_position += 1;
        }
        (self.token.offset_from, self.token.offset_to) = (piece.place.start, piece.place.end);
        self.piece = piece;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
