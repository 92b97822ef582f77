/* RM delegation tokens. See delegation.h. Identifiers and passwords that peers present are hostile:
 * a connection's identifier is only looked up, those of requests are decoded for Hadoop's texts. */
#include "rm-lite/security/delegation.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/store/store-tokens.h"
#include "wire/exceptions.h"
#include "wire/token/delegation-rules.h"

#define SCAN_BATCH 256 /* tokens a tick */

struct token {
    UT_hash_handle hh; /* by identifier */
    struct token *prev, *next;
    int64_t renew_ms; /* valid until then, unless renewed */
    int32_t sequence;
    size_t id_len;
    uint8_t id[];
};

struct key {
    struct rm_stored_key k;
    struct key *next;
};

struct rm_delegation {
    struct token *by_id, *list;
    struct key *keys;          /* newest first */
    struct rm_name_set *users; /* number: tokens of the user */
    int32_t sequence;
    int64_t scanned_ms; /* 0: scan at once */
    size_t to_scan;     /* rest of the scan in progress */
};

/* ---- Keys ---- */

static const struct rm_stored_key *key_find(const struct rm_delegation *d, int32_t id)
{
    const struct key *k;

    LL_FOREACH (d->keys, k)
        if (k->k.key.key_id == id)
            return &k->k;
    return NULL;
}

static int by_age(const struct key *a, const struct key *b)
{
    return a->k.key.key_id > b->k.key.key_id ? -1 : 1;
}

static void key_loaded(struct rm *rm, const struct rm_stored_key *stored)
{
    struct key *k = calloc(1, sizeof(*k));

    if (!k)
        sv_out_of_memory();
    k->k = *stored;
    LL_INSERT_INORDER(rm->delegation->keys, k, by_age);
}

static void key_free(struct key *k)
{
    OPENSSL_cleanse(k, sizeof(*k));
    free(k);
}

static void drop_old_keys(struct rm *rm, int64_t now)
{
    struct rm_delegation *d = rm->delegation;
    struct key *k, *tmp;

    LL_FOREACH_SAFE (d->keys, k, tmp)
        if (k != d->keys && k->k.expires_ms < now) {
            rm_store_token_key_remove(rm, k->k.key.key_id);
            LL_DELETE(d->keys, k);
            key_free(k);
        }
}

/* Rolls a key whose interval has passed. Tokens of the one before may live for max-lifetime. */
static int roll(struct rm *rm, int64_t now, struct sv_error *err)
{
    struct rm_delegation *d = rm->delegation;
    struct rm_stored_key fresh = { .made_ms = now };
    int r;

    if (d->keys && now - d->keys->k.made_ms < rm->conf.delegation_key_ms)
        return 0;
    r = yarn_master_key_generate(
        d->keys && d->keys->k.key.key_id < INT32_MAX ? d->keys->k.key.key_id + 1 : 1,
        rm->secrets->key_len, &fresh.key);
    if (r < 0)
        return sv_error_errno(err, r, "delegation tokens: no random bytes for a key");
    if (d->keys) {
        d->keys->k.expires_ms = now + rm->conf.delegation_max_ms;
        rm_store_token_key(rm, &d->keys->k);
    }
    fresh.expires_ms = now + rm->conf.delegation_key_ms + rm->conf.delegation_max_ms;
    key_loaded(rm, &fresh);
    rm_store_token_key(rm, &fresh);
    drop_old_keys(rm, now);
    OPENSSL_cleanse(&fresh, sizeof(fresh));
    return 0;
}

/* ---- The table ---- */

static struct token *find(const struct rm_delegation *d, const uint8_t *id, size_t len)
{
    struct token *t;

    HASH_FIND(hh, d->by_id, id, len, t);
    return t;
}

/* The user whose limit the token counts against: a proxy user has no more tokens than others. */
static const char *holder(const struct yarn_delegation_token *t)
{
    return *t->real_user ? t->real_user : t->owner;
}

static struct token *insert(struct rm_delegation *d, const struct yarn_delegation_token *what,
                            const uint8_t *id, size_t len, int64_t renew_ms)
{
    struct token *t = calloc(1, sizeof(*t) + len);

    if (!t)
        sv_out_of_memory();
    t->sequence = what->sequence;
    t->renew_ms = renew_ms;
    t->id_len = len;
    memcpy(t->id, id, len);
    HASH_ADD_KEYPTR(hh, d->by_id, t->id, t->id_len, t);
    DL_APPEND(d->list, t);
    rm_set_add(&d->users, holder(what))->number++;
    return t;
}

/* Also deletes the row in the store. */
static void drop(struct rm *rm, struct token *t)
{
    struct rm_delegation *d = rm->delegation;
    struct yarn_delegation_token what;
    struct rm_name_set *user = NULL;

    if (yarn_delegation_token_decode(t->id, t->id_len, &what, NULL) >= 0)
        user = rm_set_get(d->users, holder(&what));
    if (user && --user->number <= 0)
        rm_set_remove(&d->users, user->name);
    rm_store_token_remove(rm, t->sequence);
    HASH_DEL(d->by_id, t);
    DL_DELETE(d->list, t);
    free(t);
}

static void token_loaded(struct rm *rm, int32_t sequence, const uint8_t *id, size_t len,
                         int64_t renew_ms)
{
    struct rm_delegation *d = rm->delegation;
    struct yarn_delegation_token what;
    struct sv_error err = { 0 };

    if (yarn_delegation_token_decode(id, len, &what, &err) < 0 || what.sequence != sequence) {
        sv_log_warning("state store: dropping delegation token %d: %s", sequence,
                       *err.text ? err.text : "its identifier has another number");
        rm_store_token_remove(rm, sequence);
        return;
    }
    d->sequence = SV_MAX(d->sequence, sequence);
    if (!find(d, id, len))
        (void)insert(d, &what, id, len, key_find(d, what.key_id) ? renew_ms : 0);
}

int rm_delegation_new(struct rm *rm, struct sv_error *err)
{
    static const struct rm_store_tokens to = { key_loaded, token_loaded };
    struct rm_delegation *d = calloc(1, sizeof(*d));
    int32_t sequence;
    int r;

    if (!d)
        return -ENOMEM;
    rm->delegation = d;
    r = rm_store_tokens_load(rm, &to, &sequence, err);
    if (r < 0)
        return r;
    d->sequence = SV_MAX(d->sequence, sequence);
    if (d->by_id)
        sv_log_notice("state store: %zu delegation tokens", rm_delegation_count(rm));
    return roll(rm, sv_wall_ms(), err);
}

void rm_delegation_free(struct rm *rm)
{
    struct rm_delegation *d = rm->delegation;
    struct token *t, *tmp;
    struct key *k, *ktmp;

    rm->delegation = NULL;
    if (!d)
        return;
    HASH_ITER (hh, d->by_id, t, tmp) {
        HASH_DEL(d->by_id, t);
        free(t);
    }
    LL_FOREACH_SAFE (d->keys, k, ktmp)
        key_free(k);
    rm_set_clear(&d->users);
    free(d);
}

size_t rm_delegation_count(const struct rm *rm)
{
    return HASH_COUNT(rm->delegation->by_id);
}

/* Moves each scanned token to the end of the list. */
void rm_delegation_tick(struct rm *rm)
{
    struct rm_delegation *d = rm->delegation;
    int64_t now = sv_wall_ms();
    struct sv_error err = { 0 };

    if (roll(rm, now, &err) < 0)
        sv_log_err("%s; keeping the old one", err.text);
    if (!d->to_scan && now - d->scanned_ms >= rm->conf.delegation_scan_ms) {
        d->scanned_ms = now;
        d->to_scan = HASH_COUNT(d->by_id);
    }
    for (int i = 0; i < SCAN_BATCH && d->to_scan && d->list; i++, d->to_scan--) {
        struct token *t = d->list;

        if (t->renew_ms < now) {
            drop(rm, t);
        } else {
            DL_DELETE(d->list, t);
            DL_APPEND(d->list, t);
        }
    }
    if (!d->list)
        d->to_scan = 0;
}

/* ---- Requests ---- */

static int password_of(const struct rm *rm, const struct rm_stored_key *key, const uint8_t *id,
                       size_t len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX], size_t *ret_len)
{
    return yarn_token_password(rm->secrets->hmac, &key->key, id, len, ret, ret_len);
}

static int within_limits(const struct rm *rm, const struct yarn_delegation_token *t,
                         const char **ret_class, struct sv_error *err)
{
    const struct rm_delegation *d = rm->delegation;
    const struct rm_name_set *user = rm_set_get(d->users, holder(t));

    if (user && user->number >= rm->conf.delegation_per_user)
        return yarn_delegation_refuse(err, ret_class, JAVA_IO_EXCEPTION,
                                      "%s has %lld delegation tokens, as many as "
                                      "selvedge.rm.delegation-tokens-per-user allows: cancel some",
                                      holder(t), (long long)user->number);
    if (HASH_COUNT(d->by_id) >= RM_DELEGATION_TOKENS_MAX)
        return yarn_delegation_refuse(
            err, ret_class, JAVA_IO_EXCEPTION,
            "there are %d delegation tokens, and no more are kept: cancel some",
            RM_DELEGATION_TOKENS_MAX);
    return 0;
}

/* The account of a name, which with Kerberos may be a principal. */
static int account_of(const struct rm *rm, const char *name, char ret[SASL_USER_MAX],
                      struct sv_error *err)
{
    if (rm->conf.kerberos.own.on)
        return sv_auth_to_local(rm->conf.kerberos.own.rules, name, strlen(name), ret, err);
    if (strlen(name) >= SASL_USER_MAX)
        return sv_error_set(err, -EINVAL, "a name of more than %d bytes", SASL_USER_MAX - 1);
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

int rm_delegation_issue(struct rm *rm, struct sv_arena *a, const char *owner, const char *renewer,
                        const char *real_user, struct yarn_token *ret, const char **ret_class,
                        struct sv_error *err)
{
    struct rm_delegation *d = rm->delegation;
    const struct rm_stored_key *key = &d->keys->k;
    int64_t now = sv_wall_ms();
    struct yarn_delegation_token what = { .issue_ms = now,
                                          .max_ms = now + rm->conf.delegation_max_ms,
                                          .key_id = key->key.key_id,
                                          .sequence =
                                              d->sequence < INT32_MAX ? d->sequence + 1 : 1 };
    struct yarn_token t = { .kind = YARN_KIND_RM_DELEGATION, .service = "" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    char account[SASL_USER_MAX] = "";
    int r;

    *ret_class = JAVA_IO_EXCEPTION;
    if (rm->conf.kerberos.own.on && *renewer) {
        if (account_of(rm, renewer, account, NULL) < 0)
            return yarn_delegation_refuse(
                err, ret_class, JAVA_ILLEGAL_ARGUMENT,
                "no rule of hadoop.security.auth_to_local gives the renewer %.256s an "
                "account",
                renewer);
        renewer = account;
    }
    if ((r = yarn_delegation_names(&what, owner, renewer, real_user, ret_class, err)) < 0 ||
        (r = within_limits(rm, &what, ret_class, err)) < 0)
        return r;
    r = yarn_delegation_token_encode(a, &what, &t.id, &t.id_len);
    if (r >= 0)
        r = password_of(rm, key, t.id, t.id_len, password, &t.password_len);
    if (r >= 0 && !(t.password = sv_arena_memdup(a, password, t.password_len)))
        r = -ENOMEM;
    if (r < 0)
        return sv_error_errno(err, r, "delegation token of %s", what.owner);
    d->sequence = what.sequence;
    rm_store_token_sequence(rm, d->sequence);
    (void)insert(d, &what, t.id, t.id_len, now + rm->conf.delegation_renew_ms);
    rm_store_token(rm, what.sequence, t.id, t.id_len, now + rm->conf.delegation_renew_ms);
    *ret = t;
    return 0;
}

int64_t rm_delegation_expires(const struct rm *rm, const struct yarn_token *t)
{
    const struct token *own = find(rm->delegation, t->id, t->id_len);

    return own ? own->renew_ms : 0;
}

/* With Kerberos many principals may have one account, such as all nodes. */
static bool is_self(const struct rm *rm, const struct yarn_token_caller *who)
{
    return rm->conf.kerberos.own.on ? sv_streq(who->full_name, rm->conf.kerberos.own.principal)
                                    : sv_streq(who->user, rm->login_user);
}

static int check_password(const struct rm *rm, const struct yarn_delegation_token *what,
                          const struct yarn_token *t, const char *user, bool cancel,
                          const char **ret_class, struct sv_error *err)
{
    const struct rm_stored_key *key = key_find(rm->delegation, what->key_id);
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    char text[YARN_DELEGATION_SHOWN_MAX];
    size_t len;
    int r;

    if (!key)
        return yarn_delegation_refuse(
            err, ret_class, JAVA_INVALID_TOKEN,
            "Unable to find master key for keyId=%d from cache. Failed to %s an unexpired token %s "
            "with sequenceNumber=%d",
            what->key_id, cancel ? "cancel" : "renew", yarn_delegation_shown(what, text),
            what->sequence);
    r = password_of(rm, key, t->id, t->id_len, password, &len);
    if (r < 0)
        return sv_error_errno(err, r, "delegation token of %s", what->owner);
    if (!yarn_bytes_equal(password, len, t->password, t->password_len))
        return yarn_delegation_wrong_password(what, user, cancel, ret_class, err);
    return 0;
}

int rm_delegation_renew(struct rm *rm, const struct yarn_token *t,
                        const struct yarn_token_caller *who, int64_t *ret_expires_ms,
                        const char **ret_class, struct sv_error *err)
{
    struct yarn_delegation_token what;
    int64_t now = sv_wall_ms();
    struct token *own;
    int r;

    *ret_class = JAVA_IO_EXCEPTION;
    r = yarn_delegation_token_decode(t->id, t->id_len, &what, err);
    if (r >= 0)
        r = yarn_delegation_may_renew(&what, who, is_self(rm, who), now, ret_class, err);
    if (r >= 0)
        r = check_password(rm, &what, t, who->user, false, ret_class, err);
    if (r < 0)
        return r;
    own = find(rm->delegation, t->id, t->id_len);
    if (!own)
        return yarn_delegation_unknown(&what, false, ret_class, err);
    own->renew_ms = SV_MIN(what.max_ms, now + rm->conf.delegation_renew_ms);
    rm_store_token(rm, own->sequence, own->id, own->id_len, own->renew_ms);
    *ret_expires_ms = own->renew_ms;
    return 0;
}

int rm_delegation_cancel(struct rm *rm, const struct yarn_token *t,
                         const struct yarn_token_caller *who, const char **ret_class,
                         struct sv_error *err)
{
    struct yarn_delegation_token what;
    struct token *own;
    int r;

    *ret_class = JAVA_IO_EXCEPTION;
    r = yarn_delegation_token_decode(t->id, t->id_len, &what, err);
    if (r >= 0)
        r = yarn_delegation_may_cancel(&what, who, ret_class, err);
    if (r < 0)
        return r;
    own = find(rm->delegation, t->id, t->id_len);
    if (!own)
        return yarn_delegation_unknown(&what, true, ret_class, err);
    r = check_password(rm, &what, t, who->user, true, ret_class, err);
    if (r < 0)
        return r;
    drop(rm, own);
    return 0;
}

int rm_delegation_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                         size_t *ret_password_len, char ret_user[256], const char **ret_class,
                         struct sv_error *err, void *userdata)
{
    const struct rm *rm = userdata;
    const struct token *t = find(rm->delegation, id, id_len);
    const struct rm_stored_key *key;
    struct yarn_delegation_token what;
    int64_t now = sv_wall_ms();
    int r;

    (void)ret_class; /* InvalidToken */
    if (!t)
        return yarn_delegation_not_found(err);
    r = yarn_delegation_token_decode(t->id, t->id_len, &what, err);
    if (r < 0)
        return r;
    key = key_find(rm->delegation, what.key_id);
    if (!key || t->renew_ms < now)
        return yarn_delegation_expired(&what, now, t->renew_ms, err);
    r = password_of(rm, key, id, id_len, ret_password, ret_password_len);
    if (r < 0)
        return sv_error_errno(err, r, "delegation token of %s", what.owner);
    return account_of(rm, what.owner, ret_user, err);
}
