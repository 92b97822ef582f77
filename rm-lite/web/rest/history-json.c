/* See history-json.h. Hostile: texts of the rows. */
#include "rm-lite/web/rest/history-json.h"

#include <stdio.h>

#include "common/web/json-text.h"
#include "rm-lite/requests/past-apps.h"
#include "rm-lite/web/rest/history-sums.h"
#include "rm-lite/web/rest/web-json.h"

/* No memory: the member is missing, ignoring. */
static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value);
}

/* Hadoop's form of usage by resource type. */
static void append(json_t *list, const char *type, int64_t seconds)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)seconds);
    (void)json_array_append_new(list, json_pack("{s:o, s:s}", "key", sv_json_text(type), "value",
                                                text)); /* as above, ignoring */
}

static void put_usage(json_t *o, int64_t memory_s, int64_t vcore_s, json_t *by_type)
{
    set(o, "memorySeconds", json_integer(memory_s));
    set(o, "vcoreSeconds", json_integer(vcore_s));
    set(o, "resourceSecondsMap", json_pack("{s:o}", "entry", by_type));
}

static void put_details(json_t *o, const struct rm_past_app *past)
{
    json_t *by_type = json_array();

    for (int i = 0; i < past->n_used; i++)
        append(by_type, past->used[i].type, past->used[i].used_ms / 1000);
    set(o, "startedTime", json_integer(past->start_ms));
    set(o, "launchTime", json_integer(past->launch_ms));
    set(o, "finishedTime", json_integer(past->finish_ms));
    set(o, "elapsedTime", json_integer(SV_MAX(past->finish_ms - past->start_ms, (int64_t)0)));
    set(o, "attempts", json_integer(past->attempts));
    put_usage(o, past->used[0].used_ms / 1000, past->used[1].used_ms / 1000, by_type);
    set(o, "diagnostics", sv_json_text(past->diagnostics));
}

json_t *rm_json_past(const struct rm_past_app *past, bool sees)
{
    char id[YARN_ID_TEXT_MAX];
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "id", yarn_app_id_text(past->id, id),
                  "user", sv_json_text(past->user), "name", sv_json_text(past->name), "queue",
                  sv_json_text(past->queue), "applicationType", sv_json_text(past->type), "state",
                  rm_past_state_name(past), "finalStatus", rm_json_final(past->final_status));

    if (o && sees)
        put_details(o, past);
    return o;
}

json_t *rm_json_sum(const struct rm_sum *sum, const char *by)
{
    json_t *o =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", by,
                  sum->name ? sv_json_text(sum->name) : json_null(), "apps", (json_int_t)sum->apps,
                  "succeeded", (json_int_t)sum->succeeded, "failed", (json_int_t)sum->failed,
                  "killed", (json_int_t)sum->killed, "hidden", (json_int_t)sum->hidden);
    json_t *by_type = json_array();

    append(by_type, "memory-mb", sum->memory_s);
    append(by_type, "vcores", sum->vcore_s);
    for (size_t i = 0; i < RM_RES_EXTRA && sum->other[i].type; i++)
        append(by_type, sum->other[i].type, sum->other[i].s);
    if (o)
        put_usage(o, sum->memory_s, sum->vcore_s, by_type);
    else
        json_decref(by_type);
    return o;
}
