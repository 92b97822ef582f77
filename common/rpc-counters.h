/* Counters of a server of RPC (wire/ipc/ipc-server.h), which common/web/jmx-daemon.h shows. */
#ifndef SELVEDGE_COMMON_RPC_COUNTERS_H
#define SELVEDGE_COMMON_RPC_COUNTERS_H

#include "common/histogram.h"
#include "common/rate.h"

struct sv_rpc_counters { /* since the start of the server */
    uint64_t received_bytes, sent_bytes;
    uint64_t authentications, authentications_failed; /* SASL exchanges; SIMPLE if not allowed */
    uint64_t authorizations, authorizations_failed;   /* connection contexts */
    uint64_t dropped;          /* connections that were refused, or closed for the limits on them */
    uint64_t errors;           /* calls answered by an error or exception */
    struct sv_rate queue;      /* milliseconds from the receipt of a call to its handler */
    struct sv_rate processing; /* milliseconds from there to its answer; n: calls answered */
};

struct sv_rpc_method { /* since the start of the server */
    const char *name;
    struct sv_histogram times; /* from the start of a call to its answer */
};

#endif
