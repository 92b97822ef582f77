/* The master's heartbeat: split over the sub-clusters, and answered with what they have answered.
 *
 * It waits for the home alone. A home that still owes an earlier answer is not waited for if others
 * answer; what comes later goes with the next heartbeat. See fed-attempt.h. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__AllocateResponseProto response_proto;

/* One that waits for this answer is not waited for. */
static bool launches(const struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        const struct nm_sub_cluster *s = f->members[i].sub;
        int state = s ? nm_sub_state(s) : FED_UAM_NEW;

        if (state > FED_UAM_NEW && state < FED_UAM_RUNNING && !nm_sub_keeps_back(s))
            return true;
    }
    return false;
}

static void resync(struct nm_fed *f)
{
    f->resyncing = true;
    nm_fed_fail(f, JAVA_AM_NOT_REGISTERED,
                "AMRMProxy just restarted and recovered for %s. AM should re-register and full "
                "re-send pending requests.",
                f->at->text);
}

void nm_fed_allocate_step(struct nm_fed *f)
{
    bool done;

    if (f->recovered && !f->told && f->work.phase == NM_FED_NONE) {
        resync(f);
        return;
    }
    if (f->work.phase != NM_FED_WAITING)
        return;
    done = f->home_answered || (f->home_late && f->other_answered);
    if (done && f->shared->conf.wait_for_launches && launches(f))
        done = false;
    if (!done && !f->limit_over)
        return;
    if (sv_now_ms() < f->not_before_ms)
        nm_fed_limit(f, f->not_before_ms - sv_now_ms());
    else
        nm_fed_work_go(f, NM_FED_MERGING);
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
        if (f->told)
            nm_fed_work_go(f, NM_FED_RECALLING);
        else
            resync(f);
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
    if (f->last && nm_fed_next_id(m->response_id) == f->response_id) {
        nm_fed_answer_last(f);
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

void nm_fed_allocate(struct nm_fed *f)
{
    if (answered_at_once(f, f->call->allocate))
        return;
    f->called_before_ms = f->called_ms ? f->called_ms : sv_now_ms();
    f->called_ms = sv_now_ms();
    refresh(f);
    f->limit_over = false;
    nm_fed_work_go(f, NM_FED_MOVING);
}
