/* Calls of the FrameworkLauncher's REST API over HTTP, as the caller. Hostile: answers have texts
 * of masters and tasks, which users run. */
#ifndef SELVEDGE_CLIENT_FRAMEWORK_CALL_H
#define SELVEDGE_CLIENT_FRAMEWORK_CALL_H

#include "client/core/session.h"

/* Checks that `name` can be one of a framework, or of a role; 0, or 2 after an error message. */
int cli_framework_name(const struct cli_ctx *ctx, const char *name) _must_use_;
/* Call after the options: as cli_option_begin(), for a command that needs no ResourceManager's
 * RPC. The first argument, if any, is the name of a framework. `max` 0: any number of arguments. */
int cli_framework_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                        int min, int max) _must_use_;

/* `answer`: JSON, valid during the callback; NULL: none was sent. */
typedef void (*cli_framework_fn)(const json_t *answer, void *userdata);

struct cli_framework_request {
    const char *method; /* a literal */
    const char *path;   /* behind "/v1/Frameworks", "/NAME/ExecutionType" */
    const char *query;  /* "" or "&Name=value…" */
    json_t *body;       /* taken; NULL: none */
};
/* Sends a request. An answer that refuses, or none, is one line on stderr with the remedy, and ends
 * the loop with 1. */
void cli_framework_call(struct cli_ctx *ctx, const struct cli_framework_request *q,
                        cli_framework_fn fn, void *userdata);
/* FrameworkInfo of ctx->subject. */
void cli_framework_info(struct cli_ctx *ctx, cli_framework_fn fn, void *userdata);
/* FrameworkInfo with every answer, as in fetch.h. 0 or -errno. */
int cli_framework_poll(struct cli_ctx *ctx, cli_fetch_fn fn, void *userdata) _must_use_;
/* Prints the reason of an answer that refuses; returns 1. */
int cli_framework_refused(const struct cli_ctx *ctx, int status, const json_t *answer,
                          const char *why);

/* ---- Answers ---- */

/* A member at the end of a path of keys, "a.b"; NULL: none, or null. */
const json_t *cli_member(const json_t *object, const char *path);
/* Its text, "" if it has none. */
const char *cli_member_text(const json_t *object, const char *path);
/* It for a row: a number, an escaped text, or null. */
json_t *cli_member_json(const json_t *object, const char *path);

#endif
