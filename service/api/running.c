/* The application of a service, and what its master says of it. See call.h. */
#include <errno.h>
#include <string.h>

#include "service/api/call.h"

static const char *state_of(enum cli_app_state s)
{
    switch (s) {
    case CLI_APP_RUNNING:
        return "STARTED";
    case CLI_APP_FINISHED:
    case CLI_APP_KILLED:
        return "STOPPED";
    case CLI_APP_FAILED:
        return "FAILED";
    default:
        return "ACCEPTED";
    }
}

int svc_running(struct svc_call *c, const json_t *stored, const char *doing, struct svc_app *ret)
{
    struct yarn_app_id id;
    int r = svc_id_of(c, stored, &id);

    if (r < 0)
        return r;
    if (r == 0)
        return svc_fail(c, SVC_FAIL_YARN, "%s appId is null, may be not submitted to YARN yet",
                        c->service);
    r = c->b->report(c->b->userdata, id, ret, &c->err);
    if (r == -ENOENT)
        return svc_fail(c, SVC_FAIL_YARN, "%s: its application is not known any more", c->service);
    if (r < 0)
        return svc_fail_of(c, r);
    if (ret->state != CLI_APP_RUNNING)
        return svc_fail(c, SVC_FAIL_YARN,
                        "%s is at %s state, %s can only be invoked when service is running",
                        c->service, cli_app_state_name(ret->state), doing);
    if (!*ret->host)
        return svc_fail(c, SVC_FAIL_YARN, "%s AM hostname is empty", c->service);
    return 0;
}

/* A service without a master: its name and state, and what Hadoop's record has by default. */
static json_t *blank(const char *service, const char *id, const char *state, int64_t lifetime)
{
    json_t *o = json_pack("{s:s, s:s, s:[], s:{s:{}, s:{}, s:[]}, s:{}, s:{}, s:[]}", "name",
                          service, "state", state, "components", "configuration", "properties",
                          "env", "files", "quicklinks", "kerberos_principal", "dependencies");

    if (o && ((id && json_object_set_new(o, "id", json_string(id)) < 0) ||
              (lifetime >= 0 && json_object_set_new(o, "lifetime", json_integer(lifetime)) < 0))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static int say_blank(struct svc_call *c, json_t *o, json_t **ret)
{
    if (!o)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    *ret = o;
    return 0;
}

static int ask_master(struct svc_call *c, const struct svc_app *app, json_t **ret)
{
    _cleanup_free_ char *text = NULL;
    json_error_t why;
    json_t *tree;
    int r = c->b->status(c->b->userdata, app, &text, &c->err);

    if (r < 0)
        return svc_fail_of(c, r == -ENOENT ? -EREMOTEIO : r);
    tree = json_loads(text, 0, &why);
    if (!json_is_object(tree) ||
        (app->lifetime_left_s >= 0 &&
         json_object_set_new(tree, "lifetime", json_integer(app->lifetime_left_s)) < 0)) {
        json_decref(tree);
        return svc_fail(c, SVC_FAIL_IO, "%s: its master's status is no JSON object: line %d: %s",
                        c->service, why.line, why.text);
    }
    *ret = tree;
    return 0;
}

int svc_status(struct svc_call *c, const char *service, json_t **ret)
{
    json_t *stored;
    struct yarn_app_id id;
    struct svc_app app;
    char text[YARN_ID_TEXT_MAX];
    int r = svc_check_name(c, service);

    if (r == 0)
        r = svc_load(c, service, &stored);
    if (r < 0)
        return r;
    r = svc_id_of(c, stored, &id);
    json_decref(stored);
    if (r < 0)
        return r;
    if (r == 0)
        return say_blank(c, blank(service, NULL, "STOPPED", -1), ret);
    yarn_app_id_text(id, text);
    r = c->b->report(c->b->userdata, id, &app, &c->err);
    if (r == -ENOENT) {
        c->err = (struct sv_error){ 0 };
        return say_blank(c, blank(service, text, "STOPPED", -1), ret);
    }
    if (r < 0)
        return svc_fail_of(c, r);
    if (app.state == CLI_APP_RUNNING && *app.host)
        return ask_master(c, &app, ret);
    return say_blank(c, blank(service, text, state_of(app.state), app.lifetime_left_s), ret);
}

bool svc_is_upgrading(const json_t *status)
{
    const char *state = svc_text(status, "state");

    return state &&
           (strcmp(state, "UPGRADING") == 0 || strcmp(state, "UPGRADING_AUTO_FINALIZE") == 0);
}

/* ---- Routes that read ---- */

int svc_op_status(struct svc_call *c)
{
    json_t *status;
    int r = svc_status(c, c->service, &status);

    return r < 0 ? r : svc_say_json(c, status);
}

#define CONTAINER_STATES                                                                           \
    "[RUNNING_BUT_UNREADY, READY, STOPPED, NEEDS_UPGRADE, UPGRADING, SUCCEEDED, FAILED, "          \
    "FAILED_UPGRADE]"

static bool is_container_state(const char *s)
{
    static const char *const all[] = {
        "RUNNING_BUT_UNREADY", "READY",     "STOPPED", "NEEDS_UPGRADE",
        "UPGRADING",           "SUCCEEDED", "FAILED",  "FAILED_UPGRADE"
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (strcmp(s, all[i]) == 0)
            return true;
    return false;
}

/* Masters write component_name, Hadoop's REST componentName. */
static int rename_component(json_t *one)
{
    json_t *name = json_object_get(one, "component_name");

    return name && (json_object_set(one, "componentName", name) < 0 ||
                    json_object_del(one, "component_name") < 0)
               ? -ENOMEM
               : 0;
}

static int read_instances(struct svc_call *c, const struct svc_app *app)
{
    const char *components[SVC_URI_PAIRS_MAX], *states[SVC_URI_PAIRS_MAX];
    struct svc_names wanted = { components, svc_uri_values(c->uri, "componentName", components,
                                                           SVC_URI_PAIRS_MAX) };
    struct svc_names in = { states,
                            svc_uri_values(c->uri, "containerState", states, SVC_URI_PAIRS_MAX) };
    _cleanup_free_ char *text = NULL;
    json_error_t why;
    json_t *tree, *one;
    size_t i;
    int r = c->b->instances(c->b->userdata, app, wanted, svc_uri_value(c->uri, "version"), in,
                            &text, &c->err);

    if (r < 0)
        return svc_fail_of(c, r == -ENOENT ? -EREMOTEIO : r);
    tree = json_loads(text, 0, &why);
    if (!json_is_array(tree)) {
        json_decref(tree);
        return svc_fail(c, SVC_FAIL_IO, "%s: its master's instances are no JSON array: line %d: %s",
                        c->service, why.line, why.text);
    }
    json_array_foreach(tree, i, one)
    {
        if (rename_component(one) < 0) {
            json_decref(tree);
            return svc_fail(c, SVC_FAIL_IO, "out of memory");
        }
    }
    return svc_say_json(c, tree);
}

int svc_op_instances(struct svc_call *c)
{
    const char *states[SVC_URI_PAIRS_MAX];
    size_t n = svc_uri_values(c->uri, "containerState", states, SVC_URI_PAIRS_MAX);
    json_t *stored;
    struct svc_app app;
    int r;

    for (size_t i = 0; i < n; i++)
        if (!is_container_state(states[i]))
            return svc_fail(c, SVC_FAIL_ARGUMENT, "valid container states are: " CONTAINER_STATES);
    r = svc_check_name(c, c->service);
    if (r == 0)
        r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = svc_running(c, stored, "instances", &app);
    json_decref(stored);
    return r < 0 ? r : read_instances(c, &app);
}
