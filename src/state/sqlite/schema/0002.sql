-- What is kept of errors for the operator, and which rules a host has in force.

CREATE TABLE inbox (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint TEXT NOT NULL UNIQUE,   -- what all its errors have in common
  sample      TEXT NOT NULL,          -- JSON, nothing secret
  bucket      TEXT NOT NULL,
  count       INTEGER NOT NULL,
  first_at    INTEGER NOT NULL,
  last_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE tally (
  rule     TEXT NOT NULL,
  observed INTEGER NOT NULL,
  count    INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (rule, observed)
) STRICT, WITHOUT ROWID;

-- One row each.
CREATE TABLE inbox_dropped (count INTEGER NOT NULL) STRICT;
INSERT INTO inbox_dropped VALUES (0);

CREATE TABLE rules_in_force (
  one       INTEGER PRIMARY KEY CHECK (one = 1),
  version   TEXT NOT NULL,
  source    TEXT NOT NULL,
  loaded_at INTEGER NOT NULL,
  reloads   INTEGER NOT NULL,
  failed_at INTEGER,
  failure   TEXT
) STRICT;
