/* See web-rights.h. */
#include "rm-lite/security/web-rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/proxy-users.h"
#include "wire/ipc/resolve.h"

#define ARENA_MAX ((size_t)512 << 10) /* a header of 72 KiB, its bytes, and their parts */

static int refuse(struct sv_error *err, const char *class, const char *why)
{
    return sv_error_set(err, -EACCES, "%s: %s", class, why);
}

/* Checks the password; fills the account. */
static int check(struct rm *rm, const struct yarn_token *t, char ret_user[256],
                 struct sv_error *err)
{
    const char *class = JAVA_INVALID_TOKEN;
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct sv_error why = { 0 };
    size_t len;

    if (!sv_streq(t->kind, YARN_KIND_RM_DELEGATION))
        return refuse(err, JAVA_INVALID_TOKEN, "not a delegation token of this ResourceManager");
    if (rm_delegation_verify(t->id, t->id_len, password, &len, ret_user, &class, &why, rm) < 0)
        return refuse(err, class, why.text);
    if (!yarn_bytes_equal(password, len, t->password, t->password_len))
        return refuse(err, JAVA_INVALID_TOKEN, "the token is invalid, password doesn't match");
    return 0;
}

static int on_bearer(const char *text, struct sv_web_bearer *ret, struct sv_error *err,
                     void *userdata)
{
    struct rm *rm = userdata;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    struct yarn_delegation_token what;
    struct yarn_token t;
    int r = a ? yarn_token_parse(a, text, &t) : -ENOMEM;

    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return refuse(err, JAVA_IO_EXCEPTION, "the token cannot be decoded");
    r = check(rm, &t, ret->user, err);
    if (r < 0)
        return r;
    r = yarn_delegation_token_decode(t.id, t.id_len, &what, NULL);
    if (r < 0)
        return refuse(err, JAVA_INVALID_TOKEN, "its identifier cannot be decoded");
    (void)snprintf(ret->full, sizeof(ret->full), "%s", what.owner);
    (void)snprintf(ret->real, sizeof(ret->real), "%s", what.real_user);
    return 0;
}
_Static_assert(SV_AUTH_USER_MAX == 256, "an account of rm_delegation_verify() fits");

static int on_act(const struct sv_web_actor *who, struct sv_error *err, void *userdata)
{
    struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
    struct ipc_peer peer = { .user = who->for_user,
                             .real_user = who->user,
                             .full_user = who->for_full,
                             .principal = who->proven ? who->full : NULL };

    if (who->from && who->from->sa_family == AF_INET)
        memcpy(&from, who->from, sizeof(struct sockaddr_in));
    else if (who->from && who->from->sa_family == AF_INET6)
        memcpy(&from, who->from, sizeof(struct sockaddr_in6));
    peer.ip = ipc_address_ip(&from);
    return rm_proxy_users_check(userdata, &peer, err);
}

void rm_web_rights_init(struct rm *rm, struct sv_web_rights *ret)
{
    *ret = (struct sv_web_rights){
        .bearer = on_bearer, .may_act = on_act, .userdata = rm, .operations = true
    };
}
