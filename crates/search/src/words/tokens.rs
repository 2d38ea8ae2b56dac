//! What of a text stands in the index: a folded word, or two characters of a script without spaces.
//!
//! At the position of each unspaced character stands the pair of it and the next one, which follows
//! it directly, or it alone at the end of a run: `東京都` is 東⸱京, 京⸱都, 都⸱, with U+001F for the dot. So
//! there is one token for each piece, a run of characters in a query is a phrase of pairs, rarer by
//! far than single characters, and a single one is all tokens that begin with it and the dot. What
//! is found is what a scan for the characters in a row finds. (Bigrams as in Lucene's
//! `CJKBigramFilter`, but without its separate single characters.)

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::fold::fold_into;
use super::pieces::{Piece, Pieces};

/// Stands behind the first character of a pair. No word has it: it is a control character.
pub(crate) const PAIR: char = '\u{1f}';

/// Makes tokens for tantivy.
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
    /// The piece behind the token, where it was needed for that.
    ahead: Option<Piece>,
    /// The piece that the token begins with.
    piece: Piece,
    token: Token,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            text,
            pieces: Pieces::of(text),
            ahead: None,
            piece: Piece {
                place: 0..0,
                unspaced: false,
            },
            token: Token::default(),
        }
    }

    /// The piece that the token begins with.
    pub(crate) fn piece(&self) -> &Piece {
        &self.piece
    }

    fn append(&mut self, piece: &Piece) {
        let piece = &self.text[piece.place.clone()];
        fold_into(&mut self.token.text, piece, self.pieces.letters());
    }
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.ahead.take().or_else(|| self.pieces.next()) else {
            return false;
        };
        self.token.text.clear();
        self.append(&piece);
        if piece.unspaced {
            self.token.text.push(PAIR);
            self.ahead = self.pieces.next();
            let follows = |next: &&Piece| next.unspaced && next.place.start == piece.place.end;
            if let Some(next) = self.ahead.as_ref().filter(follows).cloned() {
                self.append(&next);
            }
        }
        self.token.position = self.token.position.wrapping_add(1);
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
