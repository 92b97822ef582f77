/* See call-list.h. Callers are hostile: they may ask for many long lists at once. */
#include "rm-lite/requests/call-list.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/user-groups.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/cut-texts.h"
#include "rm-lite/requests/viewer.h"
#include "wire/frame.h"

#define ANSWER_MAX (120u << 20) /* Hadoop's clients accept 128 MiB, ipc.maximum.response.length */
#define MEMBER(n) ((uint8_t)((n) << 3 | 2))
#define FRONT 11 /* bytes of a tag and a length */

struct waiting {
    struct rm_call_request q;
    struct waiting *prev, *next;
};

struct rm_call_lists {
    sd_event_source *turn;    /* enabled while a list is being built or waits */
    struct rm_call_request q; /* whose list is being built; call NULL: none */
    const struct rm_call_kind *kind;
    struct rm_call_items list;
    size_t at;
    int64_t made;   /* entries */
    bool in_member; /* entries are in a member of the answer, whose other members `head` has */
    struct sv_buf text;
    struct waiting *waiting; /* oldest first */
};

bool rm_call_items_new(struct rm_call_items *l, size_t n)
{
    *l = (struct rm_call_items){ .items = calloc(n + 1, sizeof(*l->items)), .limit = INT64_MAX };
    return l->items != NULL;
}

void rm_call_items_free(struct rm_call_items *l)
{
    for (size_t i = 0; l->items && i < l->n; i++)
        free(l->items[i].node);
    free(l->items);
    if (l->wanted)
        l->free_wanted(l->wanted);
    *l = (struct rm_call_items){ 0 };
}

/* ---- Bytes ---- */

static size_t varint_size(size_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

static uint8_t *put_length(uint8_t *p, size_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static int put_entry(struct sv_buf *b, const ProtobufCMessage *m, int member)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    size_t all = 1 + varint_size(size) + size;
    int r = sv_buf_reserve(b, all);

    if (r < 0)
        return r;
    b->data[b->len] = MEMBER(member);
    (void)protobuf_c_message_pack(m, put_length(b->data + b->len + 1, size));
    b->len += all;
    return 0;
}

/* Begins an answer after headroom for its frame header. If the entries are in a member of it, whose
 * other members `head` has, the member's tag and length precede it at the end. */
static int begin(struct sv_buf *b, const ProtobufCMessage *head)
{
    static const uint8_t room[IPC_FRAME_FRONT + FRONT];
    int r = sv_buf_put(b, room, IPC_FRAME_FRONT + (head ? FRONT : 0));

    if (r >= 0)
        b->pos = b->len;
    if (r >= 0 && head)
        r = sv_buf_reserve(b, protobuf_c_message_get_packed_size(head) + 1);
    if (r >= 0 && head)
        b->len += protobuf_c_message_pack(head, b->data + b->len);
    return r;
}

static void put_front(struct sv_buf *b)
{
    size_t size = sv_buf_left(b);

    b->pos -= varint_size(size) + 1;
    b->data[b->pos] = MEMBER(1);
    (void)put_length(b->data + b->pos + 1, size);
}

/* ---- A list ---- */

static bool is_made(const struct rm_call_lists *l)
{
    return l->at == l->list.n || l->made >= l->list.limit;
}

/* The next entry must not be larger than its share of what is left, or the list would fail for its
 * long texts, which one user's applications may have. */
static int cut_next(struct sv_arena *a, const struct rm_call_lists *l, const ProtobufCMessage *m)
{
    int64_t left = SV_MIN((int64_t)(l->list.n - l->at), l->list.limit - l->made);
    size_t share = (ANSWER_MAX - l->text.len) / (size_t)left;

    return rm_cut_texts(a, (ProtobufCMessage *)(uintptr_t)m, /* in this arena */
                        share > FRONT ? share - FRONT : 0);
}

/* Looks at the next object. */
static int put_next(struct rm *rm, struct sv_arena *a, struct rm_call_lists *l,
                    struct rm_turn *turn)
{
    const ProtobufCMessage *m = NULL;
    int r = l->kind->entry(rm, a, l->list.wanted, &l->list.items[l->at], &m);

    if (r >= 0 && m)
        r = cut_next(a, l, m);
    l->at++;
    if (r >= 0 && m)
        r = put_entry(&l->text, m, l->kind->member);
    l->made += m != NULL;
    rm_turn_count(turn, m != NULL);
    return r;
}

/* One turn; a list that is `whole` is made to its end. -EAGAIN: some entries were made without the
 * caller's groups. */
static int put_entries(struct rm *rm, struct rm_call_lists *l, bool whole)
{
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    struct rm_turn turn = rm_turn_begin();
    int r = a ? 0 : -ENOMEM;

    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    while (r >= 0 && !is_made(l) && (whole || !rm_turn_is_over(&turn)))
        r = put_next(rm, a, l, &turn);
    return r >= 0 && sv_groups_missed(rm->groups) ? -EAGAIN : r;
}

static void reply(struct ipc_call *call, struct sv_buf *text, bool in_member)
{
    if (in_member)
        put_front(text);
    ipc_call_reply_taken(call, text);
}

static void finish(struct rm *rm, struct rm_call_lists *l, int r)
{
    struct rm_call_request q = l->q;

    l->q.call = NULL;
    if (r == -EMSGSIZE)
        ipc_call_fail(q.call, JAVA_YARN_EXCEPTION,
                      "the list has more than %u MiB: ask for fewer, by state, user or limit",
                      ANSWER_MAX >> 20);
    else if (r == -EAGAIN)
        rm_groups_wait(rm, q.call, q.request, q.handler);
    else if (r < 0)
        rm_answer_no_memory(q.call);
    else
        reply(q.call, &l->text, l->in_member);
    rm_call_items_free(&l->list);
    sv_buf_free(&l->text);
    l->at = 0;
    l->made = 0;
}

static void make(struct rm *rm, struct rm_call_lists *l)
{
    int r = put_entries(rm, l, false);

    if (r < 0 || is_made(l))
        finish(rm, l, r);
}

static void next_waiting(struct rm *rm, struct rm_call_lists *l)
{
    struct waiting *w = l->waiting;
    struct rm_call_request q = w->q;

    DL_DELETE(l->waiting, w);
    free(w);
    q.handler(q.call, q.request, rm);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm *rm = userdata;
    struct rm_call_lists *l = rm->call_lists;

    if (l->q.call)
        make(rm, l);
    else if (l->waiting)
        next_waiting(rm, l);
    else
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    return 0;
}

/* ---- Calls ---- */

/* NULL: no memory. */
static struct rm_call_lists *lists_of(struct rm *rm)
{
    struct rm_call_lists *l = rm->call_lists;

    if (l)
        return l;
    l = calloc(1, sizeof(*l));
    if (!l || sd_event_add_defer(rm->event, &l->turn, on_turn, rm) < 0) {
        free(l);
        return NULL;
    }
    /* Lower priority than the sockets of nodes and masters: services.c. */
    (void)sd_event_source_set_priority(l->turn, SD_EVENT_PRIORITY_NORMAL + 20);
    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_OFF);
    l->text = SV_BUF_INIT(ANSWER_MAX);
    return rm->call_lists = l;
}

static void wait_for_turn(struct rm_call_lists *l, const struct rm_call_request *q)
{
    struct waiting *w = calloc(1, sizeof(*w));

    if (!w) {
        rm_answer_no_memory(q->call);
        return;
    }
    w->q = *q;
    DL_APPEND(l->waiting, w);
}

static void answer_short(struct rm *rm, const struct rm_call_request *q,
                         const struct rm_call_kind *kind, struct rm_call_items *items,
                         const ProtobufCMessage *head)
{
    struct rm_call_lists one = {
        .q = *q, .kind = kind, .list = *items, .text = SV_BUF_INIT(ANSWER_MAX)
    };
    int r = begin(&one.text, head);

    one.in_member = head != NULL;
    *items = (struct rm_call_items){ 0 };
    if (r >= 0)
        r = put_entries(rm, &one, true);
    finish(rm, &one, r);
}

void rm_call_list(struct rm *rm, const struct rm_call_request *q, const struct rm_call_kind *kind,
                  struct rm_call_items *items, const ProtobufCMessage *head)
{
    struct rm_call_lists *l;
    int r;

    if (items->n <= RM_CALL_LIST_SHORT) {
        answer_short(rm, q, kind, items, head);
        return;
    }
    l = lists_of(rm);
    if (!l) {
        rm_call_items_free(items);
        rm_answer_no_memory(q->call);
        return;
    }
    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_ON); /* cannot fail, ignoring */
    if (l->q.call) {
        rm_call_items_free(items); /* made again in its turn */
        wait_for_turn(l, q);
        return;
    }
    l->q = *q;
    l->kind = kind;
    l->list = *items;
    *items = (struct rm_call_items){ 0 };
    l->in_member = head != NULL;
    r = begin(&l->text, head);
    if (r < 0)
        finish(rm, l, r);
}

void rm_call_lists_stop(struct rm *rm)
{
    struct rm_call_lists *l = SV_TAKE(rm->call_lists);
    struct waiting *w, *tmp;

    if (!l)
        return;
    if (l->q.call)
        finish(rm, l, -ENOMEM); /* the client tries again, ignoring */
    DL_FOREACH_SAFE (l->waiting, w, tmp) {
        rm_answer_no_memory(w->q.call);
        free(w);
    }
    sd_event_source_disable_unref(l->turn);
    free(l);
}
