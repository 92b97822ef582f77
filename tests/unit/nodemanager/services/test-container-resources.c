/* services/container-resources.c: links, statuses and counters of the parts of a container. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container.h"
#include "nodemanager/services/container-resources.h"

static struct nm_container c;
static struct sv_arena *arena;

static int setup(void **state)
{
    (void)state;
    c = (struct nm_container){ .state = NM_CONTAINER_RUNNING };
    arena = sv_arena_new(0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (c.localizing)
        nm_resources_drop(&c, c.localizing);
    arena = sv_arena_free(arena);
    return 0;
}

/* A part of one resource; ready if it has a path. */
static struct nm_localizing *add(unsigned part, enum nm_resources_role role, const char *key,
                                 const char *path, bool late)
{
    Hadoop__Yarn__StringLocalResourceMapProto row, *rows[] = { &row };
    struct nm_localizing *z;

    hadoop__yarn__string_local_resource_map_proto__init(&row);
    row.key = (char *)(uintptr_t)key;
    assert_int_equal(nm_resources_add(&c, part, role, rows, 1, &z), 0);
    z->paths[0] = path ? strdup(path) : NULL;
    z->ready = path;
    z->late = late;
    return z;
}

/* "name=target …" of a launch. */
static const char *links(void)
{
    struct exe_link *list;
    const char *text = "";
    size_t n;
    int r = nm_resources_links(&c, arena, &list, &n);

    if (r < 0)
        return strerror(-r);
    for (size_t i = 0; i < n; i++)
        text = sv_arena_printf(arena, "%s%s=%s ", text, list[i].name, list[i].target);
    return text;
}

static void links_of_launches(void **state)
{
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    struct nm_localizing *late;

    (void)state;
    hadoop__yarn__container_launch_context_proto__init(&clc);
    assert_string_equal(links(), "");
    c.clc = &clc;
    clc.n_localresources = 1; /* which the cache has lost */
    assert_string_equal(links(), strerror(ENOENT));
    add(1, NM_RESOURCES_CURRENT, "a", "/1", false);
    add(2, NM_RESOURCES_NEXT, "b", NULL, false);
    add(3, NM_RESOURCES_PREVIOUS, "c", "/3", false);
    late = add(4, NM_RESOURCES_CURRENT, "d", NULL, true);
    assert_false(nm_resources_to_come(&c));
    assert_true(nm_resources_pending(&c));
    assert_string_equal(links(), "a=/1 ");
    assert_false(late->linked);
    late->paths[0] = strdup("/4");
    late->ready = true;
    assert_false(nm_resources_pending(&c));
    assert_string_equal(links(), "a=/1 d=/4 ");
    assert_true(late->linked);
    add(5, NM_RESOURCES_CURRENT, "e", NULL, false);
    assert_true(nm_resources_to_come(&c));
    assert_string_equal(links(), strerror(ENOENT));
}

static void links_of_running_ones(void **state)
{
    char *list = NULL;
    size_t n = 1;

    (void)state;
    add(1, NM_RESOURCES_CURRENT, "a", "/1", false);
    add(2, NM_RESOURCES_PREVIOUS, "p", "/2", true);
    assert_int_equal(nm_resources_unlinked(&c, 100, &list, &n), 0);
    assert_true(n == 0 && !list);
    add(3, NM_RESOURCES_CURRENT, "b", "/3", true);
    add(4, NM_RESOURCES_CURRENT, "c", "/4", true);
    add(5, NM_RESOURCES_CURRENT, "d", NULL, true);
    assert_int_equal(nm_resources_unlinked(&c, 7, &list, &n), 0); /* one fits */
    assert_int_equal(n, 5);
    assert_memory_equal(list, "b\0/3\0", 5);
    free(list);
    assert_int_equal(nm_resources_unlinked(&c, 7, &list, &n), 0);
    assert_memory_equal(list, "c\0/4\0", 5);
    free(list);
    assert_int_equal(nm_resources_unlinked(&c, 7, &list, &n), 0);
    assert_int_equal(n, 0);
    add(6, NM_RESOURCES_CURRENT, "long", "/path", true);
    assert_int_equal(nm_resources_unlinked(&c, 7, &list, &n), -EMSGSIZE);
}

static void statuses(void **state)
{
    static const int wanted[] = { HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_COMPLETED,
                                  HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_PENDING,
                                  HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_FAILED };
    Hadoop__Yarn__ContainerLocalizationStatusesProto *m;

    (void)state;
    assert_int_equal(nm_resources_status(&c, arena)->n_localization_statuses, 0);
    assert_string_equal(nm_resources_counters(&c, arena), "0,0,0,0,0");
    add(1, NM_RESOURCES_CURRENT, "a", "/1", false)->counters =
        (struct loc_counters){ 1, 2, 3, 4, 5 };
    add(2, NM_RESOURCES_CURRENT, "b", NULL, true);
    add(3, NM_RESOURCES_NEXT, "x", NULL, false);
    add(4, NM_RESOURCES_CURRENT, "c", NULL, true)->failed = strdup("why");
    m = nm_resources_status(&c, arena);
    assert_int_equal(m->n_localization_statuses, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m->localization_statuses[i]->localization_state, wanted[i]);
    assert_string_equal(m->localization_statuses[2]->resource_key, "c");
    assert_string_equal(m->localization_statuses[2]->diagnostics, "why");
    assert_null(m->localization_statuses[1]->diagnostics);
    assert_string_equal(nm_resources_counters(&c, arena), "1,2,3,4,5");
    assert_int_equal(nm_resources_find(&c, 3)->role, NM_RESOURCES_NEXT);
    assert_null(nm_resources_find(&c, 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_of_launches, setup, teardown),
        cmocka_unit_test_setup_teardown(links_of_running_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(statuses, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
