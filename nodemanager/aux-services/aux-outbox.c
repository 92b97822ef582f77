/* See aux-outbox.h. */
#include "nodemanager/aux-services/aux-outbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "nodemanager/aux-services/aux-frame.h"

#define BYTES_MAX ((size_t)8 << 20) /* init, and unanswered events with their data */
#define FILL_MAX ((size_t)1 << 18)  /* bytes at a time; each answer is another one */
#define FILL_MS 5                   /* of a handler of the loop, which may push many events */

struct nm_aux_event {
    struct nm_aux_event *prev, *next;
    json_t *json; /* NULL: to be encoded when it is sent, for `app` */
    char app[YARN_ID_TEXT_MAX];
    bool recovered;
};

void nm_aux_outbox_open(struct nm_aux_outbox *o)
{
    *o = (struct nm_aux_outbox){ .bytes = SV_BUF_INIT(BYTES_MAX), .sent_ms = sv_now_ms() };
}

void nm_aux_outbox_close(struct nm_aux_outbox *o)
{
    struct nm_aux_event *e, *tmp;

    DL_FOREACH_SAFE (o->queue, e, tmp) {
        json_decref(e->json);
        free(e);
    }
    sv_buf_free(&o->bytes);
    *o = (struct nm_aux_outbox){ .bytes = SV_BUF_INIT(BYTES_MAX) };
}

/* Appends an event to the queue. */
static int append(struct nm_aux_outbox *o, struct nm_aux_event *e)
{
    if (o->n_queued == NM_AUX_QUEUE_MAX)
        return -ENOBUFS;
    DL_APPEND(o->queue, e);
    o->n_queued++;
    return 0;
}

static int push(struct nm_aux_outbox *o, const struct nm_aux_event *event)
{
    struct nm_aux_event *e = malloc(sizeof(*e));
    int r = -ENOMEM;

    if (e) {
        *e = *event;
        r = append(o, e);
    }
    if (r < 0) {
        json_decref(event->json);
        free(e);
    }
    return r;
}

int nm_aux_outbox_push(struct nm_aux_outbox *o, json_t *event)
{
    return event ? push(o, &(struct nm_aux_event){ .json = event }) : -ENOMEM;
}

int nm_aux_outbox_push_app(struct nm_aux_outbox *o, const char *app, bool recovered)
{
    struct nm_aux_event e = { .recovered = recovered };

    snprintf(e.app, sizeof(e.app), "%s", app);
    return push(o, &e);
}

static void describe(const json_t *event, char *buf, size_t size)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    const char *id = json_string_value(json_object_get(event, "containerId"));

    if (!id)
        id = json_string_value(json_object_get(event, "applicationId"));
    snprintf(buf, size, "%s%s%s", type ? type : "", id ? " " : "", id ? id : "");
}

/* Requires a free slot. */
static int encode(struct nm_aux_outbox *o, json_t *event)
{
    struct nm_aux_unanswered *u = o->unanswered;
    char *text = NULL;
    int r;

    while (u->seq)
        u++;
    if (json_object_set_new(event, "seq", json_integer((json_int_t)(o->last_seq + 1))) >= 0)
        text = json_dumps(event, JSON_COMPACT);
    r = text ? nm_aux_frame_put(&o->bytes, text, strlen(text)) : -ENOMEM;
    free(text);
    if (r < 0)
        return r;
    u->seq = ++o->last_seq;
    u->sent_ms = o->sent_ms = sv_now_ms();
    describe(event, u->what, sizeof(u->what));
    o->n_unanswered++;
    return 0;
}

/* True: an answer is awaited, with which the rest follows. */
static bool has_enough(const struct nm_aux_outbox *o, size_t before)
{
    return o->n_unanswered == NM_AUX_UNANSWERED_MAX ||
           (o->n_unanswered > 0 &&
            (sv_buf_left(&o->bytes) - before >= FILL_MAX || sv_loop_spent_ms() >= FILL_MS));
}

int nm_aux_outbox_fill(struct nm_aux_outbox *o, nm_aux_make_fn make, void *userdata)
{
    size_t before = sv_buf_left(&o->bytes);
    int r = 0;

    while (o->queue && r >= 0 && !has_enough(o, before)) {
        struct nm_aux_event *e = o->queue;

        DL_DELETE(o->queue, e);
        o->n_queued--;
        if (!e->json)
            e->json = make(e->app, e->recovered, userdata);
        r = e->json ? encode(o, e->json) : 0;
        json_decref(e->json);
        free(e);
    }
    return r;
}

int nm_aux_outbox_flush(struct nm_aux_outbox *o, int fd)
{
    while (sv_buf_left(&o->bytes)) {
        ssize_t n = send(fd, o->bytes.data + o->bytes.pos, sv_buf_left(&o->bytes), MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            return -errno;
        o->bytes.pos += (size_t)n;
    }
    sv_buf_compact(&o->bytes);
    return 0;
}

bool nm_aux_outbox_answered(struct nm_aux_outbox *o, uint64_t seq,
                            struct nm_aux_unanswered *ret_event)
{
    for (size_t i = 0; seq && i < NM_AUX_UNANSWERED_MAX; i++) {
        struct nm_aux_unanswered *u = &o->unanswered[i];

        if (u->seq != seq)
            continue;
        *ret_event = *u;
        *u = (struct nm_aux_unanswered){ 0 };
        o->n_unanswered--;
        return true;
    }
    return false;
}

int64_t nm_aux_outbox_oldest_ms(const struct nm_aux_outbox *o)
{
    int64_t oldest = 0;

    for (size_t i = 0; i < NM_AUX_UNANSWERED_MAX; i++)
        if (o->unanswered[i].seq && (!oldest || o->unanswered[i].sent_ms < oldest))
            oldest = o->unanswered[i].sent_ms;
    return oldest;
}
