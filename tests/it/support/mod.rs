//! What the tests share: generated trajectories, an independent count, a fitter.

pub mod asked;
pub mod batch;
pub mod chat;
pub mod cli;
#[cfg(target_os = "linux")]
pub mod disk;
pub mod fetched;
pub mod generate;
pub mod imports;
pub mod oracle;
pub mod program;
pub mod rendered;
pub mod secrets;
pub mod server;
pub mod structure;
pub mod texts;
pub mod tree;
pub mod vendor;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use trajfit::internals::compress::SummaryPlacement;
use trajfit::internals::fit::{FitSettings, Fitted, Fitter};
use trajfit::internals::summarize::Summarizer;
use trajfit::internals::summarize::extractive::Extractive;
use trajfit::internals::tokens::TokenCounter;

/// Waits for a program. Returns how it ended, and its peak of resident memory in MB, as far as that was seen.
#[cfg(target_os = "linux")]
pub fn peak_of(mut child: std::process::Child) -> (std::process::ExitStatus, f64) {
    let mut peak = 0.0_f64;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
        peak = peak.max(kilobytes.unwrap_or_default() / 1e3);
        if let Some(status) = child.try_wait().unwrap() {
            return (status, peak);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The built-in tokenizer, loaded once.
pub fn counter() -> Arc<dyn TokenCounter> {
    static COUNTER: OnceLock<Arc<dyn TokenCounter>> = OnceLock::new();
    Arc::clone(COUNTER.get_or_init(|| trajfit::internals::tokens::load("o200k_base").unwrap()))
}

/// The defaults with a small budget, and the summary in a turn of its own.
pub fn settings(target_max_tokens: usize, summary_target_tokens: usize) -> FitSettings {
    FitSettings {
        summary_placement: SummaryPlacement::Human,
        notice: Some("\n\nEarlier steps may be summarized.".to_owned()),
        ..FitSettings::with_budget(target_max_tokens, Some(summary_target_tokens))
    }
}

/// A fitter with the embedded summarizer.
pub fn fitter(settings: FitSettings) -> Fitter {
    fitter_with(settings, Arc::new(Extractive { redaction: true }))
}

/// A fitter with any summarizer.
pub fn fitter_with(settings: FitSettings, summarizer: Arc<dyn Summarizer>) -> Fitter {
    Fitter {
        settings,
        template: None,
        counter: counter(),
        summarizer,
        fallback: Arc::new(Extractive { redaction: true }),
    }
}

/// Fits one record.
pub fn fit(fitter: &Fitter, text: &str) -> Fitted {
    pollster::block_on(fitter.fit(text.as_bytes()))
}

/// The real trajectories, where they are present.
pub fn real_data() -> Option<PathBuf> {
    let folder =
        std::env::var_os("TRAJFIT_REAL_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    folder
        .join("README.md")
        .exists()
        .then(|| folder.canonicalize().unwrap())
}
