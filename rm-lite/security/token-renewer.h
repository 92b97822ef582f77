/* DelegationTokenRenewer: the tokens that jobs bring are renewed while the jobs live, by the
 * ResourceManager's own login at the NameNodes, and its own tokens here. In a cluster with Kerberos
 * alone; without it rm->renewer is NULL and each function does nothing.
 *
 * Renewed are tokens that name a renewer, of the kinds HDFS_DELEGATION_TOKEN, RM_DELEGATION_TOKEN,
 * and those of WebHDFS and key servers (web-issuers.h). With
 * yarn.resourcemanager.proxy-user-privileges.enabled an application without a token of HDFS, or
 * whose token nears the end of its life, gets one from the ResourceManager (system-credentials.h).
 * Hostile: submissions, and what NameNodes answer. */
#ifndef SELVEDGE_RM_LITE_SECURITY_TOKEN_RENEWER_H
#define SELVEDGE_RM_LITE_SECURITY_TOKEN_RENEWER_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "rm-lite/security/renewals.h"

struct ipc_kerberos;
struct rm_app;
struct rm_system_credentials;
struct rm_token_renewer;

struct rm_token_renewer_config {
    const struct ipc_kerberos *namenode; /* our login at NameNodes; outlives the renewer. NULL:
                                            by name alone, for tests */
    const struct ipc_kerberos *web;      /* our login at web servers; likewise */
    uint32_t qop_mask;                   /* hadoop.rpc.protection */
};

/* Sets rm->renewer. */
int rm_token_renewer_new(struct rm *rm, const struct rm_token_renewer_config *c,
                         struct sv_error *err) _must_use_;
void rm_token_renewer_free(struct rm *rm);

/* Takes the tokens of a submission. 1: the application may start now. 0: it waits: RM_APP_EV_START
 * or _REJECTED is posted. -EINVAL, -E2BIG, -ENOMEM with the reason: it is to be refused. A
 * recovered application, which does not wait, gets 1. */
int rm_token_renewer_admit(struct rm_app *app, struct sv_error *err) _must_use_;
/* The application has ended. */
void rm_token_renewer_end(struct rm_app *app);
/* A node still writes the logs of an application that has ended. */
void rm_token_renewer_keep_alive(struct rm *rm, struct yarn_app_id app);
/* Each second. */
void rm_token_renewer_tick(struct rm *rm);

/* The credentials that nodes get for applications; NULL: none. */
struct rm_system_credentials *rm_token_renewer_system(const struct rm *rm);
void rm_token_renewer_counts(const struct rm *rm, struct rm_renewals_counts *ret);

#endif
