//! Checking the answer against the schema that was asked for.

use jsonschema::Validator;
use serde_json::Value;

/// A schema that can be checked against.
pub(crate) struct AnswerSchema {
    validator: Validator,
}

impl AnswerSchema {
    /// Compiles a JSON Schema.
    ///
    /// # Errors
    /// When it is none; the text says what is wrong with it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        if !schema.is_object() {
            return Err("it is no JSON object".to_owned());
        }
        jsonschema::validator_for(schema)
            .map(|validator| Self { validator })
            .map_err(|err| err.to_string())
    }

    /// Why the answer does not satisfy the schema, if it does not.
    pub(crate) fn complaint(&self, answer: &str) -> Option<String> {
        let value: Value = match serde_json::from_str(answer) {
            Ok(value) => value,
            Err(err) => return Some(format!("it is not JSON: {err}")),
        };
        let err = self.validator.validate(&value).err()?;
        let path = err.instance_path().to_string();
        let place = if path.is_empty() { "/" } else { &path };
        Some(format!("at `{place}`: {err}"))
    }
}
