"""The database's form, step by step. A step that was ever published is never edited again: a new one is added."""

MIGRATIONS = (
    # 1: hashes are SHA-256. A message's is that of `body`, a turn's that of `facts`; both are JSON that we wrote.
    # `turns.message` stands in `facts` too: here it can be asked for, and kept from being dropped.
    """
    CREATE TABLE blobs (
        hash BLOB NOT NULL PRIMARY KEY,
        data BLOB NOT NULL
    );
    CREATE TABLE messages (
        hash BLOB NOT NULL PRIMARY KEY,
        body BLOB NOT NULL
    );
    CREATE TABLE message_blobs (
        message BLOB NOT NULL REFERENCES messages (hash) ON DELETE CASCADE,
        blob BLOB NOT NULL REFERENCES blobs (hash),
        PRIMARY KEY (message, blob)
    ) WITHOUT ROWID;
    CREATE INDEX message_blobs_blob ON message_blobs (blob);
    CREATE TABLE turns (
        id TEXT NOT NULL PRIMARY KEY,
        hash BLOB NOT NULL,
        message BLOB NOT NULL REFERENCES messages (hash),
        facts BLOB NOT NULL
    );
    CREATE INDEX turns_message ON turns (message);
    CREATE TABLE parents (
        turn TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        parent TEXT NOT NULL REFERENCES turns (id),
        PRIMARY KEY (turn, position)
    ) WITHOUT ROWID;
    CREATE INDEX parents_parent ON parents (parent);
    CREATE TABLE bookmarks (
        name TEXT NOT NULL PRIMARY KEY,
        turn TEXT NOT NULL REFERENCES turns (id)
    ) WITHOUT ROWID;
    CREATE INDEX bookmarks_turn ON bookmarks (turn);
    """,
)
"""Number n stands at place n - 1; the database's `user_version` is the number of the last one that it went through."""
