/* Credentials that the ResourceManager has renewed for applications (system_credentials_for_apps of
 * a heartbeat's answer): in localization they replace those of the launch context, whole, as in
 * Hadoop. The ResourceManager tells every node of every application, so there are rows of
 * applications that are not here; those of applications here are on record.
 *
 * Secrets: never logged. Hostile: nothing parses the bytes here; the localizer does. */
#ifndef SELVEDGE_NODEMANAGER_CORE_SYSTEM_CREDENTIALS_H
#define SELVEDGE_NODEMANAGER_CORE_SYSTEM_CREDENTIALS_H

#include "common/base.h"
#include "wire/ipc/methods.h"

#define NM_CREDENTIALS_MAX (1u << 20)        /* bytes of one application's; EXE_FILE_MAX */
#define NM_CREDENTIALS_TOTAL_MAX (64u << 20) /* of all; an answer with more is not taken */
#define NM_CREDENTIALS_KEY "credentials/"    /* + application: key of a record of localization */

struct nm_context;
struct nm_credentials;

int nm_credentials_new(struct nm_context *ctx, struct nm_credentials **ret) _must_use_;
struct nm_credentials *nm_credentials_free(struct nm_credentials *c);

/* All that there are, in place of what was; none: nothing changes. -E2BIG, -ENOMEM: as before. */
int nm_credentials_replace(struct nm_credentials *c,
                           Hadoop__Yarn__SystemCredentialsForAppsProto *const *rows, size_t n)
    _must_use_;
/* A record, at the start of the daemon. */
int nm_credentials_restore(struct nm_credentials *c, const char *app, const void *p, size_t n)
    _must_use_;
/* Of an application here: false, none. Valid until the event loop runs again. Makes the record. */
bool nm_credentials_of(struct nm_credentials *c, const char *app, const void **ret, size_t *ret_n);
void nm_credentials_app_finished(struct nm_credentials *c, const char *app);

#endif
