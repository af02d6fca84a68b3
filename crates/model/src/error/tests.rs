use super::*;

#[test]
fn foreign_text_is_made_safe_to_show() {
    assert_eq!(sanitise(" a\r\n\tb\u{7}  c\u{202e}d\u{200b} "), "a b cd");
    assert_eq!(sanitise("\u{1b}[31mred"), "[31mred");
    let long = sanitise(&"é".repeat(5_000));
    assert_eq!(long.chars().count(), MAX_MESSAGE_CHARS + 1);
    assert!(long.ends_with('…'));
}

#[test]
fn an_error_is_one_word_wide() {
    assert_eq!(size_of::<ModelError>(), size_of::<usize>());
}

#[test]
fn overload_passes_before_an_answer_only() {
    let error = |phase| ModelError::new(ErrorClass::Overloaded, phase, "busy");
    assert!(error(Phase::Request).is_retryable());
    assert!(!error(Phase::Stream).is_retryable());
}

#[test]
fn a_secret_that_the_server_repeats_is_taken_out() {
    let error = |secret: &str| {
        let message = "Incorrect key: sk-secret-1";
        ModelError::new(ErrorClass::Authentication, Phase::Request, message)
            .with_code(Some("sk-secret-1".to_owned()))
            .without_secret(secret)
    };
    let clean = error("sk-secret-1");
    assert_eq!(clean.to_string(), "Incorrect key: [key]");
    assert_eq!(clean.code(), Some("[key]"));
    // A placeholder such as `x` is no secret.
    assert_eq!(error("r").to_string(), "Incorrect key: sk-secret-1");
}
