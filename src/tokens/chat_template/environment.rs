//! The template engine, set up to behave as that of `apply_chat_template`.

use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::bounds::{self, BoundedOutput};
use super::error::TemplateRefusal;
use super::functions::{arithmetic, charged, filters, iteration, methods};
use super::source;
use super::values::{markup, text_of};

/// Steps that rendering one chat may take. Most templates take some hundreds per turn.
const FUEL: u64 = 50_000_000;

/// The error message if the engine panics: neither it nor the templates are our code, so a panic must not end a run.
const FAULT: &str = "the template engine failed";

/// The template's name inside the engine.
const NAME: &str = "chat";

/// One compiled template.
pub struct TemplateEngine {
    environment: Environment<'static>,
}

/// The message with which a template refuses a chat.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Raised(String);

impl TemplateEngine {
    /// Compiles a template; the error is the engine's message.
    pub fn compile(template: &str) -> Result<Self, String> {
        catch_unwind(|| Self::compiled(template)).unwrap_or_else(|_| Err(FAULT.to_owned()))
    }

    fn compiled(template: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build().map_err(|error| error.to_string())?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_unknown_method_callback(methods::call);
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(|out, _, value| {
            if let Some(text) = value.as_str() {
                bounds::charge(text.len())?;
                return Ok(out.write_str(text)?);
            }
            let text = text_of(value)?;
            bounds::charge(text.len())?;
            Ok(out.write_str(&text)?)
        });
        charged::add(&mut environment);
        arithmetic::add(&mut environment);
        // Python's has no other templates to include.
        environment.set_path_join_callback(|_, _| "".into());
        iteration::add(&mut environment);
        filters::add(&mut environment);
        markup::add(&mut environment);
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        environment
            .add_template_owned(NAME, source::prepared(template)?)
            .map_err(|error| error.to_string())?;
        Ok(Self { environment })
    }

    /// Renders the template with these variables.
    pub fn render(&self, context: Value) -> Result<String, TemplateRefusal> {
        let text = catch_unwind(AssertUnwindSafe(|| {
            let template = self.environment.get_template(NAME)?;
            let mut output = BoundedOutput::default();
            template.render_captured_to(context, &mut output)?;
            Ok(output.0)
        }));
        bounds::end();
        match text {
            _ if bounds::is_spent() => Err(TemplateRefusal::new(bounds::TOO_MUCH)),
            Ok(text) => {
                let text = text.map_err(|error| refusal(&error))?;
                String::from_utf8(text).map_err(|error| TemplateRefusal::new(error.to_string()))
            }
            Err(_) => Err(TemplateRefusal::new(FAULT)),
        }
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
    let message = text_of(message)?;
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

/// Formats a fixed time in place of now: noon of 26 July 2024, since the same chat must always give the same text. It
/// is the date that Llama's templates fall back to; any other costs about as many tokens.
fn strftime_now(format: &str) -> String {
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        // `%-d` is `%d` without leading zeros.
        let mut directive = characters.next();
        let is_bare = directive == Some('-');
        if is_bare {
            directive = characters.next();
        }
        let part = directive.map_or("%", moment);
        out.push_str(if is_bare {
            part.trim_start_matches('0')
        } else {
            part
        });
        if is_bare && part == "00" {
            out.push('0');
        }
    }
    out
}

/// One directive of the format, for that fixed time.
fn moment(directive: char) -> &'static str {
    match directive {
        'Y' | 'G' => "2024",
        'C' => "20",
        'y' => "24",
        'm' => "07",
        'B' => "July",
        'b' | 'h' => "Jul",
        'd' | 'e' => "26",
        'A' => "Friday",
        'a' => "Fri",
        'u' | 'w' => "5",
        'j' => "208",
        'U' => "29",
        'W' | 'V' => "30",
        'F' => "2024-07-26",
        'D' | 'x' => "07/26/24",
        'T' | 'X' => "12:00:00",
        'R' => "12:00",
        'r' => "12:00:00 PM",
        'c' => "Fri Jul 26 12:00:00 2024",
        'H' | 'I' => "12",
        'p' => "PM",
        'M' | 'S' => "00",
        'f' => "000000",
        'n' => "\n",
        't' => "\t",
        '%' => "%",
        _ => "",
    }
}
