/* Private declarations of libselvedge-client. */
#ifndef SELVEDGE_CLIENT_LIB_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_INTERNAL_H

#include "client/lib/client.h"
#include "common/arena.h"
#include "wire/ipc/ipc-client.h"
#include "wire/token/token.h"

typedef struct Hadoop__Yarn__ContainerLaunchContextProto Hadoop__Yarn__ContainerLaunchContextProto;

/* Builds the wire message of a launch in the arena, pointing into `l`; NULL when out of memory or
 * when a URL is malformed (then *err is set). */
Hadoop__Yarn__ContainerLaunchContextProto *
cli_launch_to(struct sv_arena *a, const struct cli_launch *l, struct sv_error *err);

/* ---- Calls to the ResourceManager ---- */

/* One open call: parser of the response, and the caller's callback. */
struct cli_call {
    struct cli_rm *rm;
    void (*answer)(struct cli_call *call, const struct ipc_result *r, const struct sv_error *err);
    union {
        cli_new_app_fn new_app;
        cli_done_fn done;
        cli_kill_fn kill;
        cli_reports_fn reports;
        cli_nodes_fn nodes;
        cli_containers_fn containers;
        cli_queues_fn queues;
        cli_priority_fn priority;
        cli_attempts_fn attempts;
    } fn;
    void *userdata;
};

int cli_call_start(struct cli_rm *rm, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *response, struct cli_call call) _must_use_;

/* "NS_RUNNING" without the prefix "NS_"; "?" for an unknown value. */
const char *cli_enum_name(const ProtobufCEnumDescriptor *d, int value, const char *prefix);

static inline const char *cli_text(const char *s) /* for texts of an answer: never NULL */
{
    return s ? s : "";
}

/* ---- An ApplicationMaster's connections to NodeManagers: one per node ---- */

struct cli_nodes;

typedef void (*cli_start_fn)(struct yarn_container_id id, int status, const struct sv_error *err,
                             void *userdata);

struct cli_nodes *cli_nodes_new(sd_event *event, cli_start_fn started, void *userdata);
struct cli_nodes *cli_nodes_free(struct cli_nodes *n);
/* Stores (or replaces) the NMToken of a node. */
int cli_nodes_token(struct cli_nodes *n, const struct yarn_node_id *node,
                    const struct yarn_token *token) _must_use_;
int cli_nodes_start(struct cli_nodes *n, const struct yarn_node_id *node,
                    struct yarn_container_id id, const struct yarn_token *container_token,
                    const struct cli_launch *launch) _must_use_;
int cli_nodes_stop(struct cli_nodes *n, const struct yarn_node_id *node,
                   struct yarn_container_id id) _must_use_;

#endif
