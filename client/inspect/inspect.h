/* `selvedge inspect`: prints one JSON object about an application, a container, a node or a queue,
 * merged from several answers. Data that could not be obtained is listed in "unavailable". The keys
 * are an interface (docs/operate/inspect.md): they are added to, never renamed. */
#ifndef SELVEDGE_CLIENT_INSPECT_INSPECT_H
#define SELVEDGE_CLIENT_INSPECT_INSPECT_H

#include <jansson.h>

#include "client/core/session.h"

struct cli_inspect {
    struct cli_ctx *ctx;
    json_t *root; /* the object to print */
    size_t open;  /* pending answers */
    bool ended;   /* an error was printed, or the program is ending */
};

/* Each fills i->root, and holds a reference per pending answer. */
int cli_inspect_app(struct cli_inspect *i, struct yarn_app_id app) _must_use_;
int cli_inspect_container(struct cli_inspect *i, struct yarn_container_id id) _must_use_;
void cli_inspect_node(struct cli_inspect *i, const struct cli_node_report *node);
void cli_inspect_queue(struct cli_inspect *i, const struct cli_queue_report *queues, size_t n);

/* Counts pending answers. The last release prints the object. */
void cli_inspect_hold(struct cli_inspect *i);
void cli_inspect_release(struct cli_inspect *i);
/* Ends the command with an error message, as cli_stop_error(). */
void cli_inspect_error(struct cli_inspect *i, int status, const struct sv_error *err);
/* Adds an entry to "unavailable". */
void cli_inspect_lacks(struct cli_inspect *i, const char *what, const char *why);

/* Converts a REST answer, and the key of the result in `into` (part of the root, which owns it). */
struct cli_inspect_part {
    const char *what, *key;
    json_t *(*read)(const char *body, size_t len); /* client/http/peer-answer.h */
    json_t *into;
};
/* GET of a node's /ws/v1/node/`path`; `http`: "host:port". */
void cli_inspect_from_node(struct cli_inspect *i, const char *http, const char *path,
                           struct cli_inspect_part part);
/* GET of the ResourceManager's /ws/v1/cluster/`path`. */
void cli_inspect_from_rm(struct cli_inspect *i, const char *path, struct cli_inspect_part part);

#endif
