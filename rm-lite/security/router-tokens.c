/* See router-tokens.h. Apache's ResourceManager takes such a token for its own, and refuses the
 * job. Hostile: tokens, which come with jobs; what the store answers. */
#include "rm-lite/security/router-tokens.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "federation/token-change.h"
#include "rm-lite/security/delegation.h"

bool rm_router_token(const struct rm *rm, const struct yarn_token *t)
{
    return rm->conf.federation && rm_delegation_expires(rm, t) == 0;
}

/* ---- Renewing ---- */

static void on_renewed(const struct fed_token_changed *r, void *userdata)
{
    struct rm_renewal *t = userdata;
    struct rm_token_renewer *w = rm_renewal_userdata(t);

    SV_DISPATCH_BATCH(w->rm->dispatcher);
    rm_renewal_renewed(t, r->status, r->expires_ms, r->status ? r->text : NULL, sv_wall_ms());
}

/* The account that must be the token's renewer; at a Router this ResourceManager is a client. */
static int own_account(const struct rm *rm, char ret[SASL_USER_MAX], struct sv_error *err)
{
    const struct sgss_conf *k = &rm->conf.kerberos.own;

    if (k->on)
        return sv_auth_to_local(k->rules, k->principal, strlen(k->principal), ret, err);
    if (strlen(rm->login_user) >= SASL_USER_MAX)
        return sv_error_set(err, -EINVAL, "the account's name is too long");
    memcpy(ret, rm->login_user, strlen(rm->login_user) + 1);
    return 0;
}

void rm_router_token_renew(struct rm_token_renewer *w, struct rm_renewal *t)
{
    const struct rm *rm = w->rm;
    char account[SASL_USER_MAX] = "";
    struct sv_error err = { 0 };
    struct fed_token_change q = { .token = rm_renewal_token(t),
                                  .renew_ms = rm->conf.delegation_renew_ms };
    int r = own_account(rm, account, &err);

    q.who = (struct yarn_token_caller){ account, account };
    if (r < 0)
        rm_renewal_renewed(t, -EACCES, 0, err.text, sv_wall_ms());
    else if (!rm->fed_store) /* the daemon starts, or ends */
        rm_renewal_renewed(t, -EAGAIN, 0, "the federation's state store is not open", sv_wall_ms());
    else
        fed_token_change(rm->fed_store, &q, on_renewed, t);
}

/* ---- Cancelling ---- */

static void on_cancelled(const struct fed_token_changed *r, void *userdata)
{
    if (r->status < 0)
        sv_log_debug("delegation token: not cancelled: %s", r->text);
    rm_renewal_cancelled(userdata);
}

/* As its renewer, which it was when it renewed the token. */
void rm_router_token_cancel(struct rm_token_renewer *w, struct rm_renewal *t)
{
    struct fed_token_change q = { .cancel = true, .token = rm_renewal_token(t) };
    struct yarn_delegation_token id;

    if (!w->rm->fed_store ||
        yarn_delegation_token_decode(q.token->id, q.token->id_len, &id, NULL) < 0) {
        rm_renewal_cancelled(t);
        return;
    }
    q.who = (struct yarn_token_caller){ id.renewer, id.renewer };
    fed_token_change(w->rm->fed_store, &q, on_cancelled, t);
}
