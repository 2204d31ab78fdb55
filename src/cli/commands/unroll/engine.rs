//! The compaction settings of known agents: `--engine`.

use crate::cli::CliError;
use crate::cli::settings::Settings;
use crate::config::{Resolved, Value};
use crate::fit::{Overlap, SMALLEST_SUMMARY_TARGET};
use crate::names::named;

named! {
    /// An agent whose compactions are known.
    AgentEngine {
        /// The Hermes agent: `agent/context_compressor.py` of `NousResearch/hermes-agent`.
        Hermes = "hermes",
        /// `OpenHands`: `openhands/sdk/context/condenser/llm_summarizing_condenser.py` of `openhands-sdk`.
        Openhands = "openhands",
        /// pi: `packages/coding-agent/docs/compaction.md` of `badlogic/pi-mono`.
        Pi = "pi",
        /// Claude Code: issue 31806 of `anthropics/claude-code`.
        ClaudeCode = "claude-code",
    }
}

/// Tokens that pi keeps free for the answer, and tokens of recent turns that it keeps.
const PI_RESERVE: usize = 16_384;
const PI_RECENT: usize = 20_000;

/// Events after which `OpenHands` condenses, by `_DEFAULT_MAX_SIZE`; half of them stay.
const OPENHANDS_EVENTS: usize = 80;

/// Minimum number of messages that the Hermes agent keeps at the end.
const HERMES_LAST: usize = 20;

/// Minimum and maximum tokens of a summary of the Hermes agent; small budgets reduce them.
const HERMES_SUMMARY: (usize, usize) = (2_000, 10_000);

/// The flags of the command that an engine sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// `--trigger`.
    pub trigger: f64,
    /// `--max-turns`.
    pub max_turns: Option<usize>,
    /// `--min-savings`.
    pub min_savings: f64,
    /// `--head-decay`.
    pub head_decay: bool,
    /// `--overlap`.
    pub overlap: Overlap,
}

impl Preset {
    /// The flags if no engine is named.
    pub const NONE: Self = Self {
        trigger: 1.0,
        max_turns: None,
        min_savings: 0.1,
        head_decay: false,
        overlap: Overlap::Tail,
    };
}

impl AgentEngine {
    /// Sets the keys of the configuration that the engine decides, unless they are given, and returns its flags.
    ///
    /// # Errors
    ///
    /// The budget is too small for the engine.
    pub fn apply(self, resolved: &mut Resolved) -> Result<Preset, CliError> {
        let budget = Settings::of(resolved).fit.target_max_tokens;
        let whole = |tokens: usize| Value::Whole(tokens as i128);
        if !matches!(self, Self::Hermes | Self::Openhands) {
            resolved.preset(&[("protected_turns.first_human", Value::Switch(false))]);
            resolved.preset(&[("protected_turns.first_gpt", Value::Switch(false))]);
        }
        match self {
            Self::Hermes => {
                let (least, most) = HERMES_SUMMARY;
                let least = least.min(budget / 8).max(SMALLEST_SUMMARY_TARGET);
                let most = most.min(budget / 4).max(least);
                resolved.preset(&[("protected_turns.last_n_turns", whole(HERMES_LAST))]);
                resolved.preset(&[("protected_turns.tail_tokens", whole(budget / 10))]);
                resolved.preset(&[
                    ("compression.summary_ratio", Value::Number(0.2)),
                    ("compression.summary_min_tokens", whole(least)),
                    ("compression.summary_max_tokens", whole(most)),
                ]);
                Ok(Preset {
                    trigger: 0.5,
                    head_decay: true,
                    ..Preset::NONE
                })
            }
            Self::Openhands => {
                resolved.preset(&[("protected_turns.last_n_turns", whole(0))]);
                // All of the tail that half the window has room for.
                resolved.preset(&[("protected_turns.tail_tokens", whole(budget))]);
                Ok(Preset {
                    max_turns: Some(OPENHANDS_EVENTS),
                    min_savings: 0.5,
                    ..Preset::NONE
                })
            }
            Self::Pi => {
                if budget <= PI_RESERVE + PI_RECENT {
                    let needed = PI_RESERVE + PI_RECENT;
                    return Err(CliError::usage(format!(
                        "--engine pi reserves {PI_RESERVE} tokens and keeps {PI_RECENT}; the budget is {budget}"
                    ))
                    .with_help(format!("set --max-tokens to more than {needed}")));
                }
                resolved.preset(&[("protected_turns.last_n_turns", whole(0))]);
                resolved.preset(&[("protected_turns.tail_tokens", whole(PI_RECENT))]);
                Ok(Preset {
                    trigger: (budget - PI_RESERVE) as f64 / budget as f64,
                    ..Preset::NONE
                })
            }
            Self::ClaudeCode => Ok(Preset {
                trigger: 0.835,
                overlap: Overlap::None,
                ..Preset::NONE
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::resolved;

    #[test]
    fn an_engine_sets_what_nobody_else_sets() {
        let mut hermes = resolved(&[("compression.target_max_tokens", "100k")]);
        let trigger = AgentEngine::Hermes.apply(&mut hermes).unwrap().trigger;
        assert!((trigger - 0.5).abs() < 1e-9, "{trigger}");
        let settings = Settings::of(&hermes).fit;
        let protection = settings.protection;
        assert_eq!((protection.last_n_turns, protection.tail_tokens), (20, 10_000));
        assert_eq!(settings.summary_max_tokens, 10_000);
        let mut own = resolved(&[("protected_turns.last_n_turns", "2")]);
        AgentEngine::Hermes.apply(&mut own).unwrap();
        assert_eq!(Settings::of(&own).fit.protection.last_n_turns, 2);
    }

    #[test]
    fn openhands_keeps_half_of_what_it_condenses() {
        let mut openhands = resolved(&[("compression.target_max_tokens", "16k")]);
        let preset = AgentEngine::Openhands.apply(&mut openhands).unwrap();
        assert_eq!(
            (preset.max_turns, preset.min_savings.to_bits()),
            (Some(80), 0.5_f64.to_bits())
        );
        let protection = Settings::of(&openhands).fit.protection;
        assert_eq!((protection.last_n_turns, protection.tail_tokens), (0, 16_000));
        assert!(protection.first_human && protection.first_gpt);
    }

    #[test]
    fn pi_needs_room_for_what_it_reserves_and_keeps() {
        let mut large = resolved(&[("compression.target_max_tokens", "200k")]);
        let preset = AgentEngine::Pi.apply(&mut large).unwrap();
        assert!((preset.trigger - 183_616.0 / 200_000.0).abs() < 1e-9);
        assert!(!Settings::of(&large).fit.protection.first_human);
        assert_eq!(Settings::of(&large).fit.protection.tail_tokens, 20_000);
        let error = AgentEngine::Pi.apply(&mut resolved(&[])).unwrap_err();
        assert!(error.message.contains("16384"), "{}", error.message);
    }
}
