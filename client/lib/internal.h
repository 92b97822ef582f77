/* Private declarations of libselvedge-client. */
#ifndef SELVEDGE_CLIENT_LIB_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_INTERNAL_H

#include "client/lib/client.h"
#include "common/arena.h"
#include "wire/ipc/ipc-client.h"
#include "wire/token/token.h"

typedef struct Hadoop__Yarn__ContainerLaunchContextProto Hadoop__Yarn__ContainerLaunchContextProto;

typedef struct Hadoop__Yarn__PlacementConstraintProto Hadoop__Yarn__PlacementConstraintProto;

/* Builds the wire message of a launch in the arena, pointing into `l`; NULL when out of memory or
 * when a URL is malformed (then *err is set). */
Hadoop__Yarn__ContainerLaunchContextProto *
cli_launch_to(struct sv_arena *a, const struct cli_launch *l, struct sv_error *err);

/* The message of a constraint that cli_constraint_check() has passed; NULL: out of memory. */
Hadoop__Yarn__PlacementConstraintProto *cli_constraint_to(struct sv_arena *a,
                                                          const struct cli_constraint *c);
/* A copy of n texts; NULL: out of memory. */
char **cli_texts_to(struct sv_arena *a, const char *const *list, size_t n);

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

/* A tag of an application as Hadoop's client sends it: in lower case. -EINVAL: empty, too long, or
 * not ASCII. */
int cli_tag_to(struct sv_arena *a, const char *tag, char **ret) _must_use_;

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

/* End of a call: `response` is the node's answer if status is 0, else NULL. */
typedef void (*cli_node_fn)(struct yarn_container_id id, int status,
                            const ProtobufCMessage *response, const struct sv_error *err,
                            void *userdata);
/* Each calls `fn` exactly once if it returns 0. -ENOKEY: no token for the node; -EINVAL: a URL of
 * the launch is malformed. */
int cli_nodes_status(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, cli_node_fn fn, void *userdata) _must_use_;
int cli_nodes_localized(struct cli_nodes *n, const struct yarn_node_id *node,
                        struct yarn_container_id id, cli_node_fn fn, void *userdata) _must_use_;
int cli_nodes_update(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, const struct yarn_token *container_token,
                     cli_node_fn fn, void *userdata) _must_use_;
int cli_nodes_reinitialize(struct cli_nodes *n, const struct yarn_node_id *node,
                           struct yarn_container_id id, const struct cli_launch *launch,
                           bool auto_commit, cli_node_fn fn, void *userdata) _must_use_;
enum cli_node_verb { CLI_NODE_COMMIT, CLI_NODE_ROLLBACK, CLI_NODE_RESTART };
int cli_nodes_plain(struct cli_nodes *n, const struct yarn_node_id *node,
                    struct yarn_container_id id, enum cli_node_verb verb, cli_node_fn fn,
                    void *userdata) _must_use_;
int cli_nodes_localize(struct cli_nodes *n, const struct yarn_node_id *node,
                       struct yarn_container_id id, const struct cli_resource *resources,
                       size_t n_resources, cli_node_fn fn, void *userdata) _must_use_;
int cli_nodes_signal(struct cli_nodes *n, const struct yarn_node_id *node,
                     struct yarn_container_id id, enum cli_signal signal, cli_node_fn fn,
                     void *userdata) _must_use_;

#endif
