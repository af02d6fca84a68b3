//! Any bytes as a patch: nothing panics, neither in parsing nor in planning what was parsed.
#![no_main]

use agent_apply_patch::{parse, plan, summary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let patch = match parse(&text) {
        Ok(patch) => patch,
        Err(err) => {
            assert!(err.to_string().len() < 4000, "an error is short");
            return;
        }
    };
    assert!(!patch.hunks.is_empty(), "an empty patch is refused");
    // A file at every second path, with the patch itself as one of the contents.
    let mut read = |path: &str| {
        Ok(match path.len() % 4 {
            0 => None,
            1 => Some(bytes.to_vec()),
            2 => Some(b"a\r\nb\n\n  c\nb\xff\na".to_vec()),
            _ => Some(b"\xef\xbb\xbf@@ a\n-b\n+c\n d\n".to_vec()),
        })
    };
    if let Ok(plan) = plan(&patch, &mut read) {
        let _text = summary(&plan);
    }
});
