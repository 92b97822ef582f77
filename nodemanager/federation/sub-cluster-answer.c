/* Answers to a sub-cluster's heartbeats, read in turns of the loop; see sub-cluster.h. Hostile: the
 * answers. */
#include <errno.h>
#include <string.h>

#include "nodemanager/federation/sub-cluster-parts.h"

static struct nm_sub_cluster *sub_of(struct nm_turn *t)
{
    return (struct nm_sub_cluster *)(void *)((char *)t -
                                             offsetof(struct nm_sub_cluster, read.turn));
}

void nm_sub_take_token(struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m)
{
    if (!s->cfg.home && nm_sub_keep_token(s, m) < 0)
        return; /* another one comes with the next answer */
    s->cfg.owner->token(s->cfg.userdata, s, m);
}

bool nm_sub_is_reading(const struct nm_sub_cluster *s)
{
    return s->read.arena != NULL;
}

void nm_sub_read_stop(struct nm_sub_cluster *s)
{
    struct nm_sub_answer *r = &s->read;

    nm_turns_stop(s->cfg.turns, &r->turn);
    r->reading = ipc_reading_end(r->reading);
    r->arena = sv_arena_free(r->arena);
    free(SV_TAKE(r->body));
    r->m = NULL;
}

static void end(struct nm_sub_cluster *s)
{
    struct sv_arena *a = SV_TAKE(s->read.arena);
    const Hadoop__Yarn__AllocateResponseProto *m = s->read.m;

    nm_sub_read_stop(s);
    if (m->am_rm_token)
        nm_sub_take_token(s, m->am_rm_token);
    s->cfg.owner->answered(s->cfg.userdata, s, m, &a);
    sv_arena_free(a);
    s->read.done(s, 0);
}

static int read_message(struct nm_sub_answer *r, struct fed_budget *b)
{
    ProtobufCMessage *m = NULL;
    int e = r->m ? 0 : ipc_reading_run(r->reading, &b->rows, &m);

    if (e == 0 && m) {
        r->m = (const Hadoop__Yarn__AllocateResponseProto *)m;
        r->at = (struct fed_relay_at){ 0 };
    }
    return e;
}

static bool run_read(struct nm_turn *t, struct fed_budget *b)
{
    struct nm_sub_cluster *s = sub_of(t);
    int e = read_message(&s->read, b);

    if (e == 0)
        e = fed_relay_answered(s->relay, s->read.m, &s->read.at, b);
    if (e > 0)
        return true;
    if (e == 0) {
        end(s);
    } else {
        nm_sub_read_stop(s);
        s->read.done(s, e);
    }
    return false;
}

void nm_sub_read_init(struct nm_sub_cluster *s, void (*done)(struct nm_sub_cluster *s, int error))
{
    s->read.turn.run = run_read;
    s->read.done = done;
}

/* Bytes that were not read in this turn outlive the connection's buffer. */
static int keep_body(struct nm_sub_answer *r, const uint8_t *p, size_t n)
{
    if (!r->arena || r->m)
        return 0;
    r->body = malloc(n + 1);
    if (!r->body)
        return -ENOMEM;
    memcpy(r->body, p, n);
    ipc_reading_move(r->reading, r->body);
    return 0;
}

void nm_sub_read(struct nm_sub_cluster *s, const uint8_t *p, size_t n)
{
    struct nm_sub_answer *r = &s->read;
    int e = 0;

    r->m = NULL;
    r->arena = sv_arena_new(ipc_arena_max(n));
    if (r->arena)
        e = ipc_reading_new(r->arena, &hadoop__yarn__allocate_response_proto__descriptor, p, n,
                            &r->reading);
    if (r->arena && e == 0) {
        nm_turns_go(s->cfg.turns, &r->turn);
        e = keep_body(r, p, n);
    } else {
        e = -ENOMEM;
    }
    if (e < 0) {
        nm_sub_read_stop(s);
        s->read.done(s, e);
    }
}
