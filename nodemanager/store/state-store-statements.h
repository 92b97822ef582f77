/* The SQL statements of the state store and their execution in the open transaction; for the files
 * of the state store alone. state-store.c has the database and the commits, state-store-write.c the
 * writes of state-store.h, state-store-read.c the reads at start. */
#ifndef SELVEDGE_NODEMANAGER_STORE_STATE_STORE_STATEMENTS_H
#define SELVEDGE_NODEMANAGER_STORE_STATE_STORE_STATEMENTS_H

#include <sqlite3.h>

#include "common/base.h"

struct nm_store;

enum nm_store_stmt {
    S_BEGIN,
    S_COMMIT,
    S_ROLLBACK,
    S_APP,
    S_APP_FINISHED,
    S_APP_REMOVE,
    S_CONT,
    S_CONT_ASSIGNED,
    S_CONT_LAUNCHED,
    S_CONT_KILLED,
    S_CONT_COMPLETED,
    S_CONT_DONE,
    S_CONT_REMOVE,
    S_CONT_UPDATED,
    S_CONT_AGAIN,
    S_CONT_EXTEND,
    S_CONT_REINIT,
    S_CONT_REINIT_KILLS,
    S_CONT_UPGRADE,
    S_CONT_UPGRADE_COMMITTED,
    S_CONT_RESTART,
    S_CONT_ROLLBACK,
    S_CONT_COMMIT,
    S_CONT_REQUEST,
    S_CONT_NEXT,
    S_CONT_PREVIOUS,
    S_KEY,
    S_KEY_REMOVE,
    S_TOKEN,
    S_TOKEN_EXPIRE,
    S_DEL,
    S_DEL_REMOVE,
    S_LOGDEL,
    S_LOGDEL_REMOVE,
    S_LOGUP,
    S_LOGUP_REMOVE,
    S_LOGSKIP,
    S_LOGSKIP_REMOVE,
    S_RES,
    S_RES_REMOVE,
    S_SETTING,
    S_SETTING_REMOVE,
    S_DATA,
    S_DATA_REMOVE,
    S_MCS,
    S_MCS_REMOVE,
    S_AMRM,
    S_AMRM_REMOVE,
    S_AMRM_REMOVE_ALL,
    S_EACH_APP,
    S_EACH_CONT,
    S_EACH_KEY,
    S_EACH_TOKEN,
    S_EACH_DEL,
    S_EACH_LOGDEL,
    S_EACH_LOGUP,
    S_EACH_LOGSKIP,
    S_EACH_RES,
    S_EACH_SETTING,
    S_EACH_DATA,
    S_EACH_MCS,
    S_EACH_AMRM,
    S_COUNT
};

extern const char *const nm_store_sql[S_COUNT];

/* Prepared once; belongs to the store. NULL: it failed, with a log line. */
sqlite3_stmt *nm_store_prepared(struct nm_store *s, enum nm_store_stmt n) _must_use_;
/* Executes one write in the open transaction, opening one if needed. fmt: t text, i int64_t, b blob
 * (pointer, size_t). -EIO: the commit will fail. */
int nm_store_write(struct nm_store *s, enum nm_store_stmt n, const char *fmt, ...) _must_use_;
/* Logs SQLite's last error and makes the open transaction fail: -EIO. */
int nm_store_db_error(struct nm_store *s, const char *what);

#endif
