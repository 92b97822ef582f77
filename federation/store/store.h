/* The federation's state store: one asynchronous interface to a MariaDB or MySQL database that
 * Hadoop's daemons may use at the same time, to an SQLite file and to memory.
 *
 * A call never blocks and never answers from inside fed_store_call(): `done` runs once, from the
 * event loop. One loop, one thread. Calls of one store may be answered in another order than they
 * were made in. All times are wall clock, milliseconds since 1970; a database keeps whole seconds
 * of last_heartbeat_ms and created_ms, and its server's clock sets them, not the caller's.
 *
 * Hostile: everything that a store answers. Records reach `done` checked against the limits here;
 * texts are UTF-8 without control characters. Capability, parameters and submission context are
 * bytes whose contents the caller checks. */
#ifndef SELVEDGE_FEDERATION_STORE_STORE_H
#define SELVEDGE_FEDERATION_STORE_STORE_H

#include <errno.h>
#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "wire/ids.h"

/* Limits in bytes without the NUL, which are Hadoop's columns; those of answers are wider, as a
 * column counts characters. */
#define FED_NAME_MAX 256 /* sub-cluster, host:port, queue, policy manager's class */
#define FED_RESERVATION_MAX 128
#define FED_CAPABILITY_MAX 6000
#define FED_PARAMS_MAX 32768   /* of a policy */
#define FED_CONTEXT_MAX 65535  /* of an application */
#define FED_KEY_MAX 256        /* of the Router's master key */
#define FED_TOKEN_TEXT_MAX 760 /* identifier of the Router's token */
#define FED_TOKEN_INFO_MAX 1024
#define FED_ROWS_MAX 100000 /* of any list */
#define FED_MEMBERS_MAX 1000

/* ---- Records ---- */

/* Values are those of SubClusterStateProto; the names are Hadoop's, fed_state_name(). */
enum fed_state {
    FED_NEW = 1,
    FED_RUNNING,
    FED_UNHEALTHY,
    FED_DECOMMISSIONING,
    FED_LOST,
    FED_UNREGISTERED,
    FED_DECOMMISSIONED,
};
const char *fed_state_name(enum fed_state s); /* "SC_RUNNING"; "SC_?" of no state */
int fed_state_parse(const char *name, enum fed_state *ret) _must_use_; /* -EINVAL */
static inline bool fed_state_usable(enum fed_state s) /* may become active, or is */
{
    return s == FED_NEW || s == FED_RUNNING;
}
static inline bool fed_state_active(enum fed_state s) /* is given applications */
{
    return s == FED_RUNNING;
}
static inline bool fed_state_final(enum fed_state s) /* has left the federation */
{
    return s == FED_LOST || s == FED_UNREGISTERED || s == FED_DECOMMISSIONED;
}

/* Pointers of a request are borrowed during fed_store_call(), those of an answer are valid during
 * `done`. A text is never NULL in an answer. */
struct fed_member {                        /* a sub-cluster: its ResourceManager */
    const char *id;                        /* yarn.resourcemanager.cluster-id */
    const char *am, *client, *admin, *web; /* "host:port" of 8030, 8032, 8033, 8088 */
    enum fed_state state;
    int64_t last_heartbeat_ms;
    int64_t last_start_ms;
    const char *capability; /* JSON of /ws/v1/cluster/metrics with its root, and of ours the epoch
                             * (member-epoch.h); "" before the first heartbeat */
};

struct fed_home { /* where an application's master runs */
    struct yarn_app_id app;
    const char *home; /* a member's id */
    int64_t created_ms;
    const uint8_t *context; /* ApplicationSubmissionContextProto, trimmed; NULL: none */
    size_t context_len;
};

struct fed_reservation {
    const char *id;   /* "reservation_<timestamp>_<number>" */
    const char *home; /* a member's id */
};

struct fed_policy {
    const char *queue;     /* "*": of all queues without one */
    const char *type;      /* Java class of the policy manager */
    const uint8_t *params; /* JSON of weights; NULL: none */
    size_t params_len;
};

struct fed_key { /* a master key of the Router's tokens */
    int32_t id;
    int64_t expiry_ms;
    const uint8_t *bytes; /* secret */
    size_t len;
};

struct fed_token { /* a token that a Router has issued */
    int32_t sequence;
    const uint8_t *identifier; /* YARNDelegationTokenIdentifierProto */
    size_t identifier_len;
    const char *info; /* Hadoop's tokenInfo: the password, secret; "" = none */
    int64_t renew_ms;
};

enum fed_counter { FED_TOKEN_SEQUENCE, FED_KEY_SEQUENCE, FED_COUNTERS };
struct fed_sequence {
    enum fed_counter counter;
    int32_t value; /* > 0 */
};

struct fed_version { /* of the store's layout; ours and Hadoop's is 1.1 */
    int32_t major, minor;
};

/* ---- Operations ---- */

/* Each names the record of its request and the fields that it reads; the rest is ignored. Those
 * that register, add, get, list, count or check answer with records of that kind, a list with any
 * number and the others with one; the rest answer with none. */
enum fed_op {
    /* member: all but last_heartbeat_ms. Replaces the row of the same id. Answers it as stored:
     * last_start_ms is later by some milliseconds where another member has that one, which is
     * unique. */
    FED_MEMBER_REGISTER,
    FED_MEMBER_DEREGISTER, /* member.id, .state, a final one; -ENOENT */
    FED_MEMBER_HEARTBEAT,  /* member.id, .state, .capability, not ""; -ENOENT */
    FED_MEMBER_GET,        /* member.id; -ENOENT */
    FED_MEMBER_LIST,       /* sorted by id; at most FED_MEMBERS_MAX */

    /* home: app, home, context. The first writer wins: answers the stored home, which may be
     * another one than the request's, without context. */
    FED_HOME_ADD,
    FED_HOME_UPDATE, /* home: app, home, context; -ENOENT */
    FED_HOME_GET,    /* home.app; -ENOENT; answers with context */
    FED_HOME_LIST,   /* home.home, NULL = of all members; `limit`. The latest first, no contexts */
    FED_HOME_DELETE, /* home.app; -ENOENT */

    FED_RESERVATION_ADD,    /* reservation; the first writer wins, as with FED_HOME_ADD */
    FED_RESERVATION_UPDATE, /* reservation; -ENOENT */
    FED_RESERVATION_GET,    /* reservation.id; -ENOENT */
    FED_RESERVATION_LIST,   /* sorted by id; `limit` */
    FED_RESERVATION_DELETE, /* reservation.id; -ENOENT */

    FED_POLICY_SET,    /* policy; replaces the row of the same queue */
    FED_POLICY_GET,    /* policy.queue, that very one; -ENOENT */
    FED_POLICY_LIST,   /* sorted by queue */
    FED_POLICY_DELETE, /* policy.queue; -ENOENT */

    FED_KEY_ADD,    /* key; -EEXIST. Answers with no record */
    FED_KEY_GET,    /* key.id; -ENOENT */
    FED_KEY_DELETE, /* key.id; -ENOENT */

    FED_TOKEN_ADD,    /* token; -EEXIST. Answers with no record */
    FED_TOKEN_UPDATE, /* token; -ENOENT */
    FED_TOKEN_GET,    /* token.sequence; -ENOENT */
    FED_TOKEN_LIST,   /* token.sequence and those below it, the highest first; `limit` */
    FED_TOKEN_DELETE, /* token.sequence; -ENOENT */

    FED_SEQUENCE_GET,  /* sequence.counter; 1 at first, as Hadoop's */
    FED_SEQUENCE_NEXT, /* sequence.counter; increments it and answers the new value: unique */
    FED_SEQUENCE_SET,  /* sequence */

    /* Call it first. Marks a new store as version 1.1; -EPROTONOSUPPORT: another major version, or
     * the tables are missing. */
    FED_VERSION_CHECK,
    FED_VERSION_GET, /* -ENOENT: the store is new. Checks nothing */
    FED_OPS
};
const char *fed_op_name(enum fed_op op); /* "register member", for messages */

struct fed_request {
    enum fed_op op;
    union {
        struct fed_member member;
        struct fed_home home;
        struct fed_reservation reservation;
        struct fed_policy policy;
        struct fed_key key;
        struct fed_token token;
        struct fed_sequence sequence;
    };
    uint32_t limit; /* of FED_HOME_LIST, FED_RESERVATION_LIST, FED_TOKEN_LIST; 0 = FED_ROWS_MAX */
};

struct fed_answer {
    int error;          /* 0, or -errno as below */
    const char *reason; /* the object, what failed, what to do; "" if all is well */
    size_t n;           /* records; 0 with an error */
    union {
        const struct fed_member *members;
        const struct fed_home *homes;
        const struct fed_reservation *reservations;
        const struct fed_policy *policies;
        const struct fed_key *keys;
        const struct fed_token *tokens;
        const struct fed_sequence *sequences;
        const struct fed_version *versions;
    };
    /* Rows of a list that break the rules, and were left out: `reason` then names the first. */
    size_t n_broken;
};

/* Errors:
 *   -EINVAL            the request breaks the rules; it was not sent
 *   -ENOENT, -EEXIST   as said at the operation
 *   -EBADMSG           the stored row breaks the rules
 *   -EPROTONOSUPPORT   the store's layout is another one
 *   -EACCES            the store refuses the account
 *   -EHOSTDOWN         the store is away; the operation was not executed
 *   -ECONNRESET        the connection was lost, or no answer came in time: the operation may have
 *                      been executed. Operations that may be repeated without another result
 *                      were retried once before
 *   -EREMOTEIO         another error of the store
 *   -ENOMEM
 *   -ECANCELED         fed_store_cancel() or fed_store_free(), from inside of which `done` runs */
static inline bool fed_error_away(int error) /* worth a try later */
{
    return error == -EHOSTDOWN || error == -ECONNRESET;
}

/* ---- The store ---- */

struct fed_store;
/* Must not free the store; may make and cancel other calls, unless it is told -ECANCELED. */
typedef void (*fed_done)(const struct fed_answer *a, void *userdata);

/* Reads yarn.federation.state-store.class and the keys of that class, whose texts are copied. Does
 * not wait for a server. -EINVAL, -ENOTSUP: unknown class, or one that is not built in. */
int fed_store_open(sd_event *event, struct sv_conf *c, struct fed_store **ret, struct sv_error *err)
    _must_use_;
/* Reads them alone: opens nothing, for --check-config. */
int fed_store_check(struct sv_conf *c, struct sv_error *err) _must_use_;
/* An empty store in memory, for tests. */
int fed_store_open_memory(sd_event *event, struct fed_store **ret) _must_use_;
/* Finishes open calls with -ECANCELED before it returns. Accepts NULL, returns NULL. */
struct fed_store *fed_store_free(struct fed_store *s);
static inline void fed_store_freep(struct fed_store **s)
{
    *s = fed_store_free(*s);
}
/* "mysql://host:port/database", "/path/file", "memory", for messages. */
const char *fed_store_text(const struct fed_store *s);
/* All keys that fed_store_open() reads, for --print-config, but those of sv_zk_conf_keys(). */
const struct sv_conf_key *fed_store_conf_keys(size_t *ret_n);
/* Whether a value of that key is a password, which nothing prints. */
bool fed_store_key_is_secret(const char *name);

/* Makes a call. *ret_call (may be NULL) is for fed_store_cancel(), > 0. -ENOMEM, -EINVAL (no such
 * operation): `done` never runs. Every other error is an answer. */
int fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done, void *userdata,
                   uint64_t *ret_call) _must_use_;
/* Finishes an open call with -ECANCELED, from inside; the operation may be executed all the same.
 * False if there is no such call. */
bool fed_store_cancel(struct fed_store *s, uint64_t call);

#endif
