//! Whole files of small invented records.
