//! Records in all formats: pairing, repairs, forms.

mod broken_parts;
mod content_parts;
mod faults;
mod formats;
mod forms;
mod forms_properties;
mod late_answers;
mod pairing;
mod sanitize;
mod sanitize_shapes;
