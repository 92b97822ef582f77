/* One port of a member's ResourceManager, as one application uses it: an address that changes, a
 * token that changes, and at most one open call. Hostile: addresses, which other members write into
 * the store, and answers. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_MEMBER_LINE_H
#define SELVEDGE_NODEMANAGER_FEDERATION_MEMBER_LINE_H

#include "nodemanager/amrmproxy/dial.h"

/* How connections are made and used; a test has its own. As dial.h and wire/ipc/proxy.h. */
struct nm_member_wire {
    int (*dial)(void *userdata, const struct nm_amrm_dial *d, void **ret_connection,
                struct sv_error *err);
    /* Finishes open calls with -ECANCELED before it returns. */
    void (*close)(void *connection);
    int (*call)(void *connection, const char *method, const ProtobufCMessage *request,
                const ProtobufCMessageDescriptor *response, ipc_done done, void *userdata,
                int32_t *ret_id);
    void (*cancel)(void *connection, int32_t id);
};
/* The real one; its userdata is the struct nm_amrm_env. */
extern const struct nm_member_wire nm_member_wire;

#define NM_MEMBER_CONNECT_MS 5000
#define NM_MEMBER_CALL_MS 15000 /* a repeated heartbeat is answered from the first one's answer */

struct nm_member_line {
    const struct nm_member_wire *wire;
    void *wire_userdata;
    enum yarn_rm_service service;
    char *address;          /* NULL: not known; with `own`, the node's own ResourceManager */
    bool own;               /* may be called without an address: see dial.h */
    const char *user;       /* of YARN_RM_CLIENTS; borrowed */
    struct sv_arena *arena; /* of the token */
    struct yarn_token token;
    bool has_token;
    bool stale; /* the connection has an earlier token: the next call makes another one */
    void *connection;
    bool open; /* a call is */
    int32_t id;
    ipc_done done;
    void *userdata;
};

/* Frees what the line holds; an open call is dropped without a word. */
void nm_member_line_clear(struct nm_member_line *l);
/* The connection to another address is closed, after the open call has failed. -ENOMEM: nothing has
 * changed. */
int nm_member_line_set_address(struct nm_member_line *l, const char *address) _must_use_;
/* For the next connection: the open call goes on over the one that there is. */
int nm_member_line_set_token(struct nm_member_line *l, const struct yarn_token *t) _must_use_;
/* `done` runs once, never from inside, unless the call is dropped. -EDESTADDRREQ: no address yet;
 * -EBUSY: a call is open. */
int nm_member_line_call(struct nm_member_line *l, const char *method,
                        const ProtobufCMessage *request, const ProtobufCMessageDescriptor *response,
                        ipc_done done, void *userdata, struct sv_error *err) _must_use_;
/* Drops the open call without a word. */
void nm_member_line_drop(struct nm_member_line *l);
/* The next call makes a new connection. */
void nm_member_line_hang_up(struct nm_member_line *l);

/* ---- Meanings of failed calls ---- */

enum nm_member_fault {
    NM_FAULT_ABSENT,         /* not reached, no answer, not the active one: worth a retry */
    NM_FAULT_NOT_REGISTERED, /* it knows the attempt, not its registration */
    NM_FAULT_REGISTERED,     /* it is registered already */
    NM_FAULT_RESPONSE_ID,    /* it expects another response id */
    NM_FAULT_LOST,           /* it does not know the attempt */
    NM_FAULT_REFUSED,        /* any other exception */
};

/* Pure. `r`: status < 0; *ret_expected is set with NM_FAULT_RESPONSE_ID alone. */
enum nm_member_fault nm_member_fault_of(const struct ipc_result *r, const struct sv_error *err,
                                        int32_t *ret_expected);
/* The exception's own text, without the caller's "host:port: METHOD: ". */
const char *nm_member_fault_text(const struct sv_error *err, const char *method);

#endif
