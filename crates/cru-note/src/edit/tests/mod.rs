//! What must hold for every edit, over invented notes.

mod body;
mod order;
mod property;
mod region;
