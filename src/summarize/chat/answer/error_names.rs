//! The statuses that servers' names of errors stand for: in bodies under 200, and in lines of batches.

/// The failure of a request that the server forbids, by its key or its content.
pub const FORBIDDEN: &str = "summary_http_403";

/// Names in lower case, without `_error`.
const TABLE: [(&str, u16); 32] = [
    // https://docs.anthropic.com/en/api/errors
    ("invalid_request", 400),
    ("authentication", 401),
    ("billing", 402),
    ("permission", 403),
    ("not_found", 404),
    ("request_too_large", 413),
    ("rate_limit", 429),
    ("api", 500),
    ("timeout", 504),
    ("overloaded", 529),
    // https://platform.openai.com/docs/guides/error-codes/api-errors
    ("context_length_exceeded", 400),
    ("invalid_api_key", 401),
    ("model_not_found", 404),
    ("insufficient_quota", 429),
    ("rate_limit_exceeded", 429),
    ("requests", 429),
    ("tokens", 429),
    ("too_many_requests", 429),
    ("server", 500),
    ("internal_server", 500),
    ("service_unavailable", 503),
    // https://cloud.google.com/apis/design/errors
    ("invalid_argument", 400),
    ("failed_precondition", 400),
    ("unauthenticated", 401),
    ("permission_denied", 403),
    ("resource_exhausted", 429),
    ("internal", 500),
    ("unavailable", 503),
    ("deadline_exceeded", 504),
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
    ("badrequesterror", 400),
    ("notfounderror", 404),
    ("internalservererror", 500),
];

/// The status that an error of that name should have come with.
pub fn status_of(name: &str) -> Option<u16> {
    let name = name.to_ascii_lowercase();
    let name = name.trim_end_matches("_error");
    TABLE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, status)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_known_by_their_names() {
        for (name, status) in [
            ("overloaded_error", Some(529)),
            ("rate_limit_error", Some(429)),
            ("RESOURCE_EXHAUSTED", Some(429)),
            ("NotFoundError", Some(404)),
            ("surprise", None),
        ] {
            assert_eq!(status_of(name), status, "{name}");
        }
    }
}
