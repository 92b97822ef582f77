/* The record of what a master is told, before it is: containers, their ends and all else that a
 * ResourceManager says once, one record a sub-cluster with the id of the answer that told it. See
 * fed-attempt.h. Hostile: members' answers; records, which a disk may have damaged.
 *
 * A member's heartbeat acknowledges its last answer; none goes out before that is recorded here. So
 * a NodeManager that is killed has each answer in a record or, as the last one, from its member,
 * and the master's next heartbeat says which of them it has read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__AllocateResponseProto answer_proto;

/* Fields of AllocateResponseProto. */
enum {
    RESPONSE_ID = 2,
    ALLOCATED = 3,
    COMPLETED = 4,
    TOKENS = 9,
    UPDATE_ERRORS = 15,
    UPDATED = 16,
    PREVIOUS = 17,
    REJECTED = 18
};
/* Lists that the merged answer has, each container once; and those as members have said them. */
static const unsigned merged_fields[] = { ALLOCATED, COMPLETED, PREVIOUS };
static const unsigned reply_fields[] = { TOKENS, UPDATE_ERRORS, UPDATED, REJECTED, COMPLETED };

/* In the place of the response id, once the master has registered again and ids begin anew. */
#define WAS_READ (-1)
#define UNREAD (-2)

#define VARINT_MAX 10
#define FIELD_ROOM ((size_t)2 * VARINT_MAX)

/* ---- Records ---- */

static int name_of(const struct nm_fed *f, size_t member, bool known,
                   char name[NM_AMRM_RECORD_NAME])
{
    int n = snprintf(name, NM_AMRM_RECORD_NAME, "%s%s",
                     known ? NM_FED_KNOWN_RECORD : NM_FED_TOLD_RECORD, f->members[member].id);

    return n < NM_AMRM_RECORD_NAME ? 0 : -E2BIG;
}

static int put_varint(struct sv_buf *b, uint64_t v)
{
    int r = 0;

    for (; r >= 0 && v >= 0x80; v >>= 7)
        r = sv_buf_put_u8(b, (uint8_t)(v | 0x80));
    return r < 0 ? r : sv_buf_put_u8(b, (uint8_t)v);
}

/* A later value of the field counts. */
static int put_response_id(struct sv_buf *b, int32_t id)
{
    int r = put_varint(b, RESPONSE_ID << 3);

    return r < 0 ? r : put_varint(b, (uint64_t)(int64_t)id);
}

static int put_message(struct sv_buf *b, unsigned field, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    int r = sv_buf_reserve(b, n + FIELD_ROOM);

    if (r >= 0)
        r = put_varint(b, field << 3 | 2);
    if (r >= 0)
        r = put_varint(b, n);
    if (r < 0)
        return r;
    b->len += protobuf_c_message_pack(m, b->data + b->len);
    return 0;
}

/* Without its record a member's answer may be told twice or never after a kill: said, and gone on
 * with. */
static void keep(struct nm_fed *f, size_t member, bool known, int32_t response_id, struct sv_buf *b)
{
    char name[NM_AMRM_RECORD_NAME];
    int r = name_of(f, member, known, name);

    if (r >= 0)
        r = put_response_id(b, response_id);
    if (r >= 0)
        r = nm_amrm_keep(f->at, name, b->data, b->len);
    if (r < 0)
        sv_log_warning("%s: what it is told of sub-cluster %s cannot be recorded: %s", f->at->text,
                       f->members[member].id, strerror(-r));
}

static void on_recorded(void *userdata, int result)
{
    struct nm_fed *f = userdata;

    if (result < 0)
        sv_log_warning("%s: what it is told cannot be recorded: %s", f->at->text,
                       strerror(-result));
    f->n_recorded++;
    f->step(f);
}

static void wait_for_commit(struct nm_fed *f)
{
    if (nm_amrm_after_commit(f->at, on_recorded, f) >= 0)
        f->n_recording++;
}

/* ---- Before an answer ---- */

/* The messages of a field that is repeated. */
static ProtobufCMessage **list_of(const answer_proto *m, unsigned field, size_t *ret_n)
{
    const ProtobufCFieldDescriptor *d =
        protobuf_c_message_descriptor_get_field(m->base.descriptor, field);
    const char *p = (const char *)m;
    ProtobufCMessage **v;

    memcpy(ret_n, p + d->quantifier_offset, sizeof(*ret_n));
    memcpy(&v, p + d->offset, sizeof(v));
    return v;
}

static int put_row(struct nm_fed *f, size_t member, bool known, unsigned field,
                   const ProtobufCMessage *m)
{
    struct nm_fed_telling *t = &f->work.telling;

    if (!t->v) {
        t->v = sv_newn(f->work.arena, struct sv_buf, 2 * f->n_members);
        if (!t->v)
            return -ENOMEM;
        t->n = f->n_members;
        for (size_t i = 0; i < 2 * t->n; i++)
            t->v[i] = SV_BUF_INIT(NM_AMRM_RECORD_MAX);
    }
    if (member >= t->n)
        return 0; /* it has come meanwhile, with nothing of its own in this answer */
    return put_message(&t->v[known ? t->n + member : member], field, m);
}

static int id_of(unsigned field, const ProtobufCMessage *m, struct yarn_container_id *ret)
{
    return yarn_container_id_from(
        field == COMPLETED ? ((const Hadoop__Yarn__ContainerStatusProto *)m)->container_id
                           : ((const Hadoop__Yarn__ContainerProto *)m)->id,
        ret);
}

static int owner_of(const struct nm_fed *f, unsigned field, const ProtobufCMessage *m)
{
    struct yarn_container_id id;
    int r = id_of(field, m, &id);

    return r < 0 ? r : fed_containers_owner(fed_merge_containers(f->merge), id);
}

static int put_merged(struct nm_fed *f, unsigned field, const ProtobufCMessage *m)
{
    int owner = owner_of(f, field, m);

    return owner < 0 ? 0 : put_row(f, (size_t)owner, false, field, m);
}

/* A member's own words, but for ends that the master does not know yet. A ResourceManager repeats
 * them until they are acknowledged, over restarts of the NodeManager. */
static int put_said(struct nm_fed *f, size_t member, unsigned field, const ProtobufCMessage *m)
{
    struct yarn_container_id id;

    if (field != COMPLETED)
        return put_row(f, member, false, field, m);
    if (id_of(field, m, &id) < 0 || !fed_containers_has_ended(fed_merge_containers(f->merge), id))
        return 0;
    return put_row(f, member, true, field, m);
}

static int put_list(struct nm_fed *f, const answer_proto *m, int member, unsigned field,
                    struct fed_budget *b)
{
    struct nm_fed_telling *t = &f->work.telling;
    size_t n;
    ProtobufCMessage **v = list_of(m, field, &n);

    for (; t->row < n; t->row++) {
        int r;

        if (fed_spent(b))
            return FED_MORE;
        r = member < 0 ? put_merged(f, field, v[t->row])
                       : put_said(f, (size_t)member, field, v[t->row]);
        if (r < 0)
            return r;
        fed_spend(b, 1);
    }
    t->row = 0;
    return 0;
}

/* A member's tokens from its registration are had again from the next one. */
static int put_replies(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_telling *t = &f->work.telling;
    const struct fed_replies *all = &f->work.replies;

    for (; t->reply < all->n; t->reply++, t->list = 0) {
        const struct fed_reply *q = &all->v[t->reply];

        for (; q->answer && t->list < SV_ARRAY_LEN(reply_fields); t->list++) {
            int r = put_list(f, q->answer, (int)q->member, reply_fields[t->list], b);

            if (r != 0)
                return r;
        }
    }
    return 0;
}

static int put_all(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_telling *t = &f->work.telling;

    for (; !t->merged && t->list < SV_ARRAY_LEN(merged_fields); t->list++) {
        int r = put_list(f, f->work.merged.answer, -1, merged_fields[t->list], b);

        if (r != 0)
            return r;
    }
    if (!t->merged)
        t->list = 0;
    t->merged = true;
    return put_replies(f, b);
}

int nm_fed_record(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_telling *t = &f->work.telling;
    bool any = false;
    int r = put_all(f, b);

    if (r == -EMSGSIZE) {
        sv_log_warning("%s: an answer with more than %u MiB of containers in one sub-cluster is "
                       "not recorded",
                       f->at->text, NM_AMRM_RECORD_MAX >> 20);
        return 0;
    }
    for (size_t i = 0; r == 0 && t->v && i < 2 * t->n; i++) {
        if (!t->v[i].len)
            continue;
        keep(f, i % t->n, i >= t->n, i >= t->n ? WAS_READ : f->work.merged.answer->response_id,
             &t->v[i]);
        any = true;
    }
    if (any)
        wait_for_commit(f);
    return r;
}

/* ---- After a restart ---- */

/* A damaged record of a member's last answer: the member says it once more, and all of that is
 * taken for told. It was, unless the daemon was killed in the milliseconds between the answer and
 * its commit, or before the master had read it; then the master never hears of it. Taken for news
 * it would mostly be told twice, and masters count twice. The other record, of ends that the master
 * knows, has no such substitute: ResourceManagers repeat those ends among new ones, and an attempt
 * whose record of them is damaged is not recovered. */
static int told_damaged(struct nm_fed *f, size_t member, const struct nm_amrm_record *record)
{
    sv_log_warning("%s: record %s of the AMRMProxy is damaged: what the sub-cluster said last is "
                   "taken for told; if the master had not read it, containers and ends are lost",
                   f->at->text, record->name);
    f->members[member].told_damaged = true;
    f->resyncing = true; /* it had heartbeats */
    return 0;
}

static int read_told(const struct nm_amrm_record *record, struct nm_fed_reply *r)
{
    ProtobufCMessage *m = NULL;
    int e;

    r->arena = sv_arena_new(ipc_arena_max(record->len));
    e = r->arena ? ipc_unpack(r->arena, &hadoop__yarn__allocate_response_proto__descriptor,
                              record->data, record->len, &m)
                 : -ENOMEM;
    if (e == 0)
        r->answer = (const answer_proto *)m;
    return e;
}

int nm_fed_take_told(struct nm_fed *f, const char *member, const struct nm_amrm_record *record)
{
    struct fed_budget all = FED_BUDGET_ALL;
    bool last = strncmp(record->name, NM_FED_TOLD_RECORD, strlen(NM_FED_TOLD_RECORD)) == 0;
    int at = nm_fed_member_add(f, member);
    struct nm_fed_reply *r = at < 0 ? NULL : calloc(1, sizeof(*r));
    int e;

    if (!r)
        return at < 0 ? at : -ENOMEM;
    r->member = (size_t)at;
    e = read_told(record, r);
    if (e < 0) {
        sv_arena_free(r->arena);
        free(r);
        return e == -EBADMSG && last ? told_damaged(f, (size_t)at, record) : e;
    }
    DL_APPEND(f->told, r);
    return nm_fed_know(f, r->member, r->answer, &(struct fed_relay_at){ 0 }, &all);
}

/* The rows of the answer that the master has. */
static int know_told(struct nm_fed *f, size_t member, const answer_proto *m,
                     struct fed_relay_at *at, struct fed_budget *b)
{
    struct fed_containers *all = fed_merge_containers(f->merge);
    const size_t live = m->n_allocated_containers;

    for (; at->row < live + m->n_completed_container_statuses; at->row++) {
        const bool ended = at->row >= live;
        struct yarn_container_id id;

        if (fed_spent(b))
            return FED_MORE;
        if (id_of(ended ? COMPLETED : ALLOCATED,
                  ended ? &m->completed_container_statuses[at->row - live]->base
                        : &m->allocated_containers[at->row]->base,
                  &id) >= 0)
            (void)!fed_containers_master_has(all, id, member, ended); /* a clash is found later */
        fed_spend(b, 1);
    }
    return 0;
}

int nm_fed_know_recalled(struct nm_fed *f, size_t member, const answer_proto *m,
                         struct fed_relay_at *at, struct fed_budget *b)
{
    struct nm_fed_member *of = &f->members[member];
    int r = of->told_damaged ? know_told(f, member, m, at, b) : nm_fed_know(f, member, m, at, b);

    if (r == 0) {
        of->drops_news = of->told_damaged;
        of->told_damaged = false;
    }
    return r;
}

const answer_proto *nm_fed_without_news(struct nm_fed *f, size_t member, const answer_proto *m,
                                        struct sv_arena *a)
{
    answer_proto *rest;

    if (!f->members[member].drops_news)
        return m;
    f->members[member].drops_news = false;
    rest = sv_arena_memdup(a, m, sizeof(*m));
    if (!rest)
        return NULL;
    rest->n_allocated_containers = rest->n_completed_container_statuses = 0;
    rest->n_updated_containers = rest->n_update_errors = 0;
    rest->n_containers_from_previous_attempts = rest->n_rejected_scheduling_requests = 0;
    return rest;
}

int nm_fed_know(struct nm_fed *f, size_t member, const answer_proto *m, struct fed_relay_at *at,
                struct fed_budget *b)
{
    struct fed_containers *all = fed_merge_containers(f->merge);
    struct yarn_container_id id;

    for (; at->row < m->n_allocated_containers; at->row++) {
        if (fed_spent(b))
            return FED_MORE;
        if (yarn_container_id_from(m->allocated_containers[at->row]->id, &id) >= 0)
            (void)!fed_containers_know(all, id, member, false); /* a clash is found later */
        fed_spend(b, 1);
    }
    return 0;
}

/* Its containers and ends are the master's: what members repeat of them is left out. */
static int take_read_row(struct nm_fed *f, size_t member, unsigned field, const ProtobufCMessage *m)
{
    struct fed_containers *all = fed_merge_containers(f->merge);
    struct yarn_container_id id;
    enum fed_seen seen;

    if (id_of(field, m, &id) < 0)
        return 0;
    return field == COMPLETED ? fed_containers_end(all, id, member, &seen)
                              : fed_containers_live(all, id, member, &seen);
}

static int take_read(struct nm_fed *f, const struct nm_fed_reply *q, struct fed_budget *b)
{
    struct nm_fed_telling *t = &f->work.telling;

    for (; t->list < SV_ARRAY_LEN(merged_fields); t->list++, t->row = 0) {
        size_t n;
        ProtobufCMessage **v = list_of(q->answer, merged_fields[t->list], &n);

        for (; t->row < n; t->row++) {
            int r;

            if (fed_spent(b))
                return FED_MORE;
            r = take_read_row(f, q->member, merged_fields[t->list], v[t->row]);
            if (r < 0)
                return r;
            fed_spend(b, 1);
        }
    }
    return 0;
}

static bool was_read(const struct nm_fed *f, const answer_proto *m)
{
    int32_t id = m->response_id;

    if (id == WAS_READ || id == UNREAD)
        return id == WAS_READ;
    return f->call->method == NM_AMRM_ALLOCATE &&
           nm_fed_next_id(f->call->allocate->response_id) != id;
}

/* The record says from now on whether it was read: response ids begin anew. */
static void settle(struct nm_fed *f, const struct nm_fed_reply *q, bool read)
{
    int32_t id = read ? WAS_READ : UNREAD;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(NM_AMRM_RECORD_MAX);
    size_t n = protobuf_c_message_get_packed_size(&q->answer->base);
    int r;

    if (q->answer->response_id == id)
        return;
    r = sv_buf_reserve(&b, n + FIELD_ROOM);
    if (r >= 0) {
        b.len = protobuf_c_message_pack(&q->answer->base, b.data);
        keep(f, q->member, false, id, &b);
    }
}

int nm_fed_recall(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_reply *q;
    bool any = f->told != NULL;
    int r = 0;

    DL_FOREACH (f->told, q) {
        if (q->recalled || !was_read(f, q->answer))
            continue;
        r = take_read(f, q, b);
        if (r == 0)
            r = fed_merge_keep(f->merge, b);
        if (r != 0)
            return r;
        q->recalled = true;
        f->work.telling.list = 0;
    }
    while ((q = f->told)) {
        bool read = was_read(f, q->answer);

        settle(f, q, read);
        DL_DELETE(f->told, q);
        if (!read)
            nm_fed_reply_answer(f, q->member, q->answer, &q->arena);
        sv_arena_free(q->arena);
        free(q);
    }
    if (any)
        wait_for_commit(f);
    return 0;
}
