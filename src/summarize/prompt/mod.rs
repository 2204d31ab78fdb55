//! Prompts for language models: a request for a summary as a system text and a user text.
//!
//! The wording is one file, `assets/prompts/summary.jinja`: two parts with a line `--- user ---` between them. Another
//! file can replace it. The system part is the same for all requests of a run, so that servers can cache it.

mod delimit;
pub mod pieces;
mod shorten;
#[cfg(test)]
mod tests;
mod turns;

use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use sha2::{Digest, Sha256};

use super::Around;
use super::redact::redact;
use crate::names::named;

pub use turns::ToolNames;

named! {
    /// The form of a summary.
    Style {
        /// Dense prose.
        Concise = "concise",
        /// A working record with headings.
        Handoff = "handoff",
    }
}

/// Our own wording.
const TEMPLATE: &str = include_str!("../../../assets/prompts/summary.jinja");

/// The line between the two parts of a template.
const USER_PART: &str = "--- user ---";

/// The focus setting that takes the focus from the requests after a stretch.
pub const AUTO_FOCUS: &str = "auto";

/// Maximum bytes sent of a request made before, in the middle or after a stretch.
const ASKED_ROOM: usize = 1_200;

/// Maximum steps of rendering one part: a template is an input as well.
const FUEL: u64 = 1_000_000;

/// Words of English for a token, roughly; said beside the tokens, which models count badly.
const WORDS_PER_TOKEN: f64 = 0.7;

/// Settings of the wording of all prompts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSettings {
    /// The form of the summaries.
    pub style: Style,
    /// The focus of the summaries.
    pub focus: Option<String>,
    /// Another template instead of our own.
    pub template: Option<String>,
    /// Secrets are replaced in the finished texts.
    pub redaction: bool,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The system text, the same in all prompts of a run.
    pub system: Arc<str>,
    /// The user text, with the material.
    pub user: String,
}

/// The material of one prompt.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Turns as blocks of text.
    pub turns: &'a str,
    /// The summary so far, to be updated.
    pub previous: Option<&'a str>,
    /// The user's request that is still in progress after these turns.
    pub in_progress: Option<&'a str>,
    /// The requests in the turns around these that are kept.
    pub around: Around<'a>,
    /// Identifiers to be kept.
    pub keep: &'a [&'a str],
    /// Maximum tokens of the answer.
    pub max_tokens: usize,
    /// The number of this part of the region, from 1, and of all parts.
    pub piece: (usize, usize),
}

/// Makes prompts.
#[derive(Debug)]
pub struct Prompter {
    environment: Environment<'static>,
    system: Arc<str>,
    version: String,
    redaction: bool,
    /// Later requests are the focus.
    auto_focus: bool,
}

impl Prompter {
    /// Compiles the template and makes the part that all prompts share.
    ///
    /// # Errors
    ///
    /// If the template is wrong.
    pub fn new(settings: &PromptSettings) -> Result<Self, String> {
        let source = settings.template.as_deref().unwrap_or(TEMPLATE);
        let (system, user) = parts(source);
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build().map_err(|error| error.to_string())?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        for (name, part) in [("system", system), ("user", user)] {
            environment
                .add_template_owned(name, part.to_owned())
                .map_err(|error| error.to_string())?;
        }
        let mut prompter = Self {
            environment,
            system: Arc::from(""),
            version: version(source),
            redaction: settings.redaction,
            auto_focus: settings.focus.as_deref() == Some(AUTO_FOCUS),
        };
        let focus = settings
            .focus
            .as_deref()
            .filter(|focus| *focus != AUTO_FOCUS)
            .map(|focus| delimit::harmless(focus).into_owned());
        let shared = context! { style => settings.style.to_string(), focus };
        prompter.system = Arc::from(prompter.rendered("system", shared)?);
        // A template that fails does so now, not at the first record.
        prompter.prompt(&Material {
            turns: "",
            previous: Some(""),
            in_progress: Some(""),
            around: Around {
                task: Some(""),
                asked_later: Some(""),
            },
            keep: &[""],
            max_tokens: 1,
            piece: (1, 2),
        })?;
        Ok(prompter)
    }

    /// The version of the wording: the beginning of the template's SHA-256.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The prompt for that material.
    ///
    /// # Errors
    ///
    /// If the template cannot be rendered.
    pub fn prompt(&self, material: &Material<'_>) -> Result<Prompt, String> {
        let words = (material.max_tokens as f64 * WORDS_PER_TOKEN) as usize;
        let harmless = |text: &str| delimit::harmless(text).into_owned();
        let asked =
            |text: Option<&str>| text.map(|text| harmless(&shorten::shortened(text.trim(), ASKED_ROOM)));
        let keep: Vec<String> = material.keep.iter().map(|text| harmless(text)).collect();
        let user = self.rendered(
            "user",
            context! {
                turns => material.turns.trim_end(),
                earlier_summary => material.previous.map(harmless),
                in_progress => asked(material.in_progress),
                task => asked(material.around.task),
                asked_later => asked(material.around.asked_later.filter(|_| self.auto_focus)),
                keep_verbatim => keep,
                max_tokens => material.max_tokens,
                max_words => words,
                piece => material.piece.0,
                pieces => material.piece.1,
            },
        )?;
        Ok(Prompt {
            system: Arc::clone(&self.system),
            user,
        })
    }

    /// A part rendered with these variables. Its texts were redacted one by one; a secret that appears only where two
    /// of them meet is replaced here, so that nothing is sent that redaction knows.
    fn rendered(&self, part: &str, variables: Value) -> Result<String, String> {
        let rendered = self
            .environment
            .get_template(part)
            .and_then(|template| template.render(variables));
        let text = rendered.map_err(|error| format!("{error:#}"))?;
        let text = text.trim();
        Ok(if self.redaction {
            redact(text).0.into_owned()
        } else {
            text.to_owned()
        })
    }
}

/// The system part and the user part; a template without the line between them is all user part.
fn parts(source: &str) -> (&str, &str) {
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if line.trim_end() == USER_PART {
            let user = source.get(at + line.len()..).unwrap_or_default();
            return (source.get(..at).unwrap_or_default(), user);
        }
        at += line.len();
    }
    ("", source)
}

fn version(source: &str) -> String {
    let digest = Sha256::digest(source.as_bytes());
    let beginning = digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    format!("{beginning:016x}")
}
