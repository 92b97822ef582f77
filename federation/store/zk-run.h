/* A call that is executed in ZooKeeper: a chain of requests, with some at the same time, each of
 * which is answered to a step. A chain that loses the connection begins again where nothing was
 * written, or once where a repetition has the same result. */
#ifndef SELVEDGE_FEDERATION_STORE_ZK_RUN_H
#define SELVEDGE_FEDERATION_STORE_ZK_RUN_H

#include "common/zookeeper/zk.h"
#include "federation/store/store-backend.h"
#include "federation/store/zk-values.h"

struct fed_zk_run;

struct fed_zk {
    struct sv_zk *zk;
    char *root;     /* "/federationstore" */
    unsigned split; /* characters at the end of an application's id that are a node of their own */
    struct fed_call *waiting; /* for a connection, by wait_next */
    struct sv_zk_acl acl[SV_ZK_ACL_MAX];
    char *acl_text;
    void (*start)(struct fed_zk_run *r);
};

/* A node that a list reads, in the arena of the call. */
struct fed_zk_task {
    struct fed_zk_task *next;
    const char *path;
    const char *name; /* of a record; of a folder of halves of names, the first half; else NULL */
    bool is_record;
};

/* The node's answer; `t` is that of fed_zk_get() and fed_zk_children(). */
typedef void (*fed_zk_step)(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                            const struct fed_zk_task *t);

struct fed_zk_run {
    struct fed_zk *z;
    struct fed_call *call; /* NULL: it is answered or forgotten */
    unsigned open;         /* requests without an answer */
    bool lost, lost_write; /* the connection was lost, and with it the answer of a write */

    /* The node that an operation reads and writes. */
    const char *path;
    unsigned place; /* of the application's hierarchies that it looks in */
    int32_t version;
    bool exists;
    struct fed_zk_bytes value; /* to write */
    unsigned tries;
    size_t made; /* length of the folder above `path` that was made last */
    fed_zk_step found, written;

    /* A list. */
    struct fed_zk_task *tasks, *last_task;
    size_t n_tasks;
    bool full;
    void (*listed)(struct fed_zk_run *r);
    struct fed_home *homes;
    size_t n_homes, homes_room;
    int64_t *starts; /* of other members */
    size_t n_starts;
};

/* Begins a call, or lets it wait for a connection. */
void fed_zk_begin(struct fed_zk *z, struct fed_call *c);
void fed_zk_forget(struct fed_zk *z, struct fed_call *c);
/* Begins all that wait. */
void fed_zk_connected(struct fed_zk *z);

/* ---- For operations ---- */

void fed_zk_done(struct fed_zk_run *r);
void fed_zk_fail(struct fed_zk_run *r, int error, const char *fmt, ...) _printf_(3, 4);
/* Fails the call for a status that its step does not expect. */
void fed_zk_fail_status(struct fed_zk_run *r, int status);

void fed_zk_get(struct fed_zk_run *r, const char *path, fed_zk_step step,
                const struct fed_zk_task *t);
void fed_zk_children(struct fed_zk_run *r, const char *path, fed_zk_step step,
                     const struct fed_zk_task *t);
void fed_zk_create(struct fed_zk_run *r, const char *path, struct fed_zk_bytes value,
                   fed_zk_step step);
void fed_zk_set(struct fed_zk_run *r, const char *path, struct fed_zk_bytes value, int32_t version,
                fed_zk_step step);
void fed_zk_remove(struct fed_zk_run *r, const char *path, int32_t version, fed_zk_step step);

#endif
