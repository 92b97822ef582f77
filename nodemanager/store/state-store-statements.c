/* See state-store-statements.h. */
#include "nodemanager/store/state-store-statements.h"
#include "nodemanager/store/state-store-open.h"

/* clang-format off */
const char *const nm_store_sql[S_COUNT] = {
    [S_BEGIN] = "BEGIN IMMEDIATE",
    [S_COMMIT] = "COMMIT",
    [S_ROLLBACK] = "ROLLBACK",
    [S_APP] = "INSERT OR REPLACE INTO apps(id,user,view_acl,modify_acl,finished) VALUES(?1,?2,?3,?4,0)",
    [S_APP_FINISHED] = "UPDATE apps SET finished=1 WHERE id=?1",
    [S_APP_REMOVE] = "DELETE FROM apps WHERE id=?1",
    [S_CONT] = "INSERT INTO containers(id,app,request,start_ms,local_dir,log_dir,assigned) VALUES(?1,?2,?3,?4,?5,?6,?7)",
    [S_CONT_ASSIGNED] = "UPDATE containers SET assigned=?2 WHERE id=?1",
    [S_CONT_LAUNCHED] = "UPDATE containers SET launched=1,launch_ms=?2 WHERE id=?1",
    [S_CONT_KILLED] = "UPDATE containers SET killed=1,kill_code=?2 WHERE id=?1",
    [S_CONT_COMPLETED] = "UPDATE containers SET completed=1,exit_code=?2 WHERE id=?1",
    [S_CONT_DONE] = "UPDATE containers SET completed=1,done=1,exit_code=?2,finish_ms=?3,diagnostics=?4 WHERE id=?1",
    [S_CONT_REMOVE] = "DELETE FROM containers WHERE id=?1",
    [S_CONT_UPDATED] = "UPDATE containers SET updated=?2 WHERE id=?1",
    [S_CONT_AGAIN] = "UPDATE containers SET launched=0,retry=?2,ended_ms=?3 WHERE id=?1",
    [S_CONT_REQUEST] = "SELECT request FROM containers WHERE id=?1",
    [S_KEY] = "INSERT OR REPLACE INTO keys(name,key_id,bytes) VALUES(?1,?2,?3)",
    [S_KEY_REMOVE] = "DELETE FROM keys WHERE name=?1",
    [S_TOKEN] = "INSERT OR REPLACE INTO used_tokens(container,expiry_ms) VALUES(?1,?2)",
    [S_TOKEN_EXPIRE] = "DELETE FROM used_tokens WHERE expiry_ms<?1",
    [S_DEL] = "INSERT OR REPLACE INTO deletions(id,at_ms,task) VALUES(?1,?2,?3)",
    [S_DEL_REMOVE] = "DELETE FROM deletions WHERE id=?1",
    [S_LOGDEL] = "INSERT OR REPLACE INTO log_deleters(app,user,at_ms) VALUES(?1,?2,?3)",
    [S_LOGDEL_REMOVE] = "DELETE FROM log_deleters WHERE app=?1",
    [S_LOGUP] = "INSERT OR REPLACE INTO log_uploads(app,account,pending,value) VALUES(?1,?2,?3,?4)",
    [S_LOGUP_REMOVE] = "DELETE FROM log_uploads WHERE app=?1",
    [S_LOGSKIP] = "INSERT INTO log_skips(app,container) VALUES(?1,?2)",
    [S_LOGSKIP_REMOVE] = "DELETE FROM log_skips WHERE app=?1",
    [S_RES] = "INSERT OR REPLACE INTO resources(key,value) VALUES(?1,?2)",
    [S_RES_REMOVE] = "DELETE FROM resources WHERE key=?1",
    [S_SETTING] = "INSERT OR REPLACE INTO settings(name,value) VALUES(?1,?2)",
    [S_SETTING_REMOVE] = "DELETE FROM settings WHERE name=?1",
    [S_DATA] = "INSERT OR REPLACE INTO service_data(app,service,data) VALUES(?1,?2,?3)",
    [S_DATA_REMOVE] = "DELETE FROM service_data WHERE app=?1",
    [S_MCS] = "INSERT INTO mcs(name,owner,pair) VALUES(?1,?2,?3)",
    [S_MCS_REMOVE] = "DELETE FROM mcs WHERE name=?1 AND owner<>''",
    [S_EACH_APP] = "SELECT id,user,view_acl,modify_acl,finished FROM apps ORDER BY rowid",
    [S_EACH_CONT] =
        ("SELECT id,app,request,start_ms,launch_ms,finish_ms,launched,killed,completed,done,"
         "local_dir,log_dir,exit_code,kill_code,diagnostics,assigned,updated,retry,ended_ms FROM containers ORDER BY rowid"),
    [S_EACH_KEY] = "SELECT name,key_id,bytes FROM keys",
    [S_EACH_TOKEN] = "SELECT container,expiry_ms FROM used_tokens",
    [S_EACH_DEL] = "SELECT id,at_ms,task FROM deletions ORDER BY id",
    [S_EACH_LOGDEL] = "SELECT app,user,at_ms FROM log_deleters",
    [S_EACH_LOGUP] = "SELECT app,account,pending,value FROM log_uploads",
    [S_EACH_LOGSKIP] = "SELECT app,container FROM log_skips",
    [S_EACH_RES] = "SELECT key,value FROM resources",
    [S_EACH_SETTING] = "SELECT name,value FROM settings WHERE name<>'" NM_STORE_NEW "'",
    [S_EACH_DATA] = "SELECT app,service,data FROM service_data",
    [S_EACH_MCS] = "SELECT name,owner,pair FROM mcs ORDER BY rowid",
};

/* clang-format on */
