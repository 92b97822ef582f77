/* setuid-helper/policy.c and policy-compile.c: a policy survives writing and reading; a damaged
 * file is refused. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "setuid-helper/prepare.h"

static struct hlp_policy *p, *q;

/* hlp_policy_pack ends so when there is too much of something. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    (void)error;
    (void)what;
    _exit((int)status);
}

static void account(struct hlp_user *u, const char *name, uid_t uid)
{
    (void)snprintf(u->name, sizeof(u->name), "%s", name);
    u->uid = u->gid = uid;
}

static void fill(void)
{
    static char many[HLP_LIST_MAX][16];
    memset(p, 0, sizeof(*p));
    p->cgroup_root = "/sys/fs/cgroup/x";
    p->label = "";
    p->answer = "a=b\n";
    p->held = "";
    p->unfiltered = "BPF_PROG_LOAD";
    p->local_dirs = (struct hlp_list){ { "/a", "/b" }, 2 };
    p->log_dirs = (struct hlp_list){ { "/c" }, 1 };
    for (unsigned i = 0; i < HLP_LIST_MAX; i++) {
        (void)snprintf(many[i], sizeof(many[i]), "user%u", i);
        p->allowed_system.v[p->allowed_system.n++] = many[i];
    }
    account(&p->nm, "yarn", 900);
    account(&p->monitor, "monitor", 901);
    account(&p->public, "public", 902);
    account(&p->lookup, "lookup", 903);
    p->nm_gid = 900;
    p->nodes[0] = (struct hlp_node){ .id = { 195, 0 }, .path = "nvidia0" };
    p->nodes[1] = (struct hlp_node){ .id = { 195, 255 }, .path = "nvidiactl" };
    p->n_nodes = p->n_controls = 1;
    for (unsigned i = 0; i < HLP_FILTERS; i++)
        p->filters[i].len = (unsigned short)(i + 1);
    memset(p->text, 'f', 10 * sizeof(struct sock_filter));
    hlp_add_source(p, "/nonexistent", true);
    hlp_add_source(p, "/", false);
}

/* The file of `p`, as it is read into `q`. */
static size_t written(void)
{
    fill();
    size_t n = hlp_policy_pack(p);
    memset(q, 0xa5, sizeof(*q));
    memcpy(q, p, n);
    return n;
}

static void test_round_trip(void **state)
{
    (void)state;
    size_t n = written();
    assert_true(hlp_policy_place(q, n));
    assert_string_equal(q->cgroup_root, "/sys/fs/cgroup/x");
    assert_string_equal(q->label, "");
    for (unsigned i = 0; i < HLP_FILTERS; i++)
        assert_true(q->filters[i].len == i + 1 && q->filters[i].filter->code == ('f' << 8 | 'f') &&
                    (char *)(q->filters[i].filter + i + 1) <= q->cgroup_root);
    assert_string_equal(q->local_dirs.v[1], "/b");
    assert_string_equal(q->log_dirs.v[0], "/c");
    assert_string_equal(q->allowed_system.v[HLP_LIST_MAX - 1], "user63");
    assert_string_equal(q->nodes[1].path, "nvidiactl");
    assert_string_equal(q->sources[1].path, "/");
    assert_int_equal(q->sources[0].ino, 0);
    assert_int_not_equal(q->sources[1].ino, 0);
}

static void refused(void (*change)(void))
{
    size_t n = written();
    change();
    assert_false(hlp_policy_place(q, n));
}

static void magic(void)
{
    q->magic++;
}
static void id(void)
{
    q->id++;
}
static void longer(void)
{
    q->length++;
}
static void many_dirs(void)
{
    q->local_dirs.n = EXE_DIRS_MAX + 1;
}
static void many_names(void)
{
    q->allowed_system.n = HLP_LIST_MAX + 1;
}
static void many_sources(void)
{
    q->n_sources = HLP_SOURCES_MAX + 1;
}
static void many_nodes(void)
{
    q->n_nodes = ~0u;
}
static void many_controls(void)
{
    q->n_controls = ~0u;
}
static void many_ids(void)
{
    q->refused_uids.n = ~0u;
}
static void more_texts(void)
{
    q->log_dirs.n = 2;
}
static void fewer_texts(void)
{
    q->log_dirs.n = 0;
}
static void root(void)
{
    q->nm.uid = 0;
}
static void groups(void)
{
    q->monitor.n_groups = 1;
}
static void endless(void)
{
    memset(q->public.name, 'x', sizeof(q->public.name));
}
static void many_gids(void)
{
    q->refused_gids.n = 2 * HLP_LIST_MAX + 1;
}
static void long_code(void)
{
    q->n_device_code = HLP_DEVICE_CODE_MAX + 1;
}
static void no_filter(void)
{
    q->filters[1].len = 0;
}
static void long_filter(void)
{
    q->filters[3].len = HLP_BPF_MAX + 1;
}
static void no_group(void)
{
    q->nm_gid = 0;
}

static void test_damaged_file(void **state)
{
    static void (*const changes[])(void) = { magic,      id,           longer,      many_dirs,
                                             many_names, many_sources, many_nodes,  many_controls,
                                             many_ids,   more_texts,   fewer_texts, root,
                                             groups,     endless,      no_group,    many_gids,
                                             no_filter,  long_filter,  long_code };
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        refused(changes[i]);
    for (size_t cut = written(); cut-- > 0;)
        assert_false(hlp_policy_place(q, cut));
}

static void test_source_changes(void **state)
{
    char path[] = "/tmp/test-policy-XXXXXX";
    struct hlp_source a = { .path = path, .content = 1 }, b = a, which = { .path = path };
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    hlp_source_probe(&a);
    hlp_source_probe(&b);
    hlp_source_probe(&which);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(a.ino != 0 && which.ino == a.ino && which.size == 0 && which.ctime.tv_sec == 0);
    assert_int_equal(write(fd, "x", 1), 1);
    hlp_source_probe(&b);
    assert_memory_not_equal(&a, &b, sizeof(a));
    struct hlp_source mode = which;
    assert_int_equal(fchmod(fd, 0640), 0);
    hlp_source_probe(&mode);
    assert_memory_not_equal(&which, &mode, sizeof(which));
    assert_int_equal(unlink(path), 0);
    hlp_source_probe(&b);
    assert_true(b.ino == 0 && b.size == 0);
    (void)close(fd);
}

/* A filter that waits for a group to be empty: then the policy is not up to date. */
static void test_held_filter(void **state)
{
    char path[] = "/tmp/test-policy-XXXXXX";
    (void)state;
    int fd = mkstemp(path);
    memset(p, 0, sizeof(*p));
    p->held = "";
    assert_true(hlp_policy_up_to_date(p));
    p->held = path;
    assert_true(hlp_policy_up_to_date(p));
    assert_int_equal(write(fd, "populated 1\nfrozen 0\n", 21), 21);
    assert_true(hlp_policy_up_to_date(p));
    assert_int_equal(pwrite(fd, "populated 0\nfrozen 0\n", 21, 0), 21);
    assert_false(hlp_policy_up_to_date(p));
    assert_int_equal(unlink(path), 0);
    (void)close(fd);
}

static int setup(void **state)
{
    (void)state;
    p = calloc(1, sizeof(*p));
    q = calloc(1, sizeof(*q));
    return p && q ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(p);
    free(q);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_source_changes),
        cmocka_unit_test(test_held_filter),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
