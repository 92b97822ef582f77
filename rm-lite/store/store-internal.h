/* Internals of the state store, for store.c and the files with tables of their own. */
#ifndef SELVEDGE_RM_LITE_STORE_STORE_INTERNAL_H
#define SELVEDGE_RM_LITE_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "rm-lite/store/store.h"

enum rm_store_stmt {
    PUT_META,
    PUT_KEY,
    PUT_APP,
    PUT_ATTEMPT,
    DEL_APP,
    DEL_ATTEMPTS,
    PUT_USAGE,
    DEL_USAGE,
    PUT_DRAIN,
    DEL_DRAIN,
    PUT_TOKEN,
    DEL_TOKEN,
    PUT_TOKEN_KEY,
    DEL_TOKEN_KEY,
    PUT_PAST,
    DEL_PAST,
    PRUNE_PAST,
    OLDEST_PAST,
    WALK_PAST,
    FIND_PAST,
    BEGIN,
    COMMIT,
    N_STMTS
};

/* store-schema.c */
extern const char *const rm_store_sql[N_STMTS];
extern const char rm_store_schema[];

struct rm_store_answer;

struct rm_store {
    struct rm *rm;
    sqlite3 *db; /* NULL: recovery is off */
    sqlite3_stmt *stmts[N_STMTS];
    bool open, broken;            /* a transaction is open; a write failed */
    bool started;                 /* rm_store_start has marked it as in use */
    int64_t n_history, oldest_ms; /* rows of the table history, end of the oldest */
    struct rm_store_answer *answers, *tail;
    sd_event_source *flush;
};

/* Call it before a write: opens the transaction of this turn of the loop. False: no store, or a
 * broken one. */
bool rm_store_begin(struct rm_store *s) _must_use_;
/* Executes a statement with bound parameters. A failure stops the ResourceManager. */
void rm_store_write(struct rm_store *s, enum rm_store_stmt i);
int rm_store_db_error(struct rm_store *s, struct sv_error *err, const char *what);
int rm_store_load_meta(struct rm_store *s, const char *key, int64_t def, int64_t *ret,
                       struct sv_error *err) _must_use_;

#endif
