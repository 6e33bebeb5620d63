CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions VALUES ('s1', NULL, 'Delegate', 0, 50, 5, 0.1, 1767225600, 1767225600, NULL, NULL);
INSERT INTO sessions VALUES ('m2$$call_1', 's1', 'Find the bug', 0, 20, 2, 0.1, 1767225600, 1767225600, NULL, NULL);
INSERT INTO sessions VALUES ('call_2', 's1', 'Find it again', 0, 10, 1, 0.1, 1767225600, 1767225600, NULL, NULL);
INSERT INTO sessions VALUES ('title-s1', 's1', 'Generate a title', 0, 0, 0, 0.1, 1767225600, 1767225600, NULL, NULL);
INSERT INTO messages VALUES ('m1', 's1', 'user', '[{"type": "text", "data": {"text": "Find the bug."}}]', '', 1767225601, 1767225601, 1767225601, 'acme', 0);
INSERT INTO messages VALUES ('m2', 's1', 'assistant', '[{"type": "tool_call", "data": {"id": "call_1", "name": "agent", "input": "{\"prompt\":\"Look into cart.py\"}", "finished": true}}, {"type": "tool_call", "data": {"id": "call_2", "name": "agent", "input": "{\"prompt\":\"Look again\"}", "finished": true}}]', 'crusher-1', 1767225602, 1767225602, 1767225602, 'acme', 0);
INSERT INTO messages VALUES ('m3', 'm2$$call_1', 'user', '[{"type": "text", "data": {"text": "Look into cart.py"}}]', '', 1767225603, 1767225603, 1767225603, 'acme', 0);
INSERT INTO messages VALUES ('m4', 'm2$$call_1', 'assistant', '[{"type": "text", "data": {"text": "Line 3."}}]', 'crusher-mini', 1767225604, 1767225604, 1767225604, 'acme', 0);
INSERT INTO messages VALUES ('m5', 'call_2', 'user', '[{"type": "text", "data": {"text": "Look again"}}]', '', 1767225603, 1767225603, 1767225603, 'acme', 0);
