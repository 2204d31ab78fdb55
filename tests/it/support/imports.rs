//! Imports between the project's own files: what each needs of which, found by its `use` lines and paths, through re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{SourceFile, rust_files};

/// Re-exports followed from one name, at most.
const MOST_STEPS: usize = 20;

type Path = Vec<String>;

/// The modules of the library, by their paths.
pub struct Modules(BTreeMap<Path, Module>);

#[derive(Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    /// What its `use` lines import: the path of each name.
    names: BTreeMap<String, Path>,
    /// The names that it needs itself, and does not only hand on.
    needed: Vec<Path>,
}

impl Modules {
    /// The modules in `src`, tests left out.
    pub fn read() -> Self {
        let is_code =
            |file: &SourceFile| !file.is_test() && !file.path.contains("_tests") && file.name() != "main.rs";
        let files: Vec<(Path, SourceFile)> = rust_files("src")
            .into_iter()
            .filter(is_code)
            .map(|file| (module_path(&file), file))
            .collect();
        let mut modules: BTreeMap<Path, Module> = files
            .iter()
            .map(|(path, file)| (path.clone(), Module::read(file)))
            .collect();
        for (path, _) in &files {
            if let Some((name, parent)) = path.split_last() {
                let parent = modules.get_mut(parent).unwrap();
                parent.children.insert(name.clone());
            }
        }
        Self(modules)
    }

    /// The other files that each file needs. The crate's root only hands on what others have.
    pub fn imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let inner = self.0.iter().filter(|(path, _)| !path.is_empty());
        let needs = inner.map(|(path, module)| {
            let found = module
                .needed
                .iter()
                .filter_map(|needed| self.owner(path, needed, 0));
            let others = found.filter(|file| *file != module.file).collect();
            (module.file.as_str(), others)
        });
        needs.collect()
    }

    /// The file that holds what a path means in a module; `None` for modules themselves and for other crates.
    fn owner(&self, module: &[String], path: &[String], steps: usize) -> Option<&str> {
        let mut place = module.to_vec();
        let mut rest = path;
        let (first, after) = path.split_first()?;
        match first.as_str() {
            "crate" => (place, rest) = (Vec::new(), after),
            "self" => rest = after,
            "super" => {
                while let Some(("super", after)) =
                    rest.split_first().map(|(name, after)| (name.as_str(), after))
                {
                    place.pop();
                    rest = after;
                }
            }
            name => {
                let here = self.0.get(module)?;
                if !here.children.contains(name) {
                    let imported = here
                        .names
                        .get(name)
                        .filter(|imported| imported[..] != path[..1])?;
                    return self.handed_on(module, imported, after, steps);
                }
            }
        }
        while let Some((name, after)) = rest.split_first() {
            let here = self.0.get(&place)?;
            if here.children.contains(name) {
                place.push(name.clone());
                rest = after;
            } else if let Some(imported) = here.names.get(name) {
                return self.handed_on(&place, imported, after, steps);
            } else {
                return Some(&here.file);
            }
        }
        None
    }

    fn handed_on(
        &self,
        module: &[String],
        imported: &[String],
        after: &[String],
        steps: usize,
    ) -> Option<&str> {
        let whole = [imported, after].concat();
        (steps < MOST_STEPS)
            .then(|| self.owner(module, &whole, steps + 1))
            .flatten()
    }
}

impl Module {
    fn read(file: &SourceFile) -> Self {
        let mut module = Self {
            file: file.path.clone(),
            ..Self::default()
        };
        // Two levels of splitting tell statements: `use` lines have no `;` or string in them.
        let code: Vec<&str> = file.code().collect();
        let mut rest = String::new();
        for statement in code.join("\n").split_inclusive(';') {
            let at = statement.rfind("use ").filter(|at| {
                let before = statement[..*at].trim_end();
                let before = before
                    .trim_end_matches("pub(super)")
                    .trim_end_matches("pub(crate)");
                let before = before.trim_end_matches("pub").trim_end();
                before.is_empty() || before.ends_with([']', '}', '{', ';'])
            });
            let Some(at) = at else {
                rest.push_str(statement);
                continue;
            };
            let (before, import) = statement.split_at(at);
            let is_handed_on = before.trim_end().ends_with(')') || before.trim_end().ends_with("pub");
            for (path, name) in expanded(import["use ".len()..].trim_end_matches(';')) {
                if !is_handed_on {
                    module.needed.push(path.clone());
                }
                module.names.insert(name, path);
            }
            rest.push_str(before);
        }
        module.needed.extend(paths(&rest));
        module
    }
}

/// The module that a file is: both forms of a module's file are the module itself.
fn module_path(file: &SourceFile) -> Path {
    let path = file.path.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.trim_end_matches("/mod");
    if path == "lib" {
        return Path::new();
    }
    path.split('/').map(str::to_owned).collect()
}

/// The paths of a `use` tree, each with the name that it brings.
fn expanded(tree: &str) -> Vec<(Path, String)> {
    let tree = tree.trim();
    if let Some((prefix, list)) = tree.split_once('{') {
        let prefix: Path = segments(prefix);
        let list = list.trim_end().trim_end_matches('}');
        let mut all = Vec::new();
        for part in top_level_parts(list) {
            all.extend(expanded(part).into_iter().map(|(path, name)| {
                let whole = if path == ["self"] {
                    prefix.clone()
                } else {
                    [prefix.clone(), path].concat()
                };
                let name = if name == "self" {
                    whole.last().cloned().unwrap_or_default()
                } else {
                    name
                };
                (whole, name)
            }));
        }
        return all;
    }
    let (path, name) = tree
        .split_once(" as ")
        .map_or((tree, None), |(path, name)| (path, Some(name)));
    let path = segments(path);
    let last = path.last().cloned().unwrap_or_default();
    let name = name.map_or(last, |name| name.trim().to_owned());
    if path.is_empty() {
        return Vec::new();
    }
    vec![(path, name)]
}

fn segments(path: &str) -> Path {
    let parts = path.split("::").map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The parts of a list that stand between commas outside of braces.
fn top_level_parts(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The paths in code that begin with a module: `super::order`, `crate::names::nearest`, `trajectory::parse`.
fn paths(code: &str) -> Vec<Path> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    code.split(|character: char| !is_word(character))
        .filter(|word| word.contains("::") && word.starts_with(|first: char| first.is_lowercase()))
        .map(|word| segments(word.trim_end_matches(':')))
        .filter(|path| path.len() > 1)
        .collect()
}

/// The circles among files that import one another: the files of each, sorted.
pub fn circles<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<Vec<&'a str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|file| {
            let mut seen = BTreeSet::new();
            let mut open = vec![*file];
            while let Some(next) = open.pop() {
                for needed in imports.get(next).into_iter().flatten() {
                    if seen.insert(*needed) {
                        open.push(needed);
                    }
                }
            }
            (*file, seen)
        })
        .collect();
    let needs = |one: &str, other: &str| reach.get(one).is_some_and(|seen| seen.contains(other));
    let in_circles = imports.keys().filter(|file| needs(file, file));
    in_circles
        .map(|file| {
            let others = imports
                .keys()
                .filter(|other| needs(file, other) && needs(other, file));
            others.copied().collect()
        })
        .collect()
}
