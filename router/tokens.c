/* See tokens.h. A call is a chain of calls of the store; nothing is answered before it is stored.
 */
#include "router/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "federation/store/token-info.h"
#include "federation/token-change.h"
#include "router/token-keys.h"
#include "router/token-lookups.h"
#include "router/token-table.h"
#include "wire/exceptions.h"

#define TRIES                                                                                      \
    3 /* numbers for a new token: a counter that was set back has some that are in use             \
       */

struct rtr_tokens {
    struct rtr_tokens_config cfg;
    struct rtr_token_keys *keys;
    struct rtr_token_lookups *lookups;
    struct rtr_token_table *table;
    struct op *ops;
};

/* A new token; among t->ops, where it counts as one of its holder, once it is within his limit. */
struct op {
    struct rtr_tokens *t;
    struct op *prev, *next;
    struct sv_arena *a; /* of the token; wiped */
    struct yarn_delegation_token what;
    struct yarn_token token;
    int64_t renew_ms;
    int tries;
    rtr_token_done done;
    void *userdata;
};

struct rtr_tokens *rtr_tokens_new(const struct rtr_tokens_config *cfg)
{
    struct rtr_tokens *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->cfg = *cfg;
    t->keys = rtr_token_keys_new(cfg->store, cfg->conf);
    t->lookups = rtr_token_lookups_new(cfg->event, cfg->store, cfg->known, cfg->userdata);
    t->table = rtr_token_table_new(cfg->event, cfg->store, cfg->conf);
    return t->keys && t->lookups && t->table ? t : rtr_tokens_free(t);
}

struct rtr_tokens *rtr_tokens_free(struct rtr_tokens *t)
{
    if (!t)
        return NULL;
    t->table = rtr_token_table_free(t->table);
    t->lookups = rtr_token_lookups_free(t->lookups);
    t->keys = rtr_token_keys_free(t->keys);
    free(t);
    return NULL;
}

/* ---- Ends of a call ---- */

static void op_end(struct op *o, const struct rtr_token_answer *a)
{
    if (o->prev)
        DL_DELETE(o->t->ops, o);
    o->done(a, o->userdata);
    sv_arena_wipe(o->a);
    free(o);
}

static void op_refused(struct op *o, const char *class, const struct sv_error *err)
{
    op_end(o,
           &(struct rtr_token_answer){ .status = -EACCES, .java_class = class, .text = err->text });
}

/* No memory, or a store that is away or refuses. */
static void op_failed(struct op *o, int error, const char *reason)
{
    struct rtr_token_answer a = { 0 };
    char text[SV_ERROR_TEXT_MAX];

    a.status = fed_token_failure(error, &a.java_class);
    (void)snprintf(text, sizeof(text), "the federation's state store: %s",
                   reason && *reason ? reason : strerror(-error)); /* cut where longer, ignoring */
    a.text = text;
    op_end(o, &a);
}

static void op_call(struct op *o, const struct fed_request *q, fed_done done)
{
    int r = fed_store_call(o->t->cfg.store, q, done, o, NULL);

    if (r < 0)
        op_failed(o, r, NULL);
}

static void no_memory(rtr_token_done done, void *userdata)
{
    done(&(struct rtr_token_answer){ .status = -EAGAIN,
                                     .java_class = JAVA_RETRIABLE,
                                     .text = "the Router has no memory for the call" },
         userdata);
}

/* NULL: `done` has run. */
static struct op *op_new(struct rtr_tokens *t, rtr_token_done done, void *userdata)
{
    struct op *o = calloc(1, sizeof(*o));

    if (o)
        *o = (struct op){ .t = t, .done = done, .userdata = userdata };
    if (o && (o->a = sv_arena_new(0)))
        return o;
    free(o);
    no_memory(done, userdata);
    return NULL;
}

/* ---- A new token ---- */

static int within_limits(const struct op *o, const char **ret_class, struct sv_error *err)
{
    size_t own = rtr_token_table_of(o->t->table, rtr_token_holder(&o->what));
    size_t all = rtr_token_table_count(o->t->table);

    for (const struct op *x = o->t->ops; x; x = x->next, all++)
        own += sv_streq(rtr_token_holder(&x->what), rtr_token_holder(&o->what));
    if (own >= (size_t)o->t->cfg.conf->per_user)
        return yarn_delegation_refuse(err, ret_class, JAVA_IO_EXCEPTION,
                                      "%s has %zu delegation tokens, as many as "
                                      "selvedge.router.delegation-tokens-per-user allows: cancel "
                                      "some",
                                      rtr_token_holder(&o->what), own);
    if (all >= RTR_TOKENS_MAX)
        return yarn_delegation_refuse(err, ret_class, JAVA_IO_EXCEPTION,
                                      "this Router knows of %d delegation tokens, and issues no "
                                      "more: cancel some",
                                      RTR_TOKENS_MAX);
    return 0;
}

static void next_number(struct op *o);

static void on_added(const struct fed_answer *a, void *userdata)
{
    struct op *o = userdata;

    if (a->error == -EEXIST && ++o->tries < TRIES) {
        next_number(o);
        return;
    }
    if (a->error < 0) {
        op_failed(o, a->error, a->reason);
        return;
    }
    if (rtr_token_table_add(o->t->table, o->what.sequence, rtr_token_holder(&o->what),
                            o->renew_ms) < 0)
        sv_log_warning("delegation token %d is not counted, nor deleted at its end: out of memory",
                       o->what.sequence);
    rtr_token_lookups_drop(o->t->lookups, o->what.sequence);
    sv_log_info("delegation token %d of %s%s%s, renewer %s", o->what.sequence, o->what.owner,
                *o->what.real_user ? " by " : "", o->what.real_user, o->what.renewer);
    op_end(o, &(struct rtr_token_answer){ .token = &o->token });
}

static int sign(struct op *o, const struct yarn_master_key *key)
{
    uint8_t *password = sv_arena_alloc(o->a, YARN_TOKEN_PASSWORD_MAX);
    int r = password ? yarn_delegation_token_encode(o->a, &o->what, &o->token.id, &o->token.id_len)
                     : -ENOMEM;

    if (r >= 0)
        r = yarn_token_password(o->t->cfg.conf->hmac, key, o->token.id, o->token.id_len, password,
                                &o->token.password_len);
    o->token.password = password;
    o->token.kind = YARN_KIND_RM_DELEGATION;
    o->token.service = "";
    return r;
}

static void on_key(const struct yarn_master_key *key, const struct fed_answer *a, void *userdata)
{
    struct op *o = userdata;
    const struct rtr_conf_tokens *conf = o->t->cfg.conf;
    struct fed_token_info info;
    const char *text;
    int r;

    if (!key) {
        op_failed(o, a->error, a->reason);
        return;
    }
    o->what.key_id = key->key_id;
    o->what.issue_ms = sv_wall_ms();
    o->what.max_ms = o->what.issue_ms + conf->max_ms;
    o->renew_ms = SV_MIN(o->what.max_ms, o->what.issue_ms + conf->renew_ms);
    r = sign(o, key);
    info = (struct fed_token_info){ o->token.password, o->token.password_len, o->renew_ms };
    text = r >= 0 ? fed_token_info_write(o->a, &info) : NULL;
    if (!text) {
        op_failed(o, r < 0 ? r : -ENOMEM, NULL);
        return;
    }
    op_call(o,
            &(struct fed_request){ .op = FED_TOKEN_ADD,
                                   .token = { .sequence = o->what.sequence,
                                              .identifier = o->token.id,
                                              .identifier_len = o->token.id_len,
                                              .info = text,
                                              .renew_ms = o->renew_ms } },
            on_added);
}

static void on_number(const struct fed_answer *a, void *userdata)
{
    struct op *o = userdata;
    int r;

    if (a->error < 0) {
        op_failed(o, a->error, a->reason);
        return;
    }
    o->what.sequence = a->sequences[0].value;
    r = rtr_token_keys_get(o->t->keys, on_key, o);
    if (r < 0)
        op_failed(o, r, NULL);
}

static void next_number(struct op *o)
{
    op_call(o,
            &(struct fed_request){ .op = FED_SEQUENCE_NEXT,
                                   .sequence = { .counter = FED_TOKEN_SEQUENCE } },
            on_number);
}

/* The account of a name, which with Kerberos may be a principal. */
static int account_of(const struct rtr_tokens *t, const char *name, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    if (t->cfg.rules)
        return sv_auth_to_local(t->cfg.rules, name, strlen(name), ret, err);
    if (strlen(name) >= SASL_USER_MAX)
        return sv_error_set(err, -EINVAL, "a name of more than %d bytes", SASL_USER_MAX - 1);
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

void rtr_tokens_issue(struct rtr_tokens *t, const char *owner, const char *renewer,
                      const char *real_user, rtr_token_done done, void *userdata)
{
    struct op *o = op_new(t, done, userdata);
    char account[SASL_USER_MAX] = "";
    const char *class = JAVA_IO_EXCEPTION;
    struct sv_error err = { 0 };
    int r = 0;

    if (!o)
        return;
    if (*renewer && account_of(t, renewer, account, NULL) < 0)
        r = yarn_delegation_refuse(&err, &class, JAVA_ILLEGAL_ARGUMENT,
                                   "no rule of hadoop.security.auth_to_local gives the renewer "
                                   "%.256s an account",
                                   renewer);
    if (r >= 0)
        r = yarn_delegation_names(&o->what, owner, account, real_user, &class, &err);
    if (r >= 0)
        r = within_limits(o, &class, &err);
    if (r < 0) {
        op_refused(o, class, &err);
        return;
    }
    DL_APPEND(t->ops, o);
    next_number(o);
}

/* ---- Renewing, cancelling ---- */

struct change {
    struct rtr_tokens *t;
    bool cancel;
    rtr_token_done done;
    void *userdata;
};

static void on_changed(const struct fed_token_changed *r, void *userdata)
{
    struct change *c = userdata;
    struct rtr_tokens *t = c->t;

    if (r->sequence > 0)
        rtr_token_lookups_drop(t->lookups, r->sequence);
    if (r->status >= 0 && c->cancel)
        rtr_token_table_drop(t->table, r->sequence);
    else if (r->status >= 0)
        rtr_token_table_renewed(t->table, r->sequence, r->expires_ms);
    c->done(&(struct rtr_token_answer){ .status = r->status,
                                        .java_class = r->java_class,
                                        .text = r->text,
                                        .expires_ms = r->expires_ms },
            c->userdata);
    free(c);
}

static void change(struct rtr_tokens *t, bool cancel, const struct yarn_token *token,
                   const struct yarn_token_caller *who, rtr_token_done done, void *userdata)
{
    const struct fed_token_change q = { .cancel = cancel,
                                        .token = token,
                                        .who = *who,
                                        .self = sv_streq(who->full_name, t->cfg.self),
                                        .renew_ms = t->cfg.conf->renew_ms };
    struct change *c = calloc(1, sizeof(*c));

    if (!c) {
        no_memory(done, userdata);
        return;
    }
    *c = (struct change){ t, cancel, done, userdata };
    fed_token_change(t->cfg.store, &q, on_changed, c);
}

void rtr_tokens_renew(struct rtr_tokens *t, const struct yarn_token *token,
                      const struct yarn_token_caller *who, rtr_token_done done, void *userdata)
{
    change(t, false, token, who, done, userdata);
}

void rtr_tokens_cancel(struct rtr_tokens *t, const struct yarn_token *token,
                       const struct yarn_token_caller *who, rtr_token_done done, void *userdata)
{
    change(t, true, token, who, done, userdata);
}

/* ---- Logins ---- */

static int verdict(const struct rtr_token_row *row, const uint8_t *id, size_t id_len,
                   const struct yarn_delegation_token *what, const char **ret_class,
                   struct sv_error *err)
{
    const int64_t now = sv_wall_ms();
    const bool later = fed_error_away(row->error) || row->error == -ENOMEM;

    if (row->error == -ENOENT ||
        (row->error == 0 && !yarn_bytes_equal(row->id, row->id_len, id, id_len)))
        return yarn_delegation_not_found(err);
    if (row->error < 0)
        return yarn_delegation_refuse(err, ret_class, later ? JAVA_RETRIABLE : JAVA_INVALID_TOKEN,
                                      "the federation's state store does not say whose the token "
                                      "is: %s",
                                      strerror(-row->error));
    if (row->renew_ms < now || what->max_ms < now)
        return yarn_delegation_expired(what, now, row->renew_ms, err);
    return 0;
}

int rtr_tokens_verify(struct rtr_tokens *t, const struct in6_addr *from, const uint8_t *id,
                      size_t id_len, uint8_t ret_password[64], size_t *ret_password_len,
                      char ret_user[SASL_USER_MAX], const char **ret_class, struct sv_error *err)
{
    const struct rtr_token_row *row = NULL;
    struct yarn_delegation_token what;
    int r = yarn_delegation_token_decode(id, id_len, &what, err);

    if (r < 0)
        return r;
    if (what.sequence <= 0)
        return yarn_delegation_not_found(err);
    r = rtr_token_lookups_get(t->lookups, what.sequence, from, &row);
    if (r == -EAGAIN)
        return r;
    if (r < 0)
        return yarn_delegation_refuse(err, ret_class, JAVA_RETRIABLE,
                                      "the Router reads many tokens of the state store; try again");
    r = verdict(row, id, id_len, &what, ret_class, err);
    if (r >= 0)
        r = account_of(t, what.owner, ret_user, err);
    if (r < 0)
        return r;
    memcpy(ret_password, row->password, row->password_len);
    *ret_password_len = row->password_len;
    return 0;
}
