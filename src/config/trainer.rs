//! The settings that a named trainer makes: above the defaults, below the file, environment and flags.

use super::keys::ConfigKey;
use super::provenance::SettingOrigin;
use super::resolve::Resolved;
use super::value::Value;
use crate::names::Named;
use crate::trainers::{CompressSettings, MarkedTurns, trainer};

impl Resolved {
    /// Applies the configured trainer's settings to keys that no layer gave, and notes them in one line.
    pub(super) fn fill_from_trainer(&mut self) {
        let Some(name) = self.config.compression.trainer else {
            return;
        };
        let Some(rules) = trainer(name) else { return };
        let CompressSettings {
            placement,
            output_form,
            count,
            mark,
        } = &rules.compress;
        let has_template = self.config.tokenizer.chat_template.is_some();
        let turns = mark.as_ref().map(|mark| match mark.turns {
            MarkedTurns::Summary => "summary",
            MarkedTurns::All => "all",
        });
        let wanted = [
            ("compression.summary_placement", Some(placement.as_str())),
            ("compression.count", has_template.then_some(count.as_str())),
            ("output.format", Some(output_form.as_str())),
            (
                "output.mark_summary",
                mark.as_ref().map(|mark| mark.field.as_str()),
            ),
            ("output.mark_turns", turns),
        ];
        let mut set = Vec::new();
        for (path, value) in wanted {
            let (Some(key), Some(value)) = (ConfigKey::by_path(path), value) else {
                continue;
            };
            let is_free = !self.provenance.is_given(key);
            if is_free && key.assign(&mut self.config, &Value::Text(value.to_owned())) {
                self.provenance.record(key, SettingOrigin::Trainer(name.name()));
                set.push(format!("{path} {value}"));
            }
        }
        let mut note = if set.is_empty() {
            format!("trainer {name} sets nothing that is not set already")
        } else {
            format!("trainer {name} sets {}", set.join(", "))
        };
        if !has_template && count == "rendered" {
            note.push_str("; its limit counts rendered tokens: give --chat-template to count them");
        }
        if let Some(needs) = mark.as_ref().and_then(|mark| mark.needs.as_deref()) {
            note.push_str("; its configuration needs ");
            note.push_str(needs);
        }
        self.trainer_note = Some(note);
    }
}
