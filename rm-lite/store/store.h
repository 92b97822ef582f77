/* The state store (RMStateStore): SQLite, one file, written before anything is acknowledged.
 *
 * Writes gather in one transaction that is committed at the end of the loop's iteration; only then
 * *_SAVED is posted, so a thousand submissions cost one sync. */
#ifndef SELVEDGE_RM_LITE_STORE_STORE_H
#define SELVEDGE_RM_LITE_STORE_STORE_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "rm-lite/core/secrets.h"
#include "wire/ipc/ipc-server.h"

/* `dir` NULL: recovery is off; *_SAVED is posted without a write. */
int rm_store_open(struct rm *rm, const char *dir, struct sv_error *err) _must_use_;
struct rm_store *rm_store_close(struct rm_store *s);
/* Epoch of this start: `first` at first and without recovery, then incremented, within `range`
 * numbers from `first` on if that is not 0. Loads the stored token keys. */
int rm_store_start(struct rm_store *s, int64_t first, int64_t range, int64_t *ret_epoch,
                   struct rm_secrets *secrets, struct sv_error *err) _must_use_;
int rm_store_keys(struct rm_store *s, const struct rm_secrets *secrets, struct sv_error *err)
    _must_use_;
/* Loads the stored applications and attempts, in order of submission. */
int rm_store_load(struct rm *rm, struct sv_error *err) _must_use_;

void rm_store_app_new(struct rm *rm, struct rm_app *app);         /* → APP_NEW_SAVED */
void rm_store_app_final(struct rm *rm, struct rm_app *app);       /* → APP_UPDATE_SAVED */
void rm_store_app_update(struct rm *rm, struct rm_app *app);      /* no answer (priority) */
void rm_store_attempt_new(struct rm *rm, struct rm_attempt *a);   /* → ATTEMPT_NEW_SAVED */
void rm_store_attempt_final(struct rm *rm, struct rm_attempt *a); /* → ATTEMPT_UPDATE_SAVED */
void rm_store_app_remove(struct rm *rm, struct rm_app *app);
/* Writes the values that the application's row has no column for, if not 0: preempted usage, and
 * usage of the cluster's own resource types. Call it before rm_store_app_final and
 * rm_store_attempt_final, for the same transaction. The load function runs after rm_store_load. */
void rm_store_usage(struct rm *rm, const struct rm_app *app);
int rm_store_load_usage(struct rm *rm, struct sv_error *err) _must_use_;
/* Stores a decommissioning node, until `deadline_ms` (wall; 0: none); removes one that no longer
 * is. */
void rm_store_drain(struct rm *rm, const char *node, int64_t deadline_ms);
void rm_store_drained(struct rm *rm, const char *node);
/* Stores the number of active nodes, but not while they may still come back after a restart: called
 * by each tick and each new attempt, not by each node. Loads it into rm->stored_nodes. */
void rm_store_node_count(struct rm *rm);
int rm_store_load_node_count(struct rm *rm, struct sv_error *err) _must_use_;
int rm_store_load_draining(struct rm *rm, struct sv_error *err) _must_use_;
/* Answers the call when all earlier writes are on disk; takes ownership of the arena, which has the
 * response. */
void rm_store_reply(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *response,
                    struct sv_arena *arena);
void rm_store_flush(struct rm *rm); /* commits now, posts *_SAVED and answers calls */

#endif
