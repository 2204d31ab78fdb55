//! From what the user wrote to a compiled template.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::environment::Engine;
use super::special::special_tokens;
use super::{ChatTemplate, TemplateError, TemplateIdentity};
use crate::tokens::load::tokenizer_file;

/// Files beside a tokenizer that may hold its template, the first one that does is taken.
const FILES: [&str; 3] = [
    "chat_template.jinja",
    "chat_template.json",
    "tokenizer_config.json",
];

pub fn load(choice: &str, tokenizer: &str) -> Result<ChatTemplate, TemplateError> {
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
        Engine::compile(text).map_err(|reason| TemplateError::Broken {
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
            sha256: crate::tokens::hex(&hash.finalize()),
        },
        plain: compile(&texts.plain)?,
        tool_use: texts.tool_use.as_deref().map(compile).transpose()?,
        special,
    })
}

/// A template's text, and that of the one for chats with tools where there is one.
struct Texts {
    plain: String,
    tool_use: Option<String>,
}

fn beside(folder: &Path) -> Result<(PathBuf, Texts), TemplateError> {
    for name in FILES {
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        if let Some(mut texts) = of_file(&path)? {
            // Templates with names lie in a folder of their own.
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

/// The templates of a file; `None` where it is JSON without any.
fn of_file(path: &Path) -> Result<Option<Texts>, TemplateError> {
    let text = read(path)?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(Some(Texts {
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
        Some(Json::String(template)) => Ok(Some(Texts {
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
            Ok(Some(Texts {
                plain,
                tool_use: of("tool_use"),
            }))
        }
        Some(_) => Err(broken(
            "its `chat_template` is neither a text nor a list".to_owned(),
        )),
    }
}
