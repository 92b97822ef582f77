/* Calls of YARN's services API over HTTP, as the caller: at the web ports of the ResourceManagers,
 * or at yarn.service.api-server.address. Hostile: answers have texts of masters, which users
 * run. */
#ifndef SELVEDGE_CLIENT_SERVICE_CALL_H
#define SELVEDGE_CLIENT_SERVICE_CALL_H

#include "client/core/session.h"

/* Checks that `name` can be one of a service; 0, or 2 after an error message. */
int cli_service_name(const struct cli_ctx *ctx, const char *name) _must_use_;
/* Call after the options: as cli_option_begin(), for a command that needs no ResourceManager's
 * RPC. `max` 0: any number of arguments. */
int cli_service_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                      int min, int max) _must_use_;

/* `answer`: JSON, valid during the callback; NULL: none was sent. */
typedef void (*cli_service_fn)(const json_t *answer, void *userdata);

struct cli_service_request {
    const char *method; /* a literal */
    const char *path;   /* behind the service's: "" or "/components" */
    const char *query;  /* "" or "&name=value…" */
    json_t *body;       /* taken; NULL: none */
};
/* Sends a request about the service ctx->subject; a POST is one about all. An answer that refuses,
 * or none, is one line on stderr with the remedy, and ends the loop with 1. */
void cli_service_call(struct cli_ctx *ctx, const struct cli_service_request *q, cli_service_fn fn,
                      void *userdata);
/* Asks for the status: `fn` gets every answer, as in fetch.h. 0 or -errno. */
int cli_service_get(struct cli_ctx *ctx, cli_fetch_fn fn, void *userdata) _must_use_;
/* Prints the reason of such an answer, with the remedy; returns 1. */
int cli_service_refused(const struct cli_ctx *ctx, int status, const json_t *answer,
                        const char *why);

/* The text of a member, "" if there is none. */
const char *cli_service_text(const json_t *object, const char *key);
json_t *cli_service_json(const json_t *object, const char *key); /* the same for a row, or null */
/* Prints what the API said, or an object with it (-o json). */
void cli_service_said(const struct cli_ctx *ctx, const json_t *answer);

#endif
