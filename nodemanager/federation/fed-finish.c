/* The master's end: in all sub-clusters at the same time. See fed-attempt.h. */
#include <errno.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__FinishApplicationMasterRequestProto request_proto;

/* The first one's words count: a repetition says the same. */
static int keep_request(struct nm_fed *f, const request_proto *m)
{
    uint8_t *packed;
    size_t n;
    ProtobufCMessage *copy = NULL;
    int r = f->app.finish ? 0 : nm_fed_pack(&m->base, &packed, &n);

    if (f->app.finish || r < 0)
        return r;
    r = ipc_unpack(f->arena, m->base.descriptor, packed, n, &copy);
    free(packed);
    if (r >= 0)
        f->app.finish = (const request_proto *)copy;
    return r;
}

static void answer(struct nm_fed *f, bool done)
{
    Hadoop__Yarn__FinishApplicationMasterResponseProto m =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    m.has_isunregistered = true;
    m.isunregistered = done;
    nm_fed_answer(f, &m.base);
}

/* A sub-cluster that is away for long does not keep the master: there it expires. */
static bool may_be_left(const struct nm_fed *f)
{
    return sv_now_ms() - f->finish_ms > f->shared->conf.timeout_ms;
}

static void finish_all(struct nm_fed *f)
{
    f->finish_told = true;
    for (size_t i = f->n_members; i-- > 0;)
        if (f->members[i].sub)
            nm_sub_finish(f->members[i].sub);
}

/* After a restart: all are attached that have a master. */
static bool all_attached(const struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++)
        if (f->members[i].token)
            return false;
    return f->members[NM_FED_HOME].sub && nm_sub_state(f->members[NM_FED_HOME].sub) != FED_UAM_NEW;
}

void nm_fed_finish_step(struct nm_fed *f)
{
    bool done = true;

    if (!f->finish_told && all_attached(f))
        finish_all(f);
    if (!f->finish_told || !f->call) /* the end of one may have answered it */
        return;
    for (size_t i = 0; i < f->n_members; i++) {
        int state = f->members[i].sub ? nm_sub_state(f->members[i].sub) : FED_UAM_NEW;
        bool ended = state == FED_UAM_FINISHED || state == FED_UAM_FAILED || state == FED_UAM_NEW;

        if (!ended && !(i != NM_FED_HOME && f->limit_over))
            return;
        done &= state == FED_UAM_FINISHED || state == FED_UAM_NEW ||
                (i != NM_FED_HOME && may_be_left(f));
    }
    answer(f, done);
}

void nm_fed_finish(struct nm_fed *f)
{
    if (!f->home_response) {
        nm_fed_fail(f, JAVA_AM_NOT_REGISTERED,
                    "Application Master is trying to unregister before registering for: %s",
                    f->at->app_text);
        return;
    }
    if (keep_request(f, f->call->finish) < 0) {
        nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
        return;
    }
    if (!f->finishing)
        f->finish_ms = sv_now_ms();
    f->finishing = true;
    f->called_ms = sv_now_ms();
    f->finish_told = false;
    nm_fed_limit(f, f->shared->conf.wait_ms);
    f->step(f);
}
