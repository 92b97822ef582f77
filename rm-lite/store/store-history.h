/* Ended applications beyond the ResourceManager's memory, in the state store: a row each, written
 * with the application's end, kept by number and age (selvedge.rm.history.*). Rows are read a
 * bounded number at a time, newest end first. */
#ifndef SELVEDGE_RM_LITE_STORE_STORE_HISTORY_H
#define SELVEDGE_RM_LITE_STORE_STORE_HISTORY_H

#include "common/arena.h"
#include "common/error.h"
#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/context.h"

/* Bytes of texts that a row keeps: a name and diagnostics are cut, a VIEW_APP list that is longer
 * admits nobody. */
#define RM_PAST_NAME_MAX 256
#define RM_PAST_DIAGNOSTICS_MAX 1000
#define RM_PAST_ACL_MAX 2000
#define RM_PAST_TURN 512        /* rows that one call reads */
#define RM_PAST_DELETE_TURN 200 /* rows that one call deletes */

struct rm_past_app {
    struct yarn_app_id id;
    const char *user, *queue, *name, *type, *diagnostics;
    const char *view_acl;                   /* or NULL */
    int state;                              /* RM_APP_ST_FINISHED, _FAILED or _KILLED */
    int final_status;                       /* FinalApplicationStatusProto */
    int64_t start_ms, launch_ms, finish_ms; /* wall clock; launch_ms 0: no master registered */
    int32_t attempts;
    struct rm_usage_row used[RM_USAGE_ROWS]; /* memory, virtual cores, then others; used_ms alone */
    int n_used;
};
struct rm_past_key { /* of a row, in the order of walks */
    int64_t finish_ms;
    struct yarn_app_id id;
};

/* Writes the application's row, or writes it again. Call it in the transaction of
 * rm_store_app_final(). */
void rm_store_history_put(struct rm *rm, const struct rm_app *app);
/* After rm_store_load_usage(). Adds rows that an earlier version of this program did not write. */
int rm_store_load_history(struct rm *rm, struct sv_error *err) _must_use_;
/* Deletes a turn's worth of what is too much or too old, by the wall clock. */
void rm_store_history_prune(struct rm *rm, int64_t now_ms);

bool rm_store_keeps_history(const struct rm *rm);
int64_t rm_store_history_count(const struct rm *rm);
int64_t rm_store_history_oldest(const struct rm *rm); /* its end; INT64_MAX: there is none */
/* The row's texts are valid until `fn` returns, which is false to stop behind this row. */
typedef bool (*rm_past_fn)(const struct rm_past_app *past, void *userdata);
/* Reads at most RM_PAST_TURN rows from behind `*at` on, down to ends at `from_ms`, and sets `*at`
 * to the last one. 1: there are no more; 0: stopped, or a turn is over; -EIO. */
int rm_store_history_walk(struct rm *rm, struct rm_past_key *at, int64_t from_ms, rm_past_fn fn,
                          void *userdata) _must_use_;
/* Texts are copied to the arena. -ENOENT, -ENOMEM, -EIO. */
int rm_store_history_find(struct rm *rm, struct yarn_app_id id, struct sv_arena *a,
                          struct rm_past_app *ret) _must_use_;

#endif
