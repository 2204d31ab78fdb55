//! Families of models by common names, with the tokenizer of each: for advice on names that are not tokenizers.

/// Prefixes of model names, in lower case and without punctuation, with their tokenizer. The first one that matches
/// counts.
const FAMILIES: [(&str, &str); 42] = [
    ("qwen35", "hf:Qwen/Qwen3.5-35B-A3B"),
    ("qwen3coder", "hf:Qwen/Qwen3-Coder-30B-A3B-Instruct"),
    ("qwen25coder", "hf:Qwen/Qwen2.5-Coder-7B-Instruct"),
    ("qwen25", "hf:Qwen/Qwen2.5-7B-Instruct"),
    ("qwen2", "hf:Qwen/Qwen2-7B-Instruct"),
    ("qwq", "hf:Qwen/QwQ-32B"),
    ("qwen", "hf:Qwen/Qwen3-8B"),
    ("llama4", "hf:meta-llama/Llama-4-Scout-17B-16E-Instruct"),
    ("llama2", "hf:meta-llama/Llama-2-7b-chat-hf"),
    ("codellama", "hf:codellama/CodeLlama-7b-hf"),
    ("llama", "hf:meta-llama/Llama-3.1-8B-Instruct"),
    ("deepseekr1", "hf:deepseek-ai/DeepSeek-R1"),
    ("deepseek", "hf:deepseek-ai/DeepSeek-V3"),
    ("gptoss", "hf:openai/gpt-oss-20b"),
    ("gpt2", "hf:openai-community/gpt2"),
    ("gpt35", "cl100k_base"),
    ("gpt4o", "o200k_base"),
    ("gpt41", "o200k_base"),
    ("gpt45", "o200k_base"),
    ("gpt4", "cl100k_base"),
    ("gpt5", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("mixtral", "hf:mistralai/Mixtral-8x7B-Instruct-v0.1"),
    ("mistralnemo", "hf:mistralai/Mistral-Nemo-Instruct-2407"),
    ("mistral", "hf:mistralai/Mistral-7B-Instruct-v0.3"),
    ("devstral", "hf:mistralai/Devstral-Small-2507"),
    ("ministral", "hf:mistralai/Ministral-8B-Instruct-2410"),
    ("gemma2", "hf:google/gemma-2-9b-it"),
    ("gemma", "hf:google/gemma-3-4b-it"),
    ("phi3", "hf:microsoft/Phi-3-mini-4k-instruct"),
    ("phi", "hf:microsoft/phi-4"),
    ("kimi", "hf:moonshotai/Kimi-K2-Instruct"),
    ("glm", "hf:zai-org/GLM-4.6"),
    ("minimax", "hf:MiniMaxAI/MiniMax-M2"),
    ("commandr", "hf:CohereLabs/c4ai-command-r-plus"),
    ("aya", "hf:CohereLabs/aya-expanse-8b"),
    ("hermes", "hf:NousResearch/Hermes-3-Llama-3.1-8B"),
    ("smollm", "hf:HuggingFaceTB/SmolLM3-3B"),
    ("olmo", "hf:allenai/OLMo-2-1124-7B-Instruct"),
    ("granite", "hf:ibm-granite/granite-3.3-8b-instruct"),
];

/// The tokenizer of the family that a model's name belongs to.
pub fn tokenizer_of(model: &str) -> Option<&'static str> {
    let plain: String = model.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let family = FAMILIES.iter().find(|(family, _)| plain.starts_with(family));
    family.map(|(_, tokenizer)| *tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_leads_to_its_familys_tokenizer() {
        for (model, tokenizer) in [
            ("qwen3", "hf:Qwen/Qwen3-8B"),
            ("Qwen3-32B", "hf:Qwen/Qwen3-8B"),
            ("qwen2.5-coder", "hf:Qwen/Qwen2.5-Coder-7B-Instruct"),
            ("Llama-3.3-70B", "hf:meta-llama/Llama-3.1-8B-Instruct"),
            ("gpt-oss-120b", "hf:openai/gpt-oss-20b"),
            ("gpt-4o-mini", "o200k_base"),
            ("gpt-4-turbo", "cl100k_base"),
        ] {
            assert_eq!(tokenizer_of(model), Some(tokenizer), "{model}");
        }
        for none in ["", "o200k-bse", "my-model", "cl100k"] {
            assert_eq!(tokenizer_of(none), None, "{none}");
        }
    }

    #[test]
    fn no_family_hides_another_one() {
        for (at, (family, _)) in FAMILIES.iter().enumerate() {
            let hidden = FAMILIES
                .iter()
                .take(at)
                .find(|(earlier, _)| family.starts_with(earlier));
            assert_eq!(hidden, None, "{family}");
        }
    }
}
