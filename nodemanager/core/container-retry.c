/* See container-retry.h. */
#include "nodemanager/core/container-retry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "wire/exit-status.h"

#define ALL_ERRORS HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_ALL_ERRORS
#define SOME_ERRORS HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_SPECIFIC_ERROR_CODES
#define TEXT_MAX (24 * (NM_RETRY_TIMES_MAX + 2))

void nm_retry_clear(struct nm_retry *r)
{
    free(r->times);
    *r = (struct nm_retry){ 0 };
}

void nm_retry_set(struct nm_retry *r, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                  int64_t minimum_interval_ms)
{
    const Hadoop__Yarn__ContainerRetryContextProto *m = clc->container_retry_context;

    nm_retry_clear(r);
    if (!m || (m->retry_policy != ALL_ERRORS && m->retry_policy != SOME_ERRORS))
        return;
    r->policy = (int32_t)m->retry_policy;
    r->max = r->remaining = m->max_retries;
    r->window_ms = m->failures_validity_interval;
    r->interval_ms = (int32_t)SV_MAX((int64_t)m->retry_interval, minimum_interval_ms);
    if (r->window_ms > 0 && r->max > NM_RETRY_TIMES_MAX)
        r->max = NM_RETRY_FOREVER;
}

static bool in_window(const struct nm_retry *r, int64_t time_ms, int64_t now_ms)
{
    int64_t age;

    return !__builtin_sub_overflow(now_ms, time_ms, &age) && age <= r->window_ms;
}

static int64_t left(const struct nm_retry *r, int64_t now_ms)
{
    size_t failures = 0;

    if (r->window_ms <= 0)
        return r->remaining;
    while (failures < r->n_times && in_window(r, r->times[r->n_times - 1 - failures], now_ms))
        failures++;
    return (int64_t)r->max - (int64_t)failures;
}

static bool is_named(const Hadoop__Yarn__ContainerRetryContextProto *m, int code)
{
    for (size_t i = 0; i < m->n_error_codes; i++)
        if (m->error_codes[i] == code)
            return true;
    return false;
}

bool nm_retry_wanted(const struct nm_retry *r, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                     int code, int64_t now_ms)
{
    if (code <= 0 || code == YARN_EXIT_FORCE_KILLED || code == YARN_EXIT_TERMINATED)
        return false; /* negative codes are the node's verdict, not the job's */
    if (r->policy != ALL_ERRORS && !(r->policy == SOME_ERRORS && clc->container_retry_context &&
                                     is_named(clc->container_retry_context, code)))
        return false;
    return r->max == NM_RETRY_FOREVER || left(r, now_ms) > 0;
}

int nm_retry_count(struct nm_retry *r, int64_t now_ms)
{
    size_t old = 0;
    int64_t *times;

    if (r->max == NM_RETRY_FOREVER)
        return 0;
    if (r->window_ms <= 0) {
        r->remaining--;
        return 0;
    }
    while (old < r->n_times && !in_window(r, r->times[old], now_ms))
        old++;
    if (old) /* there are times then, and memmove takes no null pointer */
        memmove(r->times, r->times + old, (r->n_times - old) * sizeof(*times));
    r->n_times -= old;
    if (r->n_times >= NM_RETRY_TIMES_MAX)
        return -E2BIG;
    times = realloc(r->times, (r->n_times + 1) * sizeof(*times));
    if (!times)
        return -ENOMEM;
    r->times = times;
    r->times[r->n_times++] = now_ms;
    r->remaining = r->max - (int32_t)r->n_times;
    return 0;
}

char *nm_retry_text(const struct nm_retry *r)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(TEXT_MAX);
    int e = sv_buf_printf(&b, "%d", (int)r->remaining);

    for (size_t i = 0; i < r->n_times && e >= 0; i++)
        e = sv_buf_printf(&b, " %lld", (long long)r->times[i]);
    if (e >= 0)
        e = sv_buf_put_u8(&b, 0);
    return e < 0 ? NULL : strdup((const char *)b.data);
}

static bool next_number(const char **s, long long *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(*s, &end, 10);
    if (end == *s || errno || (*end && *end != ' '))
        return false;
    *s = *end ? end + 1 : end;
    return true;
}

int nm_retry_restore(struct nm_retry *r, const char *text)
{
    long long remaining, time;
    int64_t *times = NULL;
    size_t n = 0;

    if (!*text)
        return 0;
    if (!next_number(&text, &remaining) || remaining < INT32_MIN || remaining > INT32_MAX)
        return -EBADMSG;
    if (*text && !(times = calloc(NM_RETRY_TIMES_MAX, sizeof(*times))))
        return -ENOMEM;
    for (; *text && n < NM_RETRY_TIMES_MAX && next_number(&text, &time); n++)
        times[n] = time;
    if (*text) {
        free(times);
        return -EBADMSG;
    }
    free(r->times);
    r->remaining = (int32_t)remaining;
    r->times = times;
    r->n_times = n;
    return 0;
}
