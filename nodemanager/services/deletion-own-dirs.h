/* Removes the daemon's own parent directories after the helper has emptied them: the helper deletes
 * as the account that owns the files, which cannot remove these. For deletion-service.c. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_DELETION_OWN_DIRS_H
#define SELVEDGE_NODEMANAGER_SERVICES_DELETION_OWN_DIRS_H

#include "executor/exe.h"

struct nm_context;

/* <log>/<app> after APP_LOGS, nmPrivate/<app> after APP, usercache/<submitter> after USER. Failures
 * are logged. */
void nm_deletion_own_dirs(const struct nm_context *ctx, const struct exe_delete_what *done);

#endif
