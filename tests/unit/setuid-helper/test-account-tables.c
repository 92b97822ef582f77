/* setuid-helper/account-tables.c: the text of the sandbox's passwd and group. Mounts are
 * directories and files here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "setuid-helper/account-tables.c"

#define TEXT_MAX 65536

static struct hlp h;
static struct hlp_account said; /* by the account service */
static char top[] = "/tmp/test-account-tables-XXXXXX";
static int root = -1,
           own = -1; /* the sandbox's root; the directory that stands for the new mount */
static unsigned read_only, attached;

_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    fail_msg("%s: status %d, error %d", what, (int)status, error);
    abort();
}

int hlp_new_mount(const char *type, hlp_options with, uint64_t attributes)
{
    (void)with;
    assert_string_equal(type, "tmpfs");
    assert_int_equal(attributes, HLP_BASELINE | MOUNT_ATTR_NOEXEC);
    return dup(own);
}

void hlp_attach(int mount, int dir, const char *path)
{
    assert_int_equal(dir, root);
    attached += strcmp(path, "etc/passwd") == 0 || strcmp(path, "etc/group") == 0;
    (void)close(mount);
}

int hlp_copy(int dir, const char *path, unsigned flags)
{
    assert_int_equal(flags, 0);
    return openat(dir, path, O_RDONLY);
}

void hlp_set_attributes(int fd, unsigned flags, uint64_t set, uint64_t clear, const char *what)
{
    (void)what;
    assert_true(fd >= 0 && flags == 0 && set == HLP_RO && clear == 0);
    read_only++;
}

static void write_file(const char *path, const char *text)
{
    int fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static void check_file(const char *name, const char *wanted)
{
    static char text[TEXT_MAX];
    struct stat st;
    int fd = openat(own, name, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_string_equal(text, wanted);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0444);
    (void)close(fd);
    assert_int_equal(unlinkat(own, name, 0), 0);
}

/* With these tables of root's the sandbox shows those. */
static void expect(const char *passwd, const char *group, const char *seen_passwd,
                   const char *seen_group)
{
    write_file("etc/passwd", passwd);
    write_file("etc/group", group);
    read_only = attached = 0;
    hlp_add_account(&h, root);
    assert_int_equal(read_only, 2);
    assert_int_equal(attached, 2);
    check_file("passwd", seen_passwd);
    check_file("group", seen_group);
}

static void set(char field[HLP_FIELD_MAX], const char *text)
{
    memcpy(field, text, strnlen(text, HLP_FIELD_MAX)); /* perhaps without a NUL */
}

static void fill(const char *home, const char *shell)
{
    memset(&said, 0, sizeof(said));
    set(said.home, home);
    set(said.shell, shell);
    h.user = (struct hlp_user){ .name = "alice", .uid = 4711, .gid = 12 };
    h.cfg.refused_gids = (struct hlp_ids){ { 999 }, 1 };
    h.account = &said;
}

static void member(uint32_t gid, const char *name)
{
    set(said.names[said.n_groups], name);
    said.groups[said.n_groups++] = gid;
}

static void test_lines(void **state)
{
    (void)state;
    fill("/home/alice", "/bin/bash");
    member(12, "staff");
    member(13, "domain users@example.com");
    member(0, "root"); /* groups that no container has get no line */
    member(999, "docker");
    member(14, "");
    expect("root:x:0:0::/root:/bin/sh\n", "root:x:0:\ndocker:x:999:alice\n",
           "root:x:0:0::/root:/bin/sh\nalice:x:4711:12::/home/alice:/bin/bash\n",
           "root:x:0:\ndocker:x:999:alice\nstaff:x:12:alice\n"
           "domain users@example.com:x:13:alice\n");
}

static void test_ends_of_tables(void **state)
{
    (void)state;
    fill("/h", "/s");
    member(12, "staff");
    expect("a:x:1:1::/:/a", "a:x:1:", "a:x:1:1::/:/a\nalice:x:4711:12::/h:/s\n",
           "a:x:1:\nstaff:x:12:alice\n");
    expect("", "", "alice:x:4711:12::/h:/s\n", "staff:x:12:alice\n");
    expect("a\n\n", "\n", "a\n\nalice:x:4711:12::/h:/s\n", "\nstaff:x:12:alice\n");
}

static void test_no_names(void **state)
{
    (void)state;
    fill("", "");
    member(12, "");
    expect("", "", "alice:x:4711:12::/:/bin/sh\n", "");
}

static void test_forged_paths(void **state)
{
    static const char *const bad[] = { "x",      "/a:b", "/a\nroot:x:0:0::/:/bin/sh",
                                       "/a\r",   "/a,b", "/\x1b[2J",
                                       "//\x7f", " /a",  "#/a" };
    static char endless[HLP_FIELD_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        fill(bad[i], bad[i]);
        expect("", "", "alice:x:4711:12::/:/bin/sh\n", "");
    }
    fill("", "/");
    memset(endless, '/', sizeof(endless));
    memcpy(said.home, endless, sizeof(endless)); /* the shell is behind it */
    expect("", "", "alice:x:4711:12::/:/\n", "");
}

static void test_forged_groups(void **state)
{
    static const char *const bad[] = { "a:b", "a\nroot:x:0:", "\n", "a\t", "a\x7f", "a,b",
                                       "+",   "-a",           " a", "#a" };
    (void)state;
    fill("/h", "/s");
    for (size_t i = 0; i < COUNT(bad); i++)
        member(20 + (uint32_t)i, bad[i]);
    memset(said.names[said.n_groups], 'x', HLP_FIELD_MAX);
    said.groups[said.n_groups++] = 40;
    member(41, "Dom\xc3\xa4nen-Benutzer");
    expect("", "", "alice:x:4711:12::/h:/s\n", "Dom\xc3\xa4nen-Benutzer:x:41:alice\n");
}

/* The longest of everything fits. */
static void test_most(void **state)
{
    static char longest[HLP_FIELD_MAX], passwd[TEXT_MAX], group[TEXT_MAX];
    size_t n = 0;
    (void)state;
    memset(longest, 'g', HLP_FIELD_MAX - 1);
    longest[0] = '/';
    fill(longest, longest);
    memset(h.user.name, 'u', EXE_USER_MAX);
    h.user.uid = h.user.gid = HLP_ID_MAX;
    for (uint32_t i = 0; i < HLP_GROUPS_MAX; i++) {
        member(HLP_ID_MAX - i, longest);
        n += (size_t)snprintf(group + n, sizeof(group) - n, "%s:x:%u:%s\n", longest, HLP_ID_MAX - i,
                              h.user.name);
    }
    (void)snprintf(passwd, sizeof(passwd), "%s:x:%u:%u::%s:%s\n", h.user.name, HLP_ID_MAX,
                   HLP_ID_MAX, longest, longest);
    expect("", "", passwd, group);
}

static int make_places(void **state)
{
    (void)state;
    if (!mkdtemp(top) || (root = open(top, O_RDONLY | O_DIRECTORY)) < 0 ||
        mkdirat(root, "etc", 0755) < 0 || mkdirat(root, "own", 0755) < 0)
        return -1;
    (void)umask(0);
    own = openat(root, "own", O_RDONLY | O_DIRECTORY);
    return own < 0;
}

static int remove_places(void **state)
{
    (void)state;
    (void)unlinkat(root, "etc/passwd", 0);
    (void)unlinkat(root, "etc/group", 0);
    (void)unlinkat(root, "etc", AT_REMOVEDIR);
    (void)unlinkat(root, "own", AT_REMOVEDIR);
    return rmdir(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_ends_of_tables),
        cmocka_unit_test(test_no_names),      cmocka_unit_test(test_forged_paths),
        cmocka_unit_test(test_forged_groups), cmocka_unit_test(test_most),
    };
    return cmocka_run_group_tests(tests, make_places, remove_places);
}
