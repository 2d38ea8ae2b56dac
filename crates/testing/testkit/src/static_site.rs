//! Directories of real documents, each under a host name.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::http::{Reply, Request, Site};

impl Site {
    /// The files below each directory, under its host name. `/` is `index.html`, a directory
    /// without a slash is a redirect to the one with it, and what is not there, or leads out of the
    /// directory, is a 404.
    ///
    /// # Errors
    /// Where a directory cannot be found.
    pub fn directories<H: Into<String>, D: AsRef<Path>>(
        directories: impl IntoIterator<Item = (H, D)>,
    ) -> io::Result<Self> {
        let mut roots: HashMap<String, PathBuf> = HashMap::new();
        for (host, directory) in directories {
            roots.insert(
                host.into().to_ascii_lowercase(),
                directory.as_ref().canonicalize()?,
            );
        }
        Ok(Self::new(move |request| {
            let file = roots
                .get(&request.host)
                .and_then(|root| serve(root, request));
            file.unwrap_or_else(|| Reply::status(404))
        }))
    }
}

fn serve(root: &Path, request: &Request) -> Option<Reply> {
    let relative = percent_decode_str(request.path().strip_prefix('/')?)
        .decode_utf8()
        .ok()?;
    // Resolved before it is judged, so that neither `..` nor a symbolic link leads out.
    let mut file = root.join(&*relative).canonicalize().ok()?;
    if !file.starts_with(root) {
        return None;
    }
    if file.is_dir() {
        if !request.path().ends_with('/') {
            let query = request.target[request.path().len()..].to_owned();
            return Some(Reply::redirect(301, format!("{}/{query}", request.path())));
        }
        file.push("index.html");
    } else if relative.ends_with('/') {
        return None;
    }
    let content = fs::read(&file).ok()?;
    Some(Reply::document(content_type(&file), content))
}

/// By the name's extension. HTML is sent without a charset: real documents say it themselves, or do
/// not.
fn content_type(file: &Path) -> &'static str {
    let extension = file
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "xml" => "application/xml",
        "txt" => "text/plain",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "ico" => "image/x-icon",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory `public` beside a file that is not.
    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let public = tree.path().join("public");
        fs::create_dir_all(public.join("sub dir/empty")).unwrap();
        for (name, content) in [
            ("secret.html", "secret"),
            ("public/index.html", "home"),
            ("public/sub dir/index.html", "below"),
            ("public/sub dir/é.TXT", "text"),
            ("public/blob", "blob"),
        ] {
            fs::write(tree.path().join(name), content).unwrap();
        }
        std::os::unix::fs::symlink("../secret.html", public.join("link.html")).unwrap();
        tree
    }

    #[test]
    fn files_are_served_with_their_types() {
        let tree = tree();
        let site = Site::directories([("Docs.test", tree.path().join("public"))]).unwrap();
        for (url, content_type, body) in [
            ("http://docs.test/", "text/html", "home"),
            ("http://docs.test/index.html?x=../..", "text/html", "home"),
            ("http://docs.test/sub%20dir/", "text/html", "below"),
            (
                "http://docs.test/sub%20dir/%C3%A9.TXT",
                "text/plain",
                "text",
            ),
            (
                "http://docs.test/sub%20dir/../blob",
                "application/octet-stream",
                "blob",
            ),
        ] {
            let reply = site.answer(&Request::get(url));
            assert_eq!(
                (reply.code(), reply.header_value("content-type")),
                (200, Some(content_type)),
                "{url}"
            );
            assert_eq!(reply.body(), body);
        }
    }

    #[test]
    fn a_directory_without_a_slash_is_a_redirect_to_the_one_with_it() {
        let tree = tree();
        let site = Site::directories([("docs.test", tree.path().join("public"))]).unwrap();
        let reply = site.answer(&Request::get("http://docs.test/sub%20dir?q"));
        assert_eq!(
            (reply.code(), reply.header_value("location")),
            (301, Some("/sub%20dir/?q"))
        );
    }

    #[test]
    fn nothing_outside_the_directory_is_served() {
        let tree = tree();
        let site = Site::directories([("docs.test", tree.path().join("public"))]).unwrap();
        let absolute = format!(
            "http://docs.test/{}",
            tree.path().join("secret.html").display()
        );
        for url in [
            "http://docs.test/missing.html",
            "http://docs.test/../secret.html",
            "http://docs.test/%2e%2e/secret.html",
            "http://docs.test/..%2fsecret.html",
            "http://docs.test/link.html",
            "http://docs.test/blob/",
            "http://docs.test/a%00b",
            "http://docs.test/%ff",
            "http://docs.test/sub%20dir/empty/",
            "http://other.test/",
            &absolute,
        ] {
            assert_eq!(site.answer(&Request::get(url)).code(), 404, "{url}");
        }
        assert!(Site::directories([("docs.test", tree.path().join("nowhere"))]).is_err());
    }
}
