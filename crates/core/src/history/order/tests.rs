use agent_protocol::{CallForm, CallId, OutputPayload, ResponseItem, Role, SerializedItem};
use agent_rollout::ItemMetadata;

use super::in_call_order;
use crate::history::Entry;

fn entry(item: &ResponseItem, response: Option<u64>) -> Entry {
    Entry {
        item: SerializedItem::render(item).unwrap(),
        metadata: ItemMetadata {
            response,
            fragment: None,
        },
    }
}

fn call(id: &str, response: u64) -> Entry {
    let item = ResponseItem::FunctionCall {
        id: None,
        call_id: CallId(id.to_owned()),
        name: "t".to_owned(),
        namespace: None,
        arguments: "{}".to_owned(),
    };
    entry(&item, Some(response))
}

fn output(id: &str, response: Option<u64>) -> Entry {
    let item = ResponseItem::call_output(
        CallForm::Function,
        CallId(id.to_owned()),
        OutputPayload::Text("o".to_owned()),
    );
    entry(&item, response)
}

fn user(text: &str) -> Entry {
    entry(&ResponseItem::text_message(Role::User, text), None)
}

/// Each item as one word.
fn words(entries: &[Entry]) -> String {
    let items = in_call_order(entries);
    let words = items.iter().map(|item| match item.parse().unwrap() {
        ResponseItem::FunctionCall { call_id, .. } => call_id.0,
        ResponseItem::FunctionCallOutput { call_id, .. } => format!("{call_id}!"),
        ResponseItem::Message { .. } => "user".to_owned(),
        ResponseItem::Reasoning { .. }
        | ResponseItem::CustomToolCall { .. }
        | ResponseItem::CustomToolCallOutput { .. }
        | ResponseItem::Unknown => "?".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn outputs_follow_their_response_in_call_order() {
    let recorded = [
        user("hi"),
        call("a", 1),
        call("b", 1),
        output("b", Some(1)),
        call("c", 1),
        output("c", Some(1)),
        output("a", Some(1)),
        call("d", 2),
        output("d", Some(2)),
    ];
    assert_eq!(words(&recorded), "user a b c a! b! c! d d!");
}

#[test]
fn each_request_begins_with_the_one_before() {
    let recorded = [
        user("hi"),
        call("a", 1),
        output("a", Some(1)),
        call("b", 2),
        call("c", 2),
        output("c", Some(2)),
        output("b", Some(2)),
    ];
    assert_eq!(words(&recorded[..3]), "user a a!");
    assert_eq!(words(&recorded), "user a a! b c b! c!");
}

#[test]
fn an_output_that_was_added_later_goes_to_its_call() {
    let recorded = [call("a", 1), user("again"), output("a", Some(1))];
    assert_eq!(words(&recorded), "a a! user");
}

#[test]
fn sessions_without_numbers_keep_their_order() {
    let mut recorded = [
        call("a", 1),
        call("b", 1),
        output("b", None),
        output("a", None),
    ];
    recorded[0].metadata.response = None;
    recorded[1].metadata.response = None;
    assert_eq!(words(&recorded), "a b b! a!");
}
