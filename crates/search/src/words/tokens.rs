//! Index tokens: a folded word, or two characters of a script without spaces.
//!
//! The token of an unspaced character is the pair of it and the character that follows directly, or
//! it alone at the end of a run: `東京都` gives 東⸱京, 京⸱都, 都⸱, with U+001F for the dot. So there is one
//! token a piece; a run of characters in a query is a phrase of pairs, which are far rarer than
//! single characters, and a single character matches all tokens that begin with it and the dot. A
//! search finds what a scan for the characters in a row finds. (Bigrams as in Lucene's
//! `CJKBigramFilter`, without its separate single characters.)

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::fold::fold_into;
use super::pieces::{Piece, Pieces};

/// Separates the characters of a pair. No word has it, since it is a control character.
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
    /// The next piece, if it was read for the pair.
    ahead: Option<Piece>,
    /// The first piece of the token.
    piece: Piece,
    token: Token,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            text,
            pieces: Pieces::of(text),
            ahead: None,
            piece: Piece::default(),
            token: Token::default(),
        }
    }

    /// The first piece of the token.
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
