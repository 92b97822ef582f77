/* `selvedge framework logs NAME [TASK]`: finds the application, and the container of the task; then
 * it is `selvedge logs`. */
#include <string.h>

#include "client/core/options.h"
#include "client/framework/call.h"
#include "client/framework/views.h"
#include "client/logs/logs.h"
#include "wire/ids.h"

struct wanted {
    struct cli_ctx *ctx;
    const char *task; /* "W-3"; NULL: all */
    char application[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];
};

/* Ids go into words of another command: they are checked. */
static int take_ids(struct wanted *w, const json_t *info, const json_t *rows)
{
    const char *name = w->ctx->subject, *found = "";
    const char *app =
        cli_member_text(info, "aggregatedFrameworkStatus.frameworkStatus.applicationId");
    struct yarn_container_id container;
    struct yarn_app_id id;
    const json_t *row;
    size_t i;

    if (yarn_app_id_parse(app, &id) < 0)
        return cli_fail("%s has no application yet, and so no logs; selvedge framework status %s "
                        "tells its state",
                        name, name);
    (void)yarn_app_id_text(id, w->application);
    if (!w->task)
        return 0;
    json_array_foreach(rows, i, row) if (strcmp(cli_member_text(row, "task"), w->task) == 0) found =
        cli_member_text(row, "container");
    if (yarn_container_id_parse(found, &container) < 0)
        return cli_fail("%s has no task %s with a container now; selvedge framework tasks %s lists "
                        "them, selvedge logs %s shows all that ran",
                        name, w->task, name, w->application);
    (void)yarn_container_id_text(container, w->container);
    return 0;
}

static void on_info(const json_t *info, void *userdata)
{
    struct wanted *w = userdata;
    json_t *rows = cli_framework_tasks(info, NULL, NULL);

    cli_stop(w->ctx, take_ids(w, info, rows));
    json_decref(rows);
}

int cli_cmd_framework_logs(struct cli_ctx *ctx, int argc, char **argv)
{
    struct wanted w = { .ctx = ctx };
    int code, c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1)
        if (c == '?')
            return 2;
    code = cli_framework_begin(ctx, argc, argv, NULL, 1, 2);
    if (code != 0)
        return code;
    w.task = argv[optind + 1];
    cli_framework_info(ctx, on_info, &w);
    code = cli_loop(ctx);
    return code != 0 ? code : cli_logs_found(ctx, argv, w.application, w.container, false);
}
