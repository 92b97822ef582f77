/* Members' answers until the master has them, and their merge; see fed-attempt.h. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"

#define ABORTED (-100) /* ContainerExitStatus */

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

void nm_fed_reply_answer(struct nm_fed *f, size_t member,
                         const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena)
{
    struct nm_fed_reply *r = make_reply(f, member, arena);

    if (r) {
        r->answer = m;
        queue(f, r);
    }
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

void nm_fed_replies_done(struct nm_fed *f)
{
    bool was_full = is_full(f);

    nm_fed_replies_free(&f->replies);
    f->n_replies = f->reply_bytes = 0;
    if (was_full)
        hold_all(f, false);
}

/* ---- Containers that are gone ---- */

struct losing {
    struct sv_arena *arena;
    Hadoop__Yarn__AllocateResponseProto *m;
    const char *why;
    bool failed;
};

static void lose(void *userdata, struct yarn_container_id id)
{
    struct losing *l = userdata;
    Hadoop__Yarn__ContainerStatusProto *s = sv_new(l->arena, Hadoop__Yarn__ContainerStatusProto);

    if (s) {
        hadoop__yarn__container_status_proto__init(s);
        s->container_id = yarn_container_id_to(l->arena, id);
        s->has_state = s->has_exit_status = true;
        s->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE;
        s->exit_status = ABORTED;
        s->diagnostics = (char *)(uintptr_t)l->why;
    }
    if (!s || !s->container_id || !l->m->completed_container_statuses)
        l->failed = true;
    else
        l->m->completed_container_statuses[l->m->n_completed_container_statuses++] = s;
}

void nm_fed_reply_lost(struct nm_fed *f, size_t member, const char *why)
{
    const struct fed_containers *all = fed_merge_containers(f->merge);
    struct losing l = { .arena = sv_arena_new(SIZE_MAX / 2) };

    l.m = l.arena ? sv_new(l.arena, Hadoop__Yarn__AllocateResponseProto) : NULL;
    l.why = l.arena ? sv_arena_strdup(l.arena, why) : NULL;
    if (l.m && l.why) {
        hadoop__yarn__allocate_response_proto__init(l.m);
        l.m->completed_container_statuses =
            sv_newn(l.arena, Hadoop__Yarn__ContainerStatusProto *, fed_containers_count(all) + 1);
        fed_containers_each(all, member, lose, &l);
    }
    if (!l.m || !l.why || l.failed)
        sv_log_err("%s: its containers in sub-cluster %s are not all reported as lost: no memory",
                   f->at->text, f->members[member].id);
    fed_merge_forget(f->merge, member);
    if (l.m && l.m->n_completed_container_statuses)
        nm_fed_reply_answer(f, member, l.m, &l.arena);
    sv_arena_free(l.arena);
}

/* ---- The merge ---- */

void nm_fed_exchange(struct nm_fed *f, const struct fed_clash *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct nm_fed_member *m = &f->members[v[i].member];

        if (!m->clashed)
            sv_log_warning("%s: sub-cluster %s has containers with ids of another one's: two "
                           "members with one epoch (yarn.resourcemanager.epoch); such containers "
                           "are given back and requested again",
                           f->at->text, m->id);
        m->clashed = true;
        if (m->sub && nm_sub_exchange(m->sub, v[i].container) < 0)
            sv_log_warning(
                "%s: sub-cluster %s: a container that clashes is not given back: no memory",
                f->at->text, m->id);
    }
    for (size_t i = 0; i < n; i++)
        if (f->members[v[i].member].sub)
            nm_sub_beat(f->members[v[i].member].sub);
}

static int list_replies(const struct nm_fed *f, struct sv_arena *a, struct fed_replies *ret)
{
    struct fed_reply *v = sv_newn(a, struct fed_reply, f->n_replies + 1);
    bool *silent = sv_newn(a, bool, f->n_members + 1);
    struct nm_fed_reply *r;
    size_t n = 0;

    if (!v || !silent)
        return -ENOMEM;
    DL_FOREACH (f->replies, r)
        v[n++] = (struct fed_reply){ r->member, r->answer, r->registration };
    for (size_t i = 0; i < f->n_members; i++)
        silent[i] = nm_fed_silent(f, i);
    *ret = (struct fed_replies){
        .v = v, .n = n, .home = NM_FED_HOME, .silent = silent, .n_silent = f->n_members
    };
    return 0;
}

int nm_fed_replies_merge(struct nm_fed *f, struct sv_arena *a,
                         Hadoop__Yarn__AllocateResponseProto **ret)
{
    struct fed_replies replies;
    struct fed_merged merged;
    int r = list_replies(f, a, &replies);

    if (r >= 0)
        r = fed_merge(f->merge, &replies, a, &merged);
    if (r < 0)
        return r;
    if (merged.n_foreign || merged.n_broken)
        sv_log_info("%s: left out of an answer: %zu words on other members' containers, %zu "
                    "containers without an id",
                    f->at->text, merged.n_foreign, merged.n_broken);
    nm_fed_exchange(f, merged.clashes, merged.n_clashes);
    *ret = merged.answer;
    return 0;
}
