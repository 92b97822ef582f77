/* See history-sums.h. */
#include "rm-lite/web/rest/history-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/store/store-history.h"

#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x

/* NULL: no memory. */
static struct rm_sum *group_of(struct rm_sums *s, const char *name)
{
    struct rm_sum *sum;

    HASH_FIND_STR(s->groups, name, sum);
    if (sum)
        return sum;
    if (HASH_COUNT(s->groups) >= RM_SUMS_GROUPS)
        return &s->rest;
    sum = calloc(1, sizeof(*sum));
    if (!sum || !(sum->name = strdup(name))) {
        free(sum);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, s->groups, sum->name, strlen(sum->name), sum);
    return sum;
}

/* Usage is not negative; a sum ends at the largest number. */
static void add(int64_t *sum, int64_t ms)
{
    if (__builtin_add_overflow(*sum, ms / 1000, sum))
        *sum = INT64_MAX;
}

static int add_other(struct rm_sum *sum, const struct rm_usage_row *row)
{
    for (size_t i = 0; i < RM_RES_EXTRA; i++) {
        if (!sum->other[i].type && !(sum->other[i].type = strdup(row->type)))
            return -ENOMEM;
        if (sv_streq(sum->other[i].type, row->type)) {
            add(&sum->other[i].s, row->used_ms);
            return 0;
        }
    }
    return 0; /* a type of an earlier configuration, beside as many as there may be */
}

int rm_sums_add(struct rm_sums *s, const char *name, const struct rm_past_app *past, bool sees)
{
    struct rm_sum *sum = group_of(s, name);
    int r = 0;

    if (!sum)
        return -ENOMEM;
    sum->apps++;
    sum->succeeded += past->final_status == F(SUCCEEDED);
    sum->failed += past->final_status == F(FAILED);
    sum->killed += past->final_status == F(KILLED);
    sum->hidden += !sees;
    if (!sees)
        return 0;
    add(&sum->memory_s, past->used[0].used_ms);
    add(&sum->vcore_s, past->used[1].used_ms);
    for (int i = 2; i < past->n_used && r >= 0; i++)
        r = add_other(sum, &past->used[i]);
    return r;
}

struct rm_sum *rm_sums_take(struct rm_sums *s)
{
    struct rm_sum *sum = s->groups;

    if (sum) {
        HASH_DEL(s->groups, sum);
        return sum;
    }
    if (s->rest.apps == 0 || !(sum = malloc(sizeof(*sum))))
        return NULL;
    *sum = s->rest;
    s->rest = (struct rm_sum){ .name = NULL };
    return sum;
}

void rm_sum_free(struct rm_sum *sum)
{
    for (size_t i = 0; sum && i < RM_RES_EXTRA; i++)
        free(sum->other[i].type);
    if (sum)
        free(sum->name);
    free(sum);
}

void rm_sums_free(struct rm_sums *s)
{
    struct rm_sum *sum;

    while ((sum = rm_sums_take(s)))
        rm_sum_free(sum);
    for (size_t i = 0; i < RM_RES_EXTRA; i++)
        free(s->rest.other[i].type); /* without memory it was not taken */
    *s = (struct rm_sums){ .groups = NULL };
}
