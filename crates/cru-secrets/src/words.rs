//! Lists of words, and the letters that follow each letter in words; made of `data/rules.toml` by the build script.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
