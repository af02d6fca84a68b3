use super::check;

#[test]
fn the_repository_keeps_its_rules() {
    let problems = check(&crate::root()).unwrap();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
