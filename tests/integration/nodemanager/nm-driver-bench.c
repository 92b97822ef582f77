/* nm-driver's stop watch: what a container's start, its stop and a thousand of them take, for
 * bench-nm. Times are microseconds of the monotonic clock.
 *
 *     bench latency APP FIRST COUNT USER          one start after the other
 *     bench stops APP FIRST COUNT USER            one stop after the other
 *     bench paced APP FIRST COUNT RATE USER       RATE starts a second
 *     bench rate APP FIRST COUNT BATCH USER       as many as it takes
 *     bench running APP FIRST COUNT BATCH USER    leaves COUNT containers running
 *     bench heartbeat                             the size of the last one */
#include <stdio.h>
#include <string.h>

#include "tests/integration/nodemanager/nm-driver.h"

#define PATIENCE_US 30000000LL /* for one container */
#define ASKED_AT_ONCE 64       /* containers in a getContainerStatuses */

/* Sub-states of YARN: SCHEDULED 1, RUNNING 2, and what follows. */
enum { SUB_RUNNING = 2 };

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Sorts; the percentiles by nearest rank. */
static json_t *summary(int64_t *us, int n)
{
    if (n == 0)
        return json_pack("{s:i}", "n", 0);
    qsort(us, (size_t)n, sizeof(*us), compare_i64);
    return json_pack("{s:i,s:I,s:I,s:I,s:I,s:I}", "n", n, "min", (json_int_t)us[0], "p50",
                     (json_int_t)us[n / 2], "p90", (json_int_t)us[n * 9 / 10], "p99",
                     (json_int_t)us[n * 99 / 100], "max", (json_int_t)us[n - 1]);
}

static bool started(int app, int64_t n, const char *user, const char *command)
{
    json_t *j = am_start(app, n, 1, user, 64, "", command);
    bool ok = json_array_size(json_object_get(j, "ok")) == 1;

    json_decref(j);
    return ok;
}

/* A container that is over and acknowledged is not known any more: it has been running. */
static bool is_running(const json_t *answer, int app, int64_t n)
{
    char text[YARN_ID_TEXT_MAX];
    json_t *row;

    yarn_container_id_text(container_id(app, n), text);
    row = json_object_get(json_object_get(answer, "status"), text);
    return row ? json_integer_value(json_object_get(row, "sub")) >= SUB_RUNNING
               : json_object_get(json_object_get(answer, "failed"), text) != NULL;
}

/* Asks without a pause until it runs. */
static bool await_running(int app, int64_t n)
{
    const int64_t until = now_us() + PATIENCE_US;
    bool running = false;

    while (!running && now_us() < until) {
        json_t *j = am_status(app, app, n, 1);

        running = is_running(j, app, n);
        json_decref(j);
    }
    return running;
}

/* From the call of startContainers to RUNNING. */
static json_t *bench_latency(int app, int64_t first, int count, const char *user)
{
    int64_t *us = calloc((size_t)count, sizeof(*us));
    int n = 0;

    for (int i = 0; i < count; i++) {
        const int64_t t0 = now_us();

        if (started(app, first + i, user, "sleep 0.05") && await_running(app, first + i))
            us[n++] = now_us() - t0;
        run_until(has_ended, rm.ended + 1, 60000);
    }
    json_t *r = summary(us, n);

    free(us);
    return r;
}

/* From the call of stopContainers to the end in a heartbeat. */
static json_t *bench_stops(int app, int64_t first, int count, const char *user)
{
    int64_t *us = calloc((size_t)count, sizeof(*us));
    int n = 0;

    for (int i = 0; i < count; i++) {
        const int target = rm.ended + 1;
        int64_t t0;

        if (!started(app, first + i, user, "exec sleep 600") || !await_running(app, first + i))
            continue;
        t0 = now_us();
        json_decref(am_stop(app, app, first + i, 1));
        if (run_until(has_ended, target, 60000))
            us[n++] = now_us() - t0;
    }
    json_t *r = summary(us, n);

    free(us);
    return r;
}

/* Starts that are due, and asks for those that have not run yet, a window of them a call. */
static json_t *bench_paced(int app, int64_t first, int count, int rate, const char *user)
{
    int64_t *us = calloc((size_t)count, sizeof(*us)), *begun = calloc((size_t)count, sizeof(*us));
    const int64_t t0 = now_us(), step = 1000000 / rate;
    const int64_t until = t0 + count * step + PATIENCE_US;
    int n = 0, next = 0, oldest = 0;

    while (n < count && now_us() < until) {
        const int64_t due = t0 + next * step;

        if (next < count && now_us() >= due) { /* late starts count from when they were due */
            begun[next] = due;
            if (!started(app, first + next, user, "sleep 0.05"))
                break;
            next++;
            continue;
        }
        const int ask = SV_MIN(next - oldest, ASKED_AT_ONCE);
        json_t *j = ask > 0 ? am_status(app, app, first + oldest, ask) : json_object();

        for (int i = oldest; i < oldest + ask; i++) {
            if (begun[i] > 0 && is_running(j, app, first + i)) {
                us[n++] = now_us() - begun[i];
                begun[i] = 0;
            }
        }
        json_decref(j);
        while (oldest < next && begun[oldest] == 0)
            oldest++;
        if (ask == 0)
            run_until(has_ended, INT32_MAX, 1);
    }
    json_t *r = summary(us, n);

    free(begun);
    free(us);
    return r;
}

static json_t *start_all(int app, int64_t first, int count, int batch, const char *user,
                         const char *command, int *ret_started)
{
    for (int i = 0; i < count; i += batch) {
        json_t *j = am_start(app, first + i, SV_MIN(batch, count - i), user, 64, "", command);

        *ret_started += (int)json_array_size(json_object_get(j, "ok"));
        if (json_object_get(j, "error"))
            return j;
        json_decref(j);
    }
    return NULL;
}

/* COUNT containers of `true`, BATCH a call, until the last end has arrived in a heartbeat. */
static json_t *bench_rate(int app, int64_t first, int count, int batch, const char *user)
{
    const int64_t t0 = now_us();
    const int target = rm.ended + count;
    int n = 0;
    json_t *failed = start_all(app, first, count, batch, user, "true", &n);

    if (failed)
        return failed;
    const bool all = run_until(has_ended, target, 600000);

    return json_pack("{s:i,s:b,s:I}", "started", n, "all", all, "us", (json_int_t)(now_us() - t0));
}

static json_t *bench_running(int app, int64_t first, int count, int batch, const char *user)
{
    int n = 0, running = 0;
    json_t *failed = start_all(app, first, count, batch, user, "exec sleep 3600", &n);

    if (failed)
        return failed;
    for (int i = 0; i < count; i++) {
        running += await_running(app, first + i);
        if (i % ASKED_AT_ONCE == 0)
            run_until(has_ended, INT32_MAX, 1);
    }
    return json_pack("{s:i,s:i}", "started", n, "running", running);
}

json_t *bench_command(const char *line)
{
    int app, count, n;
    long long first;
    char user[65];

    if (sscanf(line, "bench latency %d %lld %d %64s", &app, &first, &count, user) == 4)
        return bench_latency(app, first, count, user);
    if (sscanf(line, "bench stops %d %lld %d %64s", &app, &first, &count, user) == 4)
        return bench_stops(app, first, count, user);
    if (sscanf(line, "bench paced %d %lld %d %d %64s", &app, &first, &count, &n, user) == 5)
        return bench_paced(app, first, count, n, user);
    if (sscanf(line, "bench rate %d %lld %d %d %64s", &app, &first, &count, &n, user) == 5)
        return bench_rate(app, first, count, n, user);
    if (sscanf(line, "bench running %d %lld %d %d %64s", &app, &first, &count, &n, user) == 5)
        return bench_running(app, first, count, n, user);
    if (!strcmp(line, "bench heartbeat"))
        return json_pack("{s:I}", "bytes", (json_int_t)rm.heartbeat_bytes);
    return NULL;
}
