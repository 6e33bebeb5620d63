CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
  total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER);
INSERT INTO sessions VALUES ('20250101_1', 'Old work', '/home/me/shop', '2026-01-01 00:00:00', '2026-01-01 00:05:00', 90, 80, 10, 310, 300, 10);
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20250101_1', 'user', '[{"type": "text", "text": "Hello?"}]', 1767225601);
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20250101_1', 'assistant', '[{"type": "text", "text": "Hello!"}]', 1767225602);
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20250101_1', 'user', '[{"type": "text", "text": "<info-msg>\nIt is 2026-01-01.\n</info-msg>"}]', 1767225603);
