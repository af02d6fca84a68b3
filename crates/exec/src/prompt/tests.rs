use super::{MAX_DATA_BYTES, shorten};

#[test]
fn short_data_stays_whole() {
    assert_eq!(shorten("a\nb"), ("a\nb".to_owned(), 0));
}

#[test]
fn long_data_keeps_both_ends_and_whole_characters() {
    let data = format!("START{}END", "é".repeat(MAX_DATA_BYTES));
    let (text, n_cut) = shorten(&data);
    assert!(text.starts_with("STARTé"));
    assert!(text.ends_with("éEND"));
    assert!(text.contains(&format!("[{n_cut} bytes of standard input omitted here]")));
    assert!(text.len() < MAX_DATA_BYTES + 100);
}
