//! The template engine, set up to behave as the one that `apply_chat_template` uses.

use std::error::Error as _;
use std::fmt::Write as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use minijinja_contrib::pycompat;

use super::{TemplateRefusal, python, source, to_json};

/// Steps that rendering one chat may take. Templates of the field take some hundreds a turn.
const FUEL: u64 = 200_000_000;

/// The template's name inside the engine.
const NAME: &str = "chat";

/// One compiled template.
pub struct Engine {
    environment: Environment<'static>,
}

/// What a template says when it refuses a chat.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Raised(String);

impl Engine {
    /// Compiles a template; the error says what is wrong with it.
    pub fn compile(template: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build().map_err(|error| error.to_string())?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_unknown_method_callback(pycompat::unknown_method_callback);
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(|out, _, value| {
            if let Some(text) = value.as_str() {
                return Ok(out.write_str(text)?);
            }
            Ok(out.write_str(&python::str(value))?)
        });
        environment.add_filter("tojson", to_json::to_json);
        environment.add_filter("string", |value: &Value| python::str(value));
        environment.add_test("iterable", |value: &Value| {
            matches!(
                value.kind(),
                ValueKind::String
                    | ValueKind::Seq
                    | ValueKind::Map
                    | ValueKind::Iterable
                    | ValueKind::Undefined
            )
        });
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        environment
            .add_template_owned(NAME, source::prepared(template))
            .map_err(|error| error.to_string())?;
        Ok(Self { environment })
    }

    /// Renders the template with these variables.
    pub fn render(&self, context: Value) -> Result<String, TemplateRefusal> {
        let template = self.environment.get_template(NAME);
        template
            .and_then(|template| template.render(context))
            .map_err(|error| refusal(&error))
    }
}

fn refusal(error: &Error) -> TemplateRefusal {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(Raised(message)) = inner.downcast_ref() {
            return TemplateRefusal::new(message.clone());
        }
        cause = inner.source();
    }
    TemplateRefusal::new(error.to_string())
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = python::str(message);
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

/// The time that templates are told, in place of now: the same chat must give the same text tomorrow. It is the date that
/// Llama's templates fall back to; any other costs about as many tokens.
fn strftime_now(format: &str) -> String {
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let part = match characters.next() {
            Some('Y') => "2024",
            Some('y') => "24",
            Some('m') => "07",
            Some('B') => "July",
            Some('b' | 'h') => "Jul",
            Some('d' | 'e') => "26",
            Some('A') => "Friday",
            Some('a') => "Fri",
            Some('w' | 'u') => "5",
            Some('j') => "208",
            Some('F') => "2024-07-26",
            Some('D' | 'x') => "07/26/24",
            Some('T' | 'X') => "12:00:00",
            Some('R') => "12:00",
            Some('c') => "Fri Jul 26 12:00:00 2024",
            Some('H' | 'I') => "12",
            Some('p') => "PM",
            Some('M' | 'S') => "00",
            Some('f') => "000000",
            Some('Z' | 'z') => "",
            Some('%') => "%",
            Some(other) => {
                let _ = write!(out, "%{other}");
                ""
            }
            None => "%",
        };
        out.push_str(part);
    }
    out
}
