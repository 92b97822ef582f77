/* An application and a container for `selvedge inspect`, see inspect.h. */
#include <errno.h>
#include <string.h>

#include "client/http/node-url.h"
#include "client/http/peer-answer.h"
#include "client/inspect/inspect.h"
#include "client/views/objects.h"
#include "client/views/rows.h"
#include "common/exit-meaning.h"
#include "common/str.h"

#define ATTEMPTS_MAX 100 /* attempts whose containers are read: the last ones */

static json_t *container_object(const struct cli_container_report *c)
{
    bool over = strcmp(c->state, "COMPLETE") == 0;
    const char *meaning = over ? sv_exit_meaning(c->exit_status, c->diagnostics) : NULL;
    const char *http = cli_without_scheme(c->http_address);
    char id[YARN_ID_TEXT_MAX], node[264];

    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                     yarn_container_id_text(c->id, id), "state", c->state, "node",
                     cli_json_string(yarn_node_id_text(&c->node, node)), "nodeHttp",
                     cli_json_string(http), "logs", cli_json_string(c->log_url), "exitCode",
                     over ? json_integer(c->exit_status) : json_null(), "exitMeaning",
                     meaning ? json_string(meaning) : json_null(), "startedTime",
                     cli_json_known(c->start_ms ? c->start_ms : -1), "finishedTime",
                     cli_json_known(c->finish_ms ? c->finish_ms : -1), "diagnostics",
                     cli_json_string(c->diagnostics));
}

/* ---- An application ---- */

struct attempt_call {
    struct cli_inspect *i;
    json_t *attempt; /* part of the root */
};

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct attempt_call *call = userdata;
    struct cli_inspect *i = call->i;
    json_t *containers = json_array();

    i->ended = i->ended || status == -ECANCELED;
    for (size_t k = 0; status >= 0 && k < n; k++)
        (void)json_array_append_new(containers,
                                    container_object(&list[k])); /* NULL is omitted, ignoring */
    (void)json_object_set_new(call->attempt, "containers", containers); /* likewise, ignoring */
    if (status < 0)
        cli_inspect_lacks(i, "containers of an attempt",
                          err && *err->text ? err->text : strerror(-status));
    free(call);
    cli_inspect_release(i);
}

static void request_containers(struct cli_inspect *i, struct yarn_attempt_id id, json_t *attempt)
{
    struct attempt_call *call = malloc(sizeof(*call));
    int r = call ? 0 : -ENOMEM;

    cli_inspect_hold(i);
    if (call) {
        *call = (struct attempt_call){ i, attempt };
        r = cli_rm_containers(i->ctx->rm, id, on_containers, call);
    }
    if (r < 0) {
        free(call);
        cli_inspect_error(i, r, NULL);
        cli_inspect_release(i);
    }
}

static void on_attempts(int status, const struct cli_attempt_report *attempts, size_t n,
                        const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    json_t *list = json_array();

    i->ended = i->ended || status == -ECANCELED;
    if (cli_refused(i->ctx, status, err))
        cli_inspect_error(i, status, err);
    else if (status < 0)
        cli_inspect_lacks(i, "attempts", err && *err->text ? err->text : strerror(-status));
    (void)json_object_set_new(i->root, "attempts", list); /* NULL is omitted, ignoring */
    for (size_t k = 0; status >= 0 && k < n; k++) {
        json_t *one = cli_attempt_object(&attempts[k]);

        if (!one || json_array_append_new(list, one) < 0)
            continue;
        if (k + ATTEMPTS_MAX >= n)
            request_containers(i, attempts[k].id, one);
    }
    cli_inspect_release(i);
}

/* Handles the table of a job of `selvedge run`, also after its end. */
static void on_instances(int status, struct cli_rows *rows, const struct sv_error *err,
                         void *userdata)
{
    struct cli_inspect *i = userdata;
    json_t *job = status >= 0 ? cli_status_object(&rows->status, rows->app_text) : NULL;

    (void)err;
    (void)json_object_set(i->root, "instances",
                          json_object_get(job, "containers")); /* NULL is omitted, ignoring */
    json_decref(job);
    cli_inspect_release(i);
}

static void request_parts(struct cli_inspect *i, const struct cli_report *report)
{
    char path[YARN_ID_TEXT_MAX + 8], id[YARN_ID_TEXT_MAX];

    cli_inspect_hold(i);
    if (cli_rm_attempts(i->ctx->rm, report->id, on_attempts, i) < 0) {
        cli_inspect_error(i, -ENOMEM, NULL);
        cli_inspect_release(i);
    }
    if (strcmp(report->type, "SELVEDGE") == 0) {
        cli_inspect_hold(i);
        if (cli_rows_get(i->ctx, report->id, true, on_instances, i) < 0)
            cli_inspect_release(i);
    }
    snprintf(path, sizeof(path), "apps/%s", yarn_app_id_text(report->id, id));
    cli_inspect_from_rm(
        i, path, (struct cli_inspect_part){ "scheduling", "scheduling", cli_answer_app, i->root });
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;

    if (status < 0 || n == 0) {
        cli_inspect_error(i, status < 0 ? status : -ENOENT, err);
    } else {
        i->root = cli_app_object(report);
        (void)json_object_set_new(i->root, "kind",
                                  json_string("application")); /* short of memory, ignoring */
        request_parts(i, report);
    }
    cli_inspect_release(i);
}

int cli_inspect_app(struct cli_inspect *i, struct yarn_app_id app)
{
    return cli_rm_report(i->ctx->rm, app, on_report, i);
}

/* ---- A container ---- */

static void take_container(struct cli_inspect *i, json_t *object)
{
    const char *id = json_string_value(json_object_get(object, "id"));
    const char *http = json_string_value(json_object_get(object, "nodeHttp"));
    char path[YARN_ID_TEXT_MAX + 16];

    i->root = object;
    if (!id || !http || !*http || strcspn(http, "/?#@ ") != strlen(http)) {
        cli_inspect_lacks(i, "onNode", "the web address of its node is not known");
        return;
    }
    snprintf(path, sizeof(path), "containers/%s", id);
    cli_inspect_from_node(
        i, http, path,
        (struct cli_inspect_part){ "onNode", "onNode", cli_answer_container, i->root });
}

static void add_kind(json_t *object, struct yarn_container_id id)
{
    char app[YARN_ID_TEXT_MAX], attempt[YARN_ID_TEXT_MAX];

    (void)json_object_set_new(object, "kind", json_string("container")); /* ignoring, as below */
    (void)json_object_set_new(object, "application",
                              json_string(yarn_app_id_text(id.attempt.app, app)));
    (void)json_object_set_new(object, "attempt",
                              json_string(yarn_attempt_id_text(id.attempt, attempt)));
}

static json_t *object_of_row(const struct cli_row *row)
{
    const char *meaning = row->done ? sv_exit_meaning(row->exit_status, row->diagnostics) : NULL;

    return json_pack("{s:o, s:o, s:o, s:o, s:n, s:o, s:o, s:n, s:n, s:o}", "id",
                     cli_json_string(row->container), "state", cli_json_string(row->state), "node",
                     cli_json_string(row->node), "nodeHttp", cli_json_string(row->http), "logs",
                     "exitCode", row->done ? json_integer(row->exit_status) : json_null(),
                     "exitMeaning", meaning ? json_string(meaning) : json_null(), "startedTime",
                     "finishedTime", "diagnostics", cli_json_string(row->diagnostics));
}

static void not_there(struct cli_inspect *i)
{
    cli_stop(i->ctx, cli_fail("%s: neither the ResourceManager nor its ApplicationMaster lists "
                              "this container; selvedge logs may still find its output",
                              i->ctx->subject));
    i->ended = true;
}

/* Handles the table of a job of `selvedge run`, which is kept longer than the ResourceManager's
 * data. */
static void on_table(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    const struct cli_row *found = NULL;
    struct yarn_container_id id;

    for (size_t k = 0; status >= 0 && k < rows->status.n; k++)
        if (strcmp(rows->status.rows[k].container, i->ctx->subject) == 0)
            found = &rows->status.rows[k];
    if (status < 0) {
        cli_inspect_error(i, status, err);
    } else if (!found || yarn_container_id_parse(found->container, &id) < 0) {
        not_there(i);
    } else {
        json_t *object = object_of_row(found);

        add_kind(object, id);
        take_container(i, object);
    }
    cli_inspect_release(i);
}

static void on_its_attempt(int status, const struct cli_container_report *list, size_t n,
                           const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    struct yarn_container_id id;
    int r = yarn_container_id_parse(i->ctx->subject, &id);

    if (status < 0 && status != -EREMOTEIO) {
        cli_inspect_error(i, status, err);
        cli_inspect_release(i);
        return;
    }
    for (size_t k = 0; status >= 0 && k < n; k++)
        if (list[k].id.id == id.id) {
            json_t *object = container_object(&list[k]);

            add_kind(object, id);
            take_container(i, object);
            cli_inspect_release(i);
            return;
        }
    if (r >= 0)
        r = cli_rows_get(i->ctx, id.attempt.app, true, on_table, i);
    if (r < 0) {
        cli_inspect_error(i, r, NULL);
        cli_inspect_release(i);
    }
}

int cli_inspect_container(struct cli_inspect *i, struct yarn_container_id id)
{
    return cli_rm_containers(i->ctx->rm, id.attempt, on_its_attempt, i);
}
