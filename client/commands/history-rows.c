/* See history-rows.h. */
#include "client/commands/history-rows.h"

#include <stdlib.h>
#include <string.h>

#include "client/ui/output.h"
#include "common/str.h"

#define GPUS "yarn.io/gpu"

static json_t *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text ? cli_json_string(text) : json_null();
}

/* -1: it is not there. */
static int64_t number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_integer(v) ? (int64_t)json_integer_value(v) : -1;
}

/* No memory: the member is missing, ignoring. */
static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value);
}

static void copy_number(json_t *row, const char *key, const json_t *o, const char *from)
{
    set(row, key, cli_json_known(number_of(o, from)));
}

/* Hours with three decimals; `part`: what a second of it counts. */
static json_t *hours(int64_t seconds, double part)
{
    double h = (double)seconds * part / 3600;

    if (seconds < 0)
        return json_null();
    return json_real(h < 1e12 ? (double)(int64_t)(h * 1000 + 0.5) / 1000 : h);
}

/* Seconds of a resource type; -1: it was not counted. */
static int64_t seconds_of(const json_t *o, const char *type)
{
    const json_t *list = json_object_get(json_object_get(o, "resourceSecondsMap"), "entry"), *row;
    int64_t seconds;
    size_t i;

    json_array_foreach(list, i, row)
    {
        const char *key = json_string_value(json_object_get(row, "key"));
        const char *value = json_string_value(json_object_get(row, "value"));

        if (key && value && strcmp(key, type) == 0 &&
            sv_parse_i64(value, 0, INT64_MAX, &seconds) >= 0)
            return seconds;
    }
    return -1;
}

static void put_usage(json_t *row, const json_t *o)
{
    int64_t memory = number_of(o, "memorySeconds"), vcores = number_of(o, "vcoreSeconds");

    set(row, "memoryMbSeconds", cli_json_known(memory));
    set(row, "vcoreSeconds", cli_json_known(vcores));
    set(row, "coreHours", hours(vcores, 1));
    set(row, "gibHours", hours(memory, 1.0 / 1024));
    set(row, "gpuHours", hours(seconds_of(o, GPUS), 1));
}

json_t *cli_history_row(const json_t *app)
{
    static const char *const texts[][2] = {
        { "id", "id" },
        { "user", "user" },
        { "queue", "queue" },
        { "name", "name" },
        { "type", "applicationType" },
        { "state", "state" },
        { "finalStatus", "finalStatus" },
        { "diagnostics", "diagnostics" },
    };
    json_t *row = json_object();

    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++)
        set(row, texts[i][0], text_of(app, texts[i][1]));
    copy_number(row, "startedTime", app, "startedTime");
    copy_number(row, "finishedTime", app, "finishedTime");
    copy_number(row, "elapsedMs", app, "elapsedTime");
    copy_number(row, "attempts", app, "attempts");
    put_usage(row, app);
    return row;
}

json_t *cli_history_sum(const json_t *sum, const char *by)
{
    json_t *row = json_object();

    set(row, by, text_of(sum, by));
    copy_number(row, "applications", sum, "apps");
    copy_number(row, "succeeded", sum, "succeeded");
    copy_number(row, "failed", sum, "failed");
    copy_number(row, "killed", sum, "killed");
    copy_number(row, "hidden", sum, "hidden");
    put_usage(row, sum);
    return row;
}

/* Most vcore-seconds first, then most memory, then as sent. */
static int by_usage(const void *a, const void *b)
{
    json_t *const *x = a, *const *y = b;
    int64_t v = number_of(*x, "vcoreSeconds"), w = number_of(*y, "vcoreSeconds");

    if (v == w) {
        v = number_of(*x, "memorySeconds");
        w = number_of(*y, "memorySeconds");
    }
    return (v < w) - (v > w);
}

json_t *cli_history_sums(const json_t *sums, const char *by)
{
    size_t n = json_array_size(sums);
    json_t **order = calloc(n + 1, sizeof(*order));
    json_t *rows = order ? json_array() : NULL;

    for (size_t i = 0; order && i < n; i++)
        order[i] = json_array_get(sums, i);
    if (order)
        qsort(order, n, sizeof(*order), by_usage);
    for (size_t i = 0; rows && i < n; i++)
        (void)json_array_append_new(rows, cli_history_sum(order[i], by)); /* likewise, ignoring */
    free(order);
    return rows;
}
