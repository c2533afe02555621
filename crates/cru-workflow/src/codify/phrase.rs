//! Words by which a request is understood: what says nothing, what asks for something, what only keeps the work going.
//!
//! Lower case. English; a request in another language is called by what was done.

/// What opens a request without saying anything, longest first where one begins another.
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &[
    "hi there", "hi", "hey", "hello", "okay", "ok", "alright", "great", "perfect", "awesome", "nice",
    "good", "cool", "sure", "yes", "yeah", "yep", "thanks", "thank you", "so", "now", "well", "then", "and",
    "also", "but", "actually", "please", "pls", "kindly",
    "can you", "could you", "would you", "will you", "can we", "could we", 
    "could i", "i want you to", "i want us to", "i want to", "i'd like you to", "i'd like to",
    "i would like you to", "i would like to", "i need you to", "i need to", "i think we should",
    "i think you should", "i think we need to", "we need to", "we have to", "we should", "we must", "we can",
    "you need to", "you should", "you must", "you have to", "let's", "lets", "let us", "let me",
    "help me to", "help me", "help us", "go ahead and", "your task is to", "your job is to", "the task is to",
    "the goal is to", "my goal is to", "you are to", "try to", "we want to", "we'd like to", "start by",
    "continue to", "to", "quickly", "directly", "carefully", "us to", 
    "do you mind to", "would it be possible to", "we'll need to", "we will need to",
    "you'll need to", "you will need to", 
    "do you think you could", "do you think you can", "do you think we could", "do you think we should", "for now", "i'm going to ask you to", "ultrathink", "claude", "morning", "good morning", "buddy", "ehh", "hmm", "oh", "ah", "wait", "right", "wow", "jesus",
];

/// Verbs that open an imperative.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "adapt", "add", "address", "adjust", "align", "allow", "analyse", "analyze", "apply", "archive", "ask",
    "assess", "assign", "audit", "automate", "bring", "build", "bump", "call", "cancel", "change", "check",
    "choose", "clarify", "clean", "cleanup", "clear", "clone", "close", "collect", "combine", "commit", "compare",
    "compile", "complete", "compute", "configure", "confirm", "connect", "consolidate", "convert", "copy",
    "correct", "cover", "crawl", "create", "cut", "debug", "decide", "deduplicate", "define", "delete", "deploy",
    "describe", "design", "detect", "determine", "develop", "diagnose", "disable", "discuss", "display", "do",
    "document", "download", "draft", "draw", "drop", "edit", "elaborate", "eliminate", "enable", "encode",
    "enforce", "enhance", "ensure", "establish", "estimate", "evaluate", "examine", "execute", "expand", "explain",
    "explore", "export", "expose", "extend", "extract", "fetch", "figure", "fill", "filter", "find", "finish",
    "fix", "focus", "fold", "format", "freeze", "gather", "generate", "get", "give", "group", "handle", "hide",
    "hook", "identify", "implement", "import", "improve", "include", "increase", "inject", "inline", "insert",
    "inspect", "install", "instrument", "integrate", "introduce", "investigate", "join", "keep", "launch", "lint",
    "list", "load", "log", "look", "lower", "make", "map", "mark", "measure", "mention", "merge", "migrate", "mock",
    "modify", "monitor", "move", "normalize", "open", "optimise", "optimize", "order", "organise", "organize",
    "package", "parse", "patch", "perform", "pick", "plan", "point", "polish", "port", "prefer", "prepare",
    "prevent", "print", "process", "produce", "promote", "propose", "prove", "provide", "publish", "pull", "push",
    "put", "query", "raise", "read", "rebase", "rebuild", "record", "recreate", "redesign", "redo", "reduce",
    "refactor", "refine", "regenerate", "register", "release", "reload", "remove", "rename", "render", "reorder",
    "reorganize", "repair", "replace", "reply", "report", "reproduce", "require", "rerun", "research", "reset",
    "resolve", "respond", "restart", "restore", "restructure", "rethink", "return", "reuse", "revert", "review",
    "revise", "reword", "rework", "rewrite", "run", "save", "scaffold", "scan", "search", "select", "send",
    "separate", "set", "setup", "share", "ship", "shorten", "show", "simplify", "skip", "solve", "sort", "specify",
    "split", "squash", "stage", "start", "stop", "store", "streamline", "study", "submit", "suggest", "summarise",
    "summarize", "support", "surface", "swap", "switch", "sync", "tackle", "tag", "take", "tell", "test", "tidy",
    "trace", "track", "transform", "translate", "trim", "tune", "turn", "tweak", "undo", "unify", "uninstall",
    "update", "upgrade", "upload", "use", "validate", "verify", "view", "walk", "wire", "wrap", "write",
];

/// Requests that only keep the work going.
#[rustfmt::skip]
pub(super) const TALK: &[&str] = &[
    "continue", "go on", "go ahead", "proceed", "do it", "do so", "do that", "yes", "y", "ok", "okay", "sure",
    "next", "thanks", "thank you", "good", "great", "perfect", "nice", "keep going", "carry on", "resume",
    "try again", "retry", "again", "done", "commit", "commit this", "commit it", "commit and push", "push",
    "push it", "looks good", "lgtm", "ship it", "yes please", "please continue", "continue please", "fix it",
    "fix this", "fix them", "status", "hello", "hi", "test", "implement it", "implement", "start", "go",
    "approved", "approve", "correct", "right", "no", "stop", "wait", "check again", "you decide", "wow", "it works",
    "works", "amazing", "awesome", "cool", "can leave it", "leave it",
];

/// Words a cut title does not end with.
#[rustfmt::skip]
pub(super) const DANGLING: &[&str] = &[
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "if", "in", "into", "is", "it", "its", "of", "on",
    "or", "our", "so", "that", "the", "their", "this", "to", "we", "when", "where", "which", "while", "with",
    "you", "your", "my", "are", "be", "would", "should", "could", "can", "will", "how", "there", "like", "then", "use",
    "using", "via", "all", "any", "not", "those", "these", "don't", "doesn't", "won't", "can't", "isn't", "specifies",
];

/// Words that name nothing.
#[rustfmt::skip]
pub(super) const VAGUE: &[&str] = &[
    "fix", "repair", "solve", "resolve", "do", "make", "apply", "find", "check", "look", "help", "get", "did", "done",
    "out", "why", "them", "it", "this", "that", "these", "those", "everything", "something", "things", "thing",
    "again", "up", "what", "how", "issue", "issues", "problem", "problems", "error", "errors", "now", "first",
    "changes", "me", "us", "more", "still", "same", "there", "here", "too", "well", "please", "also", "back", "on",
    "off", "over", "one", "next", "step", "steps", "rest", "continue", "remaining", "go", "plan", "following",
    "above", "below", "task", "tasks", "code", "work", "suggested", "suggestion", "suggestions", "approach",
    "recommendation", "recommendations", "recommended", "proposal", "way", "need",
    "other", "place", "places", "elsewhere",
];

/// Words of somebody who speaks of themselves or to somebody.
#[rustfmt::skip]
pub(super) const SPEAKING: &[&str] = &[
    "i", "im", "we", "you", "me", "my", "your", "our", "us", "it", "its", "he", "she", "they", "this", "that", "what", "why",
    "how", "ok", "yes", "no", "hmm", "wait", "still", "thanks", "seems", "think",
];

/// First words of a sentence that says nothing without what stands before it.
#[rustfmt::skip]
pub(super) const ASIDES: &[&str] = &[
    "any", "if", "is", "are", "was", "hint", "continue", "there", "not", "nope", "one", "use", "same", "maybe", "because", "since",
];
