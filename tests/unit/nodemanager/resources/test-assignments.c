/* resources/assignments.c and gpu-discovery.c: GPUs are discovered, assigned once, and assigned
 * again after a restart; addresses of a private network. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/gpu-discovery.h"

static const char smi[] =
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n"
    "<nvidia_smi_log><timestamp>now</timestamp><attached_gpus>2</attached_gpus>"
    "<gpu "
    "id=\"00000000:3B:00.0\"><product_name>A</product_name><minor_number>3</minor_number></gpu>"
    "<gpu id=\"00000000:AF:00.0\"><minor_number>0</minor_number><fb_memory_usage><total>1 "
    "MiB</total>"
    "</fb_memory_usage></gpu></nvidia_smi_log>";

static int parse(const char *xml, uint32_t *minors, size_t *n)
{
    struct sv_error err = { 0 };
    int r = nm_gpu_parse_smi(xml, strlen(xml), minors, n, &err);

    assert_true(r == 0 || err.text[0]);
    return r;
}

static void test_discovery_output(void **state)
{
    uint32_t minors[NM_GPUS_MAX];
    size_t n;
    static const char *const bad[] = {
        "",
        "no XML",
        "<nvidia_smi_log>",
        "<other/>",
        "<nvidia_smi_log><gpu/></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>N/A</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>255</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>-1</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>1</minor_number></gpu><gpu><minor_number>1</"
        "minor_number>"
        "</gpu></nvidia_smi_log>",
        "<!DOCTYPE n [<!ENTITY e SYSTEM "
        "\"file:///etc/hostname\">]><nvidia_smi_log><gpu><minor_number>"
        "&e;</minor_number></gpu></nvidia_smi_log>",
    };

    (void)state;
    assert_int_equal(parse(smi, minors, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(minors[0], 0);
    assert_int_equal(minors[1], 3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse(bad[i], minors, &n), -EBADMSG);
    assert_int_equal(parse("<nvidia_smi_log/>", minors, &n), 0);
    assert_int_equal(n, 0);
}

static int discover(const char *allowed, const char *program, uint32_t *minors, size_t *n,
                    char *why)
{
    struct sv_error err = { 0 };
    int r = nm_gpu_discover(allowed, program, minors, n, &err);

    (void)snprintf(why, 1024, "%s", err.text);
    return r;
}

static void test_discovery(void **state)
{
    uint32_t minors[NM_GPUS_MAX];
    char path[] = "/tmp/selvedge-test-smi-XXXXXX", why[1024];
    size_t n;
    static const char *const bad[] = { "",    "0",     "0:",    ":0", "0:0,0:0",
                                       "0:x", "0:255", "0:0:0", "all" };
    int fd;

    (void)state;
    assert_int_equal(discover("0:3,1:0", NULL, minors, &n, why), 0);
    assert_int_equal(n, 2);
    assert_int_equal(minors[0], 0);
    assert_int_equal(minors[1], 3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(discover(bad[i], NULL, minors, &n, why), -EINVAL);
        assert_non_null(strstr(why, "allowed-gpu-devices"));
    }
    assert_int_equal(discover("auto", "/nonexistent/nvidia-smi", minors, &n, why), -ENOENT);
    assert_non_null(strstr(why, "path-to-discovery-executables"));
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "#!/bin/sh\n[ \"$*\" = '-q -x' ] && cat <<'E'\n%s\nE\n", smi) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(discover("auto", path, minors, &n, why), 0);
    assert_int_equal(n, 2);
    fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(dprintf(fd, "#!/bin/sh\nexit 9\n") > 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(discover("auto", path, minors, &n, why), -EIO);
    assert_non_null(strstr(why, "driver"));
    assert_int_equal(unlink(path), 0);
}

struct fixture {
    struct nm_conf conf;
    struct nm_context ctx;
    struct nm_assignments *assignments;
    struct nm_container c[4];
};

static uint32_t addresses; /* of the private network; 0 = unknown */

uint32_t exe_addresses(const struct exe *x)
{
    (void)x;
    return addresses;
}

static void fixture_open(struct fixture *f)
{
    struct sv_error err = { 0 };

    addresses = 0;
    *f = (struct fixture){ .conf = { .gpus = true,
                                     .gpus_allowed = "0:0,1:1,2:5",
                                     .gpu_major = 195,
                                     .network = EXE_NETWORK_PRIVATE,
                                     .net_rate_kbit = 20000,
                                     .net_ceil_kbit = 1000000 } };
    f->ctx.conf = &f->conf;
    for (size_t i = 0; i < 4; i++) {
        f->c[i].ctx = &f->ctx;
        f->c[i].resource.gpus = 1;
        (void)snprintf(f->c[i].text, sizeof(f->c[i].text), "container_%zu", i);
    }
    assert_int_equal(nm_assignments_new(&f->ctx, &f->assignments, &err), 0);
    assert_int_equal(nm_assignments_gpus(f->assignments), 3);
}

static void test_assigned_once(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    struct exe_launch l = { 0 };

    (void)state;
    fixture_open(&f);
    f.c[0].resource.gpus = 2;
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_string_equal(text, "address=0 gpu=0 gpu=1");
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    assert_string_equal(text, "address=1 gpu=5");
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), -EBUSY);
    assert_non_null(strstr(err.text, "0 are free of 3"));
    assert_string_equal(text, "");
    nm_assign_launch(&f.c[0], &l);
    assert_int_equal(l.n_devices, 2);
    assert_int_equal(l.devices[1].major, 195);
    assert_int_equal(l.devices[1].minor, 1);
    assert_int_equal(l.net_index, 0);
    assert_int_equal(l.net_rate_kbit, 20000);
    assert_int_equal(l.net_ceil_kbit, 1000000);
    nm_assign_release(f.assignments, &f.c[0]);
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), 0);
    assert_string_equal(text, "address=2 gpu=0"); /* a released address is not the next one */
    f.c[3].resource.gpus = 0;
    assert_int_equal(nm_assign(f.assignments, &f.c[3], text, &err), 0);
    assert_string_equal(text, "address=3");
    nm_assign_launch(&f.c[3], &l);
    assert_int_equal(l.n_devices, 0);
    nm_assignments_free(f.assignments);
}

/* A small range: the first address follows the last. */
static void test_small_range(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];

    (void)state;
    fixture_open(&f);
    addresses = 3;
    for (int i = 0; i < 7; i++) {
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "address=%d", i % 3);
        f.c[0].resource.gpus = 0;
        assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
        assert_string_equal(text, expected);
        nm_assign_release(f.assignments, &f.c[0]);
    }
    for (int i = 0; i < 4; i++) {
        f.c[i].resource.gpus = 0;
        assert_int_equal(nm_assign(f.assignments, &f.c[i], text, &err), i < 3 ? 0 : -EBUSY);
    }
    assert_non_null(strstr(err.text, "no address of the private network is free"));
    nm_assignments_free(f.assignments);
}

static void test_assigned_again(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    static const char *const bad[] = {
        "gpu=5", "address=7", "address=65534",   "address=-1",
        "gpu=",  "x=1",       "gpu=1 address=7", "address=1 address=2"
    };

    (void)state;
    fixture_open(&f);
    assert_int_equal(nm_assign_again(f.assignments, &f.c[0], "address=7 gpu=5"), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(nm_assign_again(f.assignments, &f.c[1], bad[i]), -EBADMSG);
        nm_assign_release(f.assignments, &f.c[1]);
    }
    assert_int_equal(nm_assign_again(f.assignments, &f.c[1], "gpu=9"),
                     0); /* a GPU that was removed from the node */
    assert_int_equal(f.c[1].share.assigned.n_gpus, 0);
    f.c[2].resource.gpus = 2;
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), 0);
    assert_string_equal(text, "address=0 gpu=0 gpu=1");
    nm_assignments_free(f.assignments);
}

static void count(void *userdata)
{
    ++*(int *)userdata;
}

/* A release is told once; an attempt that fails has released nothing. */
static void test_release_is_told(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    int told = 0;

    (void)state;
    fixture_open(&f);
    nm_assignments_on_release(f.assignments, count, &told);
    f.c[0].resource.gpus = 2;
    f.c[1].resource.gpus = 2;
    f.c[2].resource.gpus = 4;
    assert_false(nm_assign_is_whole(f.assignments, &f.c[0]));
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_true(nm_assign_is_whole(f.assignments, &f.c[0]));
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), -EBUSY);
    assert_int_equal(told, 0);
    assert_false(nm_assign_is_whole(f.assignments, &f.c[1]));
    assert_true(nm_assign_may_come(f.assignments, &f.c[1]));
    assert_false(nm_assign_may_come(f.assignments, &f.c[2]));
    nm_assign_release(f.assignments, &f.c[0]);
    nm_assign_release(f.assignments, &f.c[0]);
    assert_int_equal(told, 1);
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    nm_assignments_free(f.assignments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discovery_output), cmocka_unit_test(test_discovery),
        cmocka_unit_test(test_assigned_once),    cmocka_unit_test(test_release_is_told),
        cmocka_unit_test(test_small_range),      cmocka_unit_test(test_assigned_again)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
