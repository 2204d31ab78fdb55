//! The messages of people that a part of the budget holds: the newest without a gap, since later ones may change what earlier ones say.

use super::candidate::{Candidate, LineLimits, Section};
use super::messages::UserMessage;
use super::rank::{self, Chosen};
use super::replies::REPLY;
use crate::compress::anchors::Matcher;
use crate::tokens::TokenCounter;

/// The parts of the budget that messages may take, that replies in a line may take beside what these leave, and whole replies beside
/// those.
const SHARE: f64 = 0.35;
const REPLIES_SHARE: f64 = 0.15;
const WHOLE_REPLIES_SHARE: f64 = 0.2;

/// The part that messages which demand something may take before all others.
const DEMANDS_SHARE: f64 = 0.2;

/// As much of a message as is told of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum MessageForm {
    Nothing,
    /// The sentences that say most, in a line.
    InShort,
    Whole,
    WithReply,
    WithWholeReply,
}

/// Messages in order, with what is told of each.
pub(super) struct Conversation<'c> {
    messages: &'c [UserMessage<'c>],
    limits: LineLimits,
    counter: &'c dyn TokenCounter,
    /// The form in which each message is told, and its tokens.
    told: Vec<(MessageForm, usize)>,
    /// Tokens that are left to it.
    left: usize,
    /// Tokens of its heading, until a message stands under it.
    heading: usize,
}

impl<'c> Conversation<'c> {
    /// As much of these messages as a part of the budget and `free` tokens hold: those that demand something, then the newest; then more of each of them,
    /// then the replies.
    pub fn within(
        budget: usize,
        free: usize,
        messages: &'c [UserMessage<'c>],
        limits: LineLimits,
        counter: &'c dyn TokenCounter,
    ) -> Self {
        let part = |share: f64| ((budget as f64 * share) as usize).min(free);
        let mut conversation = Self {
            messages,
            limits,
            counter,
            told: vec![(MessageForm::Nothing, 0); messages.len()],
            left: part(DEMANDS_SHARE),
            heading: counter.count(Section::Asked.label()) + 1,
        };
        conversation.raise_newest(UserMessage::is_demanded);
        conversation.left += part(SHARE) - part(DEMANDS_SHARE);
        conversation.tell_more();
        conversation.left += part(SHARE + REPLIES_SHARE) - part(SHARE);
        conversation.raise_told(MessageForm::WithReply);
        conversation.left += part(SHARE + REPLIES_SHARE + WHOLE_REPLIES_SHARE) - part(SHARE + REPLIES_SHARE);
        conversation.raise_told(MessageForm::WithWholeReply);
        conversation
    }

    /// Tells more messages, and more of each, in as many tokens more: what was left of its own part is others' by now.
    pub fn fill_up(&mut self, more: usize) {
        self.left = more;
        self.tell_more();
    }

    fn tell_more(&mut self) {
        self.raise_newest(|_| true);
        self.raise_told(MessageForm::Whole);
    }

    /// Tells messages in short, from the newest to the first for which nothing is left.
    fn raise_newest(&mut self, takes: impl Fn(&UserMessage<'c>) -> bool) {
        for place in (0..self.messages.len()).rev() {
            let is_taken = self.messages.get(place).is_some_and(&takes);
            if is_taken && !self.raise(place, MessageForm::InShort) {
                break;
            }
        }
    }

    /// Tells more of the messages that are told, the newest first, as far as it goes.
    fn raise_told(&mut self, to: MessageForm) {
        for place in (0..self.messages.len()).rev() {
            if self
                .told
                .get(place)
                .is_some_and(|(form, _)| *form != MessageForm::Nothing)
            {
                self.raise(place, to);
            }
        }
    }

    /// Tells at least so much of a message, if there is room for it.
    fn raise(&mut self, place: usize, to: MessageForm) -> bool {
        let (Some(message), Some((form, tokens))) = (self.messages.get(place), self.told.get_mut(place))
        else {
            return false;
        };
        if *form >= to || to >= MessageForm::WithReply && message.reply.is_none() {
            return true;
        }
        let cost = rank::cost(&text(message, to, self.limits), &mut String::new(), self.counter);
        let more = self.heading + cost.saturating_sub(*tokens);
        if more > self.left {
            return false;
        }
        self.left -= more;
        self.heading = 0;
        (*form, *tokens) = (to, cost);
        true
    }

    /// The turns whose words are told as replies.
    pub fn replies(&self) -> Vec<usize> {
        let messages = self.messages.iter().zip(&self.told);
        let replied = messages.filter(|(_, (form, _))| *form >= MessageForm::WithReply);
        replied
            .filter_map(|(message, _)| message.reply.as_ref()?.turn)
            .collect()
    }

    /// Its lines, in order.
    pub fn lines(&self, matcher: &Matcher<'_>) -> Vec<Chosen> {
        let messages = self.messages.iter().zip(&self.told);
        let told = messages.filter(|(_, (form, _))| *form != MessageForm::Nothing);
        let line = |(message, (form, tokens)): (&UserMessage<'_>, &(MessageForm, usize))| {
            let text = text(message, *form, self.limits);
            let is_held = matcher.held(&text);
            let held = is_held.iter().enumerate().filter(|(_, is_held)| **is_held);
            Chosen {
                held: held.map(|(index, _)| index).collect(),
                cost: *tokens,
                density: u64::MAX,
                candidate: Candidate {
                    section: Section::Asked,
                    order: message.order,
                    text,
                    value: 0.0,
                },
            }
        };
        told.map(line).collect()
    }
}

/// As much of a message as is told.
fn text(message: &UserMessage<'_>, form: MessageForm, limits: LineLimits) -> String {
    let most = if form == MessageForm::InShort {
        limits.line
    } else {
        limits.asked
    };
    let mut text = message.within(most);
    let reply = message.reply.as_ref().and_then(|reply| match form {
        MessageForm::WithReply => Some(&reply.line),
        MessageForm::WithWholeReply => Some(&reply.whole),
        _ => None,
    });
    text.extend(reply.iter().flat_map(|reply| [REPLY, reply]));
    text
}
