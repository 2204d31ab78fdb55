//! The address of a server, as far as it tells one server from another.

use super::api::Api;

/// The address under which answers of a server are kept: models of one name may differ from server to server (`llama3`
/// is whatever somebody loaded). User, password and query are left out, which do not tell who answers, and the
/// spellings of one address are made the same.
pub fn of(api: Api, base_url: &str) -> String {
    let address = base_url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let scheme = scheme.to_ascii_lowercase();
    let host = authority
        .rsplit('@')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let usual_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let host = host.strip_suffix(usual_port).unwrap_or(&host);
    api.root(&format!("{scheme}://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_has_one_place_however_it_is_written() {
        for same in [
            "https://api.example.com/v1",
            "https://api.example.com/v1/",
            "HTTPS://API.example.com:443/v1",
            "https://me:s3cr3t@api.example.com/v1",
            "https://api.example.com/v1?api-version=3#top",
            "https://api.example.com/v1/chat/completions?key=s3cr3t",
        ] {
            assert_eq!(of(Api::OpenAi, same), "https://api.example.com/v1", "{same}");
        }
        for same in ["https://h", "https://h/v1/messages", "https://h/v1/"] {
            assert_eq!(of(Api::Anthropic, same), "https://h/v1", "{same}");
        }
    }

    #[test]
    fn other_servers_have_other_places() {
        let places = [
            "http://localhost:8000/v1",
            "http://localhost:8001/v1",
            "http://other:8000/v1",
            "https://localhost:8000/v1",
            "http://localhost:8000/team/v1",
        ];
        let places: std::collections::BTreeSet<String> =
            places.iter().map(|url| of(Api::OpenAi, url)).collect();
        assert_eq!(places.len(), 5);
    }
}
