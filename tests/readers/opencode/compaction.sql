CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, tokens_input INTEGER, tokens_output INTEGER, agent TEXT, model TEXT, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_1', 'global', NULL, '/home/me/shop', 'Fix the tests', '1.18.0', 0, 0, 'build', '{"id": "sonnet-9", "providerID": "acme"}', 1767225600000);
INSERT INTO message VALUES ('msg_31', 'ses_1', 1767225600010, '{"time": {"created": 1767225600010}, "role": "user"}');
INSERT INTO part VALUES ('prt_31_1', 'msg_31', 'ses_1', 1767225600010, '{"type": "compaction", "auto": true}');
INSERT INTO message VALUES ('msg_32', 'ses_1', 1767225600100, '{"time": {"created": 1767225600100}, "role": "assistant", "modelID": "sonnet-9", "providerID": "acme", "mode": "compaction", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"total": 560, "input": 500, "output": 60, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "summary": true, "agent": "compaction"}');
INSERT INTO part VALUES ('prt_32_1', 'msg_32', 'ses_1', 1767225600100, '{"type": "text", "text": "## Goal\nFix the shop.", "time": {"start": 1767225600110, "end": 1767225600120}}');
INSERT INTO part VALUES ('prt_32_2', 'msg_32', 'ses_1', 1767225600100, '{"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"total": 560, "input": 500, "output": 60, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO message VALUES ('msg_33', 'ses_1', 1767225600200, '{"time": {"created": 1767225600200}, "role": "user"}');
INSERT INTO part VALUES ('prt_33_1', 'msg_33', 'ses_1', 1767225600200, '{"type": "text", "text": "Continue if you have next steps.", "synthetic": true, "metadata": {"compaction_continue": true}}');
INSERT INTO message VALUES ('msg_34', 'ses_1', 1767225600300, '{"time": {"created": 1767225600300}, "role": "assistant", "modelID": "sonnet-9", "providerID": "acme", "mode": "build", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"total": 56, "input": 50, "output": 6, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO part VALUES ('prt_34_1', 'msg_34', 'ses_1', 1767225600300, '{"type": "retry", "attempt": 1, "error": {"name": "APIError", "data": {"message": "Too many requests", "isRetryable": true}}, "time": {"created": 1767225600310}}');
INSERT INTO part VALUES ('prt_34_2', 'msg_34', 'ses_1', 1767225600300, '{"type": "text", "text": "All is done.", "time": {"start": 1767225600320}}');
INSERT INTO part VALUES ('prt_34_3', 'msg_34', 'ses_1', 1767225600300, '{"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"total": 56, "input": 50, "output": 6, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO message VALUES ('msg_35', 'ses_1', 1767225600400, '{"time": {"created": 1767225600400}, "role": "user"}');
INSERT INTO part VALUES ('prt_35_1', 'msg_35', 'ses_1', 1767225600400, '{"type": "subtask", "prompt": "Review the change.", "description": "review changes", "agent": "general", "command": "review"}');
INSERT INTO part VALUES ('prt_35_2', 'msg_35', 'ses_1', 1767225600400, '{"type": "agent", "name": "general", "source": {"value": "@general", "start": 0, "end": 8}}');
