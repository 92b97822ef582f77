/* Handles of libselvedge-client: numbers in a table, so that a closed one is detected. */
#ifndef SELVEDGE_CLIENT_LIB_LIBRARY_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_LIBRARY_INTERNAL_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "client/lib/client.h"
#include "client/lib/library.h"
#include "common/arena.h"

enum lib_kind { LIB_LOOP = 1, LIB_RM, LIB_AM };

struct lib_loop;

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
/* Loads the configuration from `dir`, by default $HADOOP_CONF_DIR and so on. */
int cli_lib_conf(const char *dir, struct sv_conf **ret, struct sv_error *err) _must_use_;

#endif
