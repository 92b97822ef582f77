/* Credentials renewed by the ResourceManager for applications (system_credentials_for_apps of a
 * heartbeat's answer): in localization they replace those of the launch context, all of them, as in
 * Hadoop. The ResourceManager sends every node those of every application, so there are rows of
 * applications that are not here; those of applications here are recorded.
 *
 * Secrets: never logged. Hostile: nothing parses the bytes here; the localizer does. */
#ifndef SELVEDGE_NODEMANAGER_CORE_SYSTEM_CREDENTIALS_H
#define SELVEDGE_NODEMANAGER_CORE_SYSTEM_CREDENTIALS_H

#include "common/base.h"
#include "wire/ipc/methods.h"

#define NM_CREDENTIALS_MAX (1u << 20)        /* bytes per application; EXE_FILE_MAX */
#define NM_CREDENTIALS_TOTAL_MAX (64u << 20) /* bytes in all; an answer with more is rejected */
#define NM_CREDENTIALS_KEY "credentials/"    /* + application: key of a record of localization */
/* + application: key of a record of logs/log-credentials.c, kept beside those. */
#define NM_UPLOAD_CREDENTIALS_KEY "upload-credentials/"

struct nm_context;
struct nm_credentials;

int nm_credentials_new(struct nm_context *ctx, struct nm_credentials **ret) _must_use_;
struct nm_credentials *nm_credentials_free(struct nm_credentials *c);

/* Replaces all credentials; no-op if there are none. -E2BIG, -ENOMEM: unchanged. */
int nm_credentials_replace(struct nm_credentials *c,
                           Hadoop__Yarn__SystemCredentialsForAppsProto *const *rows, size_t n)
    _must_use_;
/* Restores a record, at the start of the daemon. */
int nm_credentials_restore(struct nm_credentials *c, const char *app, const void *p, size_t n)
    _must_use_;
/* Credentials of an application here; false: none. Valid until the event loop runs again. Writes
 * the record. */
bool nm_credentials_of(struct nm_credentials *c, const char *app, const void **ret, size_t *ret_n);
void nm_credentials_app_finished(struct nm_credentials *c, const char *app);

#endif
