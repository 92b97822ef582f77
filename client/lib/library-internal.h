/* Handles of libselvedge-client: numbers in a table, so that a closed one is detected. */
#ifndef SELVEDGE_CLIENT_LIB_LIBRARY_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_LIBRARY_INTERNAL_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "client/lib/client.h"
#include "client/lib/library.h"
#include "common/arena.h"
#include "wire/resource-types.h"

enum lib_kind { LIB_LOOP = 1, LIB_RM, LIB_AM };

struct cli_fetch;
struct lib_loop;
struct lib_wait;

struct lib_object { /* first member of each kind */
    UT_hash_handle hh;
    uint64_t id;
    enum lib_kind kind;
    struct lib_loop *loop;                 /* the loop that counts it; NULL for a loop */
    unsigned depth;                        /* number of its callbacks running */
    void (*destroy)(struct lib_object *o); /* frees it */
    sd_event_source *dying;                /* pending destruction of a closed one */
    struct lib_object *next;
};

/* NULL: never opened, or closed. */
struct lib_object *cli_lib_find(uint64_t id, enum lib_kind kind);
uint64_t cli_lib_add(struct lib_object *o, enum lib_kind kind, struct lib_loop *loop,
                     void (*destroy)(struct lib_object *o));
/* Removes it from the table at once; destroys it now, or from the loop if a callback of it is
 * running. */
int cli_lib_close(struct lib_object *o) _must_use_;
struct lib_loop *cli_lib_loop_of(selvedge_loop loop); /* or NULL */
sd_event *cli_lib_event(struct lib_loop *loop);

struct lib_rm {
    struct lib_object o;
    struct sv_conf *conf;
    char *user; /* NULL: the process' own */
    struct cli_rm *client;
    struct cli_fetch *fetch; /* NULL before the first log */
    struct lib_wait *waits;
    struct lib_tokens *tokens; /* being taken */
};
/* Ends them with -ECANCELED. */
void cli_lib_tokens_free(struct lib_rm *rm);
static inline struct lib_rm *cli_lib_rm(selvedge_rm handle) /* or NULL */
{
    return (struct lib_rm *)cli_lib_find(handle.id, LIB_RM);
}

/* A pending request and its callback. */
struct lib_request {
    struct lib_rm *rm;
    struct sv_arena *arena; /* memory of a submission, or of the texts of a log's request */
    struct cli_submission *submission;
    struct yarn_container_id container;
    const char *log, *container_text;
    selvedge_submitted_fn submitted;
    selvedge_reports_fn reports;
    selvedge_containers_fn containers;
    selvedge_log_fn logs;
    selvedge_done_fn done;
    void *userdata;
};
struct lib_request *cli_lib_request_new(struct lib_rm *rm, void *userdata) _must_use_;
void cli_lib_request_free(struct lib_request *q);
/* Ends a call that starts a request: returns its result, and frees the request on failure. */
int cli_lib_begun(int r, struct lib_request *q) _must_use_;
/* The text of a callback: "" for success. */
const char *cli_lib_reason(int status, const struct sv_error *err);

struct lib_am {
    struct lib_object o;
    struct cli_am *am;
    struct selvedge_am_ops ops;
    void *userdata;
};
static inline struct lib_am *cli_lib_am(selvedge_am handle) /* or NULL */
{
    return (struct lib_am *)cli_lib_find(handle.id, LIB_AM);
}

int cli_lib_error(struct selvedge_error *to, const struct sv_error *from); /* returns the code */
/* Copies into the arena. -EINVAL: a member is missing; -ENOMEM. `more_env`: one more variable, or
 * NULL. */
int cli_lib_launch(struct sv_arena *a, const struct selvedge_launch *from,
                   const struct cli_env *more_env, struct cli_launch *ret) _must_use_;
#define LIB_RESOURCES_MAX (YARN_TYPES_MAX + 1)
/* -EINVAL: a member is missing or negative; -ENOSPC: more types than there can be. */
int cli_lib_resource(int64_t memory_mb, int32_t vcores, const struct selvedge_resource *more,
                     size_t n, struct yarn_resource *ret) _must_use_;
/* Resources besides memory and vcores, at most LIB_RESOURCES_MAX; names are static. */
size_t cli_lib_resources_of(const struct yarn_resource *r, struct selvedge_resource *ret);
/* Loads the configuration from `dir`, by default $HADOOP_CONF_DIR and so on. */
int cli_lib_conf(const char *dir, struct sv_conf **ret, struct sv_error *err) _must_use_;

#endif
