//! The SQLite store under bad conditions.
