CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, tokens_input INTEGER, tokens_output INTEGER, agent TEXT, model TEXT, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_9', 'global', NULL, '/home/me/shop', 'Fix the tests', '1.18.0', 0, 0, 'build', '{"id": "sonnet-9", "providerID": "acme"}', 1767225600000);
INSERT INTO session VALUES ('ses_8', 'global', 'ses_9', '/home/me/shop', 'Find the bug (@explore subagent)', '1.18.0', 0, 0, 'build', '{"id": "sonnet-9", "providerID": "acme"}', 1767225600500);
INSERT INTO session VALUES ('ses_7', 'global', 'ses_8', '/home/me/shop', 'Deeper (@explore subagent)', '1.18.0', 0, 0, 'build', '{"id": "sonnet-9", "providerID": "acme"}', 1767225600700);
INSERT INTO message VALUES ('msg_11', 'ses_9', 1767225600010, '{"time": {"created": 1767225600010}, "role": "user", "agent": "build"}');
INSERT INTO part VALUES ('prt_11_1', 'msg_11', 'ses_9', 1767225600010, '{"type": "text", "text": "Find the bug."}');
INSERT INTO message VALUES ('msg_12', 'ses_9', 1767225600100, '{"time": {"created": 1767225600100}, "role": "assistant", "modelID": "sonnet-9", "providerID": "acme", "mode": "build", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"total": 15, "input": 10, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO part VALUES ('prt_12_1', 'msg_12', 'ses_9', 1767225600100, '{"type": "tool", "tool": "task", "callID": "call_9", "state": {"status": "completed", "input": {"description": "Find the bug", "prompt": "Look into cart.py", "subagent_type": "explore"}, "time": {"start": 1767225600400, "end": 1767225600450}, "output": "task_id: ses_8\n\n<task_result>\nLine 3.\n</task_result>", "title": "Find the bug", "metadata": {"sessionId": "ses_8", "model": {"modelID": "haiku-9", "providerID": "acme"}}}}');
INSERT INTO part VALUES ('prt_12_2', 'msg_12', 'ses_9', 1767225600100, '{"type": "step-finish", "reason": "tool-calls", "cost": 0, "tokens": {"total": 15, "input": 10, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO message VALUES ('msg_13', 'ses_8', 1767225600510, '{"time": {"created": 1767225600510}, "role": "user", "agent": "explore"}');
INSERT INTO part VALUES ('prt_13_1', 'msg_13', 'ses_8', 1767225600510, '{"type": "text", "text": "Look into cart.py"}');
INSERT INTO message VALUES ('msg_14', 'ses_8', 1767225600600, '{"time": {"created": 1767225600600}, "role": "assistant", "modelID": "haiku-9", "providerID": "acme", "mode": "build", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"total": 32, "input": 30, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO part VALUES ('prt_14_1', 'msg_14', 'ses_8', 1767225600600, '{"type": "text", "text": "Line 3.", "time": {"start": 1767225600610, "end": 1767225600620}}');
INSERT INTO part VALUES ('prt_14_2', 'msg_14', 'ses_8', 1767225600600, '{"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"total": 32, "input": 30, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO message VALUES ('msg_15', 'ses_7', 1767225600710, '{"time": {"created": 1767225600710}, "role": "user", "agent": "explore"}');
INSERT INTO part VALUES ('prt_15_1', 'msg_15', 'ses_7', 1767225600710, '{"type": "text", "text": "Deeper still"}');
