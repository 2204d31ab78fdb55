//! The two APIs: `OpenAI`'s chat completions, which most servers have, and Anthropic's messages.

use serde_json::{Map, Value, json};

use super::dialect::RequestShape;
use crate::names::named;
use crate::summarize::prompt::Prompt;

named! {
    /// The API of a server.
    Api {
        /// Chat completions, as `OpenAI`, `OpenRouter`, vLLM, `SGLang`, llama.cpp, Ollama and `LiteLLM` have them.
        OpenAi = "openai",
        /// Anthropic's messages.
        Anthropic = "anthropic",
    }
}

/// The version of Anthropic's API that is used here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Bytes of the shortest prefix that Anthropic's servers cache: 1,024 tokens; models that need more ignore the mark.
/// <https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching>
const SHORTEST_CACHED: usize = 4 * 1024;

/// The contents of one request.
#[derive(Debug, Clone, Copy)]
pub struct ApiCall<'a> {
    /// The model asked.
    pub model: &'a str,
    /// The prompt.
    pub prompt: &'a Prompt,
    /// Maximum completion tokens.
    pub max_output: usize,
    /// The sampling temperature, where the server takes one.
    pub temperature: f64,
    /// Fields of the body beside our own, which they replace.
    pub extra: &'a Map<String, Value>,
}

impl Api {
    /// The base address of the vendor that the API is named after.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    /// The variables that hold a key for the server at that address, beside the one that is configured.
    pub fn key_variables(self, base_url: &str) -> &'static [&'static str] {
        match self {
            // One vendor's key is not shown to another.
            Self::OpenAi if base_url.contains("//openrouter.ai") => &["OPENROUTER_API_KEY"],
            Self::OpenAi => &["OPENAI_API_KEY", "OPENROUTER_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
        }
    }

    /// The address of requests: the base address, the version where it lacks one, and the path.
    pub fn url(self, base_url: &str) -> String {
        format!("{}{}", self.root(base_url), self.path())
    }

    /// The base address with the version where it lacks one, and without the path.
    pub fn root(self, base_url: &str) -> String {
        let base = base_url.trim_end_matches('/');
        match (self, base.strip_suffix(self.path())) {
            (_, Some(root)) => root.to_owned(),
            (Self::Anthropic, None) if !base.ends_with("/v1") => format!("{base}/v1"),
            _ => base.to_owned(),
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    /// The headers that carry the key and the version.
    pub fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match self {
            Self::OpenAi => key
                .map(|key| ("authorization", format!("Bearer {key}")))
                .into_iter()
                .collect(),
            Self::Anthropic => {
                let version = ("anthropic-version", ANTHROPIC_VERSION.to_owned());
                let key = key.map(|key| ("x-api-key", key.to_owned()));
                key.into_iter().chain([version]).collect()
            }
        }
    }

    /// The body, as JSON.
    pub fn body(self, call: &ApiCall<'_>, manner: RequestShape) -> Vec<u8> {
        let mut body = Map::new();
        body.insert("model".to_owned(), call.model.into());
        let system: &str = &call.prompt.system;
        let user = json!({"role": "user", "content": call.prompt.user});
        match self {
            Self::OpenAi if system.is_empty() => {
                body.insert("messages".to_owned(), json!([user]));
            }
            Self::OpenAi => {
                let system = json!({"role": "system", "content": system});
                body.insert("messages".to_owned(), json!([system, user]));
            }
            Self::Anthropic => {
                if system.len() >= SHORTEST_CACHED {
                    // The same for all requests of a run: read once, then taken from the server's cache.
                    let cached = json!({"type": "ephemeral"});
                    let system = json!([{"type": "text", "text": system, "cache_control": cached}]);
                    body.insert("system".to_owned(), system);
                } else if !system.is_empty() {
                    body.insert("system".to_owned(), system.into());
                }
                body.insert("messages".to_owned(), json!([user]));
            }
        }
        let limit = if self == Self::OpenAi && manner.completion_limit {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.insert(limit.to_owned(), call.max_output.into());
        if manner.temperature {
            body.insert("temperature".to_owned(), call.temperature.into());
        }
        for (name, value) in call.extra {
            body.insert(name.clone(), value.clone());
        }
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn body(api: Api, manner: RequestShape, extra: &Value) -> Value {
        body_with("Rules.", api, manner, extra)
    }

    fn body_with(system: &str, api: Api, manner: RequestShape, extra: &Value) -> Value {
        let prompt = Prompt {
            system: Arc::from(system),
            user: "Turns.".to_owned(),
        };
        let call = ApiCall {
            model: "m",
            prompt: &prompt,
            max_output: 100,
            temperature: 0.5,
            extra: extra.as_object().unwrap(),
        };
        serde_json::from_slice(&api.body(&call, manner)).unwrap()
    }

    #[test]
    fn bodies_are_what_each_interface_asks_for() {
        let first = RequestShape::default();
        assert_eq!(
            body(Api::OpenAi, first, &json!({})),
            json!({"model": "m", "max_tokens": 100, "temperature": 0.5, "messages": [
                {"role": "system", "content": "Rules."},
                {"role": "user", "content": "Turns."},
            ]})
        );
        assert_eq!(
            body(Api::Anthropic, first, &json!({})),
            json!({"model": "m", "max_tokens": 100, "temperature": 0.5,
                "system": "Rules.",
                "messages": [{"role": "user", "content": "Turns."}],
            })
        );
    }

    #[test]
    fn a_prefix_is_marked_for_the_cache_where_it_is_long_enough_for_it() {
        for (length, is_marked) in [(SHORTEST_CACHED - 1, false), (SHORTEST_CACHED, true)] {
            let body = body_with(
                &"r".repeat(length),
                Api::Anthropic,
                RequestShape::default(),
                &json!({}),
            );
            assert_eq!(body.pointer("/system/0/cache_control").is_some(), is_marked);
        }
    }

    #[test]
    fn what_was_learned_and_what_is_configured_shape_the_body() {
        let learned = RequestShape {
            completion_limit: true,
            temperature: false,
        };
        let extra = json!({"reasoning_effort": "low", "model": "other"});
        let body = body(Api::OpenAi, learned, &extra);
        assert_eq!(body["max_completion_tokens"], 100);
        assert_eq!((body.get("max_tokens"), body.get("temperature")), (None, None));
        assert_eq!(
            (&body["reasoning_effort"], &body["model"]),
            (&json!("low"), &json!("other"))
        );
    }

    #[test]
    fn an_address_may_come_with_or_without_slash_version_and_path() {
        for base in ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"] {
            assert_eq!(Api::OpenAi.url(base), "http://h/v1/chat/completions");
        }
        for base in ["http://h", "http://h/v1", "http://h/v1/messages/"] {
            assert_eq!(Api::Anthropic.url(base), "http://h/v1/messages");
        }
    }

    #[test]
    fn a_key_goes_where_each_interface_looks_for_it_and_none_is_fine() {
        assert_eq!(
            Api::OpenAi.headers(Some("k")),
            [("authorization", "Bearer k".to_owned())]
        );
        assert_eq!(Api::OpenAi.headers(None), []);
        assert_eq!(
            Api::Anthropic.headers(Some("k")).first(),
            Some(&("x-api-key", "k".to_owned()))
        );
        assert_eq!(
            Api::OpenAi.key_variables("https://openrouter.ai/api/v1"),
            ["OPENROUTER_API_KEY"]
        );
    }
}
