/* resources/gpu-smi.c: what nvidia-smi prints. */
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

#include "nodemanager/resources/gpu-smi.h"

static const char query[] =
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n"
    "<nvidia_smi_log><timestamp>now</timestamp><attached_gpus>2</attached_gpus>"
    "<gpu id=\"00000000:3B:00.0\"><product_name>NVIDIA A100</product_name>"
    "<mig_devices><mig_device><index>0</index><gpu_instance_id>2</gpu_instance_id>"
    "<compute_instance_id>0</compute_instance_id><fb><uuid>x</uuid></fb></mig_device>"
    "<mig_device><index>1</index><gpu_instance_id>9</gpu_instance_id>"
    "<compute_instance_id>1</compute_instance_id></mig_device>"
    "<mig_device><index>2</index></mig_device></mig_devices>"
    "<uuid>GPU-a</uuid><minor_number>3</minor_number></gpu>"
    "<gpu id=\"00000000:AF:00.0\"><uuid>GPU-`id`</uuid><minor_number>0</minor_number>"
    "<fb_memory_usage><total>1 MiB</total></fb_memory_usage></gpu></nvidia_smi_log>";
static const char list[] = "GPU 0: NVIDIA A100 (UUID: GPU-a)\n"
                           "  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef)\n"
                           "  MIG 1g.5gb      Device  1: (UUID: MIG-$(id))\n"
                           "  MIG 1g.5gb      Device  7: (UUID: MIG-7)\n"
                           "GPU 9: more (UUID: GPU-z)\n  MIG a Device 0: (UUID: MIG-z)\n"
                           "GPU 1: A (UUID: GPU-b)\n  MIG a Device 0: (UUID: MIG-y";

static struct nm_smi smi;

static int parse(const char *xml)
{
    struct sv_error err = { 0 };
    int r = nm_smi_parse(xml, strlen(xml), &smi, &err);

    assert_true(r == 0 || err.text[0]);
    return r;
}

static void check_all(void)
{
    assert_int_equal(smi.n, 2);
    assert_int_equal(smi.v[0].minor, 3);
    assert_string_equal(smi.v[0].uuid, "GPU-a");
    assert_string_equal(smi.v[0].model, "NVIDIA A100");
    assert_int_equal(smi.v[0].n_mig, 2); /* the third one has no ids */
    assert_int_equal(smi.v[0].mig[1].gi, 9);
    assert_int_equal(smi.v[0].mig[1].ci, 1);
    assert_int_equal(smi.v[1].minor, 0);
    assert_string_equal(smi.v[1].uuid, "");
}

static void test_query(void **state)
{
    static const char *const bad[] = {
        "",
        "no XML",
        "<nvidia_smi_log>",
        "<other/>",
        "<nvidia_smi_log><gpu/></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>N/A</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>255</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>-1</minor_number></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><a><minor_number>1</minor_number></a></gpu></nvidia_smi_log>",
        "<nvidia_smi_log><gpu><minor_number>1</minor_number></gpu><gpu><minor_number>1"
        "</minor_number></gpu></nvidia_smi_log>",
        "<!DOCTYPE n [<!ENTITY e SYSTEM \"file:///etc/hostname\">]><nvidia_smi_log><gpu>"
        "<minor_number>&e;</minor_number></gpu></nvidia_smi_log>",
    };

    (void)state;
    assert_int_equal(parse(query), 0);
    check_all();
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (parse(bad[i]) != -EBADMSG)
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(parse("<nvidia_smi_log/>"), 0);
    assert_int_equal(smi.n, 0);
}

static void test_list(void **state)
{
    (void)state;
    assert_int_equal(parse(query), 0);
    nm_smi_parse_list(list, sizeof(list) - 1, &smi);
    assert_string_equal(smi.v[0].mig[0].uuid, "MIG-c6d4f1ef");
    assert_string_equal(smi.v[0].mig[1].uuid, "");
    nm_smi_parse_list("", 0, &smi);
}

/* A program in its place: its two outputs, and its failure. */
static void test_program(void **state)
{
    char path[] = "/tmp/selvedge-test-smi-XXXXXX", found[64];
    struct sv_error err = { 0 };
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_true(dprintf(fd,
                        "#!/bin/sh\ncase \"$*\" in '-q -x') cat <<'E'\n%s\nE\n;; -L) cat "
                        "<<'E'\n%s\nE\n;; *) exit 1;; esac\n",
                        query, list) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(nm_smi_find(path, found, sizeof(found), &err), 0);
    assert_int_equal(nm_smi_run(found, &smi, &err), 0);
    check_all();
    assert_string_equal(smi.v[0].mig[0].uuid, "MIG-c6d4f1ef");
    fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(dprintf(fd, "#!/bin/sh\nexit 9\n") > 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(nm_smi_run(path, &smi, &err), -EIO);
    assert_non_null(strstr(err.text, "exit status 9; is the driver loaded?"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(nm_smi_find(path, found, sizeof(found), &err), -ENOENT);
    assert_non_null(strstr(err.text, "path-to-discovery-executables"));
    assert_int_equal(nm_smi_find("/tmp", found, sizeof(found), &err), -ENOENT);
    assert_non_null(strstr(err.text, "/tmp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_program),
    };

    return cmocka_run_group_tests_name("gpu-smi", tests, NULL, NULL);
}
