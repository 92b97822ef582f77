/* See keys.h. */
#include "nodemanager/amrmproxy/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/store/state-store.h"
#include "wire/token/key-roll.h"

#define KEY_LEN 32
#define CURRENT NM_STORE_AMRM_KEYS "current"
#define NEXT NM_STORE_AMRM_KEYS "next"
#define LOOK_MS 60000 /* between looks at the age, at most */

struct pending { /* a new key, until it is on disk */
    struct nm_amrm_keys *keys;
    struct yarn_master_key key;
};

struct nm_amrm_keys {
    struct nm_store *store;
    enum yarn_hmac hmac;
    int64_t roll_ms, delay_ms;
    struct yarn_key_roll roll;
    struct pending *pending;
    sd_event_source *timer;
};

/* ---- Tokens ---- */

int nm_amrm_keys_token(const struct nm_amrm_keys *k, struct yarn_attempt_id id, struct sv_arena *a,
                       struct yarn_token *ret)
{
    const struct yarn_master_key *key = yarn_key_roll_newest(&k->roll);
    const struct yarn_amrm_token t = { .attempt = id, .key_id = key->key_id };
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);
    int r;

    if (!password)
        return -ENOMEM;
    *ret = (struct yarn_token){ .kind = YARN_KIND_AMRM, .service = "", .password = password };
    r = yarn_amrm_token_encode(a, &t, &ret->id, &ret->id_len);
    if (r < 0)
        return r;
    return yarn_token_password(k->hmac, key, ret->id, ret->id_len, password, &ret->password_len);
}

bool nm_amrm_keys_rolled(const struct nm_amrm_keys *k, int32_t key_id)
{
    return yarn_key_roll_newest(&k->roll)->key_id != key_id;
}

int nm_amrm_keys_password(const struct nm_amrm_keys *k, int32_t key_id, const uint8_t *id,
                          size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX], size_t *ret_len)
{
    const struct yarn_master_key *key = yarn_key_roll_find(&k->roll, key_id);

    return key ? yarn_token_password(k->hmac, key, id, id_len, ret, ret_len) : -ENOKEY;
}

/* ---- Rolling ---- */

static void free_pending(struct pending *p)
{
    explicit_bzero(p, sizeof(*p));
    free(p);
}

static void on_recorded(void *userdata, int result)
{
    struct pending *p = userdata;
    struct nm_amrm_keys *k = p->keys;

    if (k)
        k->pending = NULL;
    if (k && result >= 0) {
        yarn_key_roll_add(&k->roll, &p->key, sv_now_ms());
        sv_log_info("rolled master key of the AMRMProxy's tokens, new id %d", p->key.key_id);
    } else if (k) {
        sv_log_warning("master key of the AMRMProxy's tokens: the next one could not be recorded; "
                       "trying again");
    }
    free_pending(p);
}

static int make_next(struct nm_amrm_keys *k)
{
    struct pending *p = calloc(1, sizeof(*p));
    int r = p ? yarn_key_roll_make(&k->roll, KEY_LEN, &p->key) : -ENOMEM;

    if (r >= 0)
        r = nm_store_key(k->store, NEXT, &p->key);
    if (r >= 0)
        r = nm_store_after_commit(k->store, on_recorded, p);
    if (r < 0) {
        free(p);
        return r;
    }
    p->keys = k;
    k->pending = p;
    return 0;
}

/* A daemon that is killed before the commit has the next key as such once more. */
static int activate(struct nm_amrm_keys *k)
{
    int r = nm_store_key(k->store, CURRENT, &k->roll.next);

    if (r >= 0)
        r = nm_store_key_remove(k->store, NEXT);
    if (r >= 0)
        yarn_key_roll_activate(&k->roll);
    return r;
}

static int64_t look_ms(const struct nm_amrm_keys *k)
{
    return SV_MAX(SV_MIN(SV_MIN(k->roll_ms, k->delay_ms), LOOK_MS), 1);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_amrm_keys *k = userdata;
    int r = 0;

    (void)usec;
    switch (yarn_key_roll_due(&k->roll, k->roll_ms, k->delay_ms, sv_now_ms())) {
    case YARN_KEY_ROLL_MAKE:
        r = k->pending ? 0 : make_next(k);
        break;
    case YARN_KEY_ROLL_ACTIVATE:
        r = activate(k);
        break;
    case YARN_KEY_ROLL_NOTHING:
        break;
    }
    if (r < 0)
        sv_log_warning("master key of the AMRMProxy's tokens: cannot be rolled: %s; trying again",
                       strerror(-r));
    (void)sd_event_source_set_time_relative(s, (uint64_t)look_ms(k) * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* ours, ignoring */
    return 0;
}

/* ---- Life ---- */

static int recover_key(const char *name, const struct yarn_master_key *key, void *userdata)
{
    struct nm_amrm_keys *k = userdata;

    if (strcmp(name, CURRENT) == 0)
        k->roll.current = *key;
    else if (strcmp(name, NEXT) == 0)
        k->roll.next = *key;
    return 0;
}

/* The age of a key is counted anew from here, as Hadoop does. */
static int recover(struct nm_amrm_keys *k)
{
    bool had;
    int r = nm_store_each_key(k->store, recover_key, k);

    if (r < 0)
        return r;
    had = k->roll.current.len > 0;
    k->roll.made_ms = sv_now_ms();
    if (!had && k->roll.next.len) /* never written so */
        explicit_bzero(&k->roll.next, sizeof(k->roll.next));
    if (had)
        return 0;
    r = yarn_key_roll_init(&k->roll, KEY_LEN, sv_now_ms());
    if (r >= 0)
        r = nm_store_key(k->store, CURRENT, &k->roll.current);
    return r < 0 ? r : nm_store_flush(k->store);
}

int nm_amrm_keys_new(sd_event *event, struct nm_store *store, const struct nm_conf_amrmproxy *conf,
                     enum yarn_hmac hmac, struct nm_amrm_keys **ret, struct sv_error *err)
{
    struct nm_amrm_keys *k = calloc(1, sizeof(*k));
    int r;

    if (!k)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    *k = (struct nm_amrm_keys){
        .store = store, .hmac = hmac, .roll_ms = conf->roll_ms, .delay_ms = conf->delay_ms
    };
    r = recover(k);
    if (r >= 0)
        r = sd_event_add_time_relative(event, &k->timer, CLOCK_BOOTTIME,
                                       (uint64_t)look_ms(k) * 1000, 0, on_timer, k);
    if (r < 0) {
        nm_amrm_keys_free(k);
        return sv_error_errno(err, r, "master key of the AMRMProxy's tokens");
    }
    *ret = k;
    return 0;
}

struct nm_amrm_keys *nm_amrm_keys_free(struct nm_amrm_keys *k)
{
    if (!k)
        return NULL;
    if (k->pending)
        k->pending->keys = NULL;
    sd_event_source_disable_unref(k->timer);
    explicit_bzero(k, sizeof(*k));
    free(k);
    return NULL;
}
