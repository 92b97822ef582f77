/* Tables and statements of the state store. A new table, made IF NOT EXISTS, needs no other
 * SCHEMA_VERSION: an earlier version of this program ignores it. A changed one needs one. */
#include "rm-lite/store/store-internal.h"

#define PAST_COLUMNS                                                                               \
    "ts, id, finish, user, queue, name, type, state, final, start, launch, attempts, memory, "     \
    "vcores, type1, used1, type2, used2, viewers, diagnostics"

const char *const rm_store_sql[N_STMTS] = {
    [PUT_META] = "INSERT OR REPLACE INTO meta VALUES(?,?)",
    [PUT_KEY] = "INSERT OR REPLACE INTO keys VALUES(?,?,?,?,?)",
    [PUT_APP] = "INSERT OR REPLACE INTO apps VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PUT_ATTEMPT] = "INSERT OR REPLACE INTO attempts VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [DEL_APP] = "DELETE FROM apps WHERE ts=? AND id=?",
    [DEL_ATTEMPTS] = "DELETE FROM attempts WHERE ts=? AND id=?",
    [PUT_USAGE] = "INSERT OR REPLACE INTO app_usage VALUES(?,?,?,?,?)",
    [DEL_USAGE] = "DELETE FROM app_usage WHERE ts=? AND id=?",
    [PUT_DRAIN] = "INSERT OR REPLACE INTO draining VALUES(?,?)",
    [DEL_DRAIN] = "DELETE FROM draining WHERE node=?",
    [PUT_TOKEN] = "INSERT OR REPLACE INTO tokens VALUES(?,?,?)",
    [DEL_TOKEN] = "DELETE FROM tokens WHERE sequence=?",
    [PUT_TOKEN_KEY] = "INSERT OR REPLACE INTO token_keys VALUES(?,?,?,?)",
    [DEL_TOKEN_KEY] = "DELETE FROM token_keys WHERE key_id=?",
    [PUT_PAST] =
        "INSERT INTO history(" PAST_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [DEL_PAST] = "DELETE FROM history WHERE ts=? AND id=?",
    [PRUNE_PAST] = "DELETE FROM history WHERE rowid IN (SELECT rowid FROM history WHERE finish<?"
                   " ORDER BY finish, ts, id LIMIT ?)",
    [OLDEST_PAST] = "SELECT finish FROM history ORDER BY finish LIMIT 1",
    [WALK_PAST] = "SELECT " PAST_COLUMNS " FROM history WHERE (finish, ts, id)<(?,?,?) AND"
                  " finish>=? ORDER BY finish DESC, ts DESC, id DESC LIMIT ?",
    [FIND_PAST] = "SELECT " PAST_COLUMNS " FROM history WHERE ts=? AND id=?",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};
const char rm_store_schema[] =
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS keys(kind INTEGER, slot INTEGER, key_id INTEGER, bytes BLOB,"
    " made INTEGER, PRIMARY KEY(kind, slot));"
    "CREATE TABLE IF NOT EXISTS apps(ts INTEGER, id INTEGER, user TEXT, submission BLOB,"
    " submit INTEGER, start INTEGER, launch INTEGER, finish INTEGER, state INTEGER,"
    " final INTEGER, diagnostics TEXT, url TEXT, memory INTEGER, vcores INTEGER,"
    " priority INTEGER, PRIMARY KEY(ts, id));"
    "CREATE TABLE IF NOT EXISTS attempts(ts INTEGER, id INTEGER, attempt INTEGER,"
    " container INTEGER, node TEXT, http TEXT, state INTEGER, final INTEGER, exit INTEGER,"
    " diagnostics TEXT, url TEXT, host TEXT, port INTEGER, start INTEGER, finish INTEGER,"
    " counts INTEGER, amrm_key INTEGER, PRIMARY KEY(ts, id, attempt));"
    "CREATE TABLE IF NOT EXISTS app_usage(ts INTEGER, id INTEGER, type TEXT, used INTEGER,"
    " preempted INTEGER, PRIMARY KEY(ts, id, type)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS draining(node TEXT PRIMARY KEY, deadline INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS tokens(sequence INTEGER PRIMARY KEY, id BLOB, renew INTEGER);"
    "CREATE TABLE IF NOT EXISTS token_keys(key_id INTEGER PRIMARY KEY, bytes BLOB, made INTEGER,"
    " expires INTEGER);"
    "CREATE TABLE IF NOT EXISTS history(ts INTEGER, id INTEGER, finish INTEGER, user TEXT,"
    " queue TEXT, name TEXT, type TEXT, state INTEGER, final INTEGER, start INTEGER,"
    " launch INTEGER, attempts INTEGER, memory INTEGER, vcores INTEGER, type1 TEXT, used1 INTEGER,"
    " type2 TEXT, used2 INTEGER, viewers TEXT, diagnostics TEXT, PRIMARY KEY(ts, id));"
    "CREATE INDEX IF NOT EXISTS history_by_end ON history(finish, ts, id);";
