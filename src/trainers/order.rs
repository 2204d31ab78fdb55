//! Rules on the order of roles, after the trainer has merged neighbouring turns.

use super::action::Class;
use super::form::{FormRules, Order};

/// A violation of the order.
#[derive(Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The index of the turn that breaks it, from 0, if there is one.
    pub turn: Option<usize>,
    /// The reason, for people.
    pub why: &'static str,
}

/// The turns as ordered, with their indexes in the record, and the number of tool turns cut off at the end.
pub fn ordered(classes: &[(usize, Class)], rules: &FormRules) -> (Vec<(usize, Class)>, usize) {
    let mut ordered: Vec<(usize, Class)> = Vec::with_capacity(classes.len());
    for &(turn, class) in classes {
        let is_taken_off = turn == 0 && class == Class::System && rules.system_first;
        let before = ordered.last().map(|(_, class)| *class);
        let joins = rules.tool_joins_user && class == Class::Tool && before == Some(Class::User);
        if is_taken_off || joins || before.is_some_and(|before| merges(before, class, rules)) {
            continue;
        }
        ordered.push((turn, class));
    }
    let mut cut = 0;
    if rules.cuts_last_tools {
        cut = classes
            .iter()
            .rev()
            .take_while(|(_, class)| *class == Class::Tool)
            .count();
        while ordered.last().is_some_and(|(_, class)| *class == Class::Tool) {
            ordered.pop();
        }
    }
    (ordered, cut)
}

fn merges(before: Class, class: Class, rules: &FormRules) -> bool {
    let may = |class| rules.merge.contains(&class);
    (before == class || (is_answer(before) && is_answer(class))) && may(before) && may(class)
}

fn is_answer(class: Class) -> bool {
    matches!(class, Class::Assistant | Class::Call)
}

/// The first violation of the order, if there is one.
pub fn misplaced(ordered: &[(usize, Class)], rules: &FormRules) -> Option<Misplaced> {
    let at = |turn: usize, why| {
        Some(Misplaced {
            turn: Some(turn),
            why,
        })
    };
    if rules.system_first
        && let Some((turn, _)) = ordered
            .iter()
            .find(|(turn, class)| *class == Class::System && *turn > 0)
    {
        return at(*turn, "a system turn is not the first");
    }
    let breaks = match rules.order {
        Order::Any => None,
        Order::Alternating => alternation_breaks(ordered, rules),
        Order::AfterUser => after_user_breaks(ordered),
    };
    if let Some((turn, why)) = breaks {
        return at(turn, why);
    }
    if let Some((turn, class)) = ordered.first()
        && !rules.first.is_empty()
        && !rules.first.contains(class)
    {
        return at(*turn, "the first turn has the wrong role");
    }
    match ordered.last() {
        Some((turn, class)) if !rules.last.is_empty() && !rules.last.contains(class) => {
            at(*turn, "the last turn is not the assistant's")
        }
        None if !rules.last.is_empty() => Some(Misplaced {
            turn: None,
            why: "no turn is left",
        }),
        _ => None,
    }
}

fn alternation_breaks(ordered: &[(usize, Class)], rules: &FormRules) -> Option<(usize, &'static str)> {
    let starts_late = rules.adds_first_user && ordered.first().is_some_and(|(_, class)| is_answer(*class));
    let misplaced = ordered.iter().enumerate().find(|(place, (_, class))| {
        let wants_answer = (place + usize::from(starts_late)) % 2 == 1;
        *class == Class::System || is_answer(*class) != wants_answer
    });
    misplaced.map(|(_, (turn, class))| {
        let why = if is_answer(*class) {
            "an assistant's turn where a person's or a tool's is due"
        } else {
            "no assistant's turn where one is due"
        };
        (*turn, why)
    })
}

fn after_user_breaks(ordered: &[(usize, Class)]) -> Option<(usize, &'static str)> {
    let mut before = Class::Assistant;
    for (turn, class) in ordered {
        if is_answer(*class) && before != Class::User {
            return Some((*turn, "an assistant's turn does not follow a person's"));
        }
        if *class == Class::User && before == Class::User {
            return Some((*turn, "two persons' turns in a row"));
        }
        before = *class;
    }
    None
}
