/* State shared by all requests. Set up by main.c before the threads start; plain data. */
#ifndef SELVEDGE_SHUFFLE_SERVICE_H
#define SELVEDGE_SHUFFLE_SERVICE_H

#include <stdatomic.h>

#include "common/tls/tls.h"
#include "shuffle/conf.h"
#include "shuffle/index-cache.h"
#include "shuffle/job-table.h"
#include "shuffle/map-output.h"

struct shf_service {
    struct shf_conf conf;
    struct shf_local_dirs dirs;
    struct shf_jobs *jobs;
    struct shf_index_cache *cache;
    struct sv_tls *tls; /* NULL: plain HTTP */
    bool tls_in_kernel; /* offered by the kernel, and wanted */
    uint16_t port;      /* the listening port, which is part of every hash */
    _Atomic uint64_t bytes_sent, outputs_ok, outputs_failed; /* parts of map outputs */
    _Atomic uint64_t kernel_tls_bytes; /* of bytes_sent: encrypted by the kernel */
};

#endif
