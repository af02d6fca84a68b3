//! The languages that code is coloured for: how they write comments and strings, and their
//! words. A table; what is not in it is shown plain.

/// How a language looks to the lexer.
#[derive(Debug)]
pub(super) struct Language {
    /// Names behind a fence and endings of files, in lower case.
    names: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) quotes: &'static [Quote],
    keywords: &'static [&'static str],
    pub(super) constants: &'static [&'static str],
    /// Keywords count in any case (SQL).
    any_case: bool,
    /// Words that begin with a capital letter name types.
    pub(super) types_are_capital: bool,
    /// Whole lines are coloured by their first character.
    pub(super) is_diff: bool,
}

/// A kind of string.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    /// It may go on in the next line.
    pub(super) many_lines: bool,
    /// A backslash takes the meaning of the next character.
    pub(super) escapes: bool,
    /// It holds one character; the same mark alone means something else.
    pub(super) is_short: bool,
}

const fn quote(mark: &'static str) -> Quote {
    Quote {
        start: mark,
        end: mark,
        many_lines: false,
        escapes: true,
        is_short: false,
    }
}

const DOUBLE: Quote = quote("\"");
const SINGLE: Quote = quote("'");
/// Strings that go on in the next line.
const DOUBLE_LINES: Quote = Quote {
    many_lines: true,
    ..DOUBLE
};
const RAW_SINGLE_LINES: Quote = Quote {
    many_lines: true,
    escapes: false,
    ..SINGLE
};
const BACKTICK: Quote = Quote {
    many_lines: true,
    ..quote("`")
};
const CHARACTER: Quote = Quote {
    is_short: true,
    ..SINGLE
};
const RAW_RUST: Quote = Quote {
    start: "r#\"",
    end: "\"#",
    many_lines: true,
    escapes: false,
    is_short: false,
};
const TRIPLE_DOUBLE: Quote = Quote {
    many_lines: true,
    ..quote("\"\"\"")
};
const TRIPLE_SINGLE: Quote = Quote {
    many_lines: true,
    ..quote("'''")
};

const PLAIN: Language = Language {
    names: &[],
    line_comments: &[],
    block_comment: None,
    quotes: &[],
    keywords: &[],
    constants: &[],
    any_case: false,
    types_are_capital: false,
    is_diff: false,
};
/// What languages in the manner of C share.
const BRACES: Language = Language {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &[DOUBLE, SINGLE],
    constants: &["true", "false", "null"],
    types_are_capital: true,
    ..PLAIN
};

#[rustfmt::skip] // One word a line would hide the table.
static LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        quotes: &[RAW_RUST, DOUBLE_LINES, CHARACTER],
        keywords: &[
            "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
            "extern", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move",
            "mut", "pub", "ref", "return", "static", "struct", "super", "trait", "type", "unsafe",
            "use", "where", "while",
        ],
        constants: &["true", "false", "self", "None"],
        ..BRACES
    },
    Language {
        names: &["python", "py", "pyi", "python3"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: &[
            "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def",
            "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
            "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
            "try", "while", "with", "yield",
        ],
        constants: &["True", "False", "None", "self"],
        ..BRACES
    },
    Language {
        names: &[
            "javascript", "js", "jsx", "mjs", "cjs", "typescript", "ts", "tsx", "mts", "cts",
        ],
        quotes: &[DOUBLE, SINGLE, BACKTICK],
        keywords: &[
            "abstract", "as", "async", "await", "break", "case", "catch", "class", "const",
            "continue", "default", "delete", "do", "else", "enum", "export", "extends", "finally",
            "for", "from", "function", "if", "implements", "import", "in", "instanceof",
            "interface", "keyof", "let", "namespace", "new", "of", "private", "protected",
            "public", "readonly", "return", "satisfies", "static", "super", "switch", "throw",
            "try", "type", "typeof", "var", "void", "while", "yield",
        ],
        constants: &["true", "false", "null", "undefined", "this"],
        ..BRACES
    },
    Language {
        names: &["go", "golang"],
        quotes: &[DOUBLE, BACKTICK, CHARACTER],
        keywords: &[
            "break", "case", "chan", "const", "continue", "default", "defer", "else",
            "fallthrough", "for", "func", "go", "goto", "if", "import", "interface", "map",
            "package", "range", "return", "select", "struct", "switch", "type", "var",
        ],
        constants: &["true", "false", "nil", "iota"],
        ..BRACES
    },
    Language {
        names: &[
            "c", "h", "cpp", "c++", "cc", "cxx", "hpp", "java", "csharp", "cs", "c#", "kotlin",
            "kt", "kts", "swift", "scala", "dart", "zig", "php", "proto", "glsl",
        ],
        keywords: &[
            "abstract", "as", "async", "auto", "await", "bool", "break", "case", "catch", "char",
            "class", "const", "constexpr", "continue", "data", "def", "default", "delete", "do",
            "double", "else", "enum", "explicit", "export", "extends", "extern", "final",
            "finally", "float", "for", "foreach", "fun", "func", "function", "goto", "guard", "if",
            "implements", "import", "in", "inline", "int", "interface", "internal", "is", "let",
            "long", "message", "namespace", "new", "object", "operator", "override", "package",
            "private", "protected", "protocol", "public", "return", "short", "signed", "sizeof",
            "static", "struct", "super", "switch", "template", "this", "throw", "throws", "trait",
            "try", "typedef", "typename", "union", "unsigned", "using", "val", "var", "virtual",
            "void", "volatile", "when", "where", "while",
        ],
        constants: &["true", "false", "null", "nullptr", "nil", "NULL"],
        ..BRACES
    },
    Language {
        names: &[
            "bash", "sh", "shell", "zsh", "fish", "console", "dockerfile", "makefile", "make",
            "mk", "nix",
        ],
        line_comments: &["#"],
        block_comment: None,
        quotes: &[DOUBLE_LINES, RAW_SINGLE_LINES],
        keywords: &[
            "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "LABEL", "RUN",
            "USER", "VOLUME", "WORKDIR", "case", "do", "done", "elif", "else", "esac", "export",
            "fi", "for", "function", "if", "in", "local", "readonly", "return", "select", "then",
            "until", "while",
        ],
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &["json", "jsonc", "json5"],
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &[
            "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env",
        ],
        line_comments: &["#"],
        block_comment: None,
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &["sql", "sqlite", "postgres", "postgresql", "mysql"],
        line_comments: &["--"],
        keywords: &[
            "add", "all", "alter", "and", "as", "asc", "begin", "between", "by", "case", "commit",
            "constraint", "create", "default", "delete", "desc", "distinct", "drop", "else", "end",
            "exists", "from", "full", "group", "having", "if", "in", "index", "inner", "insert",
            "into", "is", "join", "key", "left", "like", "limit", "not", "offset", "on", "or",
            "order", "outer", "primary", "references", "returning", "right", "rollback", "select",
            "set", "table", "then", "union", "unique", "update", "using", "values", "view", "when",
            "where", "with",
        ],
        constants: &["null", "NULL", "true", "false", "TRUE", "FALSE"],
        any_case: true,
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs"],
        line_comments: &["#"],
        block_comment: None,
        keywords: &[
            "alias", "begin", "break", "case", "class", "def", "defmodule", "defp", "do", "else",
            "elsif", "end", "ensure", "fn", "for", "if", "in", "module", "next", "require",
            "rescue", "return", "super", "then", "unless", "until", "use", "when", "while", "with",
            "yield",
        ],
        constants: &["true", "false", "nil", "self"],
        ..BRACES
    },
    Language {
        names: &["lua", "haskell", "hs"],
        line_comments: &["--"],
        block_comment: None,
        quotes: &[DOUBLE, CHARACTER],
        keywords: &[
            "and", "break", "case", "class", "data", "deriving", "do", "else", "elseif", "end",
            "for", "function", "if", "import", "in", "instance", "let", "local", "module",
            "newtype", "not", "of", "or", "repeat", "return", "then", "type", "until", "where",
            "while",
        ],
        constants: &["true", "false", "nil", "True", "False"],
        ..BRACES
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &[DOUBLE],
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &["css", "scss", "less"],
        line_comments: &[],
        keywords: &["important", "media", "import", "keyframes", "supports"],
        types_are_capital: false,
        ..BRACES
    },
    Language {
        names: &["diff", "patch"],
        is_diff: true,
        ..PLAIN
    },
];

impl Language {
    /// Whether the word is one of the language's own.
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.keywords.contains(&word)
            || (self.any_case && self.keywords.iter().any(|k| k.eq_ignore_ascii_case(word)))
    }
}

/// The language of that name or ending.
pub(super) fn named(name: &str) -> Option<&'static Language> {
    let name = name.to_ascii_lowercase();
    let is_it = |language: &&Language| language.names.contains(&name.as_str());
    LANGUAGES.iter().find(is_it)
}
