/* See local-rows.h. */
#include "client/local/local-rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/local/local-json.h"
#include "common/clock.h"

int cli_local_rows_of(json_t *containers, struct cli_local_rows *ret)
{
    struct cli_local_rows l = { .read_ms = sv_now_ms() };
    const char *id;
    json_t *p;

    l.rows = calloc(json_object_size(containers) + 1, sizeof(*l.rows));
    if (!l.rows)
        return -ENOMEM;
    json_object_foreach(containers, id, p)
    {
        l.rows[l.n++] = (struct cli_local_row){
            .id = cli_json_text(p, "Id"),
            .properties = json_incref(p),
            .cpu_usec = cli_json_number(p, "CPUUsage"),
            .memory = cli_json_number(p, "MemoryCurrent"),
            .cores = -1,
        };
    }
    cli_local_rows_sort(&l, CLI_LOCAL_BY_ID);
    *ret = l;
    return 0;
}

void cli_local_rows_free(struct cli_local_rows *l)
{
    for (size_t i = 0; i < l->n; i++)
        json_decref(l->rows[i].properties);
    free(l->rows);
    *l = (struct cli_local_rows){ 0 };
}

static int by_id(const void *a, const void *b)
{
    const struct cli_local_row *x = a, *y = b;

    return strcmp(x->id, y->id);
}

static int by_cpu(const void *a, const void *b)
{
    const struct cli_local_row *x = a, *y = b;

    if (x->cores != y->cores)
        return x->cores > y->cores ? -1 : 1;
    return by_id(a, b);
}

static int by_memory(const void *a, const void *b)
{
    const struct cli_local_row *x = a, *y = b;

    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return by_id(a, b);
}

void cli_local_rows_sort(struct cli_local_rows *l, enum cli_local_order order)
{
    static int (*const orders[])(const void *, const void *) = {
        [CLI_LOCAL_BY_ID] = by_id,
        [CLI_LOCAL_BY_CPU] = by_cpu,
        [CLI_LOCAL_BY_MEMORY] = by_memory,
    };

    qsort(l->rows, l->n, sizeof(*l->rows), orders[order]);
}

void cli_local_rows_rate(struct cli_local_rows *l, struct cli_local_rows *before)
{
    int64_t ms = l->read_ms - before->read_ms;

    if (ms <= 0)
        return;
    cli_local_rows_sort(before, CLI_LOCAL_BY_ID);
    for (size_t i = 0; i < l->n; i++) {
        struct cli_local_row *row = &l->rows[i];
        const struct cli_local_row *old =
            bsearch(row, before->rows, before->n, sizeof(*row), by_id);

        if (old && row->cpu_usec >= old->cpu_usec)
            row->cores = (double)(row->cpu_usec - old->cpu_usec) / 1000 / (double)ms;
    }
}

void cli_local_uncounted(json_t *row)
{
    static const char *const counted[] = { "MemoryCurrent", "MemoryPeak", "PidsCurrent" };

    for (size_t i = 0; i < SV_ARRAY_LEN(counted); i++)
        if (cli_json_number(row, counted[i]) == 0)
            (void)json_object_set_new(row, counted[i], json_null()); /* stays 0, ignoring */
}
