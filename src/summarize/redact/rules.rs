//! The rule table: what known tokens look like, and the words that a secret follows.

/// A token that is known by what it starts with.
pub(super) struct Token {
    /// Name of the kind in the marker.
    pub kind: &'static str,
    /// What it starts with, case included.
    pub prefix: &'static str,
    /// What follows.
    pub class: Class,
    /// Fewest characters after the prefix.
    pub min: usize,
    /// Most characters after the prefix.
    pub max: usize,
}

/// The characters a token is made of.
#[derive(Clone, Copy)]
pub(super) enum Class {
    /// `A-Z0-9`
    Upper,
    /// `0-9a-fA-F`
    Hex,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Za-z0-9_-`
    Url,
    /// `A-Za-z0-9_.-`
    Dotted,
    /// `A-Za-z0-9_./+=-`
    Path,
}

impl Class {
    pub(super) fn holds(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=')
            }
        }
    }
}

const fn token(kind: &'static str, prefix: &'static str, class: Class, min: usize, max: usize) -> Token {
    Token {
        kind,
        prefix,
        class,
        min,
        max,
    }
}

/// Longest token looked for; JWT-like bodies are the longest.
const ANY: usize = 4096;

/// Tokens of known form, from their issuers' documentation.
pub(super) const TOKENS: [Token; 66] = [
    token("aws-access-key", "AKIA", Class::Upper, 16, 16),
    token("aws-access-key", "ASIA", Class::Upper, 16, 16),
    token("aws-access-key", "ABIA", Class::Upper, 16, 16),
    token("github-token", "ghp_", Class::Alnum, 30, 255),
    token("github-token", "gho_", Class::Alnum, 30, 255),
    token("github-token", "ghu_", Class::Alnum, 30, 255),
    token("github-token", "ghs_", Class::Alnum, 30, 255),
    token("github-token", "ghr_", Class::Alnum, 30, 255),
    token("github-token", "github_pat_", Class::Url, 22, 255),
    token("gitlab-token", "glpat-", Class::Dotted, 20, 300),
    token("gitlab-token", "gldt-", Class::Url, 20, 300),
    token("gitlab-token", "glrt-", Class::Url, 20, 300),
    token("gitlab-token", "glptt-", Class::Url, 20, 300),
    token("openai-key", "sk-proj-", Class::Url, 20, 300),
    token("openai-key", "sk-svcacct-", Class::Url, 20, 300),
    token("openai-key", "sk-admin-", Class::Url, 20, 300),
    token("openai-key", "sk-", Class::Alnum, 24, 100),
    token("anthropic-key", "sk-ant-", Class::Url, 20, 300),
    token("openrouter-key", "sk-or-v1-", Class::Hex, 32, 100),
    token("google-api-key", "AIza", Class::Url, 35, 35),
    token("google-oauth-token", "ya29.", Class::Url, 20, ANY),
    token("google-oauth-secret", "GOCSPX-", Class::Url, 20, 60),
    token("slack-token", "xoxb-", Class::Url, 10, 300),
    token("slack-token", "xoxp-", Class::Url, 10, 300),
    token("slack-token", "xoxa-", Class::Url, 10, 300),
    token("slack-token", "xoxr-", Class::Url, 10, 300),
    token("slack-token", "xoxs-", Class::Url, 10, 300),
    token("slack-token", "xapp-", Class::Url, 10, 300),
    token("slack-webhook", "hooks.slack.com/services/", Class::Path, 30, 120),
    token(
        "discord-webhook",
        "discord.com/api/webhooks/",
        Class::Path,
        60,
        160,
    ),
    token("stripe-key", "sk_live_", Class::Alnum, 16, 255),
    token("stripe-key", "rk_live_", Class::Alnum, 16, 255),
    token("stripe-key", "sk_test_", Class::Alnum, 16, 255),
    token("stripe-key", "rk_test_", Class::Alnum, 16, 255),
    token("stripe-webhook-secret", "whsec_", Class::Alnum, 24, 255),
    token("npm-token", "npm_", Class::Alnum, 36, 36),
    token("pypi-token", "pypi-AgE", Class::Url, 40, ANY),
    token("huggingface-token", "hf_", Class::Alnum, 30, 60),
    token("twilio-key", "SK", Class::Hex, 32, 32),
    token("sendgrid-key", "SG.", Class::Dotted, 60, 80),
    token("digitalocean-token", "dop_v1_", Class::Hex, 64, 64),
    token("databricks-token", "dapi", Class::Hex, 32, 32),
    token("shopify-token", "shpat_", Class::Hex, 32, 32),
    token("shopify-token", "shpss_", Class::Hex, 32, 32),
    token("shopify-token", "shpca_", Class::Hex, 32, 32),
    token("mailgun-key", "key-", Class::Hex, 32, 32),
    token("mailchimp-key", "md-", Class::Alnum, 22, 22),
    token("square-token", "sq0atp-", Class::Url, 22, 60),
    token("square-token", "sq0csp-", Class::Url, 40, 60),
    token("linear-key", "lin_api_", Class::Alnum, 32, 60),
    token("notion-token", "ntn_", Class::Alnum, 40, 60),
    token("docker-token", "dckr_pat_", Class::Url, 20, 60),
    token("grafana-token", "glsa_", Class::Url, 32, 80),
    token("grafana-token", "glc_eyJ", Class::Path, 32, 400),
    token("vault-token", "hvs.", Class::Url, 20, 300),
    token("new-relic-key", "NRAK-", Class::Upper, 27, 27),
    token("postman-key", "PMAK-", Class::Url, 50, 80),
    token("planetscale-token", "pscale_tkn_", Class::Dotted, 32, 80),
    token("groq-key", "gsk_", Class::Alnum, 40, 80),
    token("replicate-token", "r8_", Class::Alnum, 37, 40),
    token("perplexity-key", "pplx-", Class::Alnum, 40, 80),
    token("xai-key", "xai-", Class::Alnum, 60, 100),
    token("figma-token", "figd_", Class::Url, 30, 60),
    token("pulumi-token", "pul-", Class::Hex, 40, 40),
    token("age-key", "AGE-SECRET-KEY-1", Class::Upper, 58, 58),
    token("doppler-token", "dp.pt.", Class::Alnum, 40, 44),
];

/// What a word announces.
#[derive(Clone, Copy)]
pub(super) enum Context {
    /// `password=…`: a value that a person chose.
    Password,
    /// `api_key: …`: a value that a machine made; with the kind's name.
    Secret(&'static str),
    /// `Authorization: Bearer …`: the scheme's name stands right before the credentials.
    Scheme,
    /// `://user:password@host`
    Url,
    /// `-----BEGIN … PRIVATE KEY-----`
    Pem,
    /// `eyJ…`: a JSON object in base64.
    Jwt,
}

/// Words, whatever their case, and what they announce.
pub(super) const WORDS: [(&str, Context); 27] = [
    ("password", Context::Password),
    ("passwd", Context::Password),
    ("passphrase", Context::Password),
    ("pwd", Context::Password),
    ("aws_secret_access_key", Context::Secret("aws-secret-key")),
    ("secretaccesskey", Context::Secret("aws-secret-key")),
    ("accountkey", Context::Secret("azure-storage-key")),
    ("sharedaccesskey", Context::Secret("azure-shared-key")),
    ("api_key", Context::Secret("api-key")),
    ("apikey", Context::Secret("api-key")),
    ("api-key", Context::Secret("api-key")),
    ("access_key", Context::Secret("access-key")),
    ("private_key", Context::Secret("private-key")),
    ("encryption_key", Context::Secret("encryption-key")),
    ("signing_key", Context::Secret("signing-key")),
    ("secret_key", Context::Secret("secret")),
    ("client_secret", Context::Secret("client-secret")),
    ("secret", Context::Secret("secret")),
    ("auth_token", Context::Secret("auth-token")),
    ("access_token", Context::Secret("access-token")),
    ("refresh_token", Context::Secret("refresh-token")),
    ("token", Context::Secret("token")),
    ("bearer ", Context::Scheme),
    ("basic ", Context::Scheme),
    ("://", Context::Url),
    ("-----BEGIN ", Context::Pem),
    ("eyJ", Context::Jwt),
];
