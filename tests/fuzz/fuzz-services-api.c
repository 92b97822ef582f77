/* Requests to the services API, stored definitions and answers of masters: "METHOD URI\n", the
 * body, a byte 1, a stored definition, a byte 1, the master's answer. Every answer has a status and
 * a JSON body; the backend sees valid names alone, and what is stored is parsed again. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/url.h"
#include "service/api/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *stored, *said;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static int give(const char *text, char **ret)
{
    *ret = strdup(text);
    return *ret ? 0 : -ENOMEM;
}

static void check_store(const char *service, const char *version, const char *json)
{
    json_t *tree = json_loads(json, 0, NULL);

    must(svc_name_valid(service) && (!version || fs_name_valid(version)));
    must(json_is_object(tree));
    json_decref(tree);
}

static int read_text(void *b, const char *service, const char *version, char **ret,
                     struct sv_error *err)
{
    (void)b;
    must(svc_name_valid(service) && !version);
    return *service == 'a' ? give(stored, ret) : sv_error_set(err, -ENOENT, "absent");
}

static int create(void *b, const char *service, const char *version, const char *json,
                  struct sv_error *err)
{
    (void)b;
    (void)err;
    check_store(service, version, json);
    return 0;
}

static int replace(void *b, const char *service, const char *json, struct sv_error *err)
{
    (void)b;
    (void)err;
    check_store(service, NULL, json);
    return 0;
}

static int one_name(void *b, const char *service, struct sv_error *err)
{
    (void)b;
    (void)err;
    must(svc_name_valid(service));
    return 0;
}

static int count(void *b, int most, struct sv_error *err)
{
    (void)b;
    (void)err;
    return most - 1;
}

static int look(void *b, const char *name, struct sv_error *err)
{
    (void)b;
    return strstr(name, "no") ? sv_error_set(err, -ENOENT, "absent") : *name == 'd';
}

static int submit(void *b, const struct svc_definition *d, struct yarn_app_id *ret,
                  struct sv_error *err)
{
    (void)b;
    (void)err;
    must(svc_name_valid(d->name));
    *ret = (struct yarn_app_id){ 1, 1 };
    return 0;
}

static int report(void *b, struct yarn_app_id id, struct svc_app *ret, struct sv_error *err)
{
    (void)b;
    if (id.id % 3 == 0)
        return sv_error_set(err, -ENOENT, "absent");
    *ret = (struct svc_app){ .id = id, .state = CLI_APP_RUNNING, .host = "h", .port = 1 };
    return 0;
}

static int kill_app(void *b, struct yarn_app_id id, const char *why, struct sv_error *err)
{
    (void)b;
    (void)id;
    (void)err;
    must(why != NULL);
    return 0;
}

static int ended(void *b, struct yarn_app_id id, int64_t ms, struct sv_error *err)
{
    (void)b;
    (void)id;
    (void)ms;
    (void)err;
    return 1;
}

static int lifetime(void *b, struct yarn_app_id id, int64_t seconds, struct sv_error *err)
{
    (void)b;
    (void)id;
    (void)err;
    must(seconds > 0 && seconds <= INT32_MAX);
    return 0;
}

static int status(void *b, const struct svc_app *app, char **ret, struct sv_error *err)
{
    (void)b;
    (void)app;
    (void)err;
    return give(said, ret);
}

static int tell(void *b, const struct svc_app *app, struct sv_error *err)
{
    (void)b;
    (void)app;
    (void)err;
    return 0;
}

static int flex(void *b, const struct svc_app *app, const struct svc_count *counts, size_t n,
                struct sv_error *err)
{
    (void)b;
    (void)app;
    (void)err;
    for (size_t i = 0; i < n; i++)
        must(svc_name_valid(counts[i].component) && counts[i].count >= 0 &&
             counts[i].count <= SVC_INSTANCES_MAX);
    return 0;
}

static int names(void *b, const struct svc_app *app, struct svc_names list, struct sv_error *err)
{
    (void)b;
    (void)app;
    (void)err;
    for (size_t i = 0; i < list.n; i++)
        must(list.v[i] != NULL);
    return 0;
}

static int upgrade(void *b, const struct svc_app *app, const char *version, bool auto_finalize,
                   bool express, struct sv_error *err)
{
    (void)b;
    (void)app;
    (void)err;
    must(fs_name_valid(version) && (auto_finalize || !express));
    return 0;
}

static int instances(void *b, const struct svc_app *app, struct svc_names components,
                     const char *version, struct svc_names states, char **ret, struct sv_error *err)
{
    (void)version;
    must(names(b, app, components, err) == 0 && names(b, app, states, err) == 0);
    return give(said, ret);
}

static const struct svc_backend backend = {
    .read = read_text,
    .create = create,
    .replace = replace,
    .remove = one_name,
    .count = count,
    .look = look,
    .live = one_name,
    .submit = submit,
    .report = report,
    .kill = kill_app,
    .ended = ended,
    .set_lifetime = lifetime,
    .status = status,
    .stop = tell,
    .restart = tell,
    .flex = flex,
    .decommission = names,
    .upgrade = upgrade,
    .cancel_upgrade = tell,
    .upgrade_containers = names,
    .instances = instances,
};

/* Ends the text at the byte `c`, and returns what follows it, or "". */
static char *cut(char *text, int c)
{
    char *at = strchr(text, c);

    if (!at)
        return text + strlen(text);
    *at = '\0';
    return at + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct svc_settings settings = { .upgrades = true, .max_services = 2 };
    char *text = size < 1 << 16 ? malloc(size + 1) : NULL, *uri, *body, *rest;
    struct svc_request q;
    struct svc_answer a;
    json_t *tree;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    body = cut(text, '\n');
    rest = cut(body, 1);
    said = cut(rest, 1);
    stored = rest;
    uri = cut(text, ' ');
    q = (struct svc_request){
        .user = "ann", .method = text, .uri = uri, .body = body, .body_len = strlen(body)
    };
    (void)svc_api_takes(uri);
    svc_api_answer(&backend, &settings, &q, &a);
    must(a.status >= 200 && a.status < 600 && (a.body || a.status == 204));
    tree = a.body ? json_loadb(a.body, a.body_len, 0, NULL) : NULL;
    must(a.status == 204 || json_is_object(tree) || json_is_array(tree));
    json_decref(tree);
    free(a.body);
    free(text);
    return 0;
}
