/* Federation policies: a class without its package, a line end, parameters. What is accepted routes
 * and splits without a failure that is not foreseen, and its weights read the same when written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "federation/amrm/asks.h"
#include "federation/policy/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMBERS 3

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_same(const struct fed_weight_list *a, const struct fed_weight_list *b)
{
    must(a->n == b->n);
    for (size_t i = 0; i < a->n; i++)
        must(fed_weight_of(b, a->v[i].id) == a->v[i].value);
}

static void check_text(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_WEIGHTS_ARENA);
    _cleanup_free_ char *text = NULL;
    struct fed_weights w, again;
    struct sv_error err = { 0 };
    int r = fed_weights_read(a, p, n, &w, &err);

    must(r == 0 || (r == -EINVAL && *err.text));
    if (r < 0)
        return;
    must(w.router.n <= FED_MEMBERS_MAX && w.amrm.n <= FED_MEMBERS_MAX);
    r = fed_weights_write(&w, &text);
    must(r == 0 || r == -EMSGSIZE); /* Java's form is longer than some that it reads */
    if (r < 0)
        return;
    must(fed_weights_read(a, (const uint8_t *)text, strlen(text), &again, NULL) == 0);
    check_same(&w.router, &again.router);
    check_same(&w.amrm, &again.amrm);
    must(w.headroom_alpha == again.headroom_alpha);
}

static void check_route(const struct fed_manager *m)
{
    static const struct fed_candidate members[MEMBERS] = { { "SC-1", true, false },
                                                           { "SC-2", true, false },
                                                           { "SC-3", false, false } };
    const struct fed_submission s = { .members = members,
                                      .n_members = MEMBERS,
                                      .random = &fed_random_kernel };
    struct fed_home_choice home;
    struct sv_error err = { 0 };
    int r = fed_route(m, &s, &home, &err);

    must(r == 0 ? home.member < 2 : (r == -EHOSTUNREACH || r == -EPERM) && *err.text);
}

static void check_split(const struct fed_manager *m)
{
    static const struct fed_target targets[MEMBERS] = {
        { .id = "SC-1", .active = true, .has_memory = true, .memory_mb = 100 },
        { .id = "SC-2", .active = true },
        { .id = "SC-3" },
    };
    static const struct fed_split_conf conf = { .fail_on_error = true };
    const struct fed_asking in = { m, &conf, NULL, targets, MEMBERS, 0, &fed_random_kernel };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ResourceRequestProto row, *rows[] = { &row };
    struct fed_asks asks[MEMBERS];
    struct sv_error err = { 0 };
    int64_t sum = 0;
    int r;

    hadoop__yarn__resource_request_proto__init(&row);
    row.resource_name = (char[]){ "*" };
    row.num_containers = 1001;
    r = fed_asks_split(&in, rows, 1, a, asks, &err);
    must(r == 0 || ((r == -EHOSTUNREACH || r == -EPERM) && *err.text));
    for (size_t i = 0; r == 0 && i < MEMBERS; i++)
        sum += asks[i].n ? asks[i].rows[0]->num_containers : 0;
    must(r < 0 || sum == (m->splitting == FED_SPLIT_BROADCAST ? 2002 : 1001));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t n = line ? (size_t)(line - data) : size;
    char type[512] = FED_MANAGER_PACKAGE;
    struct fed_policy row = { "q", type, line ? line + 1 : NULL, line ? size - n - 1 : 0 };
    struct fed_manager *m = NULL;
    struct sv_error err = { 0 };
    int r;

    if (n >= sizeof(type) - strlen(type))
        return 0;
    memcpy(type + strlen(FED_MANAGER_PACKAGE), data, n);
    check_text(row.params, row.params_len);
    r = fed_manager_new(&row, FED_SIDES, &m, &err);
    must(r == 0 || (r == -EINVAL && *err.text));
    if (r == 0) {
        check_route(m);
        check_split(m);
    }
    fed_manager_free(m);
    return 0;
}
