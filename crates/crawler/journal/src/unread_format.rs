//! Documents that are archived but whose text is unknown, by format, and by reason for a PDF.

use std::fmt;

use serde::{Deserialize, Serialize};
use web::PdfFailure;

/// A kind of documents whose text is not read. The journal stores it by its index, so a new one
/// goes to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UnreadFormat {
    /// PostScript, and PDF files that are not whole.
    Pdf,
    /// Office documents and electronic books.
    Office,
    /// Archives of files.
    Archive,
    /// PDF files of pictures, without text or with next to none. Their links are read.
    PicturePdf,
    /// Encrypted PDF files.
    EncryptedPdf,
    /// PDF files that are too damaged to be read.
    DamagedPdf,
    /// PDF files that take too much time or memory.
    CostlyPdf,
    /// PDF files whose reader could not be started.
    UnstartedPdf,
}

impl UnreadFormat {
    /// All kinds, in the order of the journal.
    pub const ALL: [Self; 8] = [
        Self::Pdf,
        Self::Office,
        Self::Archive,
        Self::PicturePdf,
        Self::EncryptedPdf,
        Self::DamagedPdf,
        Self::CostlyPdf,
        Self::UnstartedPdf,
    ];

    /// The kinds that are counted: [`UnreadFormat::format`].
    pub const FORMATS: [Self; 3] = [Self::Pdf, Self::Office, Self::Archive];

    /// Returns the word for it in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Office => "office",
            Self::Archive => "archive",
            Self::PicturePdf => "pdf-pictures",
            Self::EncryptedPdf => "pdf-encrypted",
            Self::DamagedPdf => "pdf-damaged",
            Self::CostlyPdf => "pdf-costly",
            Self::UnstartedPdf => "pdf-unstarted",
        }
    }

    /// Returns the kind with this word ([`UnreadFormat::as_str`]).
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }

    /// Returns the kind of a PDF whose text is unknown for this reason.
    #[must_use]
    pub const fn of_pdf(failure: PdfFailure) -> Self {
        match failure {
            PdfFailure::Partial => Self::Pdf,
            PdfFailure::Pictures => Self::PicturePdf,
            PdfFailure::Encrypted => Self::EncryptedPdf,
            PdfFailure::Damaged => Self::DamagedPdf,
            PdfFailure::TooCostly => Self::CostlyPdf,
            PdfFailure::Unstarted => Self::UnstartedPdf,
        }
    }

    /// Returns the format that it is counted by: PDF for all kinds of PDF.
    #[must_use]
    pub const fn format(self) -> Self {
        match self {
            Self::Office | Self::Archive => self,
            _pdf => Self::Pdf,
        }
    }

    /// Returns a noun for files of its format, singular or plural.
    #[must_use]
    pub const fn noun(self, count: u64) -> &'static str {
        match (self.format(), count) {
            (Self::Office, 1) => "office document",
            (Self::Office, _) => "office documents",
            (Self::Archive, 1) => "packed file",
            (Self::Archive, _) => "packed files",
            (_pdf, 1) => "PDF file",
            (_pdf, _) => "PDF files",
        }
    }

    /// Returns the reason why its text is unknown.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Pdf => "it is PostScript, or a PDF that is not whole or larger than 64 MiB",
            Self::Office => "office documents and electronic books are not read",
            Self::Archive => "files in an archive are not read",
            Self::PicturePdf => "the pages of the PDF are pictures, with next to no text",
            Self::EncryptedPdf => "the PDF is encrypted",
            Self::DamagedPdf => "the PDF is damaged",
            Self::CostlyPdf => "reading the PDF takes too much time or memory",
            Self::UnstartedPdf => {
                "the process that reads PDFs could not be started; `crawler reindex` reads it again"
            }
        }
    }

    /// Returns the format of a document that is not read; `None` for other content. The media
    /// type decides, or the first bytes if the media type says nothing.
    #[must_use]
    pub fn of(media_type: Option<&str>, body: &[u8]) -> Option<Self> {
        let media_type = media_type.unwrap_or_default();
        match web::names_format(media_type) {
            true => Self::of_type(media_type),
            false => Self::of_bytes(body),
        }
    }

    fn of_type(media_type: &str) -> Option<Self> {
        const OFFICE: &[&str] = &[
            "application/vnd.openxmlformats-officedocument.",
            "application/vnd.oasis.opendocument.",
            "application/vnd.ms-excel",
            "application/vnd.ms-powerpoint",
            "application/vnd.ms-word",
        ];
        let is_office = OFFICE.iter().any(|start| media_type.starts_with(start));
        match media_type {
            "application/postscript" => Some(Self::Pdf),
            _ if web::is_pdf(Some(media_type), &[]) => Some(Self::Pdf),
            "application/msword" | "application/rtf" | "text/rtf" | "application/epub+zip" => {
                Some(Self::Office)
            }
            "application/zip"
            | "application/x-zip-compressed"
            | "application/gzip"
            | "application/x-gzip"
            | "application/x-tar"
            | "application/x-gtar"
            | "application/x-bzip2"
            | "application/x-xz"
            | "application/zstd"
            | "application/x-7z-compressed"
            | "application/vnd.rar"
            | "application/x-rar-compressed"
            | "application/java-archive" => Some(Self::Archive),
            _ => is_office.then_some(Self::Office),
        }
    }

    fn of_bytes(body: &[u8]) -> Option<Self> {
        const MARKS: &[(&[u8], UnreadFormat)] = &[
            (b"%PDF-", UnreadFormat::Pdf),
            (b"%!PS-", UnreadFormat::Pdf),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", UnreadFormat::Office),
            (b"{\\rtf", UnreadFormat::Office),
            (b"PK\x03\x04", UnreadFormat::Archive),
            (b"\x1f\x8b", UnreadFormat::Archive),
            (b"7z\xbc\xaf\x27\x1c", UnreadFormat::Archive),
            (b"Rar!\x1a\x07", UnreadFormat::Archive),
            (b"BZh", UnreadFormat::Archive),
            (b"\xfd7zXZ\x00", UnreadFormat::Archive),
            (b"\x28\xb5\x2f\xfd", UnreadFormat::Archive),
        ];
        let mut marks = MARKS.iter();
        let (_, format) = marks.find(|(mark, _)| body.starts_with(mark))?;
        let head = &body[..body.len().min(2 << 10)];
        let has = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
        // Office documents are zip files; their first entries name the type.
        let is_office = *format == Self::Archive
            && (has(b"[Content_Types].xml") || has(b"mimetypeapplication/"));
        Some(if is_office { Self::Office } else { *format })
    }
}

impl fmt::Display for UnreadFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognised_by_its_type_or_where_that_says_nothing_by_its_first_bytes() {
        let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        let docx = b"PK\x03\x04\x14\0\x06\0[Content_Types].xml";
        let odt = b"PK\x03\x04\x14\0\0\x08mimetypeapplication/vnd.oasis.opendocument.text";
        for (media_type, body, format) in [
            (Some("application/pdf"), &b""[..], Some(UnreadFormat::Pdf)),
            (
                Some("application/octet-stream"),
                b"%PDF-1.7",
                Some(UnreadFormat::Pdf),
            ),
            (None, b"%PDF-1.4", Some(UnreadFormat::Pdf)),
            (Some(word), b"", Some(UnreadFormat::Office)),
            (Some(""), docx, Some(UnreadFormat::Office)),
            (
                Some("application/octet-stream"),
                odt,
                Some(UnreadFormat::Office),
            ),
            (Some("application/zip"), docx, Some(UnreadFormat::Archive)),
            (
                Some("application/octet-stream"),
                b"PK\x03\x04",
                Some(UnreadFormat::Archive),
            ),
            (Some("image/png"), b"%PDF-1.4", None),
            (Some("application/octet-stream"), b"\x89PNG", None),
            (None, b"", None),
        ] {
            assert_eq!(UnreadFormat::of(media_type, body), format, "{media_type:?}");
        }
    }

    #[test]
    fn a_format_has_its_place_and_a_word_of_its_own() {
        for (place, format) in UnreadFormat::ALL.into_iter().enumerate() {
            assert_eq!(format as usize, place);
            assert_eq!(UnreadFormat::of_word(format.as_str()), Some(format));
            assert!(UnreadFormat::FORMATS.contains(&format.format()));
        }
        assert_eq!(UnreadFormat::of_word("image"), None);
    }
}
