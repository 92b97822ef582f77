/* See objects.h. The keys are an interface: they are added to, never renamed. */
#include "client/views/objects.h"

#include "client/ui/output.h"
#include "client/views/waiting.h"
#include "common/clock.h"

static json_t *waiting_or_null(const char *text)
{
    return *text ? cli_json_string(text) : json_null();
}

json_t *cli_app_object(const struct cli_report *r)
{
    bool ended = cli_app_ended(r->state);
    char waiting[CLI_WAITING_MAX];
    int64_t end = ended && r->finish_ms > 0 ? r->finish_ms : sv_wall_ms();
    char id[YARN_ID_TEXT_MAX];

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:f, s:i, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, "
        "s:o}",
        "id", yarn_app_id_text(r->id, id), "user", cli_json_string(r->user), "queue",
        cli_json_string(r->queue), "name", cli_json_string(r->name), "type",
        cli_json_string(r->type), "state", cli_app_state_name(r->state), "finalStatus",
        cli_final_name(r->final), "progress", (double)r->progress, "attempt",
        (int)r->attempt.attempt, "containers", cli_json_known(ended ? -1 : r->used_containers),
        "memoryMb", cli_json_known(ended ? -1 : r->used_memory_mb), "vcores",
        cli_json_known(ended ? -1 : r->used_vcores), "startedTime", (json_int_t)r->start_ms,
        "finishedTime", (json_int_t)r->finish_ms, "elapsedMs",
        cli_json_known(r->start_ms > 0 ? end - r->start_ms : -1), "trackingUrl",
        cli_json_string(r->tracking_url), "diagnostics", cli_json_string(r->diagnostics), "waiting",
        waiting_or_null(cli_waiting_text(r->state, r->diagnostics, waiting)));
}

json_t *cli_node_object(const struct cli_node_report *r)
{
    char id[264];

    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:i, s:I, s:I, s:i, s:i}", "id",
                     cli_json_string(yarn_node_id_text(&r->id, id)), "http",
                     cli_json_string(r->http_address), "rack", cli_json_string(r->rack), "state",
                     r->state, "healthReport", cli_json_string(r->health_report), "containers",
                     (int)r->containers, "usedMemoryMb", (json_int_t)r->used.memory_mb, "memoryMb",
                     (json_int_t)r->capability.memory_mb, "usedVcores", (int)r->used.vcores,
                     "vcores", (int)r->capability.vcores);
}

json_t *cli_queue_object(const struct cli_queue_report *q)
{
    return json_pack("{s:o, s:s, s:f, s:f, s:f, s:b, s:I, s:I}", "path", cli_json_string(q->path),
                     "state", q->state, "capacity", (double)q->capacity, "maximumCapacity",
                     (double)q->maximum, "usedOfCapacity", (double)q->used, "leaf",
                     q->children == 0, "running", (json_int_t)q->running, "pending",
                     (json_int_t)q->pending);
}

json_t *cli_attempt_object(const struct cli_attempt_report *a)
{
    char id[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];

    return json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:o}", "id", yarn_attempt_id_text(a->id, id), "state",
        a->state, "container", a->has_master ? yarn_container_id_text(a->master, container) : "",
        "host", cli_json_string(a->host), "startedTime", (json_int_t)a->start_ms, "finishedTime",
        (json_int_t)a->finish_ms, "trackingUrl", cli_json_string(a->tracking_url), "diagnostics",
        cli_json_string(a->diagnostics));
}
