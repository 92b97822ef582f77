/* A launcher whose ResourceManager, processes and clock are this file's. */
#ifndef SELVEDGE_TESTS_LAUNCHER_FIXTURE_H
#define SELVEDGE_TESTS_LAUNCHER_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "service/launcher/link.h"
#include "service/launcher/rest.h"

#define BODY(version, more)                                                                        \
    "{\"version\":" #version "," more                                                              \
    "\"user\":{\"name\":\"ann\"},\"taskRoles\":{\"W\":{\"taskNumber\":3,\"taskService\":{"         \
    "\"version\":5,\"entryPoint\":\"run\",\"sourceLocations\":[\"hdfs:///a\"],\"resource\":{"      \
    "\"cpuNumber\":1,\"memoryMB\":64}}}}}"
#define APPS 64
#define CLUSTER_TS 1700000000000

struct fake_app { /* of the ResourceManager */
    char framework[SVC_FW_NAME_MAX + 1], token[SVC_LR_TOKEN_TEXT], user[32];
    struct yarn_app_id id;
    bool submitted, killed, running, ended, known;
    int final;
    const char *diagnostics;
};
struct fake {
    struct svc_lr_settings settings;
    struct svc_lr *l;
    char *path; /* of the store; NULL: in memory */
    int64_t wall;
    struct fake_app apps[APPS];
    int n_apps;
    struct fake_id {
        char name[SVC_FW_NAME_MAX + 1];
        uint64_t generation;
    } ids[APPS];
    int n_ids;
    struct yarn_app_id submits[APPS];
    int n_submits;
    char kills[APPS][YARN_ID_TEXT_MAX], removed[APPS][SVC_FW_NAME_MAX + 1];
    int n_kills;
    int polls, changes, changed_all, reports; /* the last: that were asked for */
    bool soon;                                /* a tick is wanted */
    bool dead;                                /* nothing reaches the world any more */
    int32_t submit_code;                      /* of the next submissions */
    const char *busy;                         /* a user for whom no process is started */
};

/* ---- The world ---- */

static __attribute__((unused)) int64_t fake_wall(void *u)
{
    return ((struct fake *)u)->wall;
}
static uint64_t fake_random(void *u)
{
    (void)u;
    return 7;
}
static __attribute__((unused)) int fake_new_id(void *u, const char *framework, uint64_t generation)
{
    struct fake *k = u;

    if (k->dead || k->n_ids == APPS)
        return -EAGAIN;
    (void)snprintf(k->ids[k->n_ids].name, sizeof(k->ids[0].name), "%s", framework);
    k->ids[k->n_ids++].generation = generation;
    return 0;
}
static __attribute__((unused)) struct fake_app *fake_find(struct fake *k, struct yarn_app_id id)
{
    for (int i = 0; i < k->n_apps; i++)
        if (yarn_app_id_cmp(k->apps[i].id, id) == 0)
            return &k->apps[i];
    return NULL;
}
/* A master must never run beside another of its framework, but one that is being killed. */
static __attribute__((unused)) int fake_submit(void *u, const struct svc_framework *f)
{
    struct fake *k = u;
    struct fake_app *a = fake_find(k, f->st.app);

    if (k->dead || (k->busy && strcmp(k->busy, f->st.user) == 0))
        return -EAGAIN;
    assert_non_null(a);
    for (int i = 0; i < k->n_apps; i++)
        if (&k->apps[i] != a && strcmp(k->apps[i].framework, f->name) == 0)
            assert_true(!k->apps[i].submitted || k->apps[i].ended || k->apps[i].killed);
    assert_int_equal(svc_lr_token(k->l, f, a->token), 0);
    (void)snprintf(a->framework, sizeof(a->framework), "%s", f->name);
    (void)snprintf(a->user, sizeof(a->user), "%s", f->st.user);
    if (k->submit_code == 0)
        a->submitted = a->known = true;
    k->submits[k->n_submits++] = f->st.app;
    return 0;
}
static __attribute__((unused)) int fake_kill(void *u, const char *app, const char *user,
                                             const char *framework)
{
    struct fake *k = u;
    struct yarn_app_id id;
    struct fake_app *a;

    if (k->dead || k->n_kills == APPS)
        return -EAGAIN;
    assert_int_equal(yarn_app_id_parse(app, &id), 0);
    a = fake_find(k, id);
    assert_string_equal(user, "ann");
    if (a)
        a->killed = true;
    (void)snprintf(k->removed[k->n_kills], sizeof(k->removed[0]), "%s", framework ?: "");
    (void)snprintf(k->kills[k->n_kills++], YARN_ID_TEXT_MAX, "%s", app);
    return 0;
}
static __attribute__((unused)) void fake_poll_wanted(void *u)
{
    ((struct fake *)u)->polls++;
}
static __attribute__((unused)) void fake_soon(void *u)
{
    ((struct fake *)u)->soon = true;
}
static __attribute__((unused)) void fake_changed(void *u, const char *framework)
{
    ((struct fake *)u)->changes++;
    ((struct fake *)u)->changed_all += !framework;
}

/* ---- The fixture ---- */

static __attribute__((unused)) int fake_open(struct fake *k)
{
    const struct svc_lr_world world = { k,           fake_wall, fake_random,      fake_new_id,
                                        fake_submit, fake_kill, fake_poll_wanted, fake_soon,
                                        fake_changed };
    struct svc_lr_store *store = NULL;
    struct sv_error err = { 0 };
    int r = svc_lr_store_open(k->path, &store, &err);

    if (r == 0)
        r = svc_lr_new(&k->settings, &world, store, &k->l, &err);
    if (r < 0)
        print_error("%s\n", err.text);
    return r;
}
static __attribute__((unused)) void fake_start(struct fake *k)
{
    if (k->wall == 0)
        k->wall = 1000000;
    k->settings.resync_s = 30;
    k->settings.diagnostics_retries = 15;
    k->settings.conflict_min_s = 600;
    k->settings.conflict_max_s = 3600;
    k->settings.retain_s = 43200;
    if (k->settings.max_tasks == 0)
        k->settings.max_tasks = 500000;
    if (k->settings.user_share == 0)
        k->settings.user_share = 100;
    k->settings.gpus = true;
    assert_int_equal(fake_open(k), 0);
}
static __attribute__((unused)) void fake_stop(struct fake *k)
{
    k->l = svc_lr_free(k->l);
}
/* Ends all that was begun in the world, until nothing is begun any more. */
static __attribute__((unused)) void fake_run(struct fake *k)
{
    while (k->n_ids || k->n_submits || k->n_kills) {
        if (k->n_ids) {
            struct fake_id w = k->ids[--k->n_ids];
            struct fake_app *a = &k->apps[k->n_apps++];

            assert_true(k->n_apps < APPS);
            a->id = (struct yarn_app_id){ CLUSTER_TS, k->n_apps };
            svc_lr_on_id(k->l, w.name, w.generation, 0, a->id);
        } else if (k->n_submits) {
            svc_lr_on_submitted(k->l, k->submits[--k->n_submits], k->submit_code, "refused");
        } else {
            char app[YARN_ID_TEXT_MAX];

            memcpy(app, k->kills[--k->n_kills], sizeof(app));
            svc_lr_on_killed(k->l, app, true);
        }
    }
}
static struct svc_lr_report fake_report(const struct fake_app *a)
{
    return (struct svc_lr_report){ .app = a->id,
                                   .state = a->ended || a->killed ? SVC_LR_HAS_ENDED
                                            : a->running          ? SVC_LR_IS_RUNNING
                                                                  : SVC_LR_IS_WAITING,
                                   .final = a->killed && !a->ended ? SVC_LR_FINAL_KILLED : a->final,
                                   .diagnostics = a->diagnostics ?: "",
                                   .tracking_url = "" };
}
static __attribute__((unused)) void fake_poll(struct fake *k)
{
    struct yarn_app_id missing[SVC_LR_MISSING_MAX];
    size_t n;

    svc_lr_poll_begin(k->l);
    for (int i = 0; i < k->n_apps; i++) {
        struct svc_lr_report r = fake_report(&k->apps[i]);

        if (!k->apps[i].known || r.state == SVC_LR_HAS_ENDED)
            continue;
        k->reports++;
        if (svc_lr_poll_seen(k->l, &r))
            svc_lr_poll_take(k->l, &r, 1);
    }
    n = svc_lr_poll_missing(k->l, missing);
    for (size_t i = 0; i < n; i++) {
        const struct fake_app *a = fake_find(k, missing[i]);
        struct svc_lr_report r = { 0 };

        k->reports++;
        if (a && a->known)
            r = fake_report(a);
        if (a && a->known)
            svc_lr_poll_take(k->l, &r, 1);
        else
            svc_lr_poll_unknown(k->l, missing[i]);
    }
    svc_lr_poll_end(k->l);
    fake_run(k);
}

/* ---- Calls ---- */

struct said { /* an answer, with its pieces joined */
    unsigned status;
    char *body, *location;
};
static __attribute__((unused)) void said_free(struct said *s)
{
    free(s->body);
    free(s->location);
    *s = (struct said){ 0 };
}
#define _cleanup_said_ _cleanup_(said_free)

static __attribute__((unused)) struct said say(struct svc_lr_answer *a)
{
    struct said s = { .status = a->status, .location = a->location };
    struct sv_buf b = SV_BUF_INIT(64 << 20);
    int r = 1;

    while (a->pieces && r > 0)
        r = svc_lr_pieces_next(a->pieces, &b, 1000);
    assert_true(r >= 0);
    if (!a->pieces && a->body)
        assert_int_equal(sv_buf_put(&b, a->body, a->len), 0);
    assert_int_equal(sv_buf_put(&b, "", 1), 0);
    s.body = (char *)b.data;
    (void)svc_lr_pieces_free(a->pieces);
    free(a->body);
    return s;
}
static __attribute__((unused)) struct said ask_as(struct fake *k, const char *method,
                                                  const char *uri, const char *body,
                                                  const char *caller, const char *user)
{
    const struct svc_lr_call c = { .method = method,
                                   .uri = uri,
                                   .body = body ?: "",
                                   .body_len = body ? strlen(body) : 0,
                                   .is_json = body != NULL,
                                   .caller = caller,
                                   .user = user,
                                   .host = "h:1",
                                   .peer = "10.0.0.1" };
    struct svc_lr_answer a;

    svc_lr_rest(k->l, &c, &a);
    return say(&a);
}
static __attribute__((unused)) struct said ask(struct fake *k, const char *method, const char *uri,
                                               const char *body)
{
    return ask_as(k, method, uri, body, NULL, "ann");
}
/* An answer's status alone. */
static __attribute__((unused)) unsigned status_of(struct fake *k, const char *method,
                                                  const char *uri, const char *body)
{
    _cleanup_said_ struct said s = ask(k, method, uri, body);

    return s.status;
}

/* A request of the master of an application. */
static __attribute__((unused)) struct said tell(struct fake *k, const struct fake_app *a,
                                                const char *token, const char *body)
{
    char uri[300];
    struct svc_lr_call c = {
        .method = "POST", .uri = uri, .body = body, .body_len = strlen(body), .is_json = true
    };
    struct svc_lr_told told = { 0 };
    struct svc_lr_answer answer;

    (void)snprintf(uri, sizeof(uri), "/v1/Masters/%s", a->framework);
    if (svc_lr_link_take(k->l, &c, token, &told, &answer) == 0)
        assert_true(svc_lr_link_answer(k->l, &told, true, false, &answer));
    svc_lr_told_free(&told);
    return say(&answer);
}
static __attribute__((unused)) char *message(const struct fake_app *a, int attempt, int sequence,
                                             const char *more)
{
    char id[YARN_ID_TEXT_MAX], *text;

    assert_true(sv_asprintf(&text,
                            "{\"version\":1,\"applicationId\":\"%s\",\"attempt\":%d,"
                            "\"sequence\":%d%s}",
                            yarn_app_id_text(a->id, id), attempt, sequence, more) >= 0);
    return text;
}
#define RETRIES                                                                                    \
    "\"taskRetryPolicyState\":{\"retriedCount\":0,\"succeededRetriedCount\":0,"                    \
    "\"transientNormalRetriedCount\":0,\"transientConflictRetriedCount\":0,"                       \
    "\"nonTransientRetriedCount\":0,\"unKnownRetriedCount\":0}"
#define TASK(index, state, more)                                                                   \
    "{\"taskIndex\":" #index ",\"taskRoleName\":\"W\",\"taskState\":\"" state "\"," RETRIES        \
    ",\"taskCreatedTimestamp\":5,\"taskServiceStatus\":{\"serviceVersion\":5}" more "}"
#define CONTAINER ",\"containerId\":\"container_1700000000000_0001_01_000002\""

#endif
