/* Changes of an application by clients, over RPC and REST. The caller checks permissions before
 * (access.h). Texts are the client's. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_APP_CONTROL_H
#define SELVEDGE_RM_LITE_REQUESTS_APP_CONTROL_H

#include "common/error.h"
#include "rm-lite/core/context.h"

struct rm_caller {
    const char *user, *ip; /* ip: "host:port" or NULL */
    const char *target;    /* target field of the audit line */
};

/* 1: ended already, or posted for an unmanaged application, for which no client waits, as in
 * Hadoop. 0: its end is posted, and the application may be gone. `message` may be NULL. */
int rm_control_kill(struct rm_app *app, const struct rm_caller *by, const char *message) _must_use_;
/* At most the cluster's maximum; a final application keeps its own. Returns the new one. */
int32_t rm_control_priority(struct rm_app *app, int32_t priority);
/* Moves it to another leaf queue, and stores that. With yarn.acl.enable the caller must have submit
 * access to the queue. Below zero with Hadoop's words. */
int rm_control_move(struct rm_app *app, const struct rm_caller *by, const char *queue,
                    struct sv_error *err) _must_use_;
/* Sets the LIFETIME timeout. *ret_class: the Java exception. An ended application accepts any
 * date. */
int rm_control_lifetime(struct rm_app *app, const char *date, const char **ret_class,
                        struct sv_error *err) _must_use_;

#endif
