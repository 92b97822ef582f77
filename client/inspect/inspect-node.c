/* A node and a queue for `selvedge inspect`, see inspect.h. */
#include <errno.h>
#include <string.h>

#include "client/http/peer-answer.h"
#include "client/inspect/inspect.h"
#include "client/views/objects.h"
#include "common/str.h"

void cli_inspect_node(struct cli_inspect *i, const struct cli_node_report *node)
{
    const char *http = node->http_address;

    i->root = cli_node_object(node);
    (void)json_object_set_new(i->root, "kind", json_string("node")); /* out of memory, ignoring */
    if (!*http || strcspn(http, "/?#@ ") != strlen(http)) {
        cli_inspect_lacks(i, "onNode", "its web address is not known");
        return;
    }
    cli_inspect_from_node(
        i, http, "info", (struct cli_inspect_part){ "onNode", "onNode", cli_answer_node, i->root });
    cli_inspect_from_node(i, http, "containers",
                          (struct cli_inspect_part){ "containersOnNode", "containersOnNode",
                                                     cli_answer_containers, i->root });
}

/* ---- A queue ---- */

/* "a" and "root.a" name the same leaf. */
static bool same_queue(const char *of_app, const char *path)
{
    const char *dot = strrchr(path, '.');

    return strcmp(of_app, path) == 0 ||
           (!strchr(of_app, '.') && dot && strcmp(of_app, dot + 1) == 0);
}

static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    const char *path = json_string_value(json_object_get(i->root, "path"));
    json_t *list = json_array();
    char id[YARN_ID_TEXT_MAX];

    i->ended = i->ended || status == -ECANCELED;
    for (size_t k = 0; status >= 0 && path && k < n; k++)
        if (same_queue(reports[k].queue, path))
            (void)json_array_append_new(
                list, json_string(yarn_app_id_text(reports[k].id, id))); /* ignoring */
    (void)json_object_set_new(i->root, "applications", list); /* NULL is omitted, ignoring */
    if (status < 0)
        cli_inspect_lacks(i, "applications", err && *err->text ? err->text : strerror(-status));
    cli_inspect_release(i);
}

/* Adds the direct children of the first queue; all that follow are its descendants. */
void cli_inspect_queue(struct cli_inspect *i, const struct cli_queue_report *queues, size_t n)
{
    size_t depth = strlen(queues[0].path) + 1;
    json_t *children = json_array();

    i->root = cli_queue_object(&queues[0]);
    (void)json_object_set_new(i->root, "kind", json_string("queue")); /* out of memory, ignoring */
    for (size_t k = 1; k < n; k++)
        if (strlen(queues[k].path) > depth && !strchr(queues[k].path + depth, '.'))
            (void)json_array_append_new(children, cli_json_string(queues[k].path)); /* likewise */
    (void)json_object_set_new(i->root, "children", children); /* NULL is omitted, ignoring */
    cli_inspect_hold(i);
    if (cli_rm_applications(i->ctx->rm, NULL, true, on_applications, i) < 0) {
        cli_inspect_error(i, -ENOMEM, NULL);
        cli_inspect_release(i);
    }
}
