//! The table of words with a secret at some place near them (`contexts.csv`), and the functions that look there.

mod blocks;
mod calls;
mod command_words;
pub(super) mod commands;
pub(super) mod fields;
mod headers;
mod lines;
mod manifest;
mod markup;
mod piped;
mod places;
mod sessions;
pub(super) mod table;
mod urls;
mod used;

use std::ops::Range;

const TABLE: &str = include_str!("contexts.csv");

/// The place of a secret near a word.
#[derive(Debug, Clone, Copy)]
pub enum SecretContext {
    /// `Cookie: a=…; b=…`
    Cookie,
    /// `Authorization: token …`: any scheme that has no word of its own here, or none.
    Header,
    /// `Authorization: Bearer …`: the scheme's name stands right before the credentials.
    Scheme,
    /// `?sig=…`
    Parameter,
    /// `://user:password@host`
    Url,
    /// `-----BEGIN … PRIVATE KEY-----`, or the end of such a block.
    Pem,
    /// A key in base64 by how it begins.
    BareKey,
    /// `Private-Lines: 14`
    Putty,
    /// `eyJ…`: a JSON object in base64.
    Jwt,
    /// `kind: Secret`
    Kubernetes,
    /// `"keys_base64": […]`
    List,
    /// `IDENTIFIED BY '…'`
    Identified,
    /// `Digest … response="…"`
    Digest,
    /// `host:5432:database:user:password`
    PasswordFile,
    /// A line of a cookie jar.
    CookieJar,
    /// A program that takes a password, by its number.
    Program(usize),
    /// `echo secret | sudo -S`
    Piped,
    /// `echo user:secret | chpasswd`
    PipedPair,
    /// `expect "assword:"`, then `send "secret\r"`
    Expect,
    /// `connect("user", "s3cret")`
    Call,
    /// `login("user", "secret")`: any word can be a secret there.
    LoginCall,
    /// `sign(payload, "secret")`: the argument at that place.
    Argument(usize),
    /// `<input value="secret" type="password">`
    Input,
    /// `AUTH secret` of Redis.
    RedisAuth,
    /// `ACL SETUSER bob >secret`
    Acl,
    /// `login -u bob -p secret`
    UserOption,
    /// `"secret".toCharArray()`
    TextBefore,
    /// `btoa("user:secret")`
    PairText,
    /// Lines of `"user" "secret"`.
    QuotedPairs,
    /// `a1 LOGIN user secret`
    ImapLogin,
    /// `send-keys 'secret' Enter # the password`
    Keys,
    /// The output of a program that guesses passwords.
    Cracked,
    /// `334 UGFzc3dvcmQ6`: a question that the next line answers.
    Answered,
    /// `AUTH PLAIN …`
    Plain,
    /// `PASS secret` after `USER bob`
    Dialogue,
    /// `::add-mask::secret`
    Rest,
    /// `<auth-user-pass>`, and two lines.
    SecondLine,
    /// Lines of `chap-secrets` under their heading.
    ThirdFields,
    /// `client * secret *`
    Stars,
    /// A list of recovery codes.
    Codes,
    /// `fill("#password", "secret")`
    Typed,
    /// `SET PASSWORD FOR u = 'secret'`
    SetTo,
    /// `$6$salt$hash`
    Hash,
    /// `config/master.key`, and a key near it.
    KeyFile,
    /// `user/password@host`
    Slashed,
    /// `INSERT INTO users (password) VALUES ('secret')`
    Inserted,
    /// `{"kty":"oct","k":"secret"}`
    KeyMembers,
    /// Lines of `(0) secret`.
    NumberedKeys,
    /// The line below a command that prints a secret.
    NextLine,
    /// `user:secret@tcp(host)`
    BeforeProtocol,
}

/// Words in any case, with their contexts and the kinds of their secrets; rows that cannot be read are left out.
pub fn contexts() -> impl Iterator<Item = (&'static str, SecretContext, &'static str)> {
    TABLE.lines().skip(1).filter_map(|line| {
        let (line, kind) = line.rsplit_once(',')?;
        let (word, context) = line.rsplit_once(',')?;
        Some((word, SecretContext::named(context)?, kind))
    })
}

impl SecretContext {
    /// The context of that name in the table.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cookie" => Self::Cookie,
            "header" => Self::Header,
            "scheme" => Self::Scheme,
            "parameter" => Self::Parameter,
            "url" => Self::Url,
            "pem" => Self::Pem,
            "bare-key" => Self::BareKey,
            "putty" => Self::Putty,
            "jwt" => Self::Jwt,
            "kubernetes" => Self::Kubernetes,
            "list" => Self::List,
            "identified" => Self::Identified,
            "digest" => Self::Digest,
            "password-file" => Self::PasswordFile,
            "cookie-jar" => Self::CookieJar,
            "piped" => Self::Piped,
            "piped-pair" => Self::PipedPair,
            "expect" => Self::Expect,
            "call" => Self::Call,
            "login-call" => Self::LoginCall,
            "argument-1" => Self::Argument(0),
            "argument-2" => Self::Argument(1),
            "argument-3" => Self::Argument(2),
            "input" => Self::Input,
            "redis-auth" => Self::RedisAuth,
            "acl" => Self::Acl,
            "user-option" => Self::UserOption,
            "text-before" => Self::TextBefore,
            "pair-text" => Self::PairText,
            "quoted-pairs" => Self::QuotedPairs,
            "imap-login" => Self::ImapLogin,
            "keys" => Self::Keys,
            "cracked" => Self::Cracked,
            "answered" => Self::Answered,
            "plain" => Self::Plain,
            "dialogue" => Self::Dialogue,
            "rest" => Self::Rest,
            "second-line" => Self::SecondLine,
            "third-fields" => Self::ThirdFields,
            "stars" => Self::Stars,
            "codes" => Self::Codes,
            "typed" => Self::Typed,
            "set-to" => Self::SetTo,
            "hash" => Self::Hash,
            "key-file" => Self::KeyFile,
            "slashed" => Self::Slashed,
            "inserted" => Self::Inserted,
            "key-members" => Self::KeyMembers,
            "numbered-keys" => Self::NumberedKeys,
            "next-line" => Self::NextLine,
            "before-protocol" => Self::BeforeProtocol,
            _ => return None,
        })
    }

    /// Returns true if its word is one only where no letter or digit stands before it.
    pub fn begins_word(self) -> bool {
        !matches!(
            self,
            Self::Cookie
                | Self::Expect
                | Self::Url
                | Self::Piped
                | Self::PasswordFile
                | Self::CookieJar
                | Self::Typed
                | Self::BeforeProtocol
        )
    }

    /// The secrets around its word.
    pub fn around(self, text: &str, word: Range<usize>) -> Vec<Range<usize>> {
        let one = match self {
            Self::Cookie => headers::cookies(text, word),
            Self::Header => headers::other_scheme(text, word),
            Self::Scheme => headers::authorization(text, word),
            Self::Parameter => urls::parameter(text, word),
            Self::Url => urls::credentials(text, word),
            Self::Pem => blocks::labelled_key(text, word),
            Self::BareKey => blocks::bare_key(text, word),
            Self::Putty => blocks::putty_key(text, word),
            Self::Jwt => blocks::json_web_token(text, word),
            Self::Identified => lines::identified(text, word),
            Self::Digest => lines::digest(text, word),
            Self::PasswordFile => lines::password_file(text, word),
            Self::CookieJar => lines::cookie_jar(text, word),
            Self::Expect => calls::sent(text, word),
            Self::Call => calls::last_text(text, word, false),
            Self::LoginCall => calls::last_text(text, word, true),
            Self::Argument(place) => calls::argument(text, word, place),
            Self::Input => markup::input(text, word),
            Self::RedisAuth => sessions::redis_auth(text, word),
            Self::UserOption => commands::user_option(text, word),
            Self::TextBefore => sessions::text_before(text, word),
            Self::PairText => sessions::pair_text(text, word),
            Self::ImapLogin => sessions::imap_login(text, word),
            Self::Keys => sessions::keys(text, word),
            Self::QuotedPairs => return sessions::quoted_pairs(text, word),
            Self::Cracked => return sessions::cracked(text, word),
            Self::Acl => return sessions::acl(text, word),
            Self::Answered => places::answered(text, word),
            Self::Plain => places::plain(text, word),
            Self::Dialogue => places::dialogue(text, word),
            Self::Rest => places::rest_of_line(text, word),
            Self::SecondLine => places::second_line(text, word),
            Self::Stars => places::between_stars(text, word),
            Self::Typed => places::typed(text, word),
            Self::SetTo => places::set_to(text, word),
            Self::Hash => places::hash(text, word),
            Self::KeyFile => places::key_file(text, word),
            Self::Slashed => places::slashed(text, word),
            Self::NextLine => fields::next_line(text, word),
            Self::BeforeProtocol => fields::before_protocol(text, word),
            Self::Inserted => return fields::inserted(text, word),
            Self::KeyMembers => return fields::key_members(text, word),
            Self::NumberedKeys => return fields::numbered_keys(text, word),
            Self::ThirdFields => return places::third_fields(text, word),
            Self::Codes => return places::codes(text, word),
            Self::Kubernetes => return manifest::kubernetes(text, word),
            Self::List => return manifest::list(text, word),
            Self::Program(program) => return commands::arguments(text, word, program),
            Self::Piped => return piped::piped(text, word, false),
            Self::PipedPair => return piped::piped(text, word, true),
        };
        one.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_stands_there_once() {
        assert_eq!(contexts().count(), TABLE.lines().count() - 1);
        let mut words: Vec<_> = contexts().map(|(word, ..)| word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), contexts().count());
    }
}
