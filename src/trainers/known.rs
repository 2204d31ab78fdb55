//! The trainers with built-in rules.

use std::sync::LazyLock;

use super::rules::Trainer;
use crate::names::named;

named! {
    /// A trainer with built-in rules.
    TrainerName {
        /// `LLaMA-Factory`.
        LlamaFactory = "llama-factory",
        /// Hugging Face TRL.
        Trl = "trl",
        /// Axolotl.
        Axolotl = "axolotl",
        /// ms-swift.
        MsSwift = "ms-swift",
        /// verl.
        Verl = "verl",
        /// `OpenRLHF`.
        OpenRlhf = "openrlhf",
        /// torchtune.
        Torchtune = "torchtune",
        /// Unsloth.
        Unsloth = "unsloth",
        /// `NeMo` `AutoModel`.
        Nemo = "nemo",
    }
}

/// The initial value of an optional setting; it is never used.
impl Default for TrainerName {
    fn default() -> Self {
        Self::LlamaFactory
    }
}

impl TrainerName {
    /// The text of its rules file: `assets/trainers/{name}.toml`.
    fn text(self) -> &'static str {
        match self {
            Self::LlamaFactory => include_str!("../../assets/trainers/llama-factory.toml"),
            Self::Trl => include_str!("../../assets/trainers/trl.toml"),
            Self::Axolotl => include_str!("../../assets/trainers/axolotl.toml"),
            Self::MsSwift => include_str!("../../assets/trainers/ms-swift.toml"),
            Self::Verl => include_str!("../../assets/trainers/verl.toml"),
            Self::OpenRlhf => include_str!("../../assets/trainers/openrlhf.toml"),
            Self::Torchtune => include_str!("../../assets/trainers/torchtune.toml"),
            Self::Unsloth => include_str!("../../assets/trainers/unsloth.toml"),
            Self::Nemo => include_str!("../../assets/trainers/nemo.toml"),
        }
    }
}

/// The rules of a trainer. All files are compiled in and tested, so it is never `None`.
pub fn trainer(name: TrainerName) -> Option<&'static Trainer> {
    static ALL: LazyLock<Vec<Trainer>> = LazyLock::new(|| {
        let names = <TrainerName as crate::names::Named>::NAMES.iter();
        let known = names.filter_map(|name| crate::names::Named::from_name(name));
        known
            .filter_map(|name: TrainerName| toml::from_str(name.text()).ok())
            .collect()
    });
    ALL.iter()
        .find(|trainer| trainer.name == crate::names::Named::name(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::action::Action;
    use super::*;
    use crate::names::Named;

    fn all() -> impl Iterator<Item = (TrainerName, Trainer)> {
        let names = TrainerName::NAMES
            .iter()
            .map(|name| name.parse::<TrainerName>().unwrap());
        names.map(|name| {
            let rules = toml::from_str(name.text()).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, rules)
        })
    }

    #[test]
    fn every_file_is_read_and_says_where_its_rules_are_from() {
        for (name, rules) in all() {
            assert_eq!(rules.name, name.name());
            assert!(trainer(name).is_some_and(|known| *known == rules));
            let sources = [
                &rules.length.source,
                &rules.trained.source,
                &rules.thinking.source,
                &rules.missing_form_source,
            ];
            let of_forms = rules.forms.iter().map(|form| &form.source);
            for source in sources.into_iter().chain(of_forms) {
                let is_place = source.contains(".py: ");
                assert!(is_place, "{name}: {source:?} names no file and function");
            }
            assert!(
                rules.version.starts_with(|first: char| first.is_ascii_digit()),
                "{name}"
            );
            assert!(rules.command.contains(' '), "{name}");
        }
    }

    #[test]
    fn forms_are_told_once_each_with_a_configuration_to_print() {
        for (name, rules) in all() {
            let forms: BTreeSet<_> = rules.forms.iter().map(|form| form.form.clone()).collect();
            assert_eq!(forms.len(), rules.forms.len(), "{name}");
            assert!(forms.contains(&rules.compress.output_form), "{name}");
            for form in &rules.forms {
                assert!(["sharegpt", "messages"].contains(&form.form.as_str()), "{name}");
                assert!(form.config.ends_with('\n') && form.config.len() > 20, "{name}");
                assert!(form.roles.assistant.iter().any(|role| !role.is_empty()), "{name}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_never_passed_over() {
        for (name, rules) in all() {
            for form in &rules.forms {
                let content = &form.content;
                assert!(
                    !matches!(content.other, Action::Keep | Action::Join),
                    "{name}: other content"
                );
                for action in [form.unknown_role, form.wrong_order, form.too_few] {
                    assert!(
                        matches!(action, Action::Drop | Action::EndsRun | Action::Unprinted),
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_unknown_trainer_lists_the_known_ones() {
        let error = "llama_factory".parse::<TrainerName>().unwrap_err();
        assert_eq!(error.nearest, Some("llama-factory"));
        assert!(error.to_string().contains("trl, axolotl, ms-swift"));
    }
}
