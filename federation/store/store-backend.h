/* The back ends' side of the store: checked requests in, records out. */
#ifndef SELVEDGE_FEDERATION_STORE_STORE_BACKEND_H
#define SELVEDGE_FEDERATION_STORE_STORE_BACKEND_H

#include "common/arena.h"
#include "federation/store/records.h"
#include "federation/store/store.h"

/* A call of 30 s without an answer is given up. */
#define FED_CALL_MS 30000
#define FED_CALL_MIN_MS 1000 /* where keys say less: a connection takes a while */

struct fed_call {
    struct fed_call *prev, *next; /* of the store's open calls, the oldest first */
    struct fed_store *store;
    uint64_t id;
    int64_t deadline_ms;        /* monotonic */
    struct fed_request request; /* checked, its texts in the arena */
    fed_done done;
    void *userdata;
    struct sv_arena *arena;
    struct fed_answer answer;               /* as far as it is known */
    void *records;                          /* of the answer, in the arena */
    size_t room;                            /* number of records that fit */
    bool answered;                          /* `done` runs in the next turn of the loop */
    bool sent;                              /* the store may have executed it */
    bool repeated;                          /* it is being executed a second time */
    struct fed_call *wait_prev, *wait_next; /* of the back end's own list */
    void *run;                              /* the back end's own; NULL: it waits in that list */
};

struct fed_backend {
    /* Begins a call. It is answered by fed_call_done() or fed_call_fail(), also from inside. */
    void (*begin)(struct fed_store *s, struct fed_call *c);
    /* Forgets a call that has not been answered. */
    void (*forget)(struct fed_store *s, struct fed_call *c);
    /* Forgets all and frees `backend`; no call is open. */
    void (*free)(void *backend);
};

/* Properties of an operation. */
struct fed_operation {
    const char *name;
    enum fed_kind kind;
    unsigned fields;  /* FED_F_… of the request */
    bool list;        /* any number of records is an answer */
    bool repeatable;  /* a second execution has the same result */
    bool reads;       /* it writes nothing */
    bool has_records; /* it answers with some */
};
extern const struct fed_operation fed_operations[FED_OPS];

/* Makes a store; owns `backend` also where it fails. `text`: fed_store_text(). */
int fed_store_new(sd_event *event, const struct fed_backend *functions, void *backend,
                  const char *text, struct fed_store **ret) _must_use_;
/* The time for which a call waits, in place of FED_CALL_MS. */
void fed_store_patience(struct fed_store *s, int64_t ms);
void *fed_store_backend(const struct fed_store *s);

/* Adds a record to the answer, of the operation's kind, after checking and copying it. One that
 * breaks the rules is counted in a list, and fails a single answer with -EBADMSG. False: the call
 * has as many records as it takes, or no memory; then, too, fed_call_done() is due. */
bool fed_call_add(struct fed_call *c, const void *record);
/* As fed_call_add() of a record that cannot be read, for a reason. */
void fed_call_broken(struct fed_call *c, const char *reason);
/* The answer is complete: the records that were added, or -ENOENT where one is missing. */
void fed_call_done(struct fed_call *c);
/* The answer is an error; "OPERATION OBJECT: " is prepended to the reason. */
void fed_call_fail(struct fed_call *c, int error, const char *fmt, ...) _printf_(3, 4);
/* Forgets what was added or failed since the call began, before it is executed once more. */
void fed_call_again(struct fed_call *c);
/* The number of records that the caller wants at most. */
uint32_t fed_call_limit(const struct fed_call *c);

#endif
