/* Events sent to one auxiliary service: queued ones, unanswered ones, and their bytes. At most
 * NM_AUX_UNANSWERED_MAX are encoded at a time, so that the data of many applications is not in
 * memory twice. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_OUTBOX_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_OUTBOX_H

#include <jansson.h>

#include "common/base.h"
#include "common/buf.h"
#include "wire/ids.h"

#define NM_AUX_UNANSWERED_MAX 64
#define NM_AUX_QUEUE_MAX 16384

struct nm_aux_event;

struct nm_aux_unanswered {
    uint64_t seq; /* 0 = free */
    int64_t sent_ms;
    char what[32 + YARN_ID_TEXT_MAX]; /* "container-init container_…" */
};

struct nm_aux_outbox {
    struct nm_aux_event *queue;
    size_t n_queued, n_unanswered;
    struct nm_aux_unanswered unanswered[NM_AUX_UNANSWERED_MAX];
    uint64_t last_seq;
    int64_t sent_ms; /* monotonic, when the last event was sent */
    struct sv_buf bytes;
};

void nm_aux_outbox_open(struct nm_aux_outbox *o);
void nm_aux_outbox_close(struct nm_aux_outbox *o); /* drops everything */

/* Queue an event: an object without "seq", whose ownership is taken (NULL: -ENOMEM), or the
 * `application-init` of an application, which is encoded in its turn. -ENOBUFS: too many. */
int nm_aux_outbox_push(struct nm_aux_outbox *o, json_t *event) _must_use_;
int nm_aux_outbox_push_app(struct nm_aux_outbox *o, const char *app, bool recovered) _must_use_;

/* Encodes events up to the limit of unanswered ones. `make` returns NULL for an application that
 * has ended. */
typedef json_t *(*nm_aux_make_fn)(const char *app, bool recovered, void *userdata);
int nm_aux_outbox_fill(struct nm_aux_outbox *o, nm_aux_make_fn make, void *userdata) _must_use_;
/* Sends as many bytes as the socket accepts. */
int nm_aux_outbox_flush(struct nm_aux_outbox *o, int fd) _must_use_;

/* Marks the event as answered. false: it is not outstanding. */
bool nm_aux_outbox_answered(struct nm_aux_outbox *o, uint64_t seq,
                            struct nm_aux_unanswered *ret_event);
/* Monotonic time of the oldest unanswered event; 0: none. */
int64_t nm_aux_outbox_oldest_ms(const struct nm_aux_outbox *o);

#endif
