/* Answers of a sub-cluster, read in turns of the loop; see sub-cluster.h. Hostile: the answers. */
#include <errno.h>
#include <string.h>

#include "nodemanager/federation/sub-cluster-parts.h"

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

static void end(struct nm_sub_cluster *s, int error)
{
    struct sv_arena *a = SV_TAKE(s->read.arena);
    const ProtobufCMessage *m = error < 0 ? NULL : s->read.m;

    nm_sub_read_stop(s);
    s->read.how->done(s, m, &a, error);
    sv_arena_free(a);
}

static int read_message(struct nm_sub_answer *r, struct fed_budget *b)
{
    ProtobufCMessage *m = NULL;
    int e = r->m ? 0 : ipc_reading_run(r->reading, &b->rows, &m);

    if (e == 0 && m)
        r->m = m;
    return e;
}

static bool run_read(struct nm_turn *t, struct fed_budget *b)
{
    struct nm_sub_cluster *s =
        (struct nm_sub_cluster *)(void *)((char *)t - offsetof(struct nm_sub_cluster, read.turn));
    struct nm_sub_answer *r = &s->read;
    int e = read_message(r, b);

    if (e == 0 && r->how->take)
        e = r->how->take(s, r->m, &r->at, b);
    if (e > 0)
        return true;
    end(s, e);
    return false;
}

void nm_sub_read_init(struct nm_sub_cluster *s)
{
    s->read.turn.run = run_read;
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

void nm_sub_read(struct nm_sub_cluster *s, const struct nm_sub_reader *how, const uint8_t *p,
                 size_t n)
{
    struct nm_sub_answer *r = &s->read;
    int e;

    r->how = how;
    r->m = NULL;
    r->at = (struct fed_relay_at){ 0 };
    r->arena = sv_arena_new(ipc_arena_max(n));
    e = r->arena ? ipc_reading_new(r->arena, how->type, p, n, &r->reading) : -ENOMEM;
    if (e == 0) {
        nm_turns_go(s->cfg.turns, &r->turn);
        e = keep_body(r, p, n);
    }
    if (e < 0)
        end(s, e);
}
