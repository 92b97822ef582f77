/* A ZooKeeper session on the event loop: ZooKeeper's C client (libzookeeper_st, without threads),
 * which is loaded with the first session, so that a program without one pays nothing.
 *
 * The session lasts as long as the object. A lost connection is made again by itself, to the next
 * server; a session that the servers ended (-> SV_ZK_EXPIRED) is followed by a new one. Nothing
 * blocks: names are looked up on a thread, and sv_zk_free() does not wait for a server. It tells
 * the server nothing either: the session, and what is ephemeral, lives on for its timeout; else
 * sv_zk_end().
 *
 * The servers are trusted as far as the C client is: it ends the process for some answers that
 * break the protocol. Bytes of nodes and names of children are anybody's. */
#ifndef SELVEDGE_COMMON_ZOOKEEPER_ZK_H
#define SELVEDGE_COMMON_ZOOKEEPER_ZK_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

#define SV_ZK_PORT 2181
#define SV_ZK_DATA_MAX ((size_t)1 << 20) /* bytes of a node: the servers' jute.maxbuffer */
#define SV_ZK_PATH_MAX 1023
#define SV_ZK_ACL_MAX 16

struct sv_zk;

enum sv_zk_event {
    SV_ZK_UP,      /* connected, with a session */
    SV_ZK_DOWN,    /* the connection is lost, the session may live on */
    SV_ZK_EXPIRED, /* the session is over, and with it what was ephemeral */
};

enum { /* ZooKeeper's bits */
       SV_ZK_READ = 1,
       SV_ZK_WRITE = 2,
       SV_ZK_CREATE = 4,
       SV_ZK_DELETE = 8,
       SV_ZK_ADMIN = 16,
       SV_ZK_ALL = 31,
};
struct sv_zk_acl {
    const char *scheme, *id;
    int32_t permissions;
};

struct sv_zk_config {
    const char *servers;         /* "HOST[:PORT],…"; an IPv6 address in brackets */
    uint32_t session_ms;         /* the servers may grant another */
    const struct sv_zk_acl *acl; /* of what is created; outlives the session */
    size_t n_acl;                /* 0: everybody may do everything (world:anyone) */
    void (*event)(enum sv_zk_event event, void *userdata); /* from the loop; may be NULL */
    void *userdata;
};

/* -ELIBACC: the library is not installed, or not compiled in; -EINVAL: not a list of servers. It is
 * not connected yet. */
int sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
              struct sv_error *err) _must_use_;
/* Requests that are open end with -ECANCELED, and no callback runs afterwards. Not from a callback.
 * Accepts NULL, returns NULL. */
struct sv_zk *sv_zk_free(struct sv_zk *z);
/* As above, and tells the server that the session ends, and with it what is ephemeral: for the end
 * of a program, because it blocks while the socket takes nothing, for 3 s at most. */
struct sv_zk *sv_zk_end(struct sv_zk *z);
/* For whoever computes for longer than a session lasts: answers are taken, with their callbacks,
 * and the servers hear that it lives. Not from a callback. */
void sv_zk_breathe(struct sv_zk *z);
bool sv_zk_connected(const struct sv_zk *z);
/* The timeout that the servers have granted; 0: not connected. */
uint32_t sv_zk_session_ms(const struct sv_zk *z);

/* ---- Requests ----
 * Each returns 0 and later calls `done` once from the loop, or returns -errno: -ENOTCONN: there is
 * no connection; -EINVAL: not a path. Texts and bytes are copied. Requests of one session are done
 * in order.
 *
 * Status: 0; -ENOENT, -EEXIST, -ENOTEMPTY of the node; -EACCES: its ACL; -ESTALE: it has another
 * version; -ENOTCONN: the connection was lost, and the request may have been done; -ECANCELED;
 * -EINVAL, -EIO. */

struct sv_zk_answer {
    const void *data; /* get: its bytes, without a NUL */
    size_t len;
    int32_t version;       /* get, set: of the data */
    const char *path;      /* create: with the number of a sequence */
    char *const *children; /* children: names, in no order */
    size_t n_children;
};
/* The answer lives until the callback returns. */
typedef void (*sv_zk_done)(int status, const struct sv_zk_answer *a, void *userdata);

enum sv_zk_mode { SV_ZK_PERSISTENT = 0, SV_ZK_EPHEMERAL = 1, SV_ZK_SEQUENCE = 2 };
/* `mode`: bits. The parent must exist. */
int sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len, unsigned mode,
                 sv_zk_done done, void *userdata) _must_use_;
#define SV_ZK_ANY_VERSION (-1)
int sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len, int32_t version,
              sv_zk_done done, void *userdata) _must_use_;
int sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata) _must_use_;
int sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata) _must_use_;
/* A node without children. */
int sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                 void *userdata) _must_use_;

#define SV_ZK_OPS_MAX 1024
enum sv_zk_kind { SV_ZK_OP_CREATE, SV_ZK_OP_SET, SV_ZK_OP_REMOVE };
struct sv_zk_op {
    enum sv_zk_kind kind;
    const char *path;
    const void *data;
    size_t len;
    int32_t version; /* set, remove */
    unsigned mode;   /* create */
};
/* All of them or none, in this order. The status is that of the first that cannot be done. Together
 * the paths and bytes must stay below SV_ZK_DATA_MAX: for a longer request the servers end the
 * connection. */
int sv_zk_multi(struct sv_zk *z, const struct sv_zk_op *ops, size_t n, sv_zk_done done,
                void *userdata) _must_use_;

#endif
