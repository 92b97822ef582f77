/* Frames between the NodeManager and an auxiliary service (docs/design/aux-services.md): a length
 * of 4 bytes and a JSON object. Hostile: a service's frames; a damaged or compromised service must
 * not harm the daemon. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_FRAME_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_FRAME_H

#include "common/base.h"
#include "common/buf.h"
#include "common/error.h"

#define NM_AUX_FRAME_MAX ((size_t)1 << 20) /* to a service */
#define NM_AUX_ANSWER_MAX ((size_t)65536)  /* from a service */
#define NM_AUX_METADATA_MAX ((size_t)16384)
#define NM_AUX_MESSAGE_MAX 1000
#define NM_AUX_METRICS_MAX 16
#define NM_AUX_METRIC_NAME_MAX 63

enum nm_aux_answer_type { NM_AUX_READY, NM_AUX_DONE, NM_AUX_FAILED };

struct nm_aux_metrics {
    size_t n;
    struct nm_aux_metric {
        char name[NM_AUX_METRIC_NAME_MAX + 1]; /* a letter, then letters and digits */
        int64_t value;                         /* 0 or more */
    } v[NM_AUX_METRICS_MAX];
};

struct nm_aux_answer {
    enum nm_aux_answer_type type;
    uint64_t seq;                         /* of DONE and FAILED; 0 = the service cannot start */
    uint8_t *metadata;                    /* of READY; owned */
    size_t metadata_len;                  /* 0 = none */
    char message[NM_AUX_MESSAGE_MAX + 1]; /* of FAILED; cut */
    struct nm_aux_metrics metrics;        /* for DONE; n = 0: none reported */
};

void nm_aux_answer_free(struct nm_aux_answer *a);

/* Appends one frame. -EMSGSIZE: too long for a frame, or the buffer is full. */
int nm_aux_frame_put(struct sv_buf *out, const char *json, size_t n) _must_use_;
/* Removes the next frame of a service from the buffer. 1: `ret` is set; 0: no complete frame yet;
 * -EBADMSG: protocol violation, the connection must be closed. */
int nm_aux_frame_take(struct sv_buf *in, struct nm_aux_answer *ret, struct sv_error *err)
    _must_use_;

#endif
