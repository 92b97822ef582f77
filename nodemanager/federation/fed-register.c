/* The master's registration: at the home first, elsewhere when the first requests go there. The
 * same request again has the same answer, whatever has restarted meanwhile. See fed-attempt.h. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

/* ---- Members' answers ---- */

static void know_late(struct nm_fed *f, size_t member, const response_proto *m)
{
    struct fed_containers *all = fed_merge_containers(f->merge);
    struct yarn_container_id id;

    for (size_t i = 0; i < m->n_containers_from_previous_attempts; i++)
        if (yarn_container_id_from(m->containers_from_previous_attempts[i]->id, &id) >= 0)
            (void)!fed_containers_know(all, id, member, true); /* a clash is found later */
}

static void collect(struct nm_fed *f, size_t member, const response_proto *m,
                    struct sv_arena **arena)
{
    if (nm_fed_collect(f, member, m, arena) < 0)
        sv_log_err("%s: what sub-cluster %s has of it is lost: no memory", f->at->text,
                   f->members[member].id);
}

/* The first answer of the home is what all later registrations here are answered with. */
static void take_home(struct nm_fed *f, const response_proto *m, struct sv_arena **arena)
{
    if (m && nm_fed_pack(&m->base, &f->home_response, &f->n_home_response) >= 0) {
        collect(f, NM_FED_HOME, m, arena);
        return;
    }
    if (!m)
        nm_fed_again(f);
    else if (f->call && f->call->method == NM_AMRM_REGISTER)
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
}

static void reply_later(struct nm_fed *f, size_t i, const response_proto *m,
                        struct sv_arena **arena, bool attached)
{
    if (attached) /* the master knows them, or asks again */
        know_late(f, i, m);
    nm_fed_reply_registration(f, i, m, arena);
}

void nm_fed_registered(struct nm_fed *f, struct nm_sub_cluster *s, const response_proto *m,
                       struct sv_arena **arena)
{
    size_t i = nm_sub_member(s);
    bool attached = f->members[i].attached;

    f->members[i].attached = false;
    if (i == NM_FED_HOME)
        f->home_since_ms = sv_now_ms();
    if (i == NM_FED_HOME && !f->home_response)
        take_home(f, m, arena);
    else if (m && attached && (f->recovered || !f->response))
        collect(f, i, m, arena);
    else if (m)
        reply_later(f, i, m, arena, attached);
    f->step(f);
}

/* ---- The answer ---- */

static bool attaching(const struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        int state = f->members[i].sub ? nm_sub_state(f->members[i].sub) : FED_UAM_NEW;

        if (f->members[i].token ||
            (f->members[i].attached && (state == FED_UAM_REGISTERING || state == FED_UAM_PAUSED)))
            return true;
    }
    return false;
}

static int merge(struct nm_fed *f, struct sv_arena *a, response_proto **ret)
{
    struct nm_fed_reply *r;
    struct fed_replies replies = { .home = NM_FED_HOME };
    struct fed_registered merged;
    struct fed_reply *v;
    int count, e;

    DL_COUNT(f->registrations, r, count);
    v = sv_newn(a, struct fed_reply, (size_t)count + 1);
    if (!v)
        return -ENOMEM;
    DL_FOREACH (f->registrations, r)
        v[replies.n++] = (struct fed_reply){ .member = r->member, .registration = r->registration };
    replies.v = v;
    e = fed_merge_registered(f->merge, &replies, a, &merged);
    if (e < 0)
        return e;
    nm_fed_exchange(f, merged.clashes, merged.n_clashes);
    *ret = merged.response;
    return 0;
}

/* The home's answer with what other members said when their masters were attached. */
static int make_response(struct nm_fed *f)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(NM_FED_WORK_BYTES_MAX);
    response_proto *m = NULL;
    uint8_t *packed;
    size_t n;
    int r = a ? merge(f, a, &m) : -ENOMEM;

    if (r >= 0)
        r = nm_fed_pack(&m->base, &packed, &n);
    if (r < 0)
        return r;
    if (!f->app.queue)
        f->app.queue = sv_arena_strdup(f->arena, m->queue && *m->queue ? m->queue : "default");
    free(f->response);
    f->response = packed;
    f->n_response = n;
    nm_fed_replies_free(&f->registrations); /* with what `m` points to */
    return f->app.queue ? 0 : -ENOMEM;
}

static void no_memory(struct nm_fed *f)
{
    nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
}

static void answer(struct nm_fed *f)
{
    response_proto m = HADOOP__YARN__REGISTER_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    f->recovered = false;
    f->response_id = 0;
    free(SV_TAKE(f->last));
    nm_fed_answer_packed(f, &m.base, f->response, f->n_response);
}

/* ---- Steps, each once what it needs is there ---- */

static void on_kept(void *userdata, int result)
{
    struct nm_fed *f = userdata;

    if (result < 0)
        sv_log_warning(
            "%s: its registration cannot be recorded (%s): after a restart of the NodeManager "
            "it fails",
            f->at->text, strerror(-result));
    f->response_kept = true;
    f->step(f);
}

static void keep_response(struct nm_fed *f)
{
    int r = nm_amrm_keep(f->at, NM_FED_RESPONSE_RECORD, f->home_response, f->n_home_response);

    if (r >= 0)
        r = nm_amrm_after_commit(f->at, on_kept, f);
    if (r < 0)
        on_kept(f, r);
}

static void on_policy(const struct fed_manager *m, const struct fed_answer *a, void *userdata)
{
    struct nm_fed_question *q = userdata;
    struct nm_fed *f = q->f;

    free(q);
    if (!f)
        return;
    f->question = NULL;
    if (m) {
        f->policy_known = true;
        f->step(f);
    } else if (a->error != -ECANCELED) {
        sv_log_warning("%s: policy of queue %s: %s", f->at->text, f->app.queue, a->reason);
        nm_fed_later(f);
    }
}

static void ask_policy(struct nm_fed *f)
{
    struct nm_fed_question *q = f->question ? NULL : malloc(sizeof(*q));

    if (f->question)
        return;
    f->question = q;
    if (q)
        q->f = f;
    if (q && fed_policy_get(f->shared->policies, f->app.queue, on_policy, q) >= 0)
        return;
    f->question = NULL;
    free(q);
    nm_fed_later(f);
}

static void register_home(struct nm_fed *f)
{
    struct nm_sub_cluster *s;

    if (nm_fed_sub(f, NM_FED_HOME, &s) < 0)
        no_memory(f);
    else if ((nm_sub_state(s) == FED_UAM_NEW || nm_sub_state(s) == FED_UAM_FAILED) &&
             nm_sub_attach(s, &f->at->rm_token) < 0)
        no_memory(f);
}

void nm_fed_register_step(struct nm_fed *f)
{
    if (!f->members_known) {
        nm_fed_ask_members(f);
        return;
    }
    if (!f->home_response && f->again) {
        nm_fed_again_step(f);
        return;
    }
    if (!f->home_response) {
        register_home(f);
        return;
    }
    if (attaching(f) && !f->limit_over)
        return;
    if (f->registrations && make_response(f) < 0) {
        no_memory(f);
        return;
    }
    if (!f->policy_known) {
        ask_policy(f);
        return;
    }
    if (!f->response_kept) {
        keep_response(f);
        return;
    }
    answer(f);
}

/* ---- The request ---- */

static int keep_request(struct nm_fed *f, uint8_t *packed, size_t n)
{
    ProtobufCMessage *m = NULL;
    int r =
        ipc_unpack(f->arena, &hadoop__yarn__register_application_master_request_proto__descriptor,
                   packed, n, &m);

    if (r < 0)
        return r;
    f->request = packed;
    f->n_request = n;
    f->app.registration = (const Hadoop__Yarn__RegisterApplicationMasterRequestProto *)m;
    return nm_amrm_keep(f->at, NM_FED_REQUEST_RECORD, packed, n);
}

void nm_fed_register(struct nm_fed *f)
{
    uint8_t *packed = NULL;
    size_t n = 0;
    int r = nm_fed_pack(f->call->request, &packed, &n);

    if (r < 0) {
        no_memory(f);
        return;
    }
    if (f->request && (n != f->n_request || memcmp(packed, f->request, n) != 0)) {
        free(packed);
        nm_fed_fail(f, JAVA_YARN_EXCEPTION,
                    "AM should not call registerApplicationMaster with a different request body");
        return;
    }
    if (f->request)
        free(packed);
    else
        r = keep_request(f, packed, n);
    if (!f->request)
        free(packed);
    if (r < 0 && !f->request) {
        no_memory(f);
        return;
    }
    nm_fed_limit(f, f->shared->conf.wait_ms);
    f->step(f);
}
