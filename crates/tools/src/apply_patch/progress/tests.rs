//! Both forms of a call tell the same.

use serde_json::json;

use super::*;

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+\"é\"\n+z\n\
    *** Add File: n\n+\\\n*** End Patch\n";

fn draft(form: CallForm, text: &str, size: usize) -> (EditDraft, usize) {
    let mut draft = PatchDraft::new(form);
    let mut n_news = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size));
        n_news += usize::from(draft.push(piece));
        rest = after;
    }
    (draft.edit(), n_news)
}

#[test]
fn both_forms_of_a_call_tell_the_same() {
    let file = |path: &str, kind, added, removed| FileDraft {
        path: path.to_owned(),
        kind,
        added,
        removed,
    };
    let expected = EditDraft {
        files: vec![
            file("b", ChangeKind::Update, 2, 1),
            file("n", ChangeKind::Add, 1, 0),
        ],
        n_left_out: 0,
        added: 3,
        removed: 1,
    };
    let arguments = json!({ "input": PATCH }).to_string();
    for size in 1..40 {
        let (custom, _) = draft(CallForm::Custom, PATCH, size);
        let (function, _) = draft(CallForm::Function, &arguments, size);
        assert_eq!((&custom, &function), (&expected, &expected), "{size}");
    }
    // Two headers, a move, four lines.
    assert_eq!(draft(CallForm::Custom, PATCH, 1).1, 7);
}
