//! The vault: a folder of notes with one `.cru/`.

pub mod scaffold;
