CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, model TEXT, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_1', 'global', NULL, '/home/me/shop', 'Whole', '2.0.0', NULL, 1767225600000);
INSERT INTO session VALUES ('ses_2', 'global', NULL, '/home/me/shop', 'Both', '1.18.0', NULL, 1767225609000);
INSERT INTO session_message VALUES ('evt_ses_1_1', 'ses_1', 'user', 1, 1767225600100, '{"time": {"created": 1767225600100}, "text": "List the files.", "files": [{"uri": "data:image/png;base64,aGVsbG8=", "mime": "image/png", "name": "a.png"}]}');
INSERT INTO session_message VALUES ('evt_ses_1_2', 'ses_1', 'synthetic', 2, 1767225600200, '{"time": {"created": 1767225600200}, "text": "The date is 2026-01-01.", "sessionID": "ses_1"}');
INSERT INTO session_message VALUES ('evt_ses_1_3', 'ses_1', 'system', 3, 1767225600300, '{"time": {"created": 1767225600300}, "text": "You are in plan mode."}');
INSERT INTO session_message VALUES ('evt_ses_1_4', 'ses_1', 'model-switched', 4, 1767225600400, '{"time": {"created": 1767225600400}, "model": {"id": "opus-9", "providerID": "acme"}}');
INSERT INTO session_message VALUES ('evt_ses_1_5', 'ses_1', 'agent-switched', 5, 1767225600500, '{"time": {"created": 1767225600500}, "agent": "plan"}');
INSERT INTO session_message VALUES ('evt_ses_1_6', 'ses_1', 'assistant', 6, 1767225600600, '{"time": {"created": 1767225600600}, "agent": "plan", "model": {"id": "opus-9", "providerID": "acme"}, "tokens": {"input": 10, "output": 3, "reasoning": 2, "cache": {"read": 0, "write": 0}}, "finish": "stop", "content": [{"type": "reasoning", "id": "r1", "text": "They want ls."}, {"type": "text", "id": "t1", "text": "Here they are."}, {"type": "tool", "id": "call_1", "name": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "content": [{"type": "text", "text": "cart.py"}, {"type": "file", "uri": "file:///home/me/shop/a.png", "mime": "image/png", "name": "a.png"}], "structured": {"exit": 0}}, "time": {"created": 1767225600601, "ran": 1767225600610, "completed": 1767225600620}}, {"type": "tool", "id": "call_2", "name": "read", "state": {"status": "error", "input": {"filePath": "no.py"}, "content": [], "structured": {}, "error": {"type": "unknown", "message": "no such file"}}, "time": {"created": 1767225600630, "completed": 1767225600640}}]}');
INSERT INTO session_message VALUES ('evt_ses_1_7', 'ses_1', 'shell', 7, 1767225600700, '{"time": {"created": 1767225600700}, "callID": "sh_1", "command": "git status", "output": "clean"}');
INSERT INTO session_message VALUES ('evt_ses_1_8', 'ses_1', 'compaction', 8, 1767225600800, '{"time": {"created": 1767225600800}, "reason": "auto", "summary": "We listed files.", "recent": "[User]: And now?"}');
INSERT INTO session_message VALUES ('evt_ses_1_9', 'ses_1', 'dream', 9, 1767225600900, '{"time": {"created": 1767225600900}, "text": "unheard of"}');
INSERT INTO session_message VALUES ('evt_ses_2_1', 'ses_2', 'user', 1, 1767225600100, '{"time": {"created": 1767225600100}, "text": "Said twice."}');
INSERT INTO message VALUES ('msg_51', 'ses_2', 1767225609100, '{"role": "user", "time": {"created": 1767225609100}}');
INSERT INTO part VALUES ('prt_51', 'msg_51', 'ses_2', 1767225609100, '{"type": "text", "text": "Said twice."}');
