/* Hadoop's FederationInterceptor: one master's calls over all sub-clusters of a federation. Each
 * sub-cluster is driven by sub-cluster.c; here are their words to the attempt, and its life. See
 * fed-attempt.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/federation/classes.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"

#define ARENA_MAX (64u << 20)

/* ---- Going on ---- */

static bool has_ended(const struct nm_fed *f, size_t i)
{
    int state = f->members[i].sub ? nm_sub_state(f->members[i].sub) : FED_UAM_NEW;

    return i == NM_FED_HOME || state == FED_UAM_NEW || state == FED_UAM_FINISHED ||
           state == FED_UAM_FAILED;
}

/* Masters that were not attached yet have to be killed as well. */
static void stop_step(struct nm_fed *f)
{
    bool told = f->kill_told;

    nm_fed_attach_all(f);
    f->kill_told = true; /* the end of one comes back here */
    for (size_t i = 0; i < f->n_members && !told; i++)
        if (i != NM_FED_HOME && f->members[i].sub)
            nm_sub_kill(f->members[i].sub);
    for (size_t i = 0; i < f->n_members; i++)
        if (!has_ended(f, i))
            return;
    if (!f->stopped)
        nm_amrm_stopped(f->at);
    f->stopped = true;
}

/* Where nothing is to be attached, it need not be known who is a member. */
static bool may_stop(struct nm_fed *f)
{
    bool may = f->members_known;

    for (size_t i = 0; i < f->n_members && !may; i++)
        if (f->members[i].token) {
            nm_fed_ask_members(f);
            return f->members_known;
        }
    return true;
}

static void step(struct nm_fed *f)
{
    if (f->stopping) {
        if (may_stop(f))
            stop_step(f);
        return;
    }
    if (!f->context_known)
        nm_fed_ask_context(f);
    nm_fed_recover_step(f);
    if (!f->call || nm_fed_work_recorded(f))
        return;
    switch (f->call->method) {
    case NM_AMRM_REGISTER:
        nm_fed_register_step(f);
        break;
    case NM_AMRM_ALLOCATE:
        nm_fed_allocate_step(f);
        break;
    case NM_AMRM_FINISH:
        nm_fed_finish_step(f);
        break;
    }
}

/* ---- Words of sub-clusters ---- */

static void on_answered(void *userdata, struct nm_sub_cluster *s,
                        const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena)
{
    struct nm_fed *f = userdata;

    m = nm_fed_without_news(f, nm_sub_member(s), m, *arena);
    if (m)
        nm_fed_reply_answer(f, nm_sub_member(s), m, arena);
    if (nm_sub_member(s) == NM_FED_HOME)
        f->home_answered = true;
    else
        f->other_answered = true;
    step(f);
}

static int on_recalling(void *userdata, struct nm_sub_cluster *s,
                        const Hadoop__Yarn__AllocateResponseProto *m, struct fed_relay_at *at,
                        struct fed_budget *b)
{
    return nm_fed_know_recalled(userdata, nm_sub_member(s), m, at, b);
}

static int on_registering(void *userdata, struct nm_sub_cluster *s,
                          const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                          struct fed_relay_at *at, struct fed_budget *b)
{
    return nm_fed_registering(userdata, s, m, at, b);
}

static void on_registered(void *userdata, struct nm_sub_cluster *s,
                          const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                          struct sv_arena **arena)
{
    nm_fed_registered(userdata, s, m, arena);
}

/* Commits come in the order of their requests. */
static void on_saved(void *userdata, int result)
{
    struct nm_fed *f = userdata;

    f->n_kept++;
    for (size_t i = 0; i < f->n_members; i++) {
        struct nm_fed_member *m = &f->members[i];

        if (!m->keeping || m->keeping > f->n_kept)
            continue;
        m->keeping = 0;
        nm_sub_saved(m->sub, result);
    }
}

static int keep_token(struct nm_fed *f, const struct nm_sub_cluster *s,
                      const Hadoop__Common__TokenProto *m)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    char name[NM_AMRM_RECORD_NAME];
    struct yarn_token t;
    const char *text;
    int r = a ? yarn_token_from(m, a, &t) : -ENOMEM;

    if (r >= 0)
        r = yarn_token_text(a, &t, &text);
    if (r >= 0 &&
        snprintf(name, sizeof(name), NM_FED_TOKEN_RECORD "%s", nm_sub_id(s)) >= (int)sizeof(name))
        r = -E2BIG;
    return r < 0 ? r : nm_amrm_keep(f->at, name, text, strlen(text));
}

static void on_token(void *userdata, struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m)
{
    struct nm_fed *f = userdata;
    int r;

    if (nm_sub_member(s) == NM_FED_HOME) {
        nm_amrm_take_token(f->at, m);
        return;
    }
    r = keep_token(f, s, m);
    if (r >= 0)
        r = nm_amrm_after_commit(f->at, on_saved, f);
    if (r >= 0) {
        f->members[nm_sub_member(s)].keeping = ++f->n_keeping;
        return;
    }
    sv_log_warning("%s: token of sub-cluster %s: %s", f->at->text, nm_sub_id(s), strerror(-r));
    nm_sub_saved(s, r);
}

static void on_absent(void *userdata, struct nm_sub_cluster *s)
{
    (void)s;
    nm_fed_flush_members(userdata);
}

/* The home speaks to the master, in its own words; others to the log. */
static void on_refused(void *userdata, struct nm_sub_cluster *s, const char *java_class,
                       const char *text)
{
    struct nm_fed *f = userdata;

    if (nm_sub_member(s) != NM_FED_HOME)
        sv_log_warning("%s: sub-cluster %s refuses a heartbeat, whose requests are dropped: %s: %s",
                       f->at->text, nm_sub_id(s), java_class, text);
    else if (f->call && f->work.phase <= NM_FED_WAITING) /* later, its answer is being made */
        nm_fed_fail(f, java_class, "%s", text);
    else
        sv_log_warning("%s: the home refuses a heartbeat: %s: %s", f->at->text, java_class, text);
}

static void on_lost(void *userdata, struct nm_sub_cluster *s, const char *java_class,
                    const char *text)
{
    struct nm_fed *f = userdata;
    char why[256];

    if (nm_sub_member(s) == NM_FED_HOME) {
        on_refused(f, s, java_class, text);
        return;
    }
    (void)snprintf(why, sizeof(why), "Sub-cluster %s has lost the container.", nm_sub_id(s));
    nm_fed_reply_lost(f, nm_sub_member(s), why);
}

static void forget_token(struct nm_fed *f, const struct nm_sub_cluster *s)
{
    char name[NM_AMRM_RECORD_NAME];

    if (snprintf(name, sizeof(name), NM_FED_TOKEN_RECORD "%s", nm_sub_id(s)) < (int)sizeof(name) &&
        nm_amrm_forget(f->at, name) < 0)
        sv_log_warning("%s: token of sub-cluster %s not removed from the store", f->at->text,
                       nm_sub_id(s));
}

static void on_ended(void *userdata, struct nm_sub_cluster *s)
{
    struct nm_fed *f = userdata;
    struct nm_fed_member *m = &f->members[nm_sub_member(s)];

    m->attached = m->attached && nm_sub_state(s) == FED_UAM_FAILED && nm_sub_has_token(s);
    if (nm_sub_state(s) == FED_UAM_FAILED)
        m->failed_ms = sv_now_ms();
    else if (nm_sub_member(s) != NM_FED_HOME)
        forget_token(f, s);
    step(f);
}

static const struct nm_sub_owner owner = {
    on_answered, on_recalling, on_registering, on_registered, on_token,
    on_absent,   on_refused,   on_lost,        on_ended,
};

/* ---- An attempt ---- */

static void fed_free(void *self)
{
    struct nm_fed *f = self;

    nm_fed_work_stop(f);
    if (f->question)
        f->question->f = NULL;
    nm_fed_members_clear(f);
    nm_member_line_clear(&f->home_ask);
    nm_fed_replies_free(&f->replies);
    nm_fed_replies_free(&f->registrations);
    nm_fed_replies_free(&f->told);
    sd_event_source_disable_unref(f->limit);
    nm_turns_leave(&f->shared->turns, f->merge, fed_merge_leave);
    sv_arena_free(f->again);
    sv_arena_free(f->arena);
    free(f->request);
    free(f->home_response);
    free(f->response);
    free(f->last);
    free(f);
}

static int start(struct nm_amrm_attempt *at, void *shared, void **ret_self, struct sv_error *err)
{
    struct nm_fed *f = calloc(1, sizeof(*f));

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", at->text);
    *f = (struct nm_fed){ .at = at,
                          .shared = shared,
                          .arena = sv_arena_new(ARENA_MAX),
                          .merge = fed_merge_new(at->id.app),
                          .owner = &owner,
                          .step = step,
                          .app = { .attempt = at->id,
                                   .text = at->text,
                                   .user = at->user,
                                   .home = at->env->cluster_id } };
    nm_fed_work_init(f);
    f->home_ask = (struct nm_member_line){ .wire = f->shared->wire,
                                           .wire_userdata = f->shared->wire_userdata,
                                           .service = YARN_RM_CLIENTS,
                                           .user = at->user };
    if (!f->arena || !f->merge || nm_fed_member_add(f, at->env->cluster_id) != NM_FED_HOME) {
        fed_free(f);
        return sv_error_errno(err, -ENOMEM, "%s", at->text);
    }
    step(f); /* asks the store while the master starts */
    *ret_self = f;
    return 0;
}

static int recover(void *self, enum nm_amrm_recovery from, const struct nm_amrm_record *records,
                   size_t n, struct sv_error *err)
{
    return nm_fed_recover(self, from, records, n, err);
}

static void handle(void *self, struct nm_amrm_call *call)
{
    struct nm_fed *f = self;

    f->call = call;
    switch (call->method) {
    case NM_AMRM_REGISTER:
        nm_fed_register(f);
        break;
    case NM_AMRM_ALLOCATE:
        nm_fed_allocate(f);
        break;
    case NM_AMRM_FINISH:
        nm_fed_finish(f);
        break;
    }
}

static void token(void *self)
{
    struct nm_fed *f = self;
    struct nm_sub_cluster *home = f->members[NM_FED_HOME].sub;

    if (home && nm_sub_set_token(home, &f->at->rm_token) < 0)
        sv_log_warning("%s: its new AMRMToken is not used yet: no memory", f->at->text);
}

static void stop(void *self)
{
    struct nm_fed *f = self;

    nm_fed_work_stop(f);
    f->call = NULL;
    f->stopping = true;
    step(f);
}

/* ---- The class ---- */

static int open_shared(const struct nm_amrm_env *env, void **ret_shared, struct sv_error *err)
{
    struct nm_fed_shared *s;
    int r = nm_fed_shared_open(env, &s, err);

    if (r >= 0)
        *ret_shared = s;
    return r;
}

static void close_shared(void *shared)
{
    nm_fed_shared_close(shared);
}

const struct nm_amrm_interceptor nm_amrm_federation_interceptor = {
    .java_class = "org.apache.hadoop.yarn.server.nodemanager.amrmproxy.FederationInterceptor",
    .needs_federation = true,
    .check = nm_fed_shared_check,
    .open = open_shared,
    .close = close_shared,
    .start = start,
    .recover = recover,
    .handle = handle,
    .token = token,
    .stop = stop,
    .free = fed_free,
};
