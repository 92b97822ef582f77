/* See token-secret-managers.h. Every comparison of secrets takes constant time; no message contains
 * a key or a password. */
#include "nodemanager/core/token-secret-managers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/store/state-store.h"
#include "wire/ipc/ipc-server.h"

#define SWEEP_MS 10000 /* minimum time between two expiries of used tokens */
/* Minimum and maximum time for which a used token is remembered. */
#define REMEMBER_MIN_MS (10 * 60 * 1000)
#define REMEMBER_MAX_MS (INT64_C(7) * 24 * 3600 * 1000)

struct attempt_key { /* the key of an attempt's NMToken */
    UT_hash_handle hh;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_attempt_id id;
    struct yarn_master_key key;
};

struct used_token {
    UT_hash_handle hh;
    char text[YARN_ID_TEXT_MAX];
    int64_t expiry_ms; /* wall clock, from the token */
    int64_t keep_ms;   /* monotonic: wall clock jumps must not allow a replay */
};

struct key_pair {
    const char *current_name, *previous_name;
    struct yarn_master_key current, previous;
    bool has_current, has_previous;
};

struct nm_secrets {
    struct nm_store *store;
    enum yarn_hmac hmac;
    struct yarn_node_id node;
    char node_text[264];
    struct key_pair nm, container;
    struct attempt_key *attempts;
    struct used_token *used;
    int64_t swept_ms; /* monotonic */
    bool warned_weak; /* logged once, not at every roll */
};

int nm_secrets_new(struct nm_store *store, enum yarn_hmac hmac, struct nm_secrets **ret)
{
    struct nm_secrets *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->store = store;
    s->hmac = hmac;
    s->nm.current_name = "nm.current";
    s->nm.previous_name = "nm.previous";
    s->container.current_name = "container.current";
    s->container.previous_name = "container.previous";
    *ret = s;
    return 0;
}

struct nm_secrets *nm_secrets_free(struct nm_secrets *s)
{
    struct attempt_key *a, *atmp;
    struct used_token *u, *utmp;

    if (!s)
        return NULL;
    HASH_ITER (hh, s->attempts, a, atmp) {
        HASH_DEL(s->attempts, a);
        explicit_bzero(a, sizeof(*a));
        free(a);
    }
    HASH_ITER (hh, s->used, u, utmp) {
        HASH_DEL(s->used, u);
        free(u);
    }
    explicit_bzero(s, sizeof(*s));
    free(s);
    return NULL;
}

void nm_secrets_set_node(struct nm_secrets *s, const struct yarn_node_id *node)
{
    s->node = *node;
    yarn_node_id_text(node, s->node_text);
}

/* ---- keys -----------------------------------------------------------------------------------*/

static int set_key(struct nm_secrets *s, struct key_pair *p, const Hadoop__Yarn__MasterKeyProto *m)
{
    struct yarn_master_key k = { 0 };
    int r = 0;

    if (!m || !m->has_key_id || !m->has_bytes || m->bytes.len == 0 ||
        m->bytes.len > YARN_MASTER_KEY_MAX)
        return -EBADMSG;
    k.key_id = m->key_id;
    k.len = m->bytes.len;
    memcpy(k.bytes, m->bytes.data, k.len);
    if (p->has_current && p->current.key_id == k.key_id &&
        yarn_bytes_equal(p->current.bytes, p->current.len, k.bytes, k.len))
        return 0;
    if (p->has_current && p->current.key_id != k.key_id) {
        p->previous = p->current;
        p->has_previous = true;
        r = nm_store_key(s->store, p->previous_name, &p->previous);
    }
    p->current = k;
    p->has_current = true;
    if (r >= 0)
        r = nm_store_key(s->store, p->current_name, &p->current);
    sv_log_info("rolled master key %s, new id %d", p->current_name, k.key_id);
    if (yarn_master_key_weak(&k) && !s->warned_weak) {
        s->warned_weak = true;
        sv_log_warning(
            "master key %s has only %zu bytes, Hadoop's default: every holder of a token can "
            "find it by trying; raise hadoop.security.secret-manager.key-length on the "
            "ResourceManager",
            p->current_name, k.len);
    }
    return r;
}

int nm_secrets_set_nm_key(struct nm_secrets *s, const Hadoop__Yarn__MasterKeyProto *key)
{
    return set_key(s, &s->nm, key);
}
int nm_secrets_set_container_key(struct nm_secrets *s, const Hadoop__Yarn__MasterKeyProto *key)
{
    return set_key(s, &s->container, key);
}
const struct yarn_master_key *nm_secrets_nm_key(const struct nm_secrets *s)
{
    return s->nm.has_current ? &s->nm.current : NULL;
}
const struct yarn_master_key *nm_secrets_container_key(const struct nm_secrets *s)
{
    return s->container.has_current ? &s->container.current : NULL;
}

static const struct yarn_master_key *find_key(const struct key_pair *p, int32_t id)
{
    if (p->has_previous && p->previous.key_id == id)
        return &p->previous;
    if (p->has_current && p->current.key_id == id)
        return &p->current;
    return NULL;
}

static struct attempt_key *find_attempt(struct nm_secrets *s, const char *text)
{
    struct attempt_key *a = NULL;

    HASH_FIND_STR(s->attempts, text, a);
    return a;
}

/* ---- NMTokens -------------------------------------------------------------------------------*/

int nm_secrets_verify_nm_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                               size_t *ret_password_len, char ret_user[256], const char **ret_class,
                               struct sv_error *err, void *userdata)
{
    struct nm_secrets *s = userdata;
    const struct yarn_master_key *key;
    struct yarn_nm_token t;
    struct attempt_key *old;
    char attempt[YARN_ID_TEXT_MAX], node[264];
    int r;

    *ret_class = JAVA_INVALID_TOKEN;
    r = yarn_nm_token_decode(id, id_len, &t, err);
    if (r < 0)
        return r;
    yarn_attempt_id_text(t.attempt, attempt);
    yarn_node_id_text(&t.node, node);
    if (strcmp(node, s->node_text) != 0)
        return sv_error_set(err, -EACCES,
                            "Given NMToken for application : %s is not valid for "
                            "current node manager.expected : %s found : %s",
                            attempt, s->node_text, node);
    key = find_key(&s->nm, t.key_id);
    if (!key) { /* a known attempt may continue with its first key */
        old = find_attempt(s, attempt);
        key = old ? &old->key : NULL;
    }
    if (!key)
        return sv_error_set(err, -EACCES,
                            "Given NMToken for application : %s seems to have been "
                            "generated illegally.",
                            attempt);
    r = yarn_token_password(s->hmac, key, id, id_len, ret_password, ret_password_len);
    if (r < 0)
        return sv_error_errno(err, r, "NMToken of %s", attempt);
    snprintf(ret_user, 256, "%s", attempt);
    return 0;
}

int nm_secrets_attempt_starts(struct nm_secrets *s, const struct yarn_nm_token *t,
                              struct sv_error *err)
{
    const struct yarn_master_key *key;
    struct attempt_key *a;
    char text[YARN_ID_TEXT_MAX];

    yarn_attempt_id_text(t->attempt, text);
    a = find_attempt(s, text);
    if (a && a->key.key_id == t->key_id)
        return 0;
    key = find_key(&s->nm, t->key_id);
    if (!key)
        return sv_error_set(err, -EACCES,
                            "Older NMToken should not be used while starting the container.");
    if (!a) {
        a = calloc(1, sizeof(*a));
        if (!a)
            return sv_error_errno(err, -ENOMEM, "%s", text);
        memcpy(a->text, text, sizeof(text));
        a->id = t->attempt;
        HASH_ADD_STR(s->attempts, text, a);
    }
    a->key = *key;
    return nm_store_key(s->store, a->text, &a->key);
}

void nm_secrets_app_finished(struct nm_secrets *s, struct yarn_app_id app)
{
    struct attempt_key *a, *tmp;
    int r;

    HASH_ITER (hh, s->attempts, a, tmp) {
        if (yarn_app_id_cmp(a->id.app, app) != 0)
            continue;
        r = nm_store_key_remove(s->store, a->text);
        if (r < 0)
            sv_log_err("%s: cannot remove its key from state store: %s", a->text, strerror(-r));
        HASH_DEL(s->attempts, a);
        explicit_bzero(a, sizeof(*a));
        free(a);
    }
}

/* ---- ContainerTokens ------------------------------------------------------------------------*/

int nm_secrets_verify_container_token(struct nm_secrets *s, const struct yarn_token *token,
                                      struct yarn_container_token *ret, struct sv_error *err)
{
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    const struct yarn_master_key *key;
    struct yarn_container_token t;
    char container[YARN_ID_TEXT_MAX];
    size_t len;
    bool same;
    int r;

    r = yarn_container_token_decode(token->id, token->id_len, &t, err);
    if (r < 0)
        return -EBADMSG;
    yarn_container_id_text(t.container, container);
    if (strcmp(t.nm_addr, s->node_text) != 0)
        return sv_error_set(err, -EACCES,
                            "Given Container %s identifier is not valid for current "
                            "Node manager. Expected : %s Found : %s",
                            container, s->node_text, t.nm_addr);
    key = find_key(&s->container, t.key_id);
    if (!key)
        return sv_error_set(err, -EACCES,
                            "Given Container %s seems to have an illegally "
                            "generated token.",
                            container);
    r = yarn_token_password(s->hmac, key, token->id, token->id_len, password, &len);
    if (r < 0)
        return sv_error_errno(err, r, "ContainerToken of %s", container);
    same = yarn_bytes_equal(password, len, token->password, token->password_len);
    explicit_bzero(password, sizeof(password));
    if (!same)
        return sv_error_set(err, -EACCES,
                            "Invalid container token used for starting container "
                            "on : %s",
                            s->node_text);
    *ret = t;
    return 0;
}

static void sweep(struct nm_secrets *s)
{
    int64_t wall = sv_wall_ms(), now = sv_now_ms(), gone = wall;
    struct used_token *u, *tmp;
    int r;

    if (now - s->swept_ms < SWEEP_MS)
        return;
    s->swept_ms = now;
    HASH_ITER (hh, s->used, u, tmp) {
        if (u->expiry_ms >= wall || u->keep_ms > now) {
            gone = SV_MIN(gone, u->expiry_ms);
            continue;
        }
        HASH_DEL(s->used, u);
        free(u);
    }
    r = nm_store_used_tokens_expire(s->store, gone);
    if (r < 0)
        sv_log_err("cannot remove expired container tokens from state store: %s", strerror(-r));
}

bool nm_secrets_token_used(struct nm_secrets *s, const char *container, int64_t *ret_expiry_ms)
{
    struct used_token *u = NULL;

    sweep(s);
    HASH_FIND_STR(s->used, container, u);
    if (u && ret_expiry_ms)
        *ret_expiry_ms = u->expiry_ms;
    return u != NULL;
}

static int remember(struct nm_secrets *s, const char *container, int64_t expiry_ms)
{
    int64_t left = expiry_ms - SV_MIN(sv_wall_ms(), expiry_ms);
    struct used_token *u = NULL;

    HASH_FIND_STR(s->used, container, u);
    if (!u) {
        u = calloc(1, sizeof(*u));
        if (!u)
            return -ENOMEM;
        snprintf(u->text, sizeof(u->text), "%s", container);
        HASH_ADD_STR(s->used, text, u);
    }
    u->expiry_ms = expiry_ms;
    u->keep_ms = sv_now_ms() + SV_MAX(SV_MIN(left, REMEMBER_MAX_MS), REMEMBER_MIN_MS);
    return 0;
}

int nm_secrets_use_token(struct nm_secrets *s, const char *container, int64_t expiry_ms)
{
    int r = remember(s, container, expiry_ms);

    return r < 0 ? r : nm_store_used_token(s->store, container, expiry_ms);
}

/* ---- recovery -------------------------------------------------------------------------------*/

static int recover_key(const char *name, const struct yarn_master_key *k, void *userdata)
{
    struct nm_secrets *s = userdata;
    struct attempt_key *a;
    struct yarn_attempt_id id;
    struct key_pair *pairs[] = { &s->nm, &s->container };

    if (sv_has_prefix(name, NM_STORE_AMRM_KEYS)) /* another manager's */
        return 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(pairs); i++) {
        if (!strcmp(name, pairs[i]->current_name)) {
            pairs[i]->current = *k;
            pairs[i]->has_current = true;
            return 0;
        }
        if (!strcmp(name, pairs[i]->previous_name)) {
            pairs[i]->previous = *k;
            pairs[i]->has_previous = true;
            return 0;
        }
    }
    if (yarn_attempt_id_parse(name, &id) < 0)
        return -EBADMSG;
    a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    snprintf(a->text, sizeof(a->text), "%s", name);
    a->id = id;
    a->key = *k;
    HASH_ADD_STR(s->attempts, text, a);
    return 0;
}

static int recover_used(const char *container, int64_t expiry_ms, void *userdata)
{
    return remember(userdata, container, expiry_ms);
}

int nm_secrets_recover(struct nm_secrets *s)
{
    int r = nm_store_each_key(s->store, recover_key, s);

    return r < 0 ? r : nm_store_each_used_token(s->store, recover_used, s);
}
