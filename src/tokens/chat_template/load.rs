//! Loading of the chat template that the user named.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::environment::TemplateEngine;
use super::error::TemplateError;
use super::special::special_tokens;
use super::template::{ChatTemplate, TemplateIdentity};
use crate::tokens::hex::hex;
use crate::tokens::load::tokenizer_file;

/// Files beside a tokenizer that may hold its template, in order of precedence.
const FILES: [&str; 3] = [
    "chat_template.jinja",
    "tokenizer_config.json",
    "chat_template.json",
];

impl ChatTemplate {
    /// The template that `choice` names: `auto` for the one beside the tokenizer named `tokenizer`, or a file: a Jinja
    /// template, or JSON with the key `chat_template`. In both cases, special tokens are read from beside the
    /// tokenizer, unless it is built in.
    ///
    /// # Errors
    ///
    /// There is none, it cannot be read, or it is not a template.
    pub fn load(choice: &str, tokenizer: &str) -> Result<Arc<Self>, TemplateError> {
        load(choice, tokenizer).map(Arc::new)
    }
}

fn load(choice: &str, tokenizer: &str) -> Result<ChatTemplate, TemplateError> {
    let file = tokenizer_file(tokenizer)?;
    let folder = file.as_deref().and_then(Path::parent);
    let (path, texts) = if choice == "auto" {
        beside(folder.ok_or_else(|| TemplateError::BuiltIn {
            name: tokenizer.to_owned(),
        })?)?
    } else {
        let path = PathBuf::from(choice);
        let texts = of_file(&path)?.ok_or_else(|| TemplateError::Broken {
            path: path.clone(),
            reason: "there is no `chat_template` in it".to_owned(),
        })?;
        (path, texts)
    };
    let special = folder.map(special_tokens).unwrap_or_default();
    let compile = |text: &str| {
        TemplateEngine::compile(text).map_err(|reason| TemplateError::Broken {
            path: path.clone(),
            reason,
        })
    };
    let mut hash = Sha256::new();
    for text in std::iter::once(&texts.plain).chain(&texts.tool_use) {
        hash.update(text);
        hash.update([0]);
    }
    for (name, token) in &special {
        hash.update(format!("{name}={token}\0"));
    }
    Ok(ChatTemplate {
        identity: TemplateIdentity {
            name: path.display().to_string(),
            sha256: hex(&hash.finalize()),
        },
        plain: compile(&texts.plain)?,
        tool_use: texts.tool_use.as_deref().map(compile).transpose()?,
        special,
    })
}

/// A template's text, and that of the one for chats with tools, if there is one.
struct TemplateTexts {
    plain: String,
    tool_use: Option<String>,
}

fn beside(folder: &Path) -> Result<(PathBuf, TemplateTexts), TemplateError> {
    for name in FILES {
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        if let Some(mut texts) = of_file(&path)? {
            // Named templates are in a folder of their own.
            let named = folder.join("additional_chat_templates/tool_use.jinja");
            if texts.tool_use.is_none() && name == "chat_template.jinja" && named.exists() {
                texts.tool_use = Some(read(&named)?);
            }
            return Ok((path, texts));
        }
    }
    Err(TemplateError::None {
        folder: folder.to_owned(),
    })
}

fn read(path: &Path) -> Result<String, TemplateError> {
    if !path.exists() {
        return Err(TemplateError::NoFile {
            path: path.to_owned(),
        });
    }
    fs::read_to_string(path).map_err(|source| TemplateError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The templates of a file; `None` if it is JSON without any.
fn of_file(path: &Path) -> Result<Option<TemplateTexts>, TemplateError> {
    let text = read(path)?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(Some(TemplateTexts {
            plain: text,
            tool_use: None,
        }));
    }
    let broken = |reason: String| TemplateError::Broken {
        path: path.to_owned(),
        reason,
    };
    let json: Json = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    match json.get("chat_template") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(template)) => Ok(Some(TemplateTexts {
            plain: template.clone(),
            tool_use: None,
        })),
        Some(Json::Array(named)) => {
            let of = |wanted: &str| {
                named
                    .iter()
                    .find(|one| one.get("name").and_then(Json::as_str) == Some(wanted))
                    .and_then(|one| one.get("template")?.as_str())
                    .map(str::to_owned)
            };
            let plain =
                of("default").ok_or_else(|| broken("none of its templates is named default".to_owned()))?;
            Ok(Some(TemplateTexts {
                plain,
                tool_use: of("tool_use"),
            }))
        }
        Some(_) => Err(broken(
            "its `chat_template` is neither a text nor a list".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const CHAT: &str = r#"[{"role": "user", "content": "x"}]"#;

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn auto(folder: &TempDir) -> Result<ChatTemplate, TemplateError> {
        load("auto", folder.path().to_str().unwrap())
    }

    fn texts(template: &ChatTemplate) -> [String; 2] {
        [None, Some("[]")].map(|tools| template.render(CHAT, tools).unwrap())
    }

    #[test]
    fn the_template_beside_the_tokenizer_is_a_file_of_its_own_or_in_the_configuration() {
        let configuration = (
            "tokenizer_config.json",
            r#"{"chat_template": "config {{ bos_token }}", "bos_token": "<s>"}"#,
        );
        let template = auto(&folder(&[configuration])).unwrap();
        assert_eq!(texts(&template), ["config <s>", "config <s>"]);
        assert!(template.identity().name.ends_with("tokenizer_config.json"));
        let template = auto(&folder(&[
            configuration,
            ("chat_template.jinja", "file {{ bos_token }}"),
        ]))
        .unwrap();
        assert_eq!(texts(&template), ["file <s>", "file <s>"]);
    }

    #[test]
    fn chats_with_tools_have_a_template_of_their_own_where_there_is_one() {
        let listed = r#"{"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]}"#;
        assert_eq!(
            texts(&auto(&folder(&[("tokenizer_config.json", listed)])).unwrap()),
            ["a", "b"]
        );
        let files = [
            ("chat_template.jinja", "a"),
            ("additional_chat_templates/tool_use.jinja", "b"),
        ];
        assert_eq!(texts(&auto(&folder(&files)).unwrap()), ["a", "b"]);
    }

    #[test]
    fn a_file_is_taken_with_the_tokens_of_the_tokenizer() {
        let folder = folder(&[
            ("tokenizer_config.json", r#"{"bos_token": "<s>"}"#),
            ("mine.jinja", "{{ bos_token }}!"),
        ]);
        let path = folder.path().join("mine.jinja");
        let of = |tokenizer: &str| load(path.to_str().unwrap(), tokenizer).unwrap();
        let (with, without) = (of(folder.path().to_str().unwrap()), of("o200k_base"));
        assert_eq!(
            (&texts(&with)[0], &texts(&without)[0]),
            (&"<s>!".to_owned(), &"!".to_owned())
        );
        assert_ne!(with.identity().sha256, without.identity().sha256);
    }

    #[test]
    fn what_holds_no_template_is_told() {
        let error = |choice: &str, folder: &TempDir| {
            let path = |name: &str| folder.path().join(name).display().to_string();
            let choice = if choice == "auto" {
                choice.to_owned()
            } else {
                path(choice)
            };
            let error = load(&choice, folder.path().to_str().unwrap()).err().unwrap();
            assert!(!error.help().is_empty());
            error.to_string().replace(&path(""), "")
        };
        let none = folder(&[
            ("tokenizer_config.json", "{}"),
            ("broken.jinja", "{% if %}"),
            ("list.json", r#"{"chat_template": [{"name": "x"}]}"#),
            ("number.json", r#"{"chat_template": 7}"#),
            ("no.json", "{"),
        ]);
        assert!(error("auto", &none).starts_with("no chat template in"));
        assert_eq!(
            error("absent.jinja", &none),
            "chat template `absent.jinja` does not exist"
        );
        assert!(
            error("broken.jinja", &none)
                .starts_with("`broken.jinja` holds no usable chat template: syntax error")
        );
        assert!(error("list.json", &none).ends_with("none of its templates is named default"));
        assert!(error("number.json", &none).ends_with("neither a text nor a list"));
        assert!(error("no.json", &none).contains("EOF"));
        assert!(error("tokenizer_config.json", &none).ends_with("there is no `chat_template` in it"));
        let built_in = load("auto", "o200k_base").err().unwrap();
        assert_eq!(
            built_in.to_string(),
            "the built-in tokenizer `o200k_base` has no chat template"
        );
        assert!(matches!(
            load("auto", "./nowhere.json").err().unwrap(),
            TemplateError::Tokenizer(_)
        ));
    }
}
