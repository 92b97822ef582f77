/* See usage.h. */
#include "client/commands/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "wire/ids.h"

static const char *const sums[] = { "memoryBytes", "cpuCores", "cpuPressure", "memoryPressure",
                                    "ioPressure" };

int cli_usage_init(struct cli_usage *u)
{
    *u = (struct cli_usage){ json_array(), json_array(), json_object() };
    if (u->apps && u->containers && u->by_id)
        return 0;
    cli_usage_free(u);
    return -ENOMEM;
}

void cli_usage_free(struct cli_usage *u)
{
    json_decref(u->apps);
    json_decref(u->containers);
    json_decref(u->by_id);
    *u = (struct cli_usage){ 0 };
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

void cli_usage_add_app(struct cli_usage *u, json_t *app)
{
    for (size_t i = 0; app && i < SV_ARRAY_LEN(sums); i++)
        (void)json_object_set_new(app, sums[i], json_null()); /* the key is missing, ignoring */
    if (app && json_array_append(u->apps, app) == 0)
        (void)json_object_set(u->by_id, text_of(app, "id"), app); /* else no sums, ignoring */
    json_decref(app);
}

static bool has_ended(const char *state)
{
    return strcmp(state, "DONE") == 0 || strcmp(state, "COMPLETE") == 0 ||
           sv_has_prefix(state, "EXITED_");
}

/* Adds up bytes and processors; keeps the longest of the wait times. */
static void add(json_t *app, const json_t *container)
{
    const json_t *bytes = json_object_get(container, "memoryBytes");
    const json_t *cores = json_object_get(container, "cpuCores");
    json_int_t sum = json_integer_value(json_object_get(app, "memoryBytes"));

    if (json_is_integer(bytes) && json_integer_value(bytes) >= 0 &&
        !__builtin_add_overflow(sum, json_integer_value(bytes), &sum))
        (void)json_object_set_new(app, "memoryBytes", json_integer(sum)); /* ignoring, as below */
    if (json_is_real(cores) && json_real_value(cores) >= 0)
        (void)json_object_set_new(
            app, "cpuCores",
            json_real(json_number_value(json_object_get(app, "cpuCores")) +
                      json_real_value(cores))); /* infinity is not valid JSON, ignoring */
    for (size_t i = 2; i < SV_ARRAY_LEN(sums); i++) {
        json_t *wait = json_object_get(container, sums[i]);

        if (json_is_real(wait) &&
            json_real_value(wait) >= json_number_value(json_object_get(app, sums[i])))
            (void)json_object_set(app, sums[i], wait); /* ignoring, as above */
    }
}

void cli_usage_add_node(struct cli_usage *u, json_t *containers, const char *only)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    json_t *one;
    size_t i;

    json_array_foreach(containers, i, one)
    {
        if (has_ended(text_of(one, "state")) ||
            yarn_container_id_parse(text_of(one, "id"), &id) < 0)
            continue;
        yarn_app_id_text(id.attempt.app, text);
        if (only && strcmp(text, only) != 0)
            continue;
        if (json_object_get(u->by_id, text))
            add(json_object_get(u->by_id, text), one);
        (void)json_object_set_new(one, "application", json_string(text)); /* ignoring */
        if (json_array_size(u->containers) < CLI_USAGE_ROWS_MAX)
            (void)json_array_append(u->containers, one); /* out of memory: row omitted, ignoring */
    }
    json_decref(containers);
}

/* ---- Order ---- */

struct sortable {
    double value; /* -1: unknown */
    const char *id;
    json_t *row;
};

static int compare(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return strcmp(x->id, y->id);
}

json_t *cli_usage_sorted(const json_t *rows, enum cli_usage_order order)
{
    const char *key = order == CLI_USAGE_BY_CPU ? "cpuCores" : "memoryBytes";
    size_t n = json_array_size(rows);
    struct sortable *list = calloc(n + 1, sizeof(*list));
    json_t *ret = list ? json_array() : NULL;

    for (size_t i = 0; ret && i < n; i++) {
        json_t *row = json_array_get(rows, i), *v = json_object_get(row, key);

        list[i] = (struct sortable){ json_is_number(v) ? json_number_value(v) : -1,
                                     text_of(row, "id"), row };
    }
    if (ret)
        qsort(list, n, sizeof(*list), compare);
    for (size_t i = 0; ret && i < n; i++)
        (void)json_array_append(ret, list[i].row); /* out of memory: row omitted, ignoring */
    free(list);
    return ret;
}
