/* federation/policy/resolver.c: lines of a machine list, look-ups, bounds, files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "federation/policy/resolver.h"
#include "federation/store/store.h"

static struct fed_resolver *parse(const char *text, struct fed_resolver_notes *notes)
{
    struct fed_resolver *r = NULL;
    struct sv_error err = { 0 };

    if (fed_resolver_parse(text, strlen(text), &r, notes, &err) < 0)
        fail_msg("%s", err.text);
    return r;
}

static const char *cluster_of(const struct fed_resolver *r, const char *node)
{
    int number = fed_resolver_node(r, node);

    return number < 0 ? "" : fed_resolver_id(r, (size_t)number);
}

static void look_ups(void **state)
{
    struct fed_resolver_notes notes;
    struct fed_resolver *r = parse("node1, subcluster1, rack1\n"
                                   "  Node2\t,subcluster2 , RACK1\r\n"
                                   "node3,subcluster1,/r3\rnode4,subcluster3,rack1\n"
                                   "node1,subcluster4,rack1\n"
                                   "node5,subcluster1,rack1",
                                   &notes);
    const uint16_t *clusters = NULL;
    char longest[300];

    (void)state;
    assert_int_equal(notes.n_machines, 6);
    assert_int_equal(notes.n_malformed, 0);
    assert_string_equal(cluster_of(r, "NODE2"), "subcluster2");
    assert_string_equal(cluster_of(r, "node2"), "subcluster2");
    assert_string_equal(cluster_of(r, "node1"), "subcluster4"); /* the later line */
    assert_string_equal(cluster_of(r, "node5"), "subcluster1");
    assert_string_equal(cluster_of(r, "node"), "");
    assert_string_equal(cluster_of(r, ""), "");
    assert_int_equal(fed_resolver_rack(r, "Rack1", &clusters), 4);
    assert_string_equal(fed_resolver_id(r, clusters[0]), "subcluster1");
    assert_string_equal(fed_resolver_id(r, clusters[3]), "subcluster4");
    assert_int_equal(fed_resolver_rack(r, "/R3", &clusters), 1);
    assert_int_equal(fed_resolver_rack(r, "node1", &clusters), 0);
    assert_int_equal(fed_resolver_count(r), 4);
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(fed_resolver_node(r, longest), -ENOENT);
    assert_int_equal(fed_resolver_rack(r, longest, &clusters), 0);
    fed_resolver_free(r);
}

static void no_list(void **state)
{
    const uint16_t *clusters;

    (void)state;
    assert_int_equal(fed_resolver_node(NULL, "h1"), -ENOENT);
    assert_int_equal(fed_resolver_rack(NULL, "/r", &clusters), 0);
    assert_int_equal(fed_resolver_count(NULL), 0);
    assert_null(fed_resolver_free(NULL));
}

static void malformed_lines(void **state)
{
    static const char text[] = "h1,SC-1,/r1\n"
                               "\n"
                               "h2,SC-1\n"
                               "h3,SC-1,/r1,more\n"
                               "h4,,/r1\n"
                               " ,SC-1,/r1\n"
                               "h5,SC-1,\n"
                               "h6;SC-1;/r1\n"
                               "h7,SC-1,/r\0x\n"
                               "h8,SC-1,/r1\n";
    struct fed_resolver_notes notes;
    struct fed_resolver *r = NULL;

    (void)state;
    assert_int_equal(fed_resolver_parse(text, sizeof(text) - 1, &r, &notes, NULL), 0);
    assert_int_equal(notes.n_machines, 2);
    assert_int_equal(notes.n_malformed, 8);
    assert_int_equal(notes.first_malformed, 2);
    assert_string_equal(cluster_of(r, "h8"), "SC-1");
    fed_resolver_free(r);
}

static char *many_lines(size_t n, size_t clusters, size_t *ret_n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, ret_n);

    for (size_t i = 0; i < n; i++)
        fprintf(f, "h%zu,SC-%zu,/r%zu\n", i, i % clusters, i % 7);
    fclose(f);
    return text;
}

static void bounds(void **state)
{
    struct fed_resolver_notes notes;
    struct fed_resolver *r = NULL;
    struct sv_error err = { 0 };
    const uint16_t *clusters;
    size_t n;
    char *text = many_lines(FED_MEMBERS_MAX + 1, FED_MEMBERS_MAX + 1, &n);

    (void)state;
    assert_int_equal(fed_resolver_parse(text, n, &r, &notes, &err), -EINVAL);
    assert_non_null(strstr(err.text, "more than 1000 sub-clusters"));
    free(text);
    text = many_lines(20000, FED_MEMBERS_MAX, &n);
    assert_int_equal(fed_resolver_parse(text, n, &r, &notes, &err), 0);
    assert_int_equal(notes.n_machines, 20000);
    assert_int_equal(fed_resolver_rack(r, "/r3", &clusters), FED_MEMBERS_MAX);
    fed_resolver_free(r);
    free(text);
    text = calloc(1, FED_MACHINES_MAX + 2);
    assert_non_null(text);
    memset(text, '\n', FED_MACHINES_MAX + 1);
    assert_int_equal(fed_resolver_parse(text, FED_MACHINES_MAX + 1, &r, &notes, &err), -EINVAL);
    assert_non_null(strstr(err.text, "more than 500000 lines"));
    free(text);
    assert_int_equal(fed_resolver_parse("", (size_t)FED_MACHINE_LIST_MAX + 1, &r, &notes, &err),
                     -EINVAL);
}

static void files(void **state)
{
    char path[] = "/tmp/machines-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    struct fed_resolver_notes notes;
    struct fed_resolver *r = NULL;
    struct sv_error err = { 0 };

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "h1,SC-1,/r1\n", 12), 12);
    close(fd);
    assert_int_equal(fed_resolver_load(path, &r, &notes, &err), 0);
    assert_string_equal(cluster_of(r, "h1"), "SC-1");
    fed_resolver_free(r);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fed_resolver_load(path, &r, &notes, &err), -ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "yarn.federation.machine-list"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_ups), cmocka_unit_test(no_list), cmocka_unit_test(malformed_lines),
        cmocka_unit_test(bounds),   cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
