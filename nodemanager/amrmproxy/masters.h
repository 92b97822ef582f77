/* The masters of this node's applications behind the AMRMProxy, and their records: for the files
 * that implement amrm-proxy.h. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_MASTERS_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_MASTERS_H

#include <uthash.h>

#include "gss/daemon.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "wire/ipc/proxy.h"

struct nm_amrm_home;

struct nm_amrm_master { /* of an application */
    UT_hash_handle hh;
    char app[YARN_ID_TEXT_MAX];
    struct nm_amrm_pipeline *pipeline;
    bool stopping;
};

struct nm_amrm {
    struct nm_context *ctx;
    struct nm_amrm_env env;
    struct ipc_proxy_config own_rm;
    struct sgss_service kerberos;
    const struct nm_amrm_interceptor *interceptor;
    void *shared;
    bool opened;               /* .open has run */
    struct nm_amrm_home *home; /* NULL: no federation */
    struct nm_amrm_keys *keys;
    struct nm_amrm_master *masters; /* uthash by app */
    struct nm_amrm_counters counters;
};

/* NULL: the application has none. */
struct nm_amrm_master *nm_amrm_master_of(const struct nm_amrm *p, struct yarn_app_id app);
/* True if the master is this attempt's. */
bool nm_amrm_master_is(const struct nm_amrm_master *m, struct yarn_attempt_id id);

struct nm_amrm_beginning {
    struct yarn_attempt_id id;
    const char *user;
    const struct yarn_token *token; /* the real one */
    const struct nm_amrm_record *records;
    size_t n_records;
    enum nm_amrm_recovery from;
};
/* The application has no master. */
int nm_amrm_master_begin(struct nm_amrm *p, const struct nm_amrm_beginning *b,
                         struct nm_amrm_master **ret, struct sv_error *err) _must_use_;
/* Without a stop; its records are left. */
void nm_amrm_master_forget(struct nm_amrm *p, struct nm_amrm_master *m);
/* Its application has ended: forgotten later, with its records. */
void nm_amrm_master_stop(struct nm_amrm_master *m);

struct nm_amrm_reading { /* records of one attempt, for its interceptor */
    struct sv_arena *arena;
    char attempt[YARN_ID_TEXT_MAX];
    const char *user, *token; /* texts; NULL: missing */
    struct nm_amrm_record records[NM_AMRM_RECORDS_MAX];
    size_t n;
};
/* `x` has an arena, and is zero otherwise. -E2BIG, -ENOMEM, -EIO. */
int nm_amrm_read_records(struct nm_amrm *p, const char *attempt, struct nm_amrm_reading *x)
    _must_use_;

#endif
