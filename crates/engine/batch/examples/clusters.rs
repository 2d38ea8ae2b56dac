//! Prints the clusters among the files that are named, a line each:
//! `cargo run --example clusters *.txt`.

use std::io::{self, Write};
use std::{env, fs};

use batch::Control;
use batch::dedup::{Document, Finding, FindingKind, Options, run};
use neardup::{Features, HashKey, PageText, SignatureBuilder};

#[expect(
    clippy::disallowed_methods,
    reason = "an example has no directory of its own for what exceeds the memory"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let read = |path: String| -> Result<Document, Box<dyn std::error::Error>> {
        let text = fs::read_to_string(&path)?;
        let payload = HashKey::ZERO.digest(text.as_bytes());
        let signature = builder.signature(payload, Some(PageText::of(&text)));
        Ok(Document {
            id: path.into(),
            signature: signature.into(),
        })
    };
    let options = Options::new(FindingKind::Clusters { chained: false }, env::temp_dir());
    let documents = env::args().skip(1).map(read);
    run(documents, &options, Control::none(), |finding| {
        if let Finding::Cluster(cluster) = finding {
            for member in cluster.members() {
                write!(io::stdout(), "{} ", member?)?;
            }
            writeln!(io::stdout())?;
        }
        Ok(())
    })?;
    Ok(())
}
