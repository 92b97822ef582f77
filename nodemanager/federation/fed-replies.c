/* Members' answers until the master has them; see fed-attempt.h. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"

/* ---- The queue ---- */

static void hold_all(struct nm_fed *f, bool held)
{
    for (size_t i = 0; i < f->n_members; i++)
        if (f->members[i].sub)
            nm_sub_hold(f->members[i].sub, held);
}

static bool is_full(const struct nm_fed *f)
{
    return f->n_replies >= NM_FED_REPLIES_MAX || f->reply_bytes >= NM_FED_REPLY_BYTES_MAX;
}

static struct nm_fed_reply *make_reply(struct nm_fed *f, size_t member, struct sv_arena **arena)
{
    struct nm_fed_reply *r = calloc(1, sizeof(*r));

    if (!r) {
        sv_log_err("%s: an answer of sub-cluster %s is lost: no memory", f->at->text,
                   f->members[member].id);
        return NULL;
    }
    r->member = member;
    r->arena = SV_TAKE(*arena);
    return r;
}

static void queue(struct nm_fed *f, struct nm_fed_reply *r)
{
    DL_APPEND(f->replies, r);
    f->n_replies++;
    f->reply_bytes += r->arena ? sv_arena_used(r->arena) : 0;
    if (is_full(f))
        hold_all(f, true);
}

/* The answer has what a ResourceManager says once. */
static bool tells(const Hadoop__Yarn__AllocateResponseProto *m)
{
    return m->n_allocated_containers || m->n_completed_container_statuses || m->n_nm_tokens ||
           m->n_update_errors || m->n_updated_containers ||
           m->n_containers_from_previous_attempts || m->n_rejected_scheduling_requests;
}

void nm_fed_reply_answer(struct nm_fed *f, size_t member,
                         const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena)
{
    struct nm_fed_reply *r = make_reply(f, member, arena);

    if (!r)
        return;
    r->answer = m;
    r->tells = f->members[member].sub && tells(m);
    if (r->tells)
        nm_sub_keep_back(f->members[member].sub);
    queue(f, r);
}

void nm_fed_reply_registration(struct nm_fed *f, size_t member,
                               const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                               struct sv_arena **arena)
{
    struct nm_fed_reply *r;

    if (!m->n_containers_from_previous_attempts && !m->n_nm_tokens_from_previous_attempts)
        return;
    r = make_reply(f, member, arena);
    if (r) {
        r->registration = m;
        queue(f, r);
    }
}

void nm_fed_replies_free(struct nm_fed_reply **list)
{
    struct nm_fed_reply *r, *next;

    DL_FOREACH_SAFE (*list, r, next) {
        sv_arena_free(r->arena);
        free(r);
    }
    *list = NULL;
}

void nm_fed_replies_done(struct nm_fed *f, size_t n)
{
    bool was_full = is_full(f);

    while (n-- && f->replies) {
        struct nm_fed_reply *r = f->replies;

        DL_DELETE(f->replies, r);
        f->n_replies--;
        f->reply_bytes -= r->arena ? sv_arena_used(r->arena) : 0;
        sv_arena_free(r->arena);
        free(r);
    }
    if (was_full && !is_full(f))
        hold_all(f, false);
}

void nm_fed_reply_lost(struct nm_fed *f, size_t member, const char *why)
{
    struct sv_arena *a = sv_arena_new(0);
    const char *text = a ? sv_arena_strdup(a, why) : NULL;
    struct nm_fed_reply *r = text ? make_reply(f, member, &a) : NULL;

    if (r) {
        r->lost = text;
        queue(f, r);
    } else {
        sv_log_err("%s: its containers in sub-cluster %s are not reported as lost: no memory",
                   f->at->text, f->members[member].id);
    }
    fed_merge_forget(f->merge, member);
    sv_arena_free(a);
}

int nm_fed_replies_list(const struct nm_fed *f, struct sv_arena *a, struct fed_replies *ret)
{
    struct fed_reply *v = sv_newn(a, struct fed_reply, f->n_replies + 1);
    bool *silent = sv_newn(a, bool, f->n_members + 1);
    struct nm_fed_reply *r;
    size_t n = 0;

    if (!v || !silent)
        return -ENOMEM;
    DL_FOREACH (f->replies, r)
        v[n++] = (struct fed_reply){ r->member, r->answer, r->registration, r->lost };
    for (size_t i = 0; i < f->n_members; i++)
        silent[i] = nm_fed_silent(f, i);
    *ret = (struct fed_replies){
        .v = v, .n = n, .home = NM_FED_HOME, .silent = silent, .n_silent = f->n_members
    };
    return 0;
}

/* ---- Containers that clash ---- */

void nm_fed_exchange_one(struct nm_fed *f, const struct fed_clash *c)
{
    struct nm_fed_member *m = &f->members[c->member];

    if (!m->clashed)
        sv_log_warning("%s: sub-cluster %s has containers with ids of another one's: two "
                       "members with one epoch (yarn.resourcemanager.epoch); such containers "
                       "are given back and requested again",
                       f->at->text, m->id);
    if (m->sub && nm_sub_exchange(m->sub, c->container) < 0 && !m->exchanging)
        sv_log_warning("%s: sub-cluster %s: containers that clash are not given back: no memory, "
                       "or too many",
                       f->at->text, m->id);
    m->clashed = m->exchanging = true;
}

void nm_fed_exchange_tell(struct nm_fed *f)
{
    for (size_t i = 0; i < f->n_members; i++) {
        if (f->members[i].exchanging && f->members[i].sub)
            nm_sub_beat(f->members[i].sub);
        f->members[i].exchanging = false;
    }
}

void nm_fed_exchange(struct nm_fed *f, const struct fed_clash *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        nm_fed_exchange_one(f, &v[i]);
    nm_fed_exchange_tell(f);
}
