/* Deletes what containers and applications leave behind (DeletionService): as its owner, through
 * the helper, a few at a time, after yarn.nodemanager.delete.debug-delay-sec, and on record until
 * done, so that a restarted daemon goes on. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_DELETION_SERVICE_H
#define SELVEDGE_NODEMANAGER_SERVICES_DELETION_SERVICE_H

#include "common/base.h"
#include "common/error.h"
#include "executor/exe.h"

struct nm;
struct nm_app;
struct nm_container;
struct nm_deletion;

int nm_deletion_new(struct nm *nm, struct nm_deletion **ret, struct sv_error *err) _must_use_;
struct nm_deletion *nm_deletion_free(struct nm_deletion *d);
int nm_deletion_recover(struct nm_deletion *d) _must_use_;
/* Every deletion that is still to be done. */
void nm_deletion_each(const struct nm_deletion *d,
                      void (*fn)(const struct exe_delete_what *what, void *userdata),
                      void *userdata);
bool nm_deletion_busy(const struct nm_deletion *d); /* something is due or under way */

void nm_deletion_container(struct nm_container *c); /* the work directory */
void nm_deletion_app(struct nm_app *a);             /* its directory in the user's cache */
/* One that was found at start and that no record knows, unless its deletion is pending. */
void nm_deletion_left_app(struct nm *nm, struct yarn_app_id app, const char *user);
void nm_deletion_app_logs(struct nm *nm, struct yarn_app_id app, const char *user);
/* Everything of a user (start without recovery), or the public cache (user NULL). */
void nm_deletion_user(struct nm *nm, const char *user);
void nm_deletion_resource(struct nm *nm, const struct exe_delete_what *what);

#endif
