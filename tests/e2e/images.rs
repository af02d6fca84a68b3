//! Images: beside the prompt, and those that the model asks to see.

use std::os::unix::fs::symlink;

use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::{Scene, messages};

/// A whole PNG of one transparent pixel (W3C PNG specification: signature, IHDR, IDAT, IEND).
const PNG: [u8; 68] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4,
    0x89, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x60, 0x00, 0x02, 0x00,
    0x00, 0x05, 0x00, 0x01, 0x7a, 0x5e, 0xab, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82,
];
/// The same as a `data:` URL.
const URL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII=";

/// One task in which the model asks to see this file.
fn view(path: &str, prepare: impl Fn(&Scene)) -> Scene {
    let call = Item::function_call("view_image", json!({ "path": path }));
    let scene = Scene::new(vec![Step::items(vec![call]), Step::message("fin")]);
    prepare(&scene);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    scene
}

#[test]
fn an_image_beside_the_prompt_arrives_whole_and_before_it() {
    let scene = Scene::new(vec![Step::message("fin")]);
    scene.workspace.write("pic.png", PNG);
    scene.completes(&["-i", "pic.png", "what is it?"]);
    let requests = scene.server.requests();
    let content = &requests[0].input().last().unwrap()["content"];
    let parts = content.as_array().unwrap();
    let kinds: Vec<&str> = parts
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["input_text", "input_image", "input_text", "input_text"]
    );
    assert_eq!(parts[1]["image_url"], URL);
    assert!(parts[0]["text"].as_str().unwrap().contains("pic.png"));
    assert_eq!(parts[3]["text"], "what is it?");
}

#[test]
fn an_image_that_is_none_is_refused_before_anything_is_sent() {
    let mut cut = PNG.to_vec();
    cut.truncate(45);
    let rows: [(&str, Option<&[u8]>, &str); 4] = [
        ("missing.png", None, "No such file or directory"),
        ("empty.png", Some(b""), "the file is empty"),
        (
            "text.png",
            Some(b"just some text\n"),
            "its content is no PNG",
        ),
        ("cut.png", Some(&cut), "the image cannot be decoded"),
    ];
    for (name, content, part) in rows {
        let scene = Scene::new(vec![Step::message("fin")]);
        if let Some(content) = content {
            scene.workspace.write(name, content);
        }
        let run = scene.is_refused(&["-i", name, "go"]);
        let path = scene.workspace.work().join(name);
        let start = format!("error: cannot use the image `{}`: {part}", path.display());
        assert!(run.stderr.starts_with(&start), "{}", run.stderr);
        assert!(
            run.stderr
                .contains("hint: PNG, JPEG, GIF and WebP files can be used")
        );
    }
}

#[test]
fn the_model_sees_an_image_as_a_part_of_the_output() {
    let scene = view("sub/pic.png", |scene| {
        scene.workspace.write("sub/pic.png", PNG);
    });
    let requests = scene.server.requests();
    let input = requests[1].input();
    let output = input
        .iter()
        .find(|item| item["type"] == "function_call_output")
        .unwrap();
    let parts = output["output"].as_array().unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0]["type"], "input_image");
    assert_eq!(parts[0]["image_url"], URL);
}

#[test]
fn rr_13_what_is_no_image_is_answered_with_words() {
    let rows: [(&str, Option<&[u8]>, &str); 4] = [
        (
            "missing.png",
            None,
            "unable to read the image `missing.png`",
        ),
        (
            "empty.png",
            Some(b""),
            "unable to process the image `empty.png`: the file is empty",
        ),
        (
            "text.png",
            Some(b"text\n"),
            "`text.png`: its content is no PNG",
        ),
        (".", None, "unable to read the image `.`"),
    ];
    for (path, content, part) in rows {
        let scene = view(path, |scene| {
            if let Some(content) = content {
                scene.workspace.write(path, content);
            }
        });
        let output = scene.output(0, 0);
        assert!(output.contains(part), "{output}");
        assert!(!scene.server.requests()[1].raw.contains("input_image"));
    }
}

#[test]
fn an_image_under_a_denied_path_is_refused() {
    for direct in [true, false] {
        let mut scene = Scene::new(Vec::new());
        let secret = scene.workspace.user_home().join(".ssh/x");
        scene.workspace.write(&secret, PNG);
        symlink(&secret, scene.workspace.work().join("lnk")).unwrap();
        let path = if direct {
            secret.to_str().unwrap()
        } else {
            "lnk"
        };
        let call = Item::function_call("view_image", json!({ "path": path }));
        scene.answer_by(vec![Step::items(vec![call]), Step::message("fin")]);
        scene.completes(&["go"]);
        let output = scene.output(0, 0);
        assert!(output.starts_with("unable to read the image `"), "{output}");
        assert!(!scene.server.requests()[1].raw.contains("input_image"));
    }
}
