//! Exact counts: vocabularies, templates, parts.

mod chat_templates;
mod count;
mod exactness;
mod part_costs;
mod rendered;
mod template_bounds;
