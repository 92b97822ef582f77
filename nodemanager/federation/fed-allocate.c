/* The master's heartbeat: split over the sub-clusters, and answered with what they have answered.
 *
 * It waits for the home alone. A home that still owes an earlier answer is not waited for if others
 * answer; what comes later goes with the next heartbeat. See fed-attempt.h. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"
#include "wire/frame.h"

/* A heartbeat that takes longer of the loop is answered so late that its master has one part in
 * this many of it. */
#define LONG_MS 50
#define PARTS 5

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__AllocateResponseProto response_proto;

static int32_t next_id(int32_t id)
{
    return id == INT32_MAX ? 0 : id + 1;
}

/* ---- The answer ---- */

/* The answer again, to a master that has not had it. */
static void repeat_last(struct nm_fed *f)
{
    ProtobufCMessage *m = NULL;

    if (ipc_unpack(f->call->arena, &hadoop__yarn__allocate_response_proto__descriptor, f->last,
                   f->n_last, &m) < 0)
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
    else
        nm_fed_answer(f, m);
}

static int make_answer(struct nm_fed *f, response_proto **ret)
{
    response_proto *m;
    uint8_t *packed;
    size_t n;
    int r = nm_fed_replies_merge(f, f->call->arena, &m);

    if (r < 0)
        return r;
    m->has_response_id = true;
    m->response_id = next_id(f->response_id);
    r = nm_fed_pack(&m->base, &packed, &n);
    if (r < 0) { /* merged already: what it says must not be lost */
        sv_log_err("%s: no memory to repeat an answer", f->at->text);
        packed = NULL;
        n = 0;
    }
    free(f->last);
    f->last = packed;
    f->n_last = n;
    f->response_id = m->response_id;
    *ret = m;
    return 0;
}

static void answer(struct nm_fed *f)
{
    response_proto *m = NULL;

    if (make_answer(f, &m) < 0) {
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
        return;
    }
    nm_fed_answer(f, &m->base);
    nm_fed_replies_done(f);
}

static bool launches(const struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        int state = f->members[i].sub ? nm_sub_state(f->members[i].sub) : FED_UAM_NEW;

        if (state > FED_UAM_NEW && state < FED_UAM_RUNNING)
            return true;
    }
    return false;
}

void nm_fed_allocate_step(struct nm_fed *f)
{
    bool done;

    if (f->taking)
        return;
    done = f->home_answered || (f->home_late && f->other_answered);

    if (done && f->shared->conf.wait_for_launches && launches(f))
        done = false;
    if (!done && !f->limit_over)
        return;
    if (sv_now_ms() < f->not_before_ms)
        nm_fed_limit(f, f->not_before_ms - sv_now_ms());
    else
        answer(f);
}

/* ---- The split ---- */

static void set_figures(struct fed_target *t, const struct fed_figure *g)
{
    if (!g || !g->known)
        return;
    t->has_memory = g->has_limit;
    t->memory_mb = g->limit.memory_mb;
    t->has_load = g->has_load;
    t->pending = g->pending;
    t->active_cores = g->active_cores;
}

static struct fed_target *list_targets(const struct nm_fed *f, struct sv_arena *a)
{
    struct fed_target *v = sv_newn(a, struct fed_target, f->n_members + 1);

    for (size_t i = 0; v && i < f->n_members; i++) {
        const struct nm_fed_member *m = &f->members[i];

        v[i] = (struct fed_target){ .id = m->id,
                                    .active = m->active,
                                    .timed_out = nm_fed_silent(f, i),
                                    .answered = m->sub && nm_sub_answered_ms(m->sub) };
        set_figures(&v[i], fed_merge_figure(f->merge, i));
    }
    return v;
}

static int split(struct nm_fed *f, const request_proto *m, struct fed_part *parts,
                 struct sv_error *err)
{
    struct sv_arena *a = f->call->arena;
    const struct fed_manager *manager = fed_policy_last(f->shared->policies, f->app.queue);
    struct fed_split_notes notes = { 0 };
    struct fed_asking in = { .manager = manager ?: f->shared->env->policy->manager,
                             .conf = &f->shared->split,
                             .resolver = f->shared->env->policy->resolver,
                             .targets = list_targets(f, a),
                             .n_targets = f->n_members,
                             .home = NM_FED_HOME,
                             .random = f->shared->random };
    int r;

    if (!in.targets)
        return -ENOMEM;
    r = fed_split(&in, m, nm_fed_owner, f, a, parts, &notes, err);
    if (r >= 0 && notes.n_unowned)
        sv_log_info("%s: %zu releases and updates of containers that no sub-cluster has are "
                    "dropped",
                    f->at->text, notes.n_unowned);
    return r;
}

/* ---- Each sub-cluster's part ---- */

/* Launches an unmanaged master for new requests, and again for those that a failed one has left. */
static void launch(struct nm_fed *f, size_t member, bool has_asks)
{
    struct nm_fed_member *m = &f->members[member];
    int state = nm_sub_state(m->sub);

    if (member == NM_FED_HOME || !m->active || !f->context_known)
        return;
    if (state == FED_UAM_NEW || state == FED_UAM_FINISHED ||
        (state == FED_UAM_FAILED && (has_asks || nm_sub_has_news(m->sub)) &&
         sv_now_ms() - m->failed_ms >= f->shared->relaunch_ms))
        nm_sub_start(m->sub);
}

static size_t open_bytes(const struct nm_fed *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_members; i++)
        n += f->members[i].sub ? nm_sub_bytes(f->members[i].sub) : 0;
    return n;
}

/* A name or a row may go to each member: its bytes count as often, before they are there. */
static int check_bytes(const struct fed_part *part, size_t *n, struct sv_error *err)
{
    *n += protobuf_c_message_get_packed_size(&part->request->base);
    if (*n <= NM_FED_OPEN_BYTES_MAX)
        return 0;
    return sv_error_set(err, -E2BIG,
                        "the master has more than %u MiB of open requests, releases, updates and "
                        "blacklisted nodes in all sub-clusters; request less at a time",
                        NM_FED_OPEN_BYTES_MAX >> 20);
}

/* `n`: bytes that are open. */
static int take_part(struct nm_fed *f, size_t member, const struct fed_part *part, size_t *n,
                     struct sv_error *err)
{
    struct nm_sub_cluster *s = f->members[member].sub;
    int r = 0;

    if (!s && part->has_asks)
        r = nm_fed_sub(f, member, &s);
    if (r >= 0 && s)
        r = check_bytes(part, n, err);
    if (r >= 0 && s)
        r = nm_sub_take(s, part->request, err);
    if (r >= 0 && s)
        launch(f, member, part->has_asks);
    return r;
}

static int take_parts(struct nm_fed *f, const request_proto *m, struct sv_error *err)
{
    size_t n = f->n_members; /* members may be added meanwhile, none of them with a part */
    struct fed_part *parts = sv_newn(f->call->arena, struct fed_part, n + 1);
    size_t bytes = open_bytes(f);
    int r = parts ? split(f, m, parts, err) : -ENOMEM;

    for (size_t i = 0; r >= 0 && i < n; i++)
        r = take_part(f, i, &parts[i], &bytes, err);
    return r;
}

/* Its launch has failed, or it is registered and has not answered for long. */
static bool has_failed(const struct nm_fed *f, size_t member)
{
    const struct nm_sub_cluster *s = f->members[member].sub;
    int state = s ? nm_sub_state(s) : FED_UAM_NEW;

    if (!nm_fed_silent(f, member))
        return false;
    return state == FED_UAM_FAILED ||
           (state == FED_UAM_RUNNING &&
            sv_now_ms() - nm_sub_heard_ms(s) > f->shared->conf.timeout_ms);
}

/* Requests at the home all that a silent sub-cluster has not allocated. */
static void move_silent(struct nm_fed *f)
{
    struct nm_sub_cluster *home = f->members[NM_FED_HOME].sub;

    for (size_t i = 1; i < f->n_members; i++) {
        int n = has_failed(f, i) ? nm_sub_move(f->members[i].sub, home) : 0;

        if (n > 0)
            sv_log_notice("%s: sub-cluster %s is silent: %d containers are requested at the home",
                          f->at->text, f->members[i].id, n);
        else if (n < 0)
            sv_log_warning(
                "%s: requests in sub-cluster %s, which is silent, not moved to the home: %s",
                f->at->text, f->members[i].id, strerror(-n));
    }
}

/* The home last: answers of others that are as quick go with the same answer. */
static void beat_all(struct nm_fed *f)
{
    for (size_t i = f->n_members; i-- > 0;)
        if (f->members[i].sub)
            nm_sub_beat(f->members[i].sub);
}

/* ---- The request ---- */

static void on_policy(const struct fed_manager *m, const struct fed_answer *a, void *userdata)
{
    (void)m;
    (void)a;
    (void)userdata;
}

/* Asks the store for what the cache has no more; this heartbeat goes by the last answers. */
static void refresh(struct nm_fed *f)
{
    nm_fed_ask_members(f);
    if (fed_policy_get(f->shared->policies, f->app.queue, on_policy, NULL) < 0)
        sv_log_debug("%s: the policy is as it was", f->at->text);
}

/* Answers what is no news to anybody. */
static bool answered_at_once(struct nm_fed *f, const request_proto *m)
{
    if (f->recovered) {
        nm_fed_fail(f, JAVA_AM_NOT_REGISTERED,
                    "AMRMProxy just restarted and recovered for %s. AM should re-register and full "
                    "re-send pending requests.",
                    f->at->text);
        return true;
    }
    if (!f->response || !f->policy_known) {
        nm_fed_fail(f, JAVA_ILLEGAL_ARGUMENT,
                    "Allocate should be called after registerApplicationMaster");
        return true;
    }
    if (f->finishing) {
        response_proto empty = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;

        nm_fed_answer(f, &empty.base);
        return true;
    }
    if (f->last && next_id(m->response_id) == f->response_id) {
        repeat_last(f);
        return true;
    }
    if (nm_sub_state(f->members[NM_FED_HOME].sub) == FED_UAM_FAILED) {
        nm_fed_fail(f, JAVA_ATTEMPT_NOT_FOUND, "%s: %s", f->at->text,
                    nm_sub_why(f->members[NM_FED_HOME].sub));
        return true;
    }
    if (m->response_id == f->response_id)
        return false;
    nm_fed_fail(f, JAVA_INVALID_AM_REQUEST,
                "Invalid responseId in AllocateRequest from application attempt: %s, expect "
                "responseId to be %d, but get %d",
                f->at->text, f->response_id, m->response_id);
    return true;
}

static void fail_split(struct nm_fed *f, int r, const struct sv_error *err)
{
    if (r == -ENOMEM)
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
    else
        nm_fed_fail(f, JAVA_YARN_EXCEPTION, "%s", err->text);
}

static void set_pace(struct nm_fed *f)
{
    int64_t spent = sv_loop_spent_ms();

    f->not_before_ms = spent > LONG_MS ? sv_now_ms() + spent * (PARTS - 1) : 0;
}

void nm_fed_allocate(struct nm_fed *f)
{
    const request_proto *m = f->call->allocate;
    struct sv_error err = { 0 };
    int r;

    if (answered_at_once(f, m))
        return;
    f->called_before_ms = f->called_ms ? f->called_ms : sv_now_ms();
    f->called_ms = sv_now_ms();
    refresh(f);
    f->home_late = nm_sub_owes(f->members[NM_FED_HOME].sub);
    f->home_answered = false;
    f->other_answered = f->home_late && f->n_replies;
    f->limit_over = false;
    f->taking = true; /* what fails at once comes back here */
    move_silent(f);
    r = take_parts(f, m, &err);
    if (r >= 0)
        beat_all(f);
    f->taking = false;
    if (r < 0) {
        fail_split(f, r, &err);
        return;
    }
    nm_fed_limit(f, f->shared->conf.wait_ms);
    set_pace(f);
    nm_fed_allocate_step(f);
}
