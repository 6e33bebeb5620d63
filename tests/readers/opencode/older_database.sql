CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_1', 'global', NULL, '/home/me/shop', 'Fix the tests', '1.2.0', 1767225600000);
INSERT INTO message VALUES ('msg_21', 'ses_1', 1767225600010, '{"time": {"created": 1767225600010}, "role": "user"}');
INSERT INTO part VALUES ('prt_21_1', 'msg_21', 'ses_1', 1767225600010, '{"type": "text", "text": "Count to two."}');
INSERT INTO message VALUES ('msg_22', 'ses_1', 1767225600100, '{"time": {"created": 1767225600100}, "role": "assistant", "modelID": "sonnet-9", "providerID": "acme", "mode": "build", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"input": 20, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO part VALUES ('prt_22_1', 'msg_22', 'ses_1', 1767225600100, '{"type": "step-start"}');
INSERT INTO part VALUES ('prt_22_2', 'msg_22', 'ses_1', 1767225600100, '{"type": "text", "text": "One.", "time": {"start": 1767225600110, "end": 1767225600120}}');
INSERT INTO part VALUES ('prt_22_3', 'msg_22', 'ses_1', 1767225600100, '{"type": "step-finish", "reason": "tool-calls", "cost": 0, "tokens": {"input": 10, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}}');
INSERT INTO part VALUES ('prt_22_4', 'msg_22', 'ses_1', 1767225600100, '{"type": "step-start"}');
INSERT INTO part VALUES ('prt_22_5', 'msg_22', 'ses_1', 1767225600100, '{"type": "text", "text": "Two.", "time": {"start": 1767225600130, "end": 1767225600140}}');
INSERT INTO part VALUES ('prt_22_6', 'msg_22', 'ses_1', 1767225600100, '{"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"input": 20, "output": 2, "reasoning": 4, "cache": {"read": 0, "write": 0}}}');
INSERT INTO message VALUES ('msg_23', 'ses_1', 1767225600200, '{"time": {"created": 1767225600200}, "role": "assistant", "modelID": "sonnet-9", "providerID": "acme", "mode": "build", "path": {"cwd": "/home/me/shop", "root": "/home/me/shop"}, "tokens": {"total": 47, "input": 30, "output": 10, "reasoning": 4, "cache": {"read": 7, "write": 0}}}');
INSERT INTO part VALUES ('prt_23_1', 'msg_23', 'ses_1', 1767225600200, '{"type": "text", "text": "Tokens of the message alone, reasoning among the output."}');
