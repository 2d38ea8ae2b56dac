//! No circle of imports among the files of a crate.
//!
//! Files are the modules that they define. An import leads to the file of the deepest module that
//! its path names. Paths in expressions count like `use` declarations. A re-export (`pub use`) only
//! hands a name on and does not count, nor does code under `#[cfg(test)]`. A part may know its
//! whole: an import by `super` does not count. A name that the crate's root re-exports must be
//! imported from the module that defines it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::{folders, read, sources};
use crate::support::root;

/// A module by the names from the crate's root.
type Module = Vec<String>;

/// The imports between the files of a crate, with the paths that make them.
#[derive(Default)]
struct Imports(BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>);

impl Imports {
    /// Reads the files below `source`, the directory of a crate's root.
    fn of(source: &Path) -> Self {
        let files: BTreeMap<Module, PathBuf> = sources(source)
            .into_iter()
            .map(|file| (module_of(file.strip_prefix(source).unwrap()), file))
            .collect();
        let mut imports = Self::default();
        for (module, file) in &files {
            let is_of_tests = module.iter().any(|name| name.contains("tests"));
            if !is_of_tests {
                imports.add(module, file, &files);
            }
        }
        imports
    }

    fn add(&mut self, module: &Module, file: &Path, files: &BTreeMap<Module, PathBuf>) {
        let code = from_the_file(&without_tests(&without_comments(&read(file))));
        for path in paths(&code) {
            let Some(target) = resolve(&path, module, files) else {
                continue;
            };
            if target != file && !(path[0] == "super" && is_part_of(module, target, files)) {
                let from = self.0.entry(file.to_owned()).or_default();
                let names = from.entry(target.clone()).or_default();
                names.insert(path.join("::"));
            }
        }
    }

    /// Returns the shortest way back to `start` by imports, `start` first.
    fn circle_through(&self, start: &PathBuf) -> Option<Vec<PathBuf>> {
        let mut came_from: BTreeMap<&PathBuf, &PathBuf> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(file) = open.pop_front() {
            for next in self.0.get(file).into_iter().flat_map(BTreeMap::keys) {
                if next == start {
                    let mut circle = vec![file.clone()];
                    while let Some(before) = came_from.get(&circle[circle.len() - 1]) {
                        circle.push((*before).clone());
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if !came_from.contains_key(next) {
                    came_from.insert(next, file);
                    open.push_back(next);
                }
            }
        }
        None
    }

    /// Returns a description of each circle. Circles share no import, and once one import of each
    /// is gone, none is left.
    fn circles(mut self, source: &Path) -> Vec<String> {
        let name = |file: &Path| file.strip_prefix(source).unwrap().display().to_string();
        let mut found = Vec::new();
        let files: Vec<PathBuf> = self.0.keys().cloned().collect();
        while let Some(circle) = files
            .iter()
            .filter_map(|file| self.circle_through(file))
            .min_by_key(Vec::len)
        {
            let mut text = name(&circle[0]);
            for (place, from) in circle.iter().enumerate() {
                let to = &circle[(place + 1) % circle.len()];
                let paths = self.0.get_mut(from).unwrap().remove(to).unwrap();
                let paths: Vec<String> = paths.into_iter().collect();
                text += &format!(" -> {} ({})", name(to), paths.join(", "));
            }
            found.push(text);
        }
        found
    }
}

/// Returns true if the module is declared in `file`, or in a part of it.
fn is_part_of(module: &Module, file: &PathBuf, files: &BTreeMap<Module, PathBuf>) -> bool {
    (1..module.len()).any(|length| files.get(&module[..length]) == Some(file))
}

fn module_of(file: &Path) -> Module {
    let without_extension = file.with_extension("");
    let mut names: Module = without_extension
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if matches!(
        names.last().map(String::as_str),
        Some("lib" | "main" | "mod")
    ) {
        names.pop();
    }
    names
}

/// Returns the file of the deepest module on a path; none for a path that begins at another crate
/// or at a name that an import has brought in.
fn resolve<'a>(
    path: &[String],
    module: &Module,
    files: &'a BTreeMap<Module, PathBuf>,
) -> Option<&'a PathBuf> {
    let mut names = path.iter().peekable();
    let mut at: Module = match names.peek()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.clone(),
        child => {
            let child = [module.as_slice(), &[child.to_owned()]].concat();
            files.contains_key(&child).then(|| module.clone())?
        }
    };
    while let Some(name) = names.next_if(|name| ["crate", "self", "super"].contains(&&***name)) {
        if name == "super" {
            at.pop()?;
        }
    }
    for name in names {
        at.push(name.clone());
        if !files.contains_key(&at) {
            at.pop();
            break;
        }
    }
    files.get(&at)
}

/// Returns the code with comments and the contents of string literals left out.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") {
            let end = if rest.starts_with("r#") { "\"#" } else { "\"" };
            let begin = rest.find('"').unwrap_or(0) + 1;
            let inner = rest[begin..].find(end).unwrap_or(rest.len() - begin);
            (begin + inner + end.len()).min(rest.len())
        } else if character == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|inner| {
                let is_end = inner == '"' && !escaped;
                escaped = inner == '\\' && !escaped;
                is_end
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if ["'\"'", "'\\\"'"]
            .iter()
            .any(|quote| rest.starts_with(quote))
        {
            rest[1..].find("'").map_or(1, |end| end + 2)
        } else {
            code.push(character);
            character.len_utf8()
        };
        rest = &rest[length..];
    }
    code
}

/// Returns the code without items under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut parts = code.split(MARK);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = match (part.find(';'), part.find('{')) {
            (Some(end), None) => end + 1,
            (Some(end), Some(brace)) if end < brace => end + 1,
            (_, Some(brace)) => brace + block(&part[brace..]),
            (None, None) => part.len(),
        };
        kept.push_str(&part[end..]);
    }
    kept
}

/// Returns the code with the paths in inline modules as the file around them would write them.
fn from_the_file(code: &str) -> String {
    let Some((before, name, rest)) = code
        .match_indices("mod ")
        .find_map(|(at, mark)| inline_module(code, at + mark.len()))
    else {
        return code.to_owned();
    };
    let (inner, rest) = rest.split_at(block(rest));
    let inner = from_the_file(inner).replace("super::super::", "self::super::");
    let inner = inner.replace("use super::", "use self::");
    [before, name, &inner, &from_the_file(rest)].concat()
}

/// Splits the code at the name of an inline module, `at`, and at its block; none if it has none.
fn inline_module(code: &str, at: usize) -> Option<(&str, &str, &str)> {
    let length = code[at..].find(|next: char| !next.is_alphanumeric() && next != '_')?;
    let (before, rest) = code.split_at(at);
    let (name, rest) = rest.split_at(length);
    rest.trim_start()
        .starts_with('{')
        .then(|| (before, name, rest.trim_start()))
}

/// Returns the length of the block that a text begins with.
fn block(text: &str) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Returns every path in the code, those in `use` declarations one for each name.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut statements = code.split("use ");
    let first = statements.next().unwrap_or_default();
    let mut expressions = first.to_owned();
    let mut before = first;
    for statement in statements {
        let is_word = before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        match statement.split_once(';') {
            Some((tree, rest)) if !is_word => {
                if !is_re_export(before) {
                    names_in(tree, &[], &mut found);
                }
                expressions.push_str(rest);
            }
            _ => expressions.push_str(statement),
        }
        before = statement;
    }
    let mut visible = expressions.split("pub(in ");
    let first = visible.next().unwrap_or_default();
    let rest = visible.filter_map(|part| part.split_once(')'));
    let expressions = rest.fold(first.to_owned(), |code, (_, part)| code + part);
    let is_separator =
        |character: char| !character.is_alphanumeric() && character != '_' && character != ':';
    for word in expressions.split(is_separator) {
        if let Some((head, _)) = word.split_once("::")
            && head.starts_with(|first: char| first.is_lowercase())
        {
            found.push(word.split("::").map(str::to_owned).collect());
        }
    }
    found
}

/// Returns true if the code before a `use` ends with a visibility, such as `pub(crate)`.
fn is_re_export(before: &str) -> bool {
    let declaration = before.rsplit([';', '}', '\n']).next();
    declaration.is_some_and(|text| text.trim_start().starts_with("pub"))
}

/// Appends the paths of the tree of a `use` declaration.
fn names_in(tree: &str, above: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let head = head.trim().split("::").filter(|name| !name.is_empty());
        let above: Vec<String> = above
            .iter()
            .cloned()
            .chain(head.map(str::to_owned))
            .collect();
        let group = group.strip_suffix('}').unwrap_or(group);
        let (mut depth, mut from) = (0, 0);
        for (at, character) in group.char_indices().chain([(group.len(), ',')]) {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names_in(&group[from..at], &above, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let path = tree.split_once(" as ").map_or(tree, |(path, _)| path);
        let names = path.split("::").map(|name| name.trim().to_owned());
        found.push(above.iter().cloned().chain(names).collect());
    }
}

#[test]
fn no_files_of_a_crate_import_each_other() {
    let mut found = Vec::new();
    let root = root();
    let lab = ["attack", "evaluation"].map(|name| root.join("lab").join(name));
    for directory in folders().into_iter().chain(lab) {
        let source = directory.join("src");
        let name = directory.strip_prefix(&root).unwrap().display();
        let circles = Imports::of(&source).circles(&source);
        found.extend(circles.iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(
        found.is_empty(),
        "{} circles\n{}",
        found.len(),
        found.join("\n")
    );
}

/// The kinds of items that a crate's root may define itself.
const ITEMS: [&str; 7] = ["const", "enum", "fn", "static", "struct", "trait", "type"];

#[test]
fn no_file_imports_through_the_root_of_its_crate() {
    let mut found = Vec::new();
    for source in folders().iter().map(|folder| folder.join("src")) {
        let root = source.join("lib.rs");
        let defined = |name: &str| {
            let code = read(&root);
            ITEMS
                .iter()
                .any(|item| code.contains(&format!("{item} {name}")))
        };
        let imports = Imports::of(&source);
        for (file, targets) in &imports.0 {
            for path in targets.get(&root).into_iter().flatten() {
                let name = path.rsplit("::").next().unwrap_or_default();
                if !defined(name) {
                    found.push(format!("{}: {path}", file.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_import_leads_to_the_file_of_the_deepest_module() {
    let code = "use super::{a::{self, B}, c as d};\nuse crate::e::F;\npub(crate) use k::L;\n\
                fn g() { child::h(i::J) }";
    let found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    let expected = [
        "super::a::self",
        "super::a::B",
        "super::c",
        "crate::e::F",
        "child::h",
        "i::J",
    ];
    assert_eq!(found, expected);
    let modules = [
        &[][..],
        &["x"],
        &["x", "y"],
        &["x", "y", "child"],
        &["x", "a"],
    ];
    let files: BTreeMap<Module, PathBuf> = modules
        .iter()
        .map(|names| {
            (
                names.iter().map(ToString::to_string).collect(),
                names.join("/").into(),
            )
        })
        .collect();
    let from = vec!["x".to_owned(), "y".to_owned()];
    let lead_to: Vec<Option<&str>> = paths(code)
        .iter()
        .map(|path| resolve(path, &from, &files).map(|file| file.to_str().unwrap()))
        .collect();
    let expected = [
        Some("x/a"),
        Some("x/a"),
        Some("x"),
        Some(""),
        Some("x/y/child"),
        None,
    ];
    assert_eq!(lead_to, expected);
}

#[test]
fn a_path_in_an_inline_module_begins_at_the_module() {
    let code = "mod a; mod b { use super::c; use super::super::d; } use super::e;";
    let expected = "mod a; mod b{ use self::c; use self::super::d; } use super::e;";
    assert_eq!(from_the_file(code), expected);
}

#[test]
fn comments_strings_and_tests_are_not_code() {
    let text = "a /* b */ \"c \\\" d\" e // f\n'\"' g r#\"h\"# #[cfg(test)] mod i { { j } } k";
    assert_eq!(without_tests(&without_comments(text)), "a   e \n g   k");
}
