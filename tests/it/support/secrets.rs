//! Secrets that redaction recognizes, and trajectories that hold them in every kind of turn.

use serde_json::json;

/// Each secret as it stands in a text, and the part of it that must not get through. Put together from halves, so that
/// no scanner takes this file for a leak.
pub fn secrets() -> Vec<(String, String)> {
    let whole = |prefix: &str, secret: &str| (format!("{prefix}{secret}"), format!("{prefix}{secret}"));
    let within =
        |before: &str, secret: &str, after: &str| (format!("{before}{secret}{after}"), secret.to_owned());
    vec![
        whole("AKIA", "QX7DN4WK2PZ5TRMB"),
        whole("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
        whole("hf_", "kQzVtRmXbLpWnYcJdHsGfTaEuKoQiZrMwX"),
        within(
            "aws_secret_access_key=",
            "q8Zt3LmX0vRb7YpKd2NwHs5JcGf9UeAo1TiVxM4k",
            "",
        ),
        within("DB_PASSWORD=\"", "tR8vQ2mZ9xLp4", "\""),
        within("Authorization: Bearer ", "q7RtZ2mVx9LpK4wNc8Hs", ""),
        within("postgres://admin:", "hunter2secret", "@db.internal:5432/app"),
        within(
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "MIIEowIBAAKCAQEAx7Qm3ZtRkV9pLwYc2NdHs8JfGuTeAoXi5Mb1KzEqWvRn4SgP",
            "\nQx8ZtRmVbLpWnYcJdHsGfTaEuKoQiZrMwX3k7QvB2nPdTs6HcFgJyLxUaEw9ZoRi\n-----END RSA PRIVATE KEY-----",
        ),
    ]
}

/// A trajectory whose middle holds the secret in one kind of turn, and whose last turns use it.
pub fn trajectory(secret: &str, place: &str) -> String {
    let turn = |from: &str, value: &str| json!({"from": from, "value": value});
    let call = |command: &str| {
        let call = json!({"name": "terminal", "arguments": {"command": command}});
        turn("gpt", &format!("<tool_call>\n{call}\n</tool_call>"))
    };
    let answer = |content: &str| {
        let response = json!({"name": "terminal", "content": content});
        turn("tool", &format!("<tool_response>\n{response}\n</tool_response>"))
    };
    let filler = "word ".repeat(120);
    let mut turns = vec![
        turn("system", "s"),
        turn("human", "Deploy it."),
        turn("gpt", "Yes."),
    ];
    for _ in 0..6 {
        match place {
            "human" => {
                turns.push(turn(
                    "human",
                    &format!("You must always use {secret} for the service."),
                ));
                turns.push(turn("gpt", &filler));
            }
            "gpt" => turns.push(turn(
                "gpt",
                &format!("I found that the key is {secret} here. {filler}"),
            )),
            "answer" => {
                turns.push(call("cat .env"));
                turns.push(answer(&format!(
                    "error: failed with {secret}\nKEY: {secret}\n{filler}\nexit code 1"
                )));
            }
            _ => {
                turns.push(call(&format!("export K='{secret}'; curl https://x.example/v1")));
                turns.push(answer(&filler));
            }
        }
    }
    turns.extend([
        turn("human", "continue"),
        turn("gpt", &format!("Using {secret} now.")),
        turn("human", "more"),
    ]);
    turns.extend([
        turn("gpt", &format!("{secret} is used again.")),
        turn("gpt", "done"),
    ]);
    json!({"conversations": turns}).to_string()
}
