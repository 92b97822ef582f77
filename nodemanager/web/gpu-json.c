/* See gpu-json.h. Hadoop's figures of a card (use, memory, temperature) are nvidia-smi's, which no
 * request runs here: they are null, as where that program does not tell them. */
#include "nodemanager/web/gpu-json.h"

#include <jansson.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/gpu.h"
#include "nodemanager/web/web-reply.h"

static json_t *text_or(const char *text, const char *none)
{
    return sv_json_text(*text ? text : none);
}

static void append(json_t *list, json_t *one)
{
    (void)json_array_append_new(list, one); /* at most NM_GPUS_MAX, ignoring */
}

static bool same_card(const struct nm_gpu *a, const struct nm_gpu *b)
{
    return a->minor == b->minor && sv_streq(a->bus, b->bus);
}

/* Each card once; a card of instances has the first one's card's name. */
static json_t *information(const struct nm_gpus *g)
{
    json_t *cards = json_array();

    for (size_t i = 0; i < g->n; i++) {
        const struct nm_gpu *one = &g->v[i];

        if (one->minor == NM_GPU_NO_MINOR || (i && same_card(one, one - 1)))
            continue;
        append(cards,
               json_pack("{s:o,s:o,s:i,s:n,s:n,s:n}", "productName", text_or(one->model, "N/A"),
                         "uuid", text_or(one->instance ? "" : one->uuid, "N/A"), "minorNumber",
                         (int)one->minor, "gpuUtilizations", "gpuMemoryUsage", "temperature"));
    }
    return json_pack("{s:o,s:o}", "gpus", cards, "driverVersion", text_or(g->driver, "N/A"));
}

static json_t *instance(const struct nm_gpu *g)
{
    return g->instance
               ? json_pack("{s:i,s:i}", "gpuInstance", (int)g->gi, "computeInstance", (int)g->ci)
               : json_null();
}

/* Our own: each unit of yarn.io/gpu with the name that its container has in the environment. */
static json_t *unit(const struct nm_gpu *g)
{
    return json_pack("{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "index", (int)g->index, "minorNumber",
                     g->minor == NM_GPU_NO_MINOR ? -1 : (int)g->minor, "name", text_or(g->uuid, ""),
                     "model", text_or(g->model, ""), "bus", text_or(g->bus, ""), "mig", instance(g),
                     "withdrawn", *g->gone ? sv_json_text(g->gone) : json_null(), "containerId",
                     g->owner ? json_string(g->owner->text) : json_null());
}

int nm_web_resource(const struct nm_web *w, const char *name, struct sv_http_response *ret)
{
    const struct nm_gpus *g;
    json_t *total, *assigned, *units;

    if (!sv_streq(name, "yarn.io/gpu") || !w->ctx->conf->gpus)
        return sv_rest_tree(ret, 200, "nmResourceInfo", json_object());
    g = nm_assignments_gpu_list(w->assignments);
    total = json_array();
    assigned = json_array();
    units = json_array();
    for (size_t i = 0; i < g->n; i++) {
        const struct nm_gpu *one = &g->v[i];

        append(units, unit(one));
        if (!*one->gone)
            append(total, json_pack("{s:i,s:i}", "index", (int)one->index, "minorNumber",
                                    (int)one->minor));
        if (one->owner)
            append(assigned, json_pack("{s:i,s:i,s:s}", "index", (int)one->index, "minorNumber",
                                       (int)one->minor, "containerId", one->owner->text));
    }
    return sv_rest_tree(ret, 200, "nmGpuResourceInfo",
                        json_pack("{s:o,s:o,s:o,s:{s:o}}", "gpuDeviceInformation", information(g),
                                  "totalGpuDevices", total, "assignedGpuDevices", assigned,
                                  "selvedge", "gpus", units));
}
