/* See user-groups.h. A worker's thread knows a `struct groups_job` and nothing else. */
#include "common/user-groups.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/acl.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/static-groups.h"
#include "common/str.h"
#include "common/worker.h"

#define TELL_AGAIN_MS 60000
#define ENTRY_MAX ((size_t)1 << 20) /* bytes of an account or group, with its members */

struct groups_job {
    char *user;
    char **names;
    const char *primary; /* one of the names */
    char why[SV_GROUPS_WHY_MAX];
    struct sv_groups_source source;
};

struct lookup { /* a pending look-up */
    struct lookup *prev, *next;
    struct sv_groups *g;
    struct sv_worker *worker;
};

struct entry {
    UT_hash_handle hh;
    char *user;
    char **names;        /* NULL until they are known */
    const char *primary; /* one of them */
    int64_t time_ms;     /* pending: asked at; known: until */
    bool pending, started;
};

struct sv_groups {
    sd_event *event;
    struct sv_groups_conf conf;
    struct sv_static_groups *overrides;
    struct entry *entries;
    struct lookup *lookups;
    size_t n_pending, n_threads;
    sd_event_source *timer; /* while something is pending */
    bool missed;
    int64_t told_ms; /* of a failure of the source */
};

static char *const nobody[] = { NULL };

/* ---- Name service, on a thread ---- */

static char **add_name(char **names, size_t n, const char *name)
{
    char **more = reallocarray(names, n + 2, sizeof(*names));

    if (!more)
        return sv_strv_free(names);
    more[n] = strdup(name);
    more[n + 1] = NULL;
    return more[n] ? more : sv_strv_free(more);
}

static char *grown(char *buf, size_t *size)
{
    free(buf);
    *size *= 2;
    return *size <= ENTRY_MAX ? malloc(*size) : NULL;
}

static bool primary_group(const char *user, gid_t *ret)
{
    size_t size = 1024;
    char *buf = malloc(size);
    struct passwd pw, *found = NULL;

    while (buf && getpwnam_r(user, &pw, buf, size, &found) == ERANGE)
        buf = grown(buf, &size);
    if (buf && found)
        *ret = pw.pw_gid;
    free(buf);
    return buf && found;
}

static char **add_group(char **names, size_t n, gid_t gid)
{
    size_t size = 4096;
    char *buf = malloc(size);
    struct group gr, *found = NULL;

    while (buf && getgrgid_r(gid, &gr, buf, size, &found) == ERANGE)
        buf = grown(buf, &size);
    if (buf && found)
        names = add_name(names, n, gr.gr_name);
    free(buf);
    return names;
}

static char **ask_name_service(void *data, const char *user, char *why, size_t why_size)
{
    gid_t primary, gids[SV_GROUPS_PER_USER];
    char **names = NULL;
    int n = SV_GROUPS_PER_USER;

    (void)data, (void)why, (void)why_size;
    if (!primary_group(user, &primary))
        return NULL;
    if (getgrouplist(user, primary, gids, &n) < 0)
        n = SV_GROUPS_PER_USER; /* more than fit */
    for (int i = 0; i < n; i++)
        names = add_group(names, sv_strv_len(names), gids[i]);
    return names;
}

static void job_free(void *data)
{
    struct groups_job *j = data;

    sv_strv_free(j->names);
    sv_groups_source_unref(&j->source);
    free(j->user);
    free(j);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void job_run(void *data)
{
    struct groups_job *j = data;

    j->names = j->source.names(j->source.data, j->user, j->why, sizeof(j->why));
    j->primary = j->names ? j->names[0] : NULL;
    if (j->names)
        qsort(j->names, sv_strv_len(j->names), sizeof(*j->names), by_name);
}

/* ---- Cache ---- */

static void entry_free(struct sv_groups *g, struct entry *e)
{
    g->n_pending -= e->pending;
    HASH_DEL(g->entries, e);
    sv_strv_free(e->names);
    free(e->user);
    free(e);
}

/* Makes space by evicting the oldest entry that is not pending. */
static struct entry *entry_add(struct sv_groups *g, const char *user)
{
    struct entry *e, *tmp;

    if (HASH_COUNT(g->entries) >= SV_GROUPS_USERS_MAX) {
        HASH_ITER (hh, g->entries, e, tmp) {
            if (e->pending)
                continue;
            entry_free(g, e);
            break;
        }
    }
    e = calloc(1, sizeof(*e));
    if (!e || !(e->user = strdup(user))) {
        free(e);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, g->entries, e->user, strlen(e->user), e);
    return e;
}

/* Takes ownership of the names. */
static void entry_known(struct sv_groups *g, struct entry *e, char **names, const char *primary)
{
    bool none = !names || !*names;

    sv_strv_free(e->names);
    e->names = names;
    e->primary = primary;
    e->time_ms = sv_now_ms() + (none ? g->conf.negative_ms : g->conf.cache_ms);
    e->pending = e->started = false;
    g->n_pending--;
}

/* ---- Look-ups ---- */

static void lookup_free(struct lookup *l)
{
    DL_DELETE(l->g->lookups, l);
    l->g->n_threads--;
    sv_worker_free(l->worker);
    free(l);
}

static void start_pending(struct sv_groups *g);

/* Once a minute: each user's look-up fails where the source is away. */
static void tell_failure(struct sv_groups *g, const struct groups_job *j)
{
    char user[3 * SV_GROUPS_NAME_MAX], why[2 * SV_GROUPS_WHY_MAX];
    const int64_t now = sv_now_ms();

    if (g->told_ms && now - g->told_ms < TELL_AGAIN_MS)
        return;
    g->told_ms = now;
    sv_escape(user, sizeof(user), j->user);
    sv_escape(why, sizeof(why), j->why);
    sv_log_warning("groups of user %s: %s; until they are known the user counts as without groups",
                   user, why);
}

static void on_done(int status, void *data, void *userdata)
{
    SV_LOOP_HANDLER();
    struct groups_job *j = data;
    struct lookup *l = userdata;
    struct sv_groups *g = l->g;
    struct entry *e = NULL;

    (void)status; /* without a deadline it is 0 */
    if (*j->why)
        tell_failure(g, j);
    HASH_FIND_STR(g->entries, j->user, e);
    if (e && e->pending && e->started)
        entry_known(g, e, SV_TAKE(j->names), j->primary);
    lookup_free(l);
    start_pending(g);
    g->conf.known(g->conf.userdata);
}

static int lookup_start(struct sv_groups *g, const char *user)
{
    struct lookup *l = calloc(1, sizeof(*l));
    struct groups_job *j = calloc(1, sizeof(*j));
    struct sv_job job = {
        .data = j, .userdata = l, .run = job_run, .done = on_done, .free = job_free
    };
    int r = -ENOMEM;

    if (!l || !j || !(j->user = strdup(user))) {
        free(l);
        free(j);
        return r;
    }
    j->source = g->conf.source;
    if (j->source.ref)
        (void)j->source.ref(j->source.data);
    l->g = g;
    DL_APPEND(g->lookups, l);
    g->n_threads++;
    r = sv_worker_new(g->event, "groups", &l->worker);
    if (r >= 0)
        r = sv_worker_run(l->worker, &job);
    if (r < 0) {
        job_free(j);
        lookup_free(l);
    }
    return r;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata);

/* Arms the timer for the deadline of the oldest pending look-up. */
static void arm_timer(struct sv_groups *g)
{
    int64_t now = sv_now_ms(), oldest = now;
    int r = 0;

    if (!g->n_pending) {
        g->timer = sd_event_source_disable_unref(g->timer);
        return;
    }
    for (struct entry *e = g->entries; e; e = e->hh.next)
        if (e->pending)
            oldest = SV_MIN(oldest, e->time_ms);
    now = SV_MAX(oldest + SV_GROUPS_TIMEOUT_MS - now, (int64_t)0);
    if (!g->timer)
        r = sd_event_add_time_relative(g->event, &g->timer, CLOCK_MONOTONIC, (uint64_t)now * 1000,
                                       1000, on_timer, g);
    else if ((r = sd_event_source_set_time_relative(g->timer, (uint64_t)now * 1000)) >= 0)
        r = sd_event_source_set_enabled(g->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("groups of users: timer: %s", strerror(-r));
}

static void start_pending(struct sv_groups *g)
{
    for (struct entry *e = g->entries; e && g->n_threads < SV_GROUPS_THREADS; e = e->hh.next) {
        int r;

        if (!e->pending || e->started)
            continue;
        r = lookup_start(g, e->user);
        e->started = r >= 0;
        if (r >= 0)
            continue;
        sv_log_err("groups of user %s: %s", e->user, strerror(-r));
        entry_known(g, e, NULL, NULL);
    }
    arm_timer(g);
}

/* Threads of a hanging name service remain, and count, until it answers. */
static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_groups *g = userdata;
    int64_t asked = sv_now_ms() - SV_GROUPS_TIMEOUT_MS;

    (void)s, (void)usec;
    for (struct entry *e = g->entries; e; e = e->hh.next) {
        if (!e->pending || e->time_ms > asked)
            continue;
        sv_log_warning("groups of user %s: the name service has not answered for %d s; until it "
                       "does the user counts as without groups",
                       e->user, SV_GROUPS_TIMEOUT_MS / 1000);
        entry_known(g, e, NULL, NULL);
    }
    arm_timer(g);
    g->conf.known(g->conf.userdata);
    return 0;
}

const char *sv_groups_primary(struct sv_groups *g, const char *user)
{
    struct entry *e = NULL;
    const char *primary;

    if (sv_static_groups_of(g->overrides, user, &primary))
        return primary;
    HASH_FIND_STR(g->entries, user, e);
    return e && !e->pending ? e->primary : NULL;
}

int sv_groups_of(struct sv_groups *g, const char *user, char *const **ret)
{
    char *const *configured;
    struct entry *e = NULL;
    const char *primary;

    if (!*user || strlen(user) > SV_GROUPS_NAME_MAX) {
        *ret = nobody;
        return 0;
    }
    configured = sv_static_groups_of(g->overrides, user, &primary);
    if (configured) {
        *ret = configured;
        return 0;
    }
    HASH_FIND_STR(g->entries, user, e);
    if (e && !e->pending && sv_now_ms() < e->time_ms) {
        *ret = e->names ? e->names : nobody;
        return 0;
    }
    if (!e || !e->pending) {
        if (g->n_pending >= SV_GROUPS_PENDING_MAX || (!e && !(e = entry_add(g, user)))) {
            *ret = nobody;
            return 0;
        }
        e->pending = true;
        e->started = false;
        e->time_ms = sv_now_ms();
        g->n_pending++;
        start_pending(g);
    }
    g->missed = true;
    return -EAGAIN;
}

bool sv_groups_missed(struct sv_groups *g)
{
    bool missed = g && g->missed;

    if (g)
        g->missed = false;
    return missed;
}

void sv_groups_forget(struct sv_groups *g)
{
    struct entry *e, *tmp;

    HASH_ITER (hh, g->entries, e, tmp)
        if (!e->pending)
            entry_free(g, e);
}

int sv_groups_new(sd_event *event, const struct sv_groups_conf *conf, struct sv_groups **ret)
{
    struct sv_groups *g = calloc(1, sizeof(*g));
    int r = g ? sv_static_groups_parse(conf->overrides, &g->overrides, NULL) : -ENOMEM;

    if (r < 0) {
        free(g);
        return r;
    }
    g->event = sd_event_ref(event);
    g->conf = *conf;
    g->conf.overrides = NULL;
    if (!g->conf.source.names)
        g->conf.source = (struct sv_groups_source){ .names = ask_name_service };
    if (g->conf.source.ref)
        (void)g->conf.source.ref(g->conf.source.data);
    *ret = g;
    return 0;
}

struct sv_groups *sv_groups_free(struct sv_groups *g)
{
    struct entry *e, *tmp;

    if (!g)
        return NULL;
    while (g->lookups)
        lookup_free(g->lookups);
    HASH_ITER (hh, g->entries, e, tmp)
        entry_free(g, e);
    sv_static_groups_free(g->overrides);
    sv_groups_source_unref(&g->conf.source);
    sd_event_source_disable_unref(g->timer);
    sd_event_unref(g->event);
    free(g);
    return NULL;
}

bool sv_acl_admits(const char *acl, const char *user, struct sv_groups *g)
{
    char *const *names;

    if (sv_acl_allows(acl, user))
        return true;
    return g && sv_acl_names_groups(acl) && sv_groups_of(g, user, &names) >= 0 &&
           sv_acl_allows_groups(acl, names, sv_strv_len(names));
}
