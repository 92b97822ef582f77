/* The containers of one application: from its ApplicationMaster if that is a running selvedge-am,
 * else from the ResourceManager; their usage from their nodes. */
#ifndef SELVEDGE_CLIENT_VIEWS_ROWS_H
#define SELVEDGE_CLIENT_VIEWS_ROWS_H

#include "client/core/session.h"
#include "client/views/status.h"

struct cli_rows {
    struct yarn_app_id app;
    char app_text[YARN_ID_TEXT_MAX];
    enum cli_app_state state;
    enum cli_final final;
    char name[256], user[256], queue[256], diagnostics[2048];
    struct cli_status status;
    bool no_instances; /* a job of selvedge run, but rows from the ResourceManager: which container
                          ran which instance is unknown (-1), the ApplicationMaster is left out */
};

/* `rows` is owned by the caller and valid until `fn` returns. */
typedef void (*cli_rows_fn)(int status, struct cli_rows *rows, const struct sv_error *err,
                            void *userdata);
int cli_rows_get(struct cli_ctx *ctx, struct yarn_app_id app, bool usage, cli_rows_fn fn,
                 void *userdata) _must_use_;

#endif
