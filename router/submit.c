/* submitApplication; see submit.h. All of a submission lives in the arena of its call, which its
 * answer frees. */
#include "router/submit.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "federation/policy/queue-policies.h"
#include "router/home-context.h"
#include "router/members.h"
#include "router/pool.h"
#include "wire/ipc/methods.h"

struct submission {
    struct rtr_call *x;
    struct sv_arena *arena;
    const Hadoop__Yarn__ApplicationSubmissionContextProto *context;
    struct yarn_app_id app;
    const char *stored; /* the home that an earlier submission has stored; NULL: none */
    struct rtr_members members;
    struct fed_home_choice choice;
    int64_t tries;
    bool written; /* the home's row is this submission's */
    bool unknown; /* a member may have it although the submission failed there */
    struct rtr_failure last;
};

static void try_next(struct submission *s);

/* ---- The end ---- */

static void on_deleted(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    if (a->error < 0 && a->error != -ENOENT && a->error != -ECANCELED)
        sv_log_warning("home of a refused application not deleted: %s", a->reason);
}

/* No member has the application: neither has the store. */
static void delete_home(struct submission *s)
{
    const struct fed_request q = { .op = FED_HOME_DELETE, .home = { .app = s->app } };

    fed_cache_flush(s->x->r->cache,
                    &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = s->app } });
    if (fed_store_call(s->x->r->store, &q, on_deleted, NULL, NULL) < 0)
        sv_log_warning("home of a refused application not deleted: no memory");
}

static void finish_failed(struct submission *s)
{
    if (s->written && !s->unknown)
        delete_home(s);
    rtr_call_fail_as(s->x, &s->last);
}

/* ---- At a member ---- */

static void on_killed(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)r;
    (void)err;
    (void)userdata;
}

/* A member that has not answered may run the application later, beside its next home: the kill
 * follows the submission on the same connection. Nobody waits for it. */
static void kill_there(struct submission *s)
{
    Hadoop__Yarn__KillApplicationRequestProto kill =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;
    struct rtr_outgoing q = { .address = s->members.v[s->choice.member].client,
                              .caller = s->x->user,
                              .method = "forceKillApplication",
                              .request = &kill.base,
                              .response =
                                  &hadoop__yarn__kill_application_response_proto__descriptor };
    char text[YARN_ID_TEXT_MAX];
    struct sv_error err = { 0 };

    kill.application_id = s->context->application_id;
    kill.diagnostics = (char *)(uintptr_t) "The Router has submitted it to another sub-cluster.";
    if (rtr_pool_call(s->x->r->pool, &q, on_killed, NULL, &err) < 0)
        sv_log_warning("%s: may run in %s as well: %s", yarn_app_id_text(s->app, text),
                       s->members.v[s->choice.member].id, err.text);
}

/* The stored home alone may have it; else another member becomes the home. */
static void failed_there(struct submission *s)
{
    int64_t most = SV_MIN((int64_t)s->members.n_active, s->x->r->conf.retries) + 1;

    s->unknown |= s->last.unknown;
    s->members.candidates[s->choice.member].excluded = true;
    if (s->stored || s->tries >= most)
        finish_failed(s);
    else
        try_next(s);
}

static void on_submitted(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct submission *s = userdata;
    char text[YARN_ID_TEXT_MAX];
    const char *id = s->members.v[s->choice.member].id;

    if (r->status >= 0) {
        sv_log(SV_LOG_INFO, yarn_app_id_text(s->app, text), "%s: home %s, submitted by %s",
               yarn_app_id_text(s->app, text), id, s->x->user);
        rtr_call_reply(s->x, r->response);
        return;
    }
    rtr_failure_of(s->x->r, id, r, err, &s->last);
    if (r->status == -ECANCELED) {
        rtr_call_fail_as(s->x, &s->last); /* the row stays: the client submits again */
        return;
    }
    if (s->last.unknown && !s->stored)
        kill_there(s);
    failed_there(s);
}

/* The request without the places that the policy did not use. */
static const ProtobufCMessage *request_of(struct submission *s)
{
    Hadoop__Yarn__SubmitApplicationRequestProto *q;
    Hadoop__Yarn__ApplicationSubmissionContextProto *c;
    Hadoop__Yarn__ResourceRequestProto **rows, *row;

    if (!s->choice.drop_places || !s->context->n_am_container_resource_request)
        return s->x->request;
    q = sv_new(s->arena, Hadoop__Yarn__SubmitApplicationRequestProto);
    c = sv_new(s->arena, Hadoop__Yarn__ApplicationSubmissionContextProto);
    rows = sv_newn(s->arena, Hadoop__Yarn__ResourceRequestProto *, 1);
    row = sv_new(s->arena, Hadoop__Yarn__ResourceRequestProto);
    if (!q || !c || !rows || !row)
        return NULL;
    *q = *(const Hadoop__Yarn__SubmitApplicationRequestProto *)s->x->request;
    *c = *s->context;
    *row = *s->context->am_container_resource_request[0];
    row->resource_name = (char *)(uintptr_t) "*";
    row->has_relax_locality = true;
    row->relax_locality = true;
    rows[0] = row;
    c->am_container_resource_request = rows;
    c->n_am_container_resource_request = 1;
    q->application_submission_context = c;
    return &q->base;
}

static void submit(struct submission *s)
{
    const ProtobufCMessage *request = request_of(s);

    s->tries++;
    if (!request)
        rtr_call_no_memory(s->x);
    else if (rtr_call_member(s->x, &s->members.v[s->choice.member], request, on_submitted, s,
                             &s->last) < 0)
        failed_there(s);
}

static void submit_to_stored(struct submission *s)
{
    char text[YARN_ID_TEXT_MAX];
    int i = rtr_members_find(&s->members, s->stored);

    if (i < 0) {
        rtr_call_fail(s->x, JAVA_YARN_EXCEPTION,
                      "%s: its home %.200s is no member of the federation any more",
                      yarn_app_id_text(s->app, text), s->stored);
        return;
    }
    s->choice.member = (size_t)i;
    submit(s);
}

/* ---- The home ---- */

static void on_written(const struct fed_answer *a, void *userdata)
{
    struct submission *s = userdata;
    const char *home = s->members.v[s->choice.member].id;

    if (a->error < 0) {
        rtr_call_store_failed(s->x, a);
        return;
    }
    if (a->n && !sv_streq(a->homes[0].home, home)) { /* another Router was first */
        s->stored = sv_arena_strdup(s->arena, a->homes[0].home);
        if (s->stored)
            submit_to_stored(s);
        else
            rtr_call_no_memory(s->x);
        return;
    }
    s->written = true;
    submit(s);
}

static void write_home(struct submission *s)
{
    struct fed_request q = {
        .op = s->written ? FED_HOME_UPDATE : FED_HOME_ADD,
        .home = { .app = s->app, .home = s->members.v[s->choice.member].id },
    };

    rtr_home_context(s->arena, s->context, &q.home.context, &q.home.context_len);
    if (s->written)
        fed_cache_flush(s->x->r->cache,
                        &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = s->app } });
    if (fed_store_call(s->x->r->store, &q, on_written, s, NULL) < 0)
        rtr_call_no_memory(s->x);
}

static void on_policy(const struct fed_manager *m, const struct fed_answer *a, void *userdata)
{
    struct submission *s = userdata;
    const struct fed_submission q = {
        .queue = s->context->queue,
        .members = s->members.candidates,
        .n_members = s->members.n,
        .rows = s->context->am_container_resource_request,
        .n_rows = s->context->n_am_container_resource_request,
        .resolver = s->x->r->policy.resolver,
        .random = &fed_random_kernel,
    };
    struct sv_error err = { 0 };

    if (!m) {
        rtr_call_store_failed(s->x, a);
        return;
    }
    if (fed_route(m, &q, &s->choice, &err) >= 0)
        write_home(s);
    else if (s->tries)
        finish_failed(s); /* with the last member's reason */
    else
        rtr_call_fail(s->x, JAVA_YARN_EXCEPTION, "%s", err.text);
}

static void try_next(struct submission *s)
{
    const char *queue = s->context->queue;

    if (fed_policy_get(s->x->r->policies, queue && *queue ? queue : "default", on_policy, s) < 0)
        rtr_call_no_memory(s->x);
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    struct submission *s = userdata;

    if (a->error < 0)
        rtr_call_store_failed(s->x, a);
    else if (rtr_members_copy(s->arena, a, &s->members) < 0)
        rtr_call_no_memory(s->x);
    else if (s->stored)
        submit_to_stored(s);
    else
        try_next(s);
}

static void on_stored(const struct fed_answer *a, void *userdata)
{
    struct submission *s = userdata;

    if (a->error < 0 && a->error != -ENOENT) {
        rtr_call_store_failed(s->x, a);
        return;
    }
    if ((a->error >= 0 && !(s->stored = sv_arena_strdup(s->arena, a->homes[0].home))) ||
        fed_cache_get(s->x->r->cache, &(struct fed_request){ .op = FED_MEMBER_LIST }, on_members, s,
                      NULL) < 0)
        rtr_call_no_memory(s->x);
}

void rtr_submit_application(struct rtr_call *x)
{
    const Hadoop__Yarn__SubmitApplicationRequestProto *q =
        (const Hadoop__Yarn__SubmitApplicationRequestProto *)x->request;
    struct sv_arena *arena = ipc_call_arena(x->call);
    struct submission *s = sv_new(arena, struct submission);
    struct yarn_app_id app;

    if (!s) {
        rtr_call_no_memory(x);
        return;
    }
    if (!q->application_submission_context ||
        yarn_app_id_from(q->application_submission_context->application_id, &app) < 0) {
        rtr_call_fail(x, JAVA_YARN_EXCEPTION,
                      "Missing submitApplication request or applicationSubmissionContext "
                      "information: it names no application");
        return;
    }
    *s = (struct submission){
        .x = x, .arena = arena, .context = q->application_submission_context, .app = app
    };
    if (fed_cache_get(x->r->cache,
                      &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = app } },
                      on_stored, s, NULL) < 0)
        rtr_call_no_memory(x);
}
