/* Tests client/lib/placement.c: checks of constraints, and their messages as Hadoop's
 * PlacementConstraints makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "client/lib/internal.h"
#include "proto/yarn.pb-c.h"

#define TAGS(...)                                                                                  \
    .tags = (const char *const[]){ __VA_ARGS__ },                                                  \
    .n_tags = SV_ARRAY_LEN(((const char *const[]){ __VA_ARGS__ }))

typedef Hadoop__Yarn__PlacementConstraintProto message;
typedef Hadoop__Yarn__SimplePlacementConstraintProto simple;

static const simple *leaf(struct sv_arena *a, const struct cli_constraint *c)
{
    const message *m;

    assert_int_equal(cli_constraint_check(c, NULL), 0);
    m = cli_constraint_to(a, c);
    assert_non_null(m);
    assert_null(m->compositeconstraint);
    assert_non_null(m->simpleconstraint);
    return m->simpleconstraint;
}

static void test_leaves(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const simple *m;

    (void)state;
    m = leaf(a, &(struct cli_constraint){ .type = CLI_ANTI_AFFINITY, TAGS("zk") });
    assert_string_equal(m->scope, "node");
    assert_int_equal(m->mincardinality, 0);
    assert_int_equal(m->maxcardinality, 0);
    assert_true(m->has_mincardinality && m->has_maxcardinality && !m->has_attributeopcode);
    assert_int_equal(m->n_targetexpressions, 1);
    assert_int_equal(m->targetexpressions[0]->targettype,
                     HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__ALLOCATION_TAG);
    assert_null(m->targetexpressions[0]->targetkey); /* this application's */
    assert_string_equal(m->targetexpressions[0]->targetvalues[0], "zk");

    m = leaf(a, &(struct cli_constraint){ .type = CLI_AFFINITY,
                                          .scope = CLI_SCOPE_RACK,
                                          .tag_namespace = "all",
                                          TAGS("a", "b") });
    assert_string_equal(m->scope, "rack");
    assert_int_equal(m->mincardinality, 1);
    assert_int_equal(m->maxcardinality, INT32_MAX);
    assert_string_equal(m->targetexpressions[0]->targetkey, "all");
    assert_int_equal(m->targetexpressions[0]->n_targetvalues, 2);

    m = leaf(a, &(struct cli_constraint){ .type = CLI_CARDINALITY, .min = 2, .max = 5, TAGS("a") });
    assert_int_equal(m->mincardinality, 2);
    assert_int_equal(m->maxcardinality, 5);
    m = leaf(a,
             &(struct cli_constraint){ .type = CLI_CARDINALITY, .min = 0, .max = -1, TAGS("a") });
    assert_int_equal(m->maxcardinality, INT32_MAX);
}

static void test_attributes_and_partitions(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *const values[] = { "8" }, *const partitions[] = { "gpu" };
    const struct cli_node_attribute attribute = { "rm.yarn.io/java", values, 1 };
    struct cli_constraint c = { .type = CLI_AFFINITY,
                                .attributes = &attribute,
                                .n_attributes = 1,
                                .partitions = partitions,
                                .n_partitions = 1 };
    const simple *m = leaf(a, &c);

    (void)state;
    assert_int_equal(m->n_targetexpressions, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            m->targetexpressions[i]->targettype,
            HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__NODE_ATTRIBUTE);
    assert_string_equal(m->targetexpressions[0]->targetkey, "rm.yarn.io/java");
    assert_string_equal(m->targetexpressions[1]->targetkey, "yarn_node_partition/");
    assert_string_equal(m->targetexpressions[1]->targetvalues[0], "gpu");
    assert_true(m->has_attributeopcode);
    assert_int_equal(m->attributeopcode, HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__EQ);
    c.type = CLI_ANTI_AFFINITY;
    assert_int_equal(leaf(a, &c)->attributeopcode, HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__NE);
}

static void test_tree(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct cli_constraint leaves[] = { { .type = CLI_AFFINITY, TAGS("a") },
                                             { .type = CLI_ANTI_AFFINITY, TAGS("b") } };
    const struct cli_constraint either = { .type = CLI_OR, .children = leaves, .n_children = 2 };
    const struct cli_constraint both[] = { either, { .type = CLI_AFFINITY, TAGS("c") } };
    const struct cli_constraint tree = { .type = CLI_AND, .children = both, .n_children = 2 };
    const message *m;

    (void)state;
    assert_int_equal(cli_constraint_check(&tree, NULL), 0);
    m = cli_constraint_to(a, &tree);
    assert_null(m->simpleconstraint);
    assert_int_equal(m->compositeconstraint->compositetype,
                     HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__AND);
    assert_int_equal(m->compositeconstraint->n_childconstraints, 2);
    m = m->compositeconstraint->childconstraints[0];
    assert_int_equal(m->compositeconstraint->compositetype,
                     HADOOP__YARN__COMPOSITE_PLACEMENT_CONSTRAINT_PROTO__COMPOSITE_TYPE__OR);
    assert_string_equal(m->compositeconstraint->childconstraints[1]
                            ->simpleconstraint->targetexpressions[0]
                            ->targetvalues[0],
                        "b");
}

static void refuse(const struct cli_constraint *c, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(cli_constraint_check(c, &err), -EINVAL);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static void test_refused(void **state)
{
    static char long_text[CLI_CONSTRAINT_TEXT_MAX + 2];
    const struct cli_node_attribute no_value = { "a", NULL, 0 };
    const struct cli_constraint leaf = { .type = CLI_AFFINITY, TAGS("a") };
    const struct cli_constraint deep_bad[] = { leaf, { .type = CLI_AFFINITY } };
    const struct cli_constraint inner = { .type = CLI_OR, .children = deep_bad, .n_children = 2 };

    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY }, "constraint: it names no tag");
    refuse(&(struct cli_constraint){ .type = 17, TAGS("a") }, "constraint.type: ");
    refuse(&(struct cli_constraint){ .type = CLI_AND }, "constraint.children: ");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY, TAGS("") }, "constraint.tags: ");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY, TAGS(long_text) }, "constraint.tags: ");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY, .n_tags = 1000 }, "at most 256");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY, .scope = 9, TAGS("a") }, "scope");
    refuse(&(struct cli_constraint){ .type = CLI_CARDINALITY, .min = 3, .max = 2, TAGS("a") },
           "0 <= min <= max");
    refuse(&(struct cli_constraint){ .type = CLI_CARDINALITY, .min = -1, .max = 2, TAGS("a") },
           "0 <= min <= max");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY, .tag_namespace = "mine", TAGS("a") },
           "tag_namespace");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY,
                                     .tag_namespace = "app-id/application_x",
                                     TAGS("a") },
           "tag_namespace");
    refuse(&(struct cli_constraint){ .type = CLI_AFFINITY,
                                     .attributes = &no_value,
                                     .n_attributes = 1 },
           "attributes.values: at least one");
    refuse(
        &(struct cli_constraint){ .type = CLI_AND, .children = &leaf, .n_children = 1, TAGS("a") },
        "children alone");
    refuse(&(struct cli_constraint){ .type = CLI_AND, .children = &inner, .n_children = 1 },
           "constraint.children[0].children[1]: it names no tag");
}

/* Nesting and the number of parts have a limit. */
static void test_limits(void **state)
{
    struct cli_constraint chain[CLI_CONSTRAINT_DEPTH_MAX + 2] = { 0 };
    struct cli_constraint wide[CLI_CONSTRAINTS_MAX];
    const size_t last = SV_ARRAY_LEN(chain) - 1;
    struct cli_constraint all = { .type = CLI_OR, .children = wide };

    (void)state;
    chain[last] = (struct cli_constraint){ .type = CLI_AFFINITY, TAGS("a") };
    for (size_t i = 0; i < last; i++)
        chain[i] =
            (struct cli_constraint){ .type = CLI_AND, .children = &chain[i + 1], .n_children = 1 };
    refuse(&chain[0], "nest at most 8 deep");
    assert_int_equal(cli_constraint_check(&chain[1], NULL), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(wide); i++)
        wide[i] = chain[last];
    all.n_children = CLI_CONSTRAINTS_MAX;
    refuse(&all, "at most 256 parts");
    all.n_children--;
    assert_int_equal(cli_constraint_check(&all, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves), cmocka_unit_test(test_attributes_and_partitions),
        cmocka_unit_test(test_tree),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
