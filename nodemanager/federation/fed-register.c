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

/* A master that is attached after the master's own registration was answered: its containers are
 * known, or asked for again. */
int nm_fed_registering(struct nm_fed *f, struct nm_sub_cluster *s, const response_proto *m,
                       struct fed_relay_at *at, struct fed_budget *b)
{
    struct fed_containers *all = fed_merge_containers(f->merge);
    size_t i = nm_sub_member(s);
    struct yarn_container_id id;

    if (!f->members[i].attached || !f->response)
        return 0;
    for (; at->row < m->n_containers_from_previous_attempts; at->row++) {
        if (fed_spent(b))
            return FED_MORE;
        if (yarn_container_id_from(m->containers_from_previous_attempts[at->row]->id, &id) >= 0)
            (void)!fed_containers_know(all, id, i, !f->restarted); /* a clash is found later */
        fed_spend(b, 1);
    }
    return 0;
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
    f->home_collected = m && nm_fed_collect(f, NM_FED_HOME, m, arena) >= 0;
    if (!m)
        nm_fed_again(f);
    else if (!f->home_collected && f->call && f->call->method == NM_AMRM_REGISTER)
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
}

void nm_fed_registered(struct nm_fed *f, struct nm_sub_cluster *s, const response_proto *m,
                       struct sv_arena **arena)
{
    size_t i = nm_sub_member(s);
    bool attached = f->members[i].attached;

    f->members[i].attached = false;
    if (i == NM_FED_HOME)
        f->home_since_ms = sv_now_ms();
    if (i == NM_FED_HOME && !f->home_response && !f->home_collected)
        take_home(f, m, arena);
    else if (m && attached && !f->response && f->work.phase == NM_FED_NONE)
        collect(f, i, m, arena);
    else if (m)
        nm_fed_reply_registration(f, i, m, arena);
    f->step(f);
}

/* ---- The answer ---- */

static bool attaching(const struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        int state = f->members[i].sub ? nm_sub_state(f->members[i].sub) : FED_UAM_NEW;

        if (f->members[i].token ||
            (f->members[i].attached && !nm_sub_keeps_back(f->members[i].sub) &&
             (state == FED_UAM_REGISTERING || state == FED_UAM_PAUSED)))
            return true;
    }
    return false;
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
    if (f->told) {
        if (f->work.phase == NM_FED_NONE)
            nm_fed_work_go(f, NM_FED_RECALLING);
        return;
    }
    if (!f->members_known) {
        nm_fed_ask_members(f);
        return;
    }
    if (!f->home_response && f->again) {
        nm_fed_again_step(f);
        return;
    }
    if (!f->home_response && !f->home_collected) {
        register_home(f);
        return;
    }
    if (f->work.phase != NM_FED_NONE || (attaching(f) && !f->limit_over))
        return;
    if (f->registrations) {
        nm_fed_work_go(f, f->home_response ? NM_FED_JOINING : NM_FED_HOME_PACKING);
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
