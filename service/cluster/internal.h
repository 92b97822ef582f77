/* Private to service/cluster/. */
#ifndef SELVEDGE_SERVICE_CLUSTER_INTERNAL_H
#define SELVEDGE_SERVICE_CLUSTER_INTERNAL_H

#include <systemd/sd-event.h>

#include "service/cluster/cluster.h"
#include "service/store/sources.h"
#include "service/store/store.h"
#include "wire/token/token.h"

struct svc_cluster {
    struct svc_cluster_config cfg;
    struct svc_backend backend;
    int64_t until_ms; /* of the clock that never goes back */
    sd_event *event;
    struct cli_rm *rm;       /* NULL until it is needed */
    struct svc_store *store; /* as above */
    struct svc_sources *sources;
    struct svc_login *login; /* with Kerberos, as above */
    /* For the master of an application that was reported last, with security. */
    struct yarn_app_id token_app;
    struct yarn_token client_token;
    struct sv_arena *token_arena; /* NULL: there is none */
    char away[512];               /* why the ResourceManager did not answer yet */
};

/* A call that is waited for. */
struct svc_wait {
    bool done;
    int status;
    struct sv_error *err;
    void *out;
};
/* Notes the end of a call, for the callbacks. */
void svc_wait_end(struct svc_wait *w, int status, const struct sv_error *err);
/* Runs the loop until then, or the deadline: -ETIMEDOUT, and the call is still open. */
int svc_wait_for(struct svc_cluster *c, const struct svc_wait *w) _must_use_;
/* Runs the loop for this time. -ETIMEDOUT: the deadline came first. */
int svc_wait_ms(struct svc_cluster *c, int64_t ms) _must_use_;

/* Both stay open, and the cluster's. */
int svc_cluster_store(struct svc_cluster *c, struct svc_store **ret, struct sv_error *err)
    _must_use_;
int svc_cluster_sources(struct svc_cluster *c, struct svc_sources **ret, struct sv_error *err)
    _must_use_;
/* Opens the client of the ResourceManager. */
int svc_cluster_rm(struct svc_cluster *c, struct sv_error *err) _must_use_;
/* Waits for a call to the ResourceManager that was started with `r`; -ENOENT: it knows no such
 * application; -EACCES: not the caller's. */
int svc_cluster_rm_end(struct svc_cluster *c, int r, struct svc_wait *w) _must_use_;

/* ---- Functions of the backend ---- */
int svc_rm_live(void *b, const char *service, struct sv_error *err);
int svc_rm_report(void *b, struct yarn_app_id id, struct svc_app *ret, struct sv_error *err);
int svc_rm_kill(void *b, struct yarn_app_id id, const char *why, struct sv_error *err);
int svc_rm_ended(void *b, struct yarn_app_id id, int64_t ms, struct sv_error *err);
int svc_rm_set_lifetime(void *b, struct yarn_app_id id, int64_t seconds, struct sv_error *err);
int svc_submit(void *b, const struct svc_definition *d, struct yarn_app_id *ret,
               struct sv_error *err);
/* Sets those of the masters. */
void svc_master_functions(struct svc_backend *b);

#endif
