//! The grammar that is sent to the model with the tool.

/// The patch format in the lark dialect that custom tools take.
///
/// The parser accepts more than this; a model that follows it is always understood.
pub const GRAMMAR: &str = r#"start: begin file_patch+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?

file_patch: add_file | delete_file | update_file
add_file: "*** Add File: " PATH LF added*
delete_file: "*** Delete File: " PATH LF
update_file: "*** Update File: " PATH LF move_to? chunks?
move_to: "*** Move to: " PATH LF

chunks: first_chunk chunk*
first_chunk: header* body
chunk: header+ body
header: "@@" (" " TEXT)? LF
body: line+ end_of_file?
line: added | removed | context
added: "+" TEXT? LF
removed: "-" TEXT? LF
context: " " TEXT? LF
end_of_file: "*** End of File" LF

PATH: /[^\r\n]+/
TEXT: /[^\r\n]+/
%import common.LF
"#;
