//! A hostile web on loopback, for this crawler and for others.
//!
//! Serves every way of misbehaving that the tests know, each as a host of its own, says what each
//! does and what is to be made of it, and how to crawl them. It ends when standard input does.
//!
//! ```text
//! cargo run --example hostile            # a free port
//! cargo run --example hostile -- 8000    # this one
//! ```
//!
//! It writes into the directory hostile-web: `seeds.txt`, `hosts` (lines for /etc/hosts, for
//! programs that have no `--resolve`), `crawler.toml` (settings for this crawler) and `ca.pem` (the
//! authority behind the good certificates).

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use testkit::hostile::{HostileServer, Mode};

const DIRECTORY: &str = "hostile-web";

fn main() -> Result<(), Box<dyn Error>> {
    let port = match std::env::args().nth(1) {
        Some(port) => port.parse()?,
        None => 0,
    };
    let server = HostileServer::spawn_on(Mode::all(), port)?;
    write_files(&server)?;

    let mut output = io::stdout().lock();
    let mut family = "";
    for mode in server.modes() {
        if mode.family != family {
            family = mode.family;
            writeln!(output, "\n{family}")?;
        }
        let url = server.url(mode);
        writeln!(output, "  {url:56} {:?}: {}", mode.expect, mode.does)?;
    }
    writeln!(
        output,
        "\n{} modes. Try them:\n\n    \
         crawler --config {DIRECTORY}/crawler.toml --contact you@example.org \
         --out hostile-crawl\n    \
         curl -v {} {}\n    \
         wget --tries=1 --timeout=2 -i {DIRECTORY}/seeds.txt       \
         # with the lines of {DIRECTORY}/hosts in /etc/hosts\n\n\
         The server ends with its standard input.",
        server.modes().len(),
        server
            .modes()
            .first()
            .map_or_else(String::new, |mode| format!(
                "--resolve {}",
                server.resolve(mode)
            )),
        server
            .modes()
            .first()
            .map_or_else(String::new, |mode| server.url(mode)),
    )?;
    output.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn write_files(server: &HostileServer) -> io::Result<()> {
    let directory = Path::new(DIRECTORY);
    std::fs::create_dir_all(directory)?;
    let lines =
        |line: &dyn Fn(&Mode) -> String| -> String { server.modes().iter().map(line).collect() };
    let seeds = lines(&|mode| format!("{}\n", server.url(mode)));
    let hosts = lines(&|mode| format!("127.0.0.1 {}\n", mode.host()));
    let rules = lines(&|mode| format!("    \"{}\",\n", server.resolve(mode)));
    let settings = format!(
        "# Settings for a crawl of the hostile web: short deadlines, no politeness, one try.\n\
         seeds = \"{DIRECTORY}/seeds.txt\"\n\
         allow-private = true\n\
         ca-certificate = [\"{DIRECTORY}/ca.pem\"]\n\
         timeout = \"2s\"\n\
         tries = 1\n\
         delay = \"0s\"\n\
         delay-factor = 0.0\n\
         max-delay = \"0s\"\n\
         max-body = \"4MiB\"\n\
         max-pages-per-host = 40\n\
         resolve = [\n{rules}]\n"
    );
    for (name, text) in [
        ("seeds.txt", seeds.as_str()),
        ("hosts", &hosts),
        ("crawler.toml", &settings),
        ("ca.pem", server.authority()),
    ] {
        std::fs::write(directory.join(name), text)?;
    }
    Ok(())
}
