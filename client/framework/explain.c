/* See explain.h. Which nodes have a label is the ResourceManager's to say when it allocates: a
 * role's label is shown beside each node. */
#include "client/framework/explain.h"

#include <string.h>

#include "client/ui/output.h"
#include "common/str.h"

struct need {
    const char *what;
    int64_t wanted, free, capacity;
};

static size_t needs_of(const struct svc_fw_resource *r, const struct cli_node_report *n,
                       struct need ret[3])
{
    uint64_t mask = (uint64_t)r->gpu_mask;
    size_t count = 2;

    ret[0] = (struct need){ "memory", r->memory_mb, n->capability.memory_mb - n->used.memory_mb,
                            n->capability.memory_mb };
    ret[1] = (struct need){ "vcores", r->cpus, (int64_t)n->capability.vcores - n->used.vcores,
                            n->capability.vcores };
    if (mask && 64 - __builtin_clzll(mask) > n->capability.gpus) /* places begin at 0 */
        ret[count++] = (struct need){ "GPUs of the mask", 64 - __builtin_clzll(mask),
                                      n->capability.gpus, n->capability.gpus };
    else if (r->gpus > 0)
        ret[count++] = (struct need){ "GPUs", r->gpus, (int64_t)n->capability.gpus - n->used.gpus,
                                      n->capability.gpus };
    return count;
}

static int64_t room(const struct need *needs, size_t n)
{
    int64_t most = SVC_FW_TASKS_MAX;

    for (size_t i = 0; i < n; i++)
        most = SV_MIN(most, SV_MAX(needs[i].free, (int64_t)0) / needs[i].wanted);
    return most;
}

/* The first resource of which the node has too little, ever or now. */
static json_t *lacks(const struct need *needs, size_t n)
{
    char text[128];

    for (int now = 0; now < 2; now++)
        for (size_t i = 0; i < n; i++) {
            int64_t has = now ? needs[i].free : needs[i].capacity;

            if (has >= needs[i].wanted)
                continue;
            snprintf(text, sizeof(text), "%s: %lld wanted, %lld %s", needs[i].what,
                     (long long)needs[i].wanted, (long long)SV_MAX(has, (int64_t)0),
                     now ? "free" : "in all");
            return json_string(text);
        }
    return json_null();
}

static json_t *ports_of(const struct svc_fw_resource *r)
{
    int64_t named = 0, any = 0;
    char text[64];

    for (size_t i = 0; i < r->n_ports; i++)
        *(r->ports[i].start ? &named : &any) += r->ports[i].count;
    if (named + any == 0)
        return json_null();
    snprintf(text, sizeof(text), "%lld%s%lld any", (long long)named, named ? " named, " : "+",
             (long long)any);
    return json_string(named ? text : text + 2);
}

static json_t *row(const struct svc_fw_descriptor *d, const struct svc_fw_role *role,
                   const struct cli_node_report *n)
{
    const char *label = role->label ? role->label : d->label ? d->label : d->master_label;
    const char *gpu_type = role->gpu_type ? role->gpu_type : d->gpu_type;
    struct need needs[3];
    size_t count = needs_of(&role->resource, n, needs);
    int64_t fits = room(needs, count);

    if (d->anti_affine || role->resource.gpu_mask)
        fits = SV_MIN(fits, (int64_t)1);
    return json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:I, s:o}", "role", role->name, "tasks",
        (int)role->tasks, "memoryMb", (int)role->resource.memory_mb, "vcores",
        (int)role->resource.cpus, "gpus", (int)role->resource.gpus, "ports",
        ports_of(&role->resource), "label", label && *label ? json_string(label) : json_null(),
        "gpuType", gpu_type ? json_string(gpu_type) : json_null(), "node",
        cli_json_string(n->id.host), "fits", (json_int_t)fits, "lacks", lacks(needs, count));
}

json_t *cli_framework_explain(const struct svc_fw_descriptor *d,
                              const struct cli_node_report *nodes, size_t n)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < d->n_roles; i++)
        for (size_t k = 0; k < n && json_array_size(rows) < CLI_EXPLAIN_ROWS_MAX; k++)
            if (json_array_append_new(rows, row(d, &d->roles[i], &nodes[k])) < 0) {
                json_decref(rows);
                return NULL;
            }
    return rows;
}
