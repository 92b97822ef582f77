/* See identity.h. */
#include "client/core/identity.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/login.h"
#include "common/identity/auth-to-local.h"
#include "common/identity/krb5-conf.h"
#include "common/str.h"
#include "wire/sasl/auth-conf.h"

/* The default realm is krb5.conf's, else that of the ticket. */
static int account_of(struct cli_ctx *ctx, const char *principal, char ret[SV_LOCAL_NAME_MAX + 1],
                      struct sv_error *err)
{
    _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *rules = NULL;
    const char *conf = getenv("KRB5_CONFIG"), *at = strrchr(principal, '@');
    char realm[SV_REALM_MAX + 1];
    struct sv_error ignored;
    int r;

    if (sv_krb5_default_realm(conf && *conf ? conf : SV_KRB5_CONF, realm, &ignored) < 0)
        (void)snprintf(realm, sizeof(realm), "%s", at ? at + 1 : "");
    r = sv_auth_to_local_read(ctx->conf, realm, &rules, err);
    return r < 0 ? r : sv_auth_to_local(rules, principal, strlen(principal), ret, err);
}

/* libcurl finds tickets by itself: those of --keytab, too. */
static int tell_libraries(const struct cli_ctx *ctx)
{
    const struct ipc_ticket *ticket = cli_login_ticket(ctx->login);
    const char *keytab = sv_conf_raw(ctx->conf, "selvedge.client.kerberos.keytab");
    const char *cache = ticket ? ipc_ticket_cache(ticket) : NULL;

    if (cache && setenv("KRB5CCNAME", cache, 1) < 0)
        return -ENOMEM;
    return keytab && *keytab && setenv("KRB5_CLIENT_KTNAME", keytab, 1) < 0 ? -ENOMEM : 0;
}

static int use_login(struct cli_ctx *ctx, struct sv_error *err)
{
    const char *for_user = cli_login_for_user(ctx->login);
    char account[SV_LOCAL_NAME_MAX + 1];
    int r = account_of(ctx, for_user ? for_user : cli_login_principal(ctx->login), account, err);

    if (r < 0)
        return r;
    free(ctx->user);
    ctx->user = strdup(account);
    if (!ctx->user || tell_libraries(ctx) < 0)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    ctx->files = (struct fs_identity){ .user = ctx->user,
                                       .credentials = cli_login_credentials_fd(ctx->login),
                                       .tickets = cli_login_hdfs(ctx->login) };
    return 0;
}

static bool needs_ticket(const struct cli_ctx *ctx)
{
    const char *principal = sv_conf_raw(ctx->conf, "selvedge.client.kerberos.principal");

    return !ctx->web_only || (principal && *principal);
}

int cli_identity_find(struct cli_ctx *ctx, struct sv_error *err)
{
    const struct passwd *pw = getpwuid(geteuid());
    int r;

    if (!pw)
        return sv_error_set(err, -ENOENT, "uid %u has no account", geteuid());
    ctx->user = strdup(pw->pw_name);
    if (!ctx->user)
        return sv_error_errno(err, -ENOMEM, "account");
    ctx->files = (struct fs_identity){ .user = ctx->user, .credentials = -1 };
    r = yarn_auth_kerberos(ctx->conf, &ctx->kerberos, err);
    if (r >= 0 && ctx->kerberos && needs_ticket(ctx))
        r = cli_login_new(ctx->conf, ctx->admin ? YARN_RM_ADMIN : YARN_RM_CLIENTS, &ctx->login,
                          err);
    if (r >= 0 && ctx->login)
        r = use_login(ctx, err);
    return r < 0 ? r : 0;
}

void cli_identity_forget(struct cli_ctx *ctx)
{
    ctx->login = cli_login_free(ctx->login);
    free(ctx->user);
    ctx->user = NULL;
    ctx->files = (struct fs_identity){ .credentials = -1 };
}
