-- State of one agent. Times are milliseconds since the Unix epoch, spans are milliseconds.
-- A model of '' means: all models.

CREATE TABLE profile (
  n               INTEGER PRIMARY KEY AUTOINCREMENT,  -- place of insertion
  id              TEXT NOT NULL UNIQUE,               -- provider:NAME
  provider        TEXT NOT NULL,
  kind            TEXT NOT NULL CHECK (kind IN ('oauth', 'token', 'api_key')),
  secret_kind     TEXT CHECK (secret_kind IN ('direct', 'env', 'file')),
  secret          TEXT,
  refresh_kind    TEXT CHECK (refresh_kind IN ('direct', 'env', 'file')),
  refresh         TEXT,
  expires         INTEGER,
  email           TEXT,
  extra           TEXT NOT NULL DEFAULT '{}',         -- JSON, nothing secret
  last_used       INTEGER,
  error_count     INTEGER NOT NULL DEFAULT 0,
  last_failure_at INTEGER
) STRICT;

CREATE TABLE failure_count (
  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  bucket  TEXT NOT NULL,
  count   INTEGER NOT NULL,
  PRIMARY KEY (profile, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE ladder (
  profile    INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  model      TEXT NOT NULL,
  schedule   TEXT NOT NULL,
  step       INTEGER NOT NULL,
  climbed_at INTEGER NOT NULL,
  PRIMARY KEY (profile, model, schedule)
) STRICT, WITHOUT ROWID;

CREATE TABLE time_window (
  profile  INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  model    TEXT NOT NULL,
  schedule TEXT NOT NULL,
  lane     TEXT NOT NULL CHECK (lane IN ('cooldown', 'disabled')),
  bucket   TEXT NOT NULL,
  since    INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  step     INTEGER NOT NULL,
  hint     INTEGER,             -- the provider's own reset time, unclamped
  longest  INTEGER NOT NULL,    -- span
  PRIMARY KEY (profile, model, schedule)
) STRICT, WITHOUT ROWID;

CREATE TABLE streak (
  profile INTEGER NOT NULL REFERENCES profile ON DELETE CASCADE,
  model   TEXT NOT NULL,
  bucket  TEXT NOT NULL,
  count   INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  PRIMARY KEY (profile, model, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id                    TEXT PRIMARY KEY,
  provider_override     TEXT,
  model_override        TEXT,
  model_override_source TEXT,             -- NULL beside a model: a legacy override
  model_override_origin TEXT,             -- JSON
  written_at            INTEGER,
  probed_at             INTEGER,
  reason                TEXT,
  notified              INTEGER NOT NULL DEFAULT 0,
  compaction_count      INTEGER NOT NULL DEFAULT 0,
  revision              INTEGER NOT NULL DEFAULT 0,
  other                 TEXT NOT NULL DEFAULT '{}'  -- JSON, the host's
) STRICT, WITHOUT ROWID;

CREATE TABLE session_pin (
  session                                TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
  family                                 TEXT NOT NULL,
  auth_profile_override                  TEXT NOT NULL,
  auth_profile_override_source           TEXT NOT NULL CHECK (auth_profile_override_source IN ('auto', 'user')),
  auth_profile_override_compaction_count INTEGER NOT NULL,
  displaced                              TEXT,
  PRIMARY KEY (session, family)
) STRICT, WITHOUT ROWID;
