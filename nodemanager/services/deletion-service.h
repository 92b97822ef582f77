/* Deletes directories of ended containers and applications (DeletionService): as their owner,
 * through the helper, a few at a time, after yarn.nodemanager.delete.debug-delay-sec, and recorded
 * until done, so that a restarted daemon continues. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_DELETION_SERVICE_H
#define SELVEDGE_NODEMANAGER_SERVICES_DELETION_SERVICE_H

#include "common/base.h"
#include "common/error.h"
#include "executor/exe.h"

struct nm_context;
struct nm_app;
struct nm_container;
struct nm_deletion;

int nm_deletion_new(struct nm_context *ctx, struct nm_deletion **ret, struct sv_error *err)
    _must_use_;
struct nm_deletion *nm_deletion_free(struct nm_deletion *d);
int nm_deletion_recover(struct nm_deletion *d) _must_use_;
/* Calls fn for every pending deletion. */
void nm_deletion_each(const struct nm_deletion *d,
                      void (*fn)(const struct exe_delete_what *what, void *userdata),
                      void *userdata);
bool nm_deletion_busy(const struct nm_deletion *d); /* a deletion has expired or runs */
/* A whole cache is being deleted (nm_deletion_user), and has not failed for good. */
bool nm_deletion_clears(const struct nm_deletion *d);

void nm_deletion_container(struct nm_deletion *d, struct nm_container *c); /* the work directory */
void nm_deletion_app(struct nm_deletion *d,
                     struct nm_app *a); /* its directory in the user's cache */
/* Deletes a directory without a record, found at start; no-op if its deletion is pending. `user`:
 * the account that owns it; `submitter`: the name of its parent directory in usercache. */
void nm_deletion_left_app(struct nm_deletion *d, struct yarn_app_id app, const char *user,
                          const char *submitter);
/* Deletes its log directories, after the same delay. */
void nm_deletion_app_logs(struct nm_deletion *d, struct yarn_app_id app, const char *user);
bool nm_deletion_has_app_logs(const struct nm_deletion *d, struct yarn_app_id app);
/* Deletes usercache/<submitter>, which the account `user` owns, found at start; or the content of
 * the public cache (both NULL). Waits while applications use it. */
void nm_deletion_user(struct nm_deletion *d, const char *user, const char *submitter);
void nm_deletion_resource(struct nm_deletion *d, const struct exe_delete_what *what);

#endif
