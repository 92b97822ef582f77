/* conf/cdi-spec.c and cdi-files.c: what of a CDI specification is accepted, and from whom. */
#include "nodemanager/conf/cdi-spec.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"

/* As nvidia-ctk writes it. */
static const char good[] =
    "{\"cdiVersion\":\"0.5.0\",\"kind\":\"nvidia.com/gpu\",\"devices\":["
    "{\"name\":\"0\",\"containerEdits\":{\"deviceNodes\":[{\"path\":\"/dev/nvidia0\"},"
    "{\"path\":\"/dev/dri/card1\",\"hostPath\":\"/dev/dri/card1\",\"type\":\"c\",\"major\":226,"
    "\"minor\":1,\"permissions\":\"rw\",\"fileMode\":438,\"uid\":0,\"gid\":0}],"
    "\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"/usr/bin/nvidia-ctk\"}]}},"
    "{\"name\":\"GPU-1\",\"annotations\":{\"a\":\"b\"}}],"
    "\"containerEdits\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=void\",\"EMPTY=\"],"
    "\"mounts\":[{\"hostPath\":\"/usr/lib/libcuda.so.1\",\"containerPath\":\"/usr/lib/"
    "libcuda.so.1\","
    "\"options\":[\"ro\",\"nosuid\",\"bind\"]},{\"hostPath\":\"/a\",\"containerPath\":\"/b\"}]}}";

static void test_good(void **state)
{
    struct sv_error err = { 0 };
    struct nm_cdi_spec *s = NULL;

    (void)state;
    assert_int_equal(nm_cdi_parse(good, strlen(good), "f.json", &s, &err), 0);
    assert_string_equal(s->kind, "nvidia.com/gpu");
    assert_int_equal(s->n, 2);
    assert_string_equal(s->devices[0].name, "0");
    assert_int_equal(s->devices[0].edits.n_nodes, 2);
    assert_string_equal(s->devices[0].edits.nodes[1].host, "/dev/dri/card1");
    assert_string_equal(s->devices[0].edits.refused, "hooks");
    assert_int_equal(s->devices[1].edits.n_nodes, 0);
    assert_null(s->devices[1].edits.refused);
    assert_int_equal(s->all.n_env, 2);
    assert_string_equal(s->all.env_names[0], "NVIDIA_VISIBLE_DEVICES");
    assert_string_equal(s->all.env_values[0], "void");
    assert_string_equal(s->all.env_values[1], "");
    assert_int_equal(s->all.n_mounts, 2);
    assert_false(s->all.mounts[0].writable);
    assert_true(s->all.mounts[1].writable);
    assert_string_equal(s->all.mounts[1].inside, "/b");
    (void)nm_cdi_spec_free(s);
}

#define FILE_OF(devices, all)                                                                      \
    "{\"cdiVersion\":\"0.6.0\",\"kind\":\"v/c\",\"devices\":[" devices                             \
    "],\"containerEdits\":{" all "}}"
#define DEVICE(edits) FILE_OF("{\"name\":\"a\",\"containerEdits\":{" edits "}}", "")

static void test_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "", "f.json:1: it is not JSON" },
        { "[]", "it is not an object" },
        { "{}", "cdiVersion: it is missing" },
        { "{\"kind\":\"a/b\",\"kind\":\"a/b\"}", "it is not JSON" },
        { "{\"cdiVersion\":\"2.0\"}", "cdiVersion: versions 0 and 1" },
        { "{\"cdiVersion\":\"1.0\",\"kind\":\"gpu\"}", "kind: it is not VENDOR/CLASS" },
        { "{\"cdiVersion\":\"1.0\",\"kind\":7}", "kind: it is not a string" },
        { "{\"cdiVersion\":\"1.0\",\"kind\":\"a/b\",\"more\":1}", "more: this field is not known" },
        { "{\"cdiVersion\":\"1.0\",\"kind\":\"a/b\",\"devices\":{}}", "devices: it is not a list" },
        { FILE_OF("{\"name\":\"a\"},7", ""), "devices[1].: it is not an object" },
        { FILE_OF("{\"name\":\"a\"},{\"name\":\"a\"}", ""), "devices[1].name: another device" },
        { FILE_OF("{\"name\":\"a b\"}", ""), "devices[0].name: it has a character" },
        { FILE_OF("{\"name\":\"\"}", ""), "devices[0].name: " },
        { FILE_OF("", "\"env\":[\"A\"]"), "containerEdits.env: an entry is not NAME=value" },
        { FILE_OF("", "\"env\":[\"1A=b\"]"), "containerEdits.env: an entry" },
        { FILE_OF("", "\"env\":[\"A=b\\n\"]"), "a control character" },
        { FILE_OF("", "\"env\":\"A=b\""), "containerEdits.env: it is not a list" },
        { FILE_OF("", "\"env\":[null]"), "containerEdits.env: it is not a string" },
        { DEVICE("\"deviceNodes\":[{\"path\":\"dev/a\"}]"),
          "devices[0].containerEdits.deviceNodes.path: it is not an absolute path" },
        { DEVICE("\"deviceNodes\":[{\"path\":\"/dev/../etc\"}]"), "deviceNodes.path: " },
        { DEVICE("\"deviceNodes\":[{\"path\":\"/dev/a\",\"hostPath\":\"/etc/a\"}]"),
          "deviceNodes.hostPath: it is not below /dev" },
        { DEVICE("\"deviceNodes\":[{\"path\":\"/dev/a\",\"type\":\"b\"}]"), "deviceNodes.type: " },
        { DEVICE("\"deviceNodes\":[{\"path\":\"/dev/a\",\"x\":1}]"), "x: this field is not known" },
        { DEVICE("\"mounts\":[{\"hostPath\":\"/a\"}]"), "mounts.containerPath: it is missing" },
        { DEVICE("\"mounts\":[{\"hostPath\":\"/a/..\",\"containerPath\":\"/a\"}]"),
          "mounts.hostPath: " },
        { DEVICE("\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"options\":[1]}]"),
          "mounts.options: an entry is not a string" },
        { DEVICE("\"mount\":[]"), "mount: this field is not known" },
    };
    static char large[NM_CDI_FILE_MAX + 1];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_error err = { 0 };
        struct nm_cdi_spec *s = NULL;
        int r = nm_cdi_parse(cases[i].text, strlen(cases[i].text), "f.json", &s, &err);

        if (r != -EBADMSG || !strstr(err.text, cases[i].words) || !strstr(err.text, "f.json"))
            fail_msg("%s: %d, %s", cases[i].text, r, err.text);
    }
    struct sv_error err = { 0 };
    struct nm_cdi_spec *s = NULL;
    memset(large, ' ', sizeof(large));
    assert_int_equal(nm_cdi_parse(large, sizeof(large), "f.json", &s, &err), -EBADMSG);
}

static char told[8192];

static void on_tell(const char *text, void *userdata)
{
    (void)userdata;
    (void)snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static void put(const char *root, const char *path, const char *text, mode_t mode)
{
    char whole[256];

    (void)snprintf(whole, sizeof(whole), "%s/%s", root, path);
    int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(sv_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static struct nm_cdi *load(const char *root, uid_t owner)
{
    struct nm_cdi *c = NULL;

    told[0] = '\0';
    assert_int_equal(nm_cdi_load(root, "v/c", owner, on_tell, NULL, &c), 0);
    return c;
}

/* Files of root alone; a later directory has precedence; no file is the daemon's end. */
static void test_files(void **state)
{
    char root[] = "/tmp/selvedge-test-cdi-XXXXXX", path[128];
    const struct nm_cdi_spec *spec = NULL;
    struct nm_cdi *c;
    int tmp;

    (void)state;
    assert_non_null(mkdtemp(root));
    c = load(root, geteuid());
    assert_int_equal(c->n, 0);
    assert_string_equal(told, "");
    (void)nm_cdi_free(c);
    (void)snprintf(path, sizeof(path), "%s/etc/cdi", root);
    assert_int_equal(sv_mkdir_p(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/var/run/cdi", root);
    assert_int_equal(sv_mkdir_p(path, 0755), 0);
    put(root, "etc/cdi/a.json", DEVICE("\"env\":[\"A=etc\"]"), 0644);
    put(root, "var/run/cdi/a.json", DEVICE("\"env\":[\"A=run\"],\"hooks\":[{}]"), 0600);
    put(root, "etc/cdi/b.json", "{}", 0644);
    put(root, "etc/cdi/c.json", DEVICE(""), 0664);
    put(root, "etc/cdi/d.yaml", "", 0644);
    put(root, "etc/cdi/e.txt", "", 0644);
    put(root, "etc/cdi/f.json", "{\"cdiVersion\":\"0.6.0\",\"kind\":\"other/c\",\"devices\":[]}",
        0644);
    (void)snprintf(path, sizeof(path), "%s/etc/cdi/g.json", root);
    assert_int_equal(symlink("a.json", path), 0);
    (void)snprintf(path, sizeof(path), "%s/etc/cdi/h.json", root);
    assert_int_equal(mkfifo(path, 0644), 0);
    c = load(root, geteuid());
    assert_int_equal(c->n, 2);
    assert_string_equal(nm_cdi_find(c, "a", &spec)->edits.env_values[0], "run");
    assert_string_equal(spec->file, "/var/run/cdi/a.json");
    assert_null(nm_cdi_find(c, "b", &spec));
    assert_non_null(strstr(told, "/etc/cdi/b.json: cdiVersion: it is missing: nothing of"));
    assert_non_null(strstr(told, "/etc/cdi/c.json is not read: others than root may write it"));
    assert_non_null(strstr(told, "/etc/cdi/d.yaml is not read: JSON is"));
    assert_non_null(strstr(told, "/etc/cdi/g.json is not read: it is a link"));
    assert_non_null(strstr(told, "/etc/cdi/h.json is not read: it is no file"));
    assert_non_null(strstr(told, "/var/run/cdi/a.json: a: hooks: refused"));
    assert_null(strstr(told, "e.txt"));
    (void)nm_cdi_free(c);
    /* somebody else's, and a directory that others may write */
    c = load(root, geteuid() + 1);
    assert_int_equal(c->n, 0);
    assert_non_null(strstr(told, "/etc/cdi is not read: it is not root's"));
    (void)nm_cdi_free(c);
    (void)snprintf(path, sizeof(path), "%s/etc/cdi", root);
    assert_int_equal(chmod(path, 0775), 0);
    c = load(root, geteuid());
    assert_int_equal(c->n, 1);
    assert_non_null(strstr(told, "/etc/cdi is not read: others than root may write it"));
    (void)nm_cdi_free(c);
    tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(tmp, strrchr(root, '/') + 1), 0);
    assert_int_equal(close(tmp), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests_name("cdi-spec", tests, NULL, NULL);
}
