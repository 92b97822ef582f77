/* Private to the launcher's files of service/server/. */
#ifndef SELVEDGE_SERVICE_SERVER_FRAMEWORKS_INTERNAL_H
#define SELVEDGE_SERVICE_SERVER_FRAMEWORKS_INTERNAL_H

#include "client/lib/client.h"
#include "common/worker.h"
#include "gss/daemon.h"
#include "service/ha/ha.h"
#include "service/launcher/body.h"
#include "service/launcher/launcher.h"
#include "service/server/frameworks.h"

struct framework_work;
struct framework_stream;
struct framework_wait;

#define SVC_FRAMEWORKS_SHORT_MAX                                                                   \
    ((size_t)32 << 10) /* bytes of a body that the loop reads: 0.5 ms */

/* Makes the launcher of a store, which is taken. */
struct svc_frameworks;
typedef int (*svc_frameworks_begin_fn)(struct svc_frameworks *s, struct svc_lr_store *store,
                                       struct sv_error *err);

struct svc_frameworks {
    struct svc_frameworks_config cfg;
    struct svc_lr *l;              /* NULL: another server is active, or none */
    struct svc_ha *ha;             /* NULL: this server is the only one */
    svc_frameworks_begin_fn begin; /* when it is active */
    uint64_t life;                 /* of `l` */
    bool losing;                   /* `l` is freed in the next turn of the loop */
    const char *unfit;             /* why this server, which is active, cannot be */
    sd_event_source *end;
    char host[256], ip[64];              /* of this server */
    char link[SVC_LR_URLS_TEXT_MAX + 1]; /* URLs for masters */
    bool authenticated;                  /* the cluster's HTTP authentication says who calls */
    struct sgss_service rm_service;
    struct cli_rm *rm;
    struct framework_poll *poll;
    uint64_t polls, failed_polls;
    sd_event_source *tick;
    struct framework_work *works;
    struct framework_wait *waits;
    sd_event_source *wake; /* of those that have news of the cluster, in turns */
    uint64_t round;        /* of these */
    size_t n_waits;
    struct framework_stream *streams;
    struct sv_worker *reader; /* of long bodies */
    size_t reading;           /* their bytes, that it has */
};

/* framework-poll.c */
int svc_frameworks_poll_new(struct svc_frameworks *s) _must_use_;
void svc_frameworks_poll_free(
    struct svc_frameworks *s); /* the client of the ResourceManager first */
void svc_frameworks_poll_soon(void *u);

/* framework-works.c */
int svc_frameworks_submit(void *u, const struct svc_framework *f);
int svc_frameworks_kill(void *u, const char *app, const char *user, const char *framework);
void svc_frameworks_collect(struct svc_frameworks *s); /* works that have ended */
void svc_frameworks_leave(struct svc_frameworks *s);

/* framework-body.c */
/* Long bodies are read on a thread. -EAGAIN: it is under way; 0: *ret, to be read where it is
 * answered where it is NULL; -EBUSY: too many are. */
int svc_frameworks_body(struct svc_frameworks *s, const struct sv_http_request *req,
                        struct svc_lr_body **ret) _must_use_;

/* framework-http.c */
void svc_frameworks_changed(void *u, const char *framework);
void svc_frameworks_wake_late(struct svc_frameworks *s); /* masters who have waited long enough */
/* More is on record: those that wait for it have their answers. */
void svc_frameworks_kept(struct svc_frameworks *s);
/* No answer of the launcher's is given any more. */
void svc_frameworks_drop_answers(struct svc_frameworks *s);
void svc_frameworks_close(struct svc_frameworks *s);

/* framework-shared.c: where several servers share the store. */
int svc_frameworks_share(struct svc_frameworks *s, svc_frameworks_begin_fn begin,
                         struct sv_error *err) _must_use_;
void svc_frameworks_check(struct svc_frameworks *s); /* once a second */

#endif
