/* The news of a relay as packed lists of an AllocateRequestProto. Items keep their messages packed:
 * a request is put together by copying them. */
#ifndef SELVEDGE_FEDERATION_AMRM_RELAY_REQUEST_H
#define SELVEDGE_FEDERATION_AMRM_RELAY_REQUEST_H

#include "common/buf.h"
#include "federation/amrm/relay-items.h"

struct fed_relay_request {
    struct sv_buf *out;
    struct sv_buf barred; /* the blacklist's message */
};

/* Empties `out`. */
void fed_relay_request_begin(struct fed_relay_request *q, struct sv_buf *out);
/* -ENOMEM, -EMSGSIZE: nothing has changed. */
int fed_relay_request_put(struct fed_relay_request *q, const struct fed_item *it) _must_use_;
int fed_relay_request_end(struct fed_relay_request *q) _must_use_;
void fed_relay_request_clear(struct fed_relay_request *q);

#endif
