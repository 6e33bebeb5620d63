CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions VALUES ('s1', NULL, 'Faults', 0, 0, 0, 0.1, 1767225600, 1767225600, 'm4', NULL);
INSERT INTO messages VALUES ('m1', 's1', 'assistant', '[{"type": "finish", "data": {"reason": "error", "time": 1767225650, "message": "Provider Error", "details": "overloaded"}}]', 'crusher-1', 1767225601, 1767225601, 1767225601, 'acme', 0);
INSERT INTO messages VALUES ('m2', 's1', 'assistant', '[{"type": "text", "data": {"text": "I was"}}, {"type": "finish", "data": {"reason": "canceled", "time": 1767225650, "message": "User canceled request"}}]', 'crusher-1', 1767225602, 1767225602, 1767225602, 'acme', 0);
INSERT INTO messages VALUES ('m3', 's1', 'assistant', '[{"type": "finish", "data": {"reason": "max_tokens", "time": 1767225650}}]', 'crusher-1', 1767225603, 1767225603, 1767225603, 'acme', 0);
INSERT INTO messages VALUES ('m4', 's1', 'assistant', '[{"type": "text", "data": {"text": "Summary: faults."}}]', 'crusher-1', 1767225604, 1767225604, 1767225604, 'acme', 0);
INSERT INTO messages VALUES ('m5', 's1', 'assistant', '[{"type": "text", "data": {"text": "Another summary."}}]', 'crusher-1', 1767225605, 1767225605, 1767225605, 'acme', 1);
INSERT INTO messages VALUES ('m6', 's1', 'system', '[{"type": "text", "data": {"text": "Be brief."}}]', '', 1767225606, 1767225606, 1767225606, 'acme', 0);
INSERT INTO messages VALUES ('m7', 's1', 'assistant', '[{"type": "smell", "data": {"text": "of newer versions"}}]', 'crusher-1', 1767225607, 1767225607, 1767225607, 'acme', 0);
