CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER);
INSERT INTO sessions VALUES ('s1', NULL, 'Old', 0, 10, 2, 0, 1767225700000, 1767225600000);
INSERT INTO messages VALUES ('m1', 's1', 'user', '[{"type": "text", "data": {"text": "In milliseconds."}}]', NULL, 1767225600005, 1767225600005, NULL);
INSERT INTO messages VALUES ('m2', 's1', 'assistant', '[{"type": "text", "data": {"text": "Yes."}}]', 'crusher-0', 1767225600009, 1767225600009, NULL);
