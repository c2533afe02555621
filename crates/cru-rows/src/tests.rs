//! Whole families, from objects to rows.
