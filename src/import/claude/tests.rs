//! Whole bundles.
