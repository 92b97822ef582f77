/* `selvedge service logs NAME [INSTANCE]`: finds the application, and the container of the
 * instance; then it is `selvedge logs`. */
#include <string.h>

#include "client/core/options.h"
#include "client/logs/logs.h"
#include "client/service/call.h"
#include "wire/ids.h"

struct wanted {
    struct cli_ctx *ctx;
    const char *instance; /* NULL: all */
    char application[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];
};

static const json_t *instance_of(const json_t *status, const char *name)
{
    const json_t *component, *one;
    size_t i, k;

    json_array_foreach(json_object_get(status, "components"), i, component)
    {
        json_array_foreach(json_object_get(component, "containers"), k, one)
        {
            if (strcmp(cli_service_text(one, "component_instance_name"), name) == 0)
                return one;
        }
    }
    return NULL;
}

/* Ids go into words of another command: they are checked. */
static void on_status(const json_t *status, void *userdata)
{
    struct wanted *w = userdata;
    const char *name = w->ctx->subject, *text = cli_service_text(status, "id");
    struct yarn_container_id container;
    struct yarn_app_id app;
    int code = 0;

    if (yarn_app_id_parse(text, &app) < 0) {
        cli_stop(w->ctx, cli_fail("%s has not been started yet, and so has no logs; selvedge "
                                  "service start %s starts it",
                                  name, name));
        return;
    }
    (void)yarn_app_id_text(app, w->application);
    text = w->instance ? cli_service_text(instance_of(status, w->instance), "id") : "";
    if (w->instance && yarn_container_id_parse(text, &container) < 0)
        code = cli_fail("%s has no instance %s with a container now; selvedge service instances %s "
                        "lists those, selvedge logs %s shows all that ran",
                        name, w->instance, name, w->application);
    else if (w->instance)
        (void)yarn_container_id_text(container, w->container);
    cli_stop(w->ctx, code);
}

/* 0 or the exit code. */
static int find(struct wanted *w, int argc, char **argv)
{
    int code = cli_service_begin(w->ctx, argc, argv, NULL, 1, 2);

    if (code == 0)
        code = cli_service_name(w->ctx, w->ctx->subject);
    if (code != 0)
        return code;
    w->instance = argv[optind + 1];
    cli_service_call(w->ctx, &(struct cli_service_request){ .method = "GET" }, on_status, w);
    return cli_loop(w->ctx);
}

int cli_cmd_service_logs(struct cli_ctx *ctx, int argc, char **argv)
{
    struct wanted w = { .ctx = ctx };
    int code, c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1)
        if (c == '?')
            return 2;
    code = find(&w, argc, argv);
    return code != 0 ? code : cli_logs_found(ctx, argv, w.application, w.container, true);
}
