/* See list-answer.h. A message with one repeated field is the concatenation of its packed entries:
 * each is packed in its turn. */
#include "router/list-answer.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "router/merge-apps.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

#define ANSWER_MAX (120u << 20) /* Hadoop's clients accept 128 MiB, ipc.maximum.response.length */
#define TURN 256                /* entries */
#define TAG ((uint8_t)(1 << 3 | 2))

struct list {
    struct rtr_call *x;
    enum rtr_list_kind kind;
    struct rtr_list_parts parts;
    size_t part, entry;    /* of the answers: the next one */
    struct rtr_apps *apps; /* RTR_LIST_APPS: those that are merged already */
    size_t app;            /* the next one to be packed */
    int64_t made;
    struct sv_buf text;
    struct list *prev, *next;
};

struct rtr_lists {
    sd_event_source *turn; /* on while there is a list */
    struct list *lists;    /* the first one is being made */
};

static void list_free(struct rtr_lists *all, struct list *l)
{
    DL_DELETE(all->lists, l);
    l->parts.free(l->parts.userdata);
    rtr_apps_free(l->apps);
    sv_buf_free(&l->text);
    free(l);
}

/* ---- Entries ---- */

static size_t varint_size(size_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

static int pack(struct list *l, const ProtobufCMessage *m)
{
    size_t size = protobuf_c_message_get_packed_size(m), v = size;
    size_t all = 1 + varint_size(size) + size;
    int r = sv_buf_reserve(&l->text, all);
    uint8_t *p = r < 0 ? NULL : l->text.data + l->text.len;

    if (r < 0)
        return r;
    *p++ = TAG;
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    (void)protobuf_c_message_pack(m, p); /* as many as it has said */
    l->text.len += all;
    l->made++;
    return 0;
}

static ProtobufCMessage *entry(const struct list *l, size_t part, size_t i)
{
    ProtobufCMessage *m = l->parts.answers.v[part];

    if (l->kind == RTR_LIST_NODES) {
        const Hadoop__Yarn__GetClusterNodesResponseProto *nodes =
            (Hadoop__Yarn__GetClusterNodesResponseProto *)m;

        return i < nodes->n_nodereports ? &nodes->nodereports[i]->base : NULL;
    }
    const Hadoop__Yarn__GetApplicationsResponseProto *apps =
        (Hadoop__Yarn__GetApplicationsResponseProto *)m;

    return i < apps->n_applications ? &apps->applications[i]->base : NULL;
}

/* The next entry of any answer; NULL: there is none. */
static ProtobufCMessage *next_entry(struct list *l)
{
    ProtobufCMessage *m = NULL;

    while (l->part < l->parts.answers.n && !(m = entry(l, l->part, l->entry))) {
        l->part++;
        l->entry = 0;
    }
    l->entry += m != NULL;
    return m;
}

/* 1: there is more to be done, 0: the list is made. */
static int step(struct list *l)
{
    ProtobufCMessage *m = next_entry(l);
    int r = 0;

    if (m && l->kind == RTR_LIST_APPS)
        r = rtr_apps_add(l->apps, (Hadoop__Yarn__ApplicationReportProto *)m);
    else if (m)
        r = pack(l, m);
    else if (l->kind == RTR_LIST_APPS && l->app < rtr_apps_count(l->apps)) {
        Hadoop__Yarn__ApplicationReportProto *app = rtr_apps_at(l->apps, l->app++);

        r = app ? pack(l, &app->base) : 0;
    } else
        return 0;
    return r < 0 ? r : l->made < l->parts.limit;
}

/* ---- Turns ---- */

static void finish(struct rtr_lists *all, struct list *l, int r)
{
    struct rtr_call *x = l->x;

    if (r >= 0) {
        ipc_call_reply_taken(x->call, &l->text);
        rtr_call_free(x);
    } else if (r == -EMSGSIZE) {
        rtr_call_fail(x, JAVA_YARN_EXCEPTION,
                      "the list has more than %u MiB: ask for fewer, by state, user or limit",
                      ANSWER_MAX >> 20);
    } else {
        rtr_call_no_memory(x);
    }
    list_free(all, l);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rtr_lists *all = userdata;
    struct list *l = all->lists;
    int r = 1;

    for (size_t i = 0; l && i < TURN && r > 0; i++)
        r = step(l);
    if (l && r <= 0)
        finish(all, l, r);
    if (!all->lists)
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    return 0;
}

struct rtr_lists *rtr_lists_new(sd_event *event)
{
    struct rtr_lists *all = calloc(1, sizeof(*all));

    if (!all || sd_event_add_defer(event, &all->turn, on_turn, all) < 0) {
        free(all);
        return NULL;
    }
    (void)sd_event_source_set_priority(all->turn, SD_EVENT_PRIORITY_NORMAL + 10);
    (void)sd_event_source_set_enabled(all->turn, SD_EVENT_OFF); /* neither fails, ignoring */
    return all;
}

struct rtr_lists *rtr_lists_free(struct rtr_lists *all)
{
    if (!all)
        return NULL;
    while (all->lists)
        finish(all, all->lists, -ENOMEM); /* the client tries again, ignoring */
    sd_event_source_disable_unref(all->turn);
    free(all);
    return NULL;
}

void rtr_list_answer(struct rtr_call *x, enum rtr_list_kind kind,
                     const struct rtr_list_parts *parts)
{
    static const uint8_t room[IPC_FRAME_FRONT];
    struct rtr_lists *all = x->r->lists;
    struct list *l = calloc(1, sizeof(*l));

    if (!l) {
        parts->free(parts->userdata);
        rtr_call_no_memory(x);
        return;
    }
    *l = (struct list){ .x = x, .kind = kind, .parts = *parts, .text = SV_BUF_INIT(ANSWER_MAX) };
    DL_APPEND(all->lists, l);
    if (kind == RTR_LIST_APPS)
        l->apps = rtr_apps_new(parts->answers.partial);
    if ((kind == RTR_LIST_APPS && !l->apps) || sv_buf_put(&l->text, room, sizeof(room)) < 0) {
        finish(all, l, -ENOMEM);
        return;
    }
    l->text.pos = l->text.len;
    (void)sd_event_source_set_enabled(all->turn, SD_EVENT_ON); /* cannot fail, ignoring */
}
