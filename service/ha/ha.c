/* See ha.h. */
#include "service/ha/ha.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "service/ha/reading.h"
#include "service/ha/writer.h"

#define LOOK_MAX_MS 1000 /* between two looks at Active */
#define LOOK_MIN_MS 100
#define RESIGNED_MS 5000 /* for another server to become active */
#define ID_BYTES 12
#define URL_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/[]%"
#define NODE_TEXT (2 * ID_BYTES + SVC_HA_URL_MAX + 2)

enum state {          /* each follows the one before it */
             AWAY,    /* there is no session, or it is new */
             OUTSIDE, /* another server is active, or nobody */
             FENCING, /* Active is this server's */
             READING,
             ACTIVE,
};
struct ask;
typedef void (*ask_fn)(struct svc_ha *h, int status, const struct sv_zk_answer *a);

struct svc_ha {
    struct svc_ha_config cfg;
    struct sv_zk *zk;
    char *root, *url;
    char active[SVC_HA_ROOT_MAX + 16], fence[SVC_HA_ROOT_MAX + 16]; /* paths */
    char id[2 * ID_BYTES + 1], own[NODE_TEXT]; /* of this life of the session */
    char other[SVC_HA_URL_MAX + 1];
    enum state state;
    struct ask *ask;  /* of a step; one at a time */
    struct ask *look; /* for Active, in every state but the first two */
    const char *made; /* how much of the root there is */
    int64_t asked_ms, until_ms, resigned_ms;
    sd_event_source *timer;
    struct svc_ha_reading *reading;
    struct svc_ha_writer *writer;
    int32_t version;            /* of Fence */
    struct svc_lr_store *store; /* the launcher's until it closes it, once this server is active */
    sd_event_source *begin;     /* outside of the library's callback: the launcher reads for long */
    bool ending;
};

/* ---- Requests of a step ---- */

struct ask { /* a request to ZooKeeper; `h` NULL: its caller has gone */
    struct svc_ha *h;
    struct ask **at;
    ask_fn fn;
};

static void on_answer(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct ask *q = userdata;
    struct svc_ha *h = q->h;
    ask_fn fn = q->fn;

    if (h)
        *q->at = NULL;
    free(q);
    if (h)
        fn(h, status, a);
}

static void forget(struct ask **at)
{
    if (*at)
        (*at)->h = NULL;
    *at = NULL;
}

static struct ask *begin(struct svc_ha *h, struct ask **at, ask_fn fn)
{
    struct ask *q = *at ? NULL : malloc(sizeof(*q));

    if (q)
        *q = (struct ask){ h, at, fn };
    *at = q ? q : *at;
    return q;
}

/* One that was not taken: the timer begins again. */
static void sent(struct ask **at, int r)
{
    if (r == 0)
        return;
    free(*at);
    *at = NULL;
}

static void get(struct svc_ha *h, struct ask **at, const char *path, ask_fn fn)
{
    struct ask *q = begin(h, at, fn);

    if (q)
        sent(at, sv_zk_get(h->zk, path, on_answer, q));
}

static void create(struct svc_ha *h, const char *path, const char *text, unsigned mode, ask_fn fn)
{
    struct ask *q = begin(h, &h->ask, fn);

    if (q)
        sent(&h->ask, sv_zk_create(h->zk, path, text, strlen(text), mode, on_answer, q));
}

/* ---- The end of being active ---- */

static void new_id(struct svc_ha *h)
{
    uint8_t bytes[ID_BYTES] = { 0 };

    (void)!getrandom(bytes, sizeof(bytes), 0); /* it is one of many servers' all the same */
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(h->id + 2 * i, 3, "%02x", bytes[i]);
    (void)snprintf(h->own, sizeof(h->own), "%s %s", h->id, h->url);
}

static void step_down(struct svc_ha *h, const char *why)
{
    bool was = h->state == ACTIVE, reads = h->state == READING;

    h->until_ms = 0;
    h->state = OUTSIDE;
    forget(&h->ask);
    forget(&h->look);
    if (h->reading)
        svc_ha_reading_give_up(SV_TAKE(h->reading));
    if (h->store)
        svc_ha_store_end(h->store, why);
    if (h->writer)
        svc_ha_writer_stop(h->writer);
    if (reads && h->store)
        (void)svc_lr_store_close(h->store); /* NULL */
    if (!was)
        return;
    sv_log_warning("frameworks: this server is no longer active: %s", why);
    h->cfg.lost(h->cfg.userdata);
}

/* Its own functions are above this one: the timer frees it. */
static void on_failed(int status, void *userdata)
{
    struct svc_ha *h = userdata;
    char why[128];

    (void)snprintf(why, sizeof(why), "its changes cannot be written to ZooKeeper: %s",
                   strerror(-status));
    if (status != -ESTALE) {
        svc_ha_resign(h, why);
        return;
    }
    step_down(h, "another server has taken over"); /* whose node Active is */
    h->resigned_ms = sv_now_ms();
}

static void on_removed(int status, const struct sv_zk_answer *a, void *userdata)
{
    (void)status; /* it ends with the session, too */
    (void)a;
    (void)userdata;
}

void svc_ha_resign(struct svc_ha *h, const char *why)
{
    if (h->state < FENCING)
        return;
    step_down(h, why);
    h->resigned_ms = sv_now_ms();
    /* As long as the session lives, it is this server's. */
    (void)!sv_zk_remove(h->zk, h->active, SV_ZK_ANY_VERSION, on_removed, NULL); /* see there */
}

/* ---- Becoming active ---- */

static void on_closed(void *userdata)
{
    ((struct svc_ha *)userdata)->store = NULL;
}

static void on_breath(void *userdata)
{
    sv_zk_breathe(((struct svc_ha *)userdata)->zk);
}

static void on_kept(void *userdata)
{
    struct svc_ha *h = userdata;

    if (h->state == ACTIVE)
        h->cfg.kept(h->cfg.userdata);
}

static void on_read(int status, struct svc_ha_texts *texts, struct svc_ha_tree *tree,
                    void *userdata)
{
    struct svc_ha *h = userdata;
    struct svc_ha_writer_config cfg = { .zk = h->zk,
                                        .fence = h->fence,
                                        .id = h->id,
                                        .version = h->version,
                                        .tree = tree,
                                        .kept = on_kept,
                                        .failed = on_failed,
                                        .userdata = h };

    h->reading = NULL;
    if (status == -ENOTCONN || status == -ECANCELED) {
        h->state = FENCING; /* again, with the next connection */
        return;
    }
    if (status == 0)
        status = svc_ha_writer_new(&cfg, &h->writer);
    if (status == 0) {
        h->store = svc_ha_store_new(&(struct svc_ha_store_config){ .root = h->root,
                                                                   .w = h->writer,
                                                                   .texts = texts,
                                                                   .until_ms = &h->until_ms,
                                                                   .breathe = on_breath,
                                                                   .closed = on_closed,
                                                                   .userdata = h });
        status = h->store ? 0 : -ENOMEM;
    }
    if (status < 0) {
        sv_log_err("frameworks: the store in ZooKeeper cannot be read: %s", strerror(-status));
        svc_ha_resign(h, "the store cannot be read");
        return;
    }
    (void)sd_event_source_set_enabled(h->begin, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static int on_begin(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_ha *h = userdata;

    (void)s;
    if (h->state != READING || !h->store)
        return 0;
    h->state = ACTIVE;
    h->other[0] = '\0';
    sv_log_notice("frameworks: this server is active, with %zu nodes of ZooKeeper",
                  svc_ha_writer_tree(h->writer)->n);
    h->cfg.active(h->store, h->cfg.userdata);
    return 0;
}

static void read_all(struct svc_ha *h)
{
    h->state = READING;
    if (svc_ha_read(h->zk, h->root, on_read, h, &h->reading) < 0)
        h->state = FENCING;
}

static void on_fenced(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    if (status < 0)
        return; /* the version was another one's: the timer looks again */
    h->version = a->version;
    read_all(h);
}

static void on_fence_made(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    (void)a;
    h->version = 0;
    if (status == 0)
        read_all(h);
}

static void on_fence(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    char text[NODE_TEXT];
    struct ask *q;

    (void)snprintf(text, sizeof(text), "%s 0", h->id);
    if (status == -ENOENT)
        create(h, h->fence, text, SV_ZK_PERSISTENT, on_fence_made);
    if (status < 0)
        return;
    q = begin(h, &h->ask, on_fenced);
    if (q)
        sent(&h->ask, sv_zk_set(h->zk, h->fence, text, strlen(text), a->version, on_answer, q));
}

static void look(struct svc_ha *h);

static void win(struct svc_ha *h)
{
    if (h->state != OUTSIDE)
        return;
    h->state = FENCING;
    get(h, &h->ask, h->fence, on_fence);
    look(h); /* from its answer on it may act */
}

/* ---- The node Active ---- */

static void on_entered(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    (void)a;
    if (status == 0)
        win(h);
}

static bool may_enter(const struct svc_ha *h)
{
    return h->state == OUTSIDE && !h->store && !h->ending &&
           (h->resigned_ms == 0 || sv_now_ms() - h->resigned_ms >= RESIGNED_MS);
}

/* The text is another server's: its URL is shown to clients. */
static void read_other(struct svc_ha *h, const struct sv_zk_answer *a)
{
    char text[NODE_TEXT];
    const char *url;
    size_t n = SV_MIN(a->len, sizeof(text) - 1);

    memcpy(text, a->data, n);
    text[n] = '\0';
    url = strchr(text, ' ');
    h->other[0] = '\0';
    if (!url || strspn(url + 1, URL_LETTERS) != strlen(url + 1) ||
        (!sv_has_prefix(url + 1, "http://") && !sv_has_prefix(url + 1, "https://")) ||
        strcmp(url + 1, h->url) == 0)
        return;
    (void)snprintf(h->other, sizeof(h->other), "%s", url + 1);
}

static void on_looked(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    bool own = status == 0 && a->len == strlen(h->own) && memcmp(a->data, h->own, a->len) == 0;

    if (status == -ENOENT) {
        h->other[0] = '\0';
        if (h->state > OUTSIDE)
            step_down(h, "its node in ZooKeeper has gone");
        else if (may_enter(h))
            create(h, h->active, h->own, SV_ZK_EPHEMERAL, on_entered);
        return;
    }
    if (status < 0)
        return;
    if (own) {
        /* The session lives for its timeout from when the servers had the question, at least. */
        h->until_ms = h->asked_ms + (int64_t)sv_zk_session_ms(h->zk) * 2 / 3;
        if (may_enter(h))
            win(h); /* the answer to its creation was lost */
        return;
    }
    if (h->state > OUTSIDE)
        step_down(h, "another server is active");
    read_other(h, a);
}

static void look(struct svc_ha *h)
{
    if (h->look)
        return;
    h->asked_ms = sv_now_ms();
    get(h, &h->look, h->active, on_looked);
}

/* ---- The root ---- */

static void make_root(struct svc_ha *h);

static void on_made(struct svc_ha *h, int status, const struct sv_zk_answer *a)
{
    (void)a;
    if (status < 0 && status != -EEXIST) {
        if (status != -ENOTCONN && status != -ECANCELED)
            sv_log_warning("frameworks: %s cannot be made in ZooKeeper: %s", h->root,
                           strerror(-status));
        h->made = NULL; /* the timer begins again */
        return;
    }
    make_root(h);
}

/* "/a", then "/a/b". */
static void make_root(struct svc_ha *h)
{
    char path[SVC_HA_ROOT_MAX + 1];

    if (!h->made)
        h->made = h->root;
    if (!*h->made) {
        h->state = OUTSIDE;
        look(h);
        return;
    }
    h->made += 1 + strcspn(h->made + 1, "/");
    (void)snprintf(path, sizeof(path), "%.*s", (int)(h->made - h->root), h->root);
    create(h, path, "", SV_ZK_PERSISTENT, on_made);
}

/* ---- The session ---- */

static void on_event(enum sv_zk_event what, void *userdata)
{
    struct svc_ha *h = userdata;

    if (what == SV_ZK_EXPIRED) {
        step_down(h, "its session with ZooKeeper has ended");
        new_id(h);
        h->state = AWAY;
        h->made = NULL;
        h->resigned_ms = 0;
    }
    if (what != SV_ZK_UP)
        return;
    if (h->state == ACTIVE && h->writer)
        svc_ha_writer_go_on(h->writer);
    (void)sd_event_source_set_time_relative(h->timer, 0);
    (void)sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

/* A step that is neither under way nor done begins again. */
static void go_on(struct svc_ha *h)
{
    if (h->writer && !h->store)
        h->writer = svc_ha_writer_free(h->writer);
    if (!sv_zk_connected(h->zk))
        return;
    if (h->state == AWAY) {
        if (!h->ask)
            make_root(h);
        return;
    }
    if (h->state == FENCING && !h->ask)
        get(h, &h->ask, h->fence, on_fence);
    look(h);
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_ha *h = userdata;
    int64_t ms = (int64_t)sv_zk_session_ms(h->zk) / 6;

    (void)usec;
    go_on(h);
    ms = SV_MAX(SV_MIN(ms, (int64_t)LOOK_MAX_MS), (int64_t)LOOK_MIN_MS);
    (void)sd_event_source_set_time_relative(s, (uint64_t)ms * 1000); /* a timer, ignoring */
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

/* ---- Life ---- */

int svc_ha_check_root(const char *root)
{
    size_t n = strlen(root);

    return root[0] == '/' && n > 1 && n <= SVC_HA_ROOT_MAX && root[n - 1] != '/' &&
                   !strstr(root, "//") && !strstr(root, "/./") && !strstr(root, "/../")
               ? 0
               : -EINVAL;
}

static int start(struct svc_ha *h, struct sv_error *err)
{
    const struct sv_zk_settings *set = h->cfg.settings;
    const struct sv_zk_config cfg = { .servers = set->servers,
                                      .session_ms = set->session_ms,
                                      .acl = set->acl,
                                      .n_acl = set->n_acl,
                                      .event = on_event,
                                      .userdata = h };
    int r =
        sd_event_add_time_relative(h->cfg.event, &h->timer, CLOCK_MONOTONIC, 0, 1000, on_time, h);

    if (r >= 0)
        r = sd_event_add_defer(h->cfg.event, &h->begin, on_begin, h);
    if (r >= 0)
        r = sd_event_source_set_enabled(h->begin, SD_EVENT_OFF);
    return r < 0 ? sv_error_errno(err, r, "frameworks: timer")
                 : sv_zk_new(h->cfg.event, &cfg, &h->zk, err);
}

int svc_ha_new(const struct svc_ha_config *cfg, struct svc_ha **ret, struct sv_error *err)
{
    struct svc_ha *h = svc_ha_check_root(cfg->root) == 0 && strlen(cfg->url) <= SVC_HA_URL_MAX
                           ? calloc(1, sizeof(*h))
                           : NULL;
    int r;

    if (!h)
        return sv_error_errno(err, -EINVAL, "frameworks: %s", cfg->root);
    h->cfg = *cfg;
    h->root = strdup(cfg->root);
    h->url = strdup(cfg->url);
    if (!h->root || !h->url) {
        (void)svc_ha_free(h); /* NULL */
        return sv_error_errno(err, -ENOMEM, "frameworks");
    }
    (void)snprintf(h->active, sizeof(h->active), "%s/Active", h->root);
    (void)snprintf(h->fence, sizeof(h->fence), "%s/Fence", h->root);
    new_id(h);
    r = start(h, err);
    if (r < 0) {
        (void)svc_ha_free(h); /* NULL */
        return r;
    }
    *ret = h;
    return 0;
}

struct svc_ha *svc_ha_free(struct svc_ha *h)
{
    if (!h)
        return NULL;
    h->ending = true;
    forget(&h->ask);
    forget(&h->look);
    if (h->reading)
        svc_ha_reading_give_up(SV_TAKE(h->reading));
    h->timer = sd_event_source_disable_unref(h->timer);
    h->begin = sd_event_source_disable_unref(h->begin);
    if (h->state == READING && h->store)
        (void)svc_lr_store_close(h->store); /* NULL */
    h->writer = svc_ha_writer_free(h->writer);
    h->zk = sv_zk_end(h->zk); /* another one need not wait for the session's end */
    free(h->root);
    free(h->url);
    free(h);
    return NULL;
}

const char *svc_ha_other(const struct svc_ha *h)
{
    return h->state <= OUTSIDE && h->other[0] ? h->other : NULL;
}
