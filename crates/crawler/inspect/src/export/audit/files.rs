//! The files of an audit: a workbook, or a file per table.

use std::io::{BufWriter, Write};
use std::path::Path;

use disk::OutputFile;
use export::{AuditTable, AuditWriter, ExportFault, ExportInfo, Form, begin_output};

use super::SiteAudit;

/// An audit that was written.
pub struct WrittenAudit {
    /// The number of records of each table, in words: `pages 71, redirects 3`.
    pub records: String,
    /// The length of all files in bytes.
    pub bytes: u64,
}

impl SiteAudit {
    /// Writes a workbook with a sheet per table. It gets its name when it is complete.
    pub fn write_workbook(&self, path: &Path) -> Result<WrittenAudit, ExportFault> {
        let mut file = OutputFile::replacing(path)?;
        let records = self.write_all(AuditWriter::workbook(BufWriter::new(&mut file))?)?;
        file.complete()?;
        Ok(WrittenAudit {
            records,
            bytes: file.written(),
        })
    }

    /// Writes a file per table, on request with a byte order mark. They get their names when all
    /// are complete.
    pub fn write_files(
        &self,
        directory: &Path,
        form: Form,
        has_mark: bool,
        about: &ExportInfo,
    ) -> Result<WrittenAudit, ExportFault> {
        let name = |table: AuditTable| format!("{}.{}", table.name(), form.extension());
        let begin = |table| OutputFile::replacing(&directory.join(name(table)));
        let files = AuditTable::ALL.into_iter().map(begin);
        let mut files: Vec<OutputFile> = files.collect::<Result<_, _>>()?;
        let outs = files.iter_mut();
        let outs = outs.map(|file| begin_output(form, has_mark, BufWriter::new(file)));
        let outs: Vec<_> = outs.collect::<Result<_, _>>()?;
        let records = self.write_all(AuditWriter::tables(form, about, outs)?)?;
        for file in &mut files {
            file.complete()?;
        }
        Ok(WrittenAudit {
            records,
            bytes: files.iter().map(OutputFile::written).sum(),
        })
    }

    /// Writes all tables. Returns the number of records of each, in words.
    fn write_all<W: Write + Send>(&self, mut out: AuditWriter<W>) -> Result<String, ExportFault> {
        self.write(&mut out)?;
        let count = |table: AuditTable| format!("{} {}", table.name(), out.records(table));
        let counts = AuditTable::ALL.map(count);
        out.finish()?;
        Ok(counts.join(", "))
    }
}
