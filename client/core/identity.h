/* The caller as the cluster knows it: the process' account, or with Kerberos the account of the
 * ticket's or token's principal; and what proves it to the ResourceManager, to HDFS and to web
 * servers. */
#ifndef SELVEDGE_CLIENT_CORE_IDENTITY_H
#define SELVEDGE_CLIENT_CORE_IDENTITY_H

#include "client/core/session.h"

/* Fills ctx->login, ctx->user and ctx->files from the configuration; before threads are started. A
 * command that uses the web alone needs no ticket yet. -errno as cli_login_new(), and where no rule
 * has an account for the principal. */
int cli_identity_find(struct cli_ctx *ctx, struct sv_error *err) _must_use_;
void cli_identity_forget(struct cli_ctx *ctx);

#endif
