/* The state store (RMStateStore): SQLite, one file, written before anything is acknowledged.
 *
 * Writes gather in one transaction that is committed at the end of the loop's iteration; only then
 * *_SAVED is posted, so a thousand submissions cost one sync. Called by the state machines, rm.c
 * and periodic.c. */
#ifndef SELVEDGE_RM_LITE_STORE_STORE_H
#define SELVEDGE_RM_LITE_STORE_STORE_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "rm-lite/core/secrets.h"
#include "wire/ipc/ipc-server.h"

/* `dir` NULL: recovery is off; *_SAVED is posted without a write. */
int rm_store_open(struct rm *rm, const char *dir, struct sv_error *err) _must_use_;
struct rm_store *rm_store_close(struct rm_store *s);
/* Epoch of this start: 0 at first, then one more each. Loads the stored token keys. */
int rm_store_start(struct rm_store *s, int64_t *ret_epoch, struct rm_secrets *secrets,
                   struct sv_error *err) _must_use_;
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
/* What the application's own row has no column for, where it is not 0: what preemption took, and
 * the use of the cluster's own resource types. Before rm_store_app_final and
 * rm_store_attempt_final, for the same transaction. After rm_store_load: its rows. */
void rm_store_usage(struct rm *rm, const struct rm_app *app);
int rm_store_load_usage(struct rm *rm, struct sv_error *err) _must_use_;
/* A node that leaves gracefully, until `deadline_ms` (wall; 0: none); and one that does no more. */
void rm_store_drain(struct rm *rm, const char *node, int64_t deadline_ms);
void rm_store_drained(struct rm *rm, const char *node);
int rm_store_load_draining(struct rm *rm, struct sv_error *err) _must_use_;
/* Answers the call when all that was written before is on the disk; takes the arena, in which the
 * response is. */
void rm_store_reply(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *response,
                    struct sv_arena *arena);
void rm_store_flush(struct rm *rm); /* commits now, posts *_SAVED and answers calls */

#endif
