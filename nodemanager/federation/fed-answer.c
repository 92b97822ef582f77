/* The second half of a heartbeat: the sub-clusters' answers as the master's. In turns of the loop;
 * see fed-attempt.h. Hostile: the answers. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"

typedef Hadoop__Yarn__AllocateResponseProto response_proto;

#define ANSWER_BYTES_MAX ((size_t)512 << 20)

static int begin_merge(struct nm_fed *f)
{
    struct nm_fed_work *w = &f->work;
    int r = nm_fed_replies_list(f, w->arena, &w->replies);

    return r < 0 ? r : fed_merge_begin(f->merge, &w->replies, w->arena, &w->merging);
}

int nm_fed_merge(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_work *w = &f->work;
    int r = w->merging ? 0 : begin_merge(f);

    if (r >= 0)
        r = fed_merge_run(w->merging, b, &w->merged);
    if (r != 0)
        return r;
    if (w->merged.n_foreign || w->merged.n_broken)
        sv_log_info("%s: left out of an answer: %zu words on other members' containers, %zu "
                    "containers without an id",
                    f->at->text, w->merged.n_foreign, w->merged.n_broken);
    w->merged.answer->has_response_id = true;
    w->merged.answer->response_id = nm_fed_next_id(f->response_id);
    nm_fed_write(f, &w->merged.answer->base);
    return 0;
}

void nm_fed_write(struct nm_fed *f, const ProtobufCMessage *m)
{
    f->work.packed = SV_BUF_INIT(ANSWER_BYTES_MAX);
    f->work.writing = (struct ipc_writing){ .m = m, .out = &f->work.packed };
}

/* Before the merge is kept: without memory it is as if it had not been. */
int nm_fed_pack_answer(struct nm_fed *f, struct fed_budget *b)
{
    return ipc_writing_run(&f->work.writing, &b->rows);
}

int nm_fed_exchange_all(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_work *w = &f->work;
    const struct fed_clash *v = w->joining ? w->joined.clashes : w->merged.clashes;
    size_t n = w->joining ? w->joined.n_clashes : w->merged.n_clashes;

    for (; w->row < n; w->row++) {
        if (fed_spent(b))
            return FED_MORE;
        nm_fed_exchange_one(f, &v[w->row]);
        fed_spend(b, 2);
    }
    nm_fed_exchange_tell(f);
    return 0;
}

/* The first field is the response id, or one before it. */
static void send_last(struct nm_fed *f)
{
    response_proto m = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;

    nm_fed_answer_packed(f, &m.base, f->last, f->n_last);
}

/* The first `n` replies were told, and that is recorded: their sub-clusters may have the next
 * heartbeat, with which they forget what they said. Of ends that is told at once, for a node keeps
 * those that are not acknowledged. */
static void acknowledge(struct nm_fed *f, size_t n)
{
    for (struct nm_fed_reply *r = f->replies; r && n--; r = r->next) {
        struct nm_sub_cluster *s = f->members[r->member].sub;

        if (r->member != NM_FED_HOME && r->answer && r->answer->n_completed_container_statuses && s)
            nm_sub_beat(s);
        if (r->tells)
            nm_sub_recorded(s);
    }
}

void nm_fed_answer_merged(struct nm_fed *f)
{
    struct nm_fed_work *w = &f->work;
    size_t n = w->replies.n;

    free(f->last);
    f->last = w->packed.data;
    f->n_last = w->packed.len;
    w->packed = (struct sv_buf){ 0 };
    f->response_id = w->merged.answer->response_id;
    send_last(f);
    acknowledge(f, n);
    nm_fed_replies_done(f, n);
}

void nm_fed_answer_last(struct nm_fed *f)
{
    send_last(f);
}
