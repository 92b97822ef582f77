/* One application attempt behind the AMRMProxy: its interceptor, its open call, its real AMRMToken
 * and its records. Everything runs on the daemon's loop and nothing blocks it.
 *
 * An interceptor is chosen by its Java class
 * (yarn.nodemanager.amrmproxy.interceptor-class.pipeline, interceptors.h). Each that exists is the
 * last of a chain in Hadoop as well, so a chain has one. Hostile: every request, with a valid token
 * too, and whatever a ResourceManager answers. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_PIPELINE_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_PIPELINE_H

#include <systemd/sd-event.h>

#include "common/arena.h"
#include "common/conf.h"
#include "common/error.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"
#include "wire/token/token.h"

struct fed_cache;
struct fed_policy_conf;
struct nm_amrm_wait;
struct ipc_proxy_config;
struct nm_store;
struct sgss_service;

#define NM_AMRM_QUEUED_MAX 4    /* calls of an attempt behind the open one */
#define NM_AMRM_RECORD_NAME 300 /* of a record, with the NUL */
#define NM_AMRM_RECORD_MAX (16u << 20)
#define NM_AMRM_RECORDS_MAX 4096 /* of an attempt */
#define NM_AMRM_STOP_MS 60000    /* for an interceptor that stops */

/* Shared by all attempts; outlives them. */
struct nm_amrm_env {
    sd_event *event;
    struct sv_conf *conf;   /* yarn-site.xml and its companions */
    struct nm_store *store; /* by nm_amrm_keep() alone */
    /* With yarn.federation.enabled, else NULL. */
    const char *cluster_id; /* yarn.resourcemanager.cluster-id: the home of all attempts here */
    struct fed_cache *fed;
    const struct fed_policy_conf *policy;
    /* For nm_amrm_dial(): this NodeManager's ResourceManager, and how to reach any; the principal
     * of ResourceManagers (NULL: not secure). */
    const struct ipc_proxy_config *own_rm;
    struct sgss_service *kerberos;
};

/* ---- An attempt, as its interceptor sees it ---- */

/* `id` to `rm_token` are read only. */
struct nm_amrm_attempt {
    const struct nm_amrm_env *env;
    struct yarn_attempt_id id;
    char text[YARN_ID_TEXT_MAX];     /* of the attempt, for messages */
    char app_text[YARN_ID_TEXT_MAX]; /* of the application */
    const char *user;                /* the application's */
    struct yarn_token rm_token;      /* the real AMRMToken; its memory is replaced with it */
    /* private */
    struct nm_amrm_wait *waits;
    struct sv_arena *token_memory;
    void (*token_changed)(struct nm_amrm_attempt *at);
};

/* ---- A call of the ApplicationMaster ---- */

enum nm_amrm_method { NM_AMRM_REGISTER, NM_AMRM_ALLOCATE, NM_AMRM_FINISH };
#define NM_AMRM_METHODS 3

/* One is open at a time for an attempt; the next one comes after it is answered. That its
 * connection has broken is not told: the answer then goes nowhere, and the master asks again (a
 * repeated allocate has the response id of the first one, register and finish may be repeated). */
struct nm_amrm_call {
    enum nm_amrm_method method;
    union { /* valid until the call is answered */
        const ProtobufCMessage *request;
        const Hadoop__Yarn__RegisterApplicationMasterRequestProto *registration;
        const Hadoop__Yarn__AllocateRequestProto *allocate;
        const Hadoop__Yarn__FinishApplicationMasterRequestProto *finish;
    };
    struct sv_arena *arena; /* for the answer; freed with the call */
};

/* Both end the call: it, its request and its arena are gone afterwards. They may start the next one
 * only from the loop, never from inside. `response` is the method's message and is packed before
 * nm_amrm_answer() returns. am_rm_token of an allocate's answer never reaches the master: see
 * nm_amrm_take_token(). */
void nm_amrm_answer(struct nm_amrm_call *call, const ProtobufCMessage *response);
void nm_amrm_fail(struct nm_amrm_call *call, const char *java_class, const char *fmt, ...)
    _printf_(3, 4);

/* ---- Records, in the NodeManager's store ---- */

/* Written with the next commit (nm_amrm_after_commit()), read back by .recover, removed when the
 * attempt's pipeline has ended. `name`: "registerRequest", "secondarySC/<id>": Hadoop's where it
 * has one. -E2BIG, -EIO (the store failed), -ENOMEM. */
int nm_amrm_keep(struct nm_amrm_attempt *at, const char *name, const void *p, size_t n) _must_use_;
int nm_amrm_forget(struct nm_amrm_attempt *at, const char *name) _must_use_;
/* Runs fn from the loop once all that was kept so far is on disk; result < 0: the commit failed.
 * Not after .free, which drops it. -ENOMEM: never. */
int nm_amrm_after_commit(struct nm_amrm_attempt *at, void (*fn)(void *userdata, int result),
                         void *userdata) _must_use_;

/* The home ResourceManager has sent a new AMRMToken: it is kept, and after the commit becomes
 * at->rm_token; .token is called then. Garbage is logged and ignored. */
void nm_amrm_take_token(struct nm_amrm_attempt *at, const Hadoop__Common__TokenProto *m);

/* ---- Interceptors ---- */

struct nm_amrm_record {
    const char *name;
    const uint8_t *data;
    size_t len;
};

enum nm_amrm_recovery {
    NM_AMRM_RESTARTED, /* records of this attempt: the daemon was restarted */
    /* Records of an earlier attempt on this node, whose place this one takes: they go unless they
     * are kept again. */
    NM_AMRM_SUCCEEDS,
};

/* One class. `shared` is what all its attempts share, `self` is one attempt's. */
struct nm_amrm_interceptor {
    const char *java_class;
    bool needs_federation; /* yarn.federation.enabled */
    /* Checks its keys, also for --check-config, which opens nothing; may be NULL. */
    int (*check)(struct sv_conf *c, struct sv_error *err);
    /* At the start of the daemon, before any attempt; NULL: nothing is shared. */
    int (*open)(const struct nm_amrm_env *env, void **ret_shared, struct sv_error *err);
    void (*close)(void *shared);

    /* An attempt begins: before its container is recorded and launched. An error fails the start of
     * its container with these words. */
    int (*start)(struct nm_amrm_attempt *at, void *shared, void **ret_self, struct sv_error *err);
    /* At once after .start, where there are records. NULL: none are kept. `records` are valid
     * during the call, without those of the pipeline itself. An error ends the attempt's pipeline:
     * its calls are refused with these words. */
    int (*recover)(void *self, enum nm_amrm_recovery from, const struct nm_amrm_record *records,
                   size_t n, struct sv_error *err);
    /* Leads to one nm_amrm_answer() or nm_amrm_fail(), at once or later. */
    void (*handle)(void *self, struct nm_amrm_call *call);
    /* at->rm_token is another one: later calls of the home use it. NULL: uninteresting. */
    void (*token)(void *self);
    /* The application has ended; an open call has been refused already and is gone. Says
     * nm_amrm_stopped() once it has done what is left (unmanaged masters ended), at once or within
     * NM_AMRM_STOP_MS, after which .free follows anyway. NULL: nothing is left. */
    void (*stop)(void *self);
    /* Also without a stop: the daemon ends, or a later attempt on this node takes its place. An
     * open call has been refused already. Neither answers nor keeps anything. */
    void (*free)(void *self);
};

/* .free follows from the loop, never from inside. */
void nm_amrm_stopped(struct nm_amrm_attempt *at);

/* ---- For server.c, start.c and recovery ---- */

struct nm_amrm_pipeline; /* of one attempt */

struct nm_amrm_pipeline_config {
    const struct nm_amrm_env *env;
    const struct nm_amrm_interceptor *interceptor;
    void *shared;
    struct yarn_attempt_id attempt;
    const char *user;                     /* copied */
    const struct yarn_token *rm_token;    /* copied */
    const struct nm_amrm_record *records; /* to recover from; n_records may be 0 */
    size_t n_records;
    enum nm_amrm_recovery from;
    /* It has ended and its records are removed; frees it. From the loop. */
    void (*ended)(struct nm_amrm_pipeline *p, void *userdata);
    void *userdata;
};

int nm_amrm_pipeline_new(const struct nm_amrm_pipeline_config *c, struct nm_amrm_pipeline **ret,
                         struct sv_error *err) _must_use_;
/* Refuses what is open; does not stop. Accepts NULL, returns NULL. */
struct nm_amrm_pipeline *nm_amrm_pipeline_free(struct nm_amrm_pipeline *p);
/* Ends with config.ended. Later calls are refused. */
void nm_amrm_pipeline_stop(struct nm_amrm_pipeline *p);
const struct nm_amrm_attempt *nm_amrm_pipeline_attempt(const struct nm_amrm_pipeline *p);

/* How a call is answered; each is called once, at once or later. `call` is the caller's and lives
 * until then. */
struct nm_amrm_reply {
    void (*answer)(void *call, const ProtobufCMessage *response);
    void (*fail)(void *call, const char *java_class, const char *text);
};
/* -EBUSY: NM_AMRM_QUEUED_MAX calls wait already; -ESHUTDOWN: it has ended; -ENOMEM. `reply` is not
 * used then. */
int nm_amrm_pipeline_call(struct nm_amrm_pipeline *p, enum nm_amrm_method method,
                          const ProtobufCMessage *request, struct sv_arena *arena,
                          const struct nm_amrm_reply *reply, void *call) _must_use_;

#endif
