/* Nodes for tasks with GPUs and ports: what fits, how it is packed, what others wait for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/place.h"

static const struct svc_range some_ports[] = { { 80, 90 }, { 3000, 3009 } };

static struct svc_places *p;
static struct svc_fw_resource resource;
static struct svc_fw_ports ports[2];
static struct svc_place_wish w;
static struct svc_place_choice c;
static struct sv_error err;

static int make(void **state)
{
    (void)state;
    p = svc_places_new();
    resource = (struct svc_fw_resource){ .cpus = 1, .memory_mb = 1000, .gpus = 2, .ports = ports };
    w = (struct svc_place_wish){
        .resource = &resource, .min_port = 2000, .tasks = 1, .factor = 1, .skip_tried = true
    };
    c = (struct svc_place_choice){ 0 };
    err = (struct sv_error){ 0 };
    return 0;
}

static int drop(void **state)
{
    (void)state;
    svc_place_choice_clear(&c);
    p = svc_places_free(p);
    return 0;
}

static void report(const char *host, const char *label, uint64_t total, uint64_t used, int64_t cpus)
{
    struct svc_place_report r = {
        .host = host,
        .label = label,
        .total = { .memory_mb = 8000,
                   .cpus = cpus,
                   .gpus = { svc_gpus_count(total), total },
                   .ports = some_ports,
                   .n_ports = 2 },
        .used = { .gpus = { svc_gpus_count(used), used } },
        .ports_known = true,
    };

    svc_places_report(p, &r);
}

/* The host, "any", or "none". */
static const char *chosen(void)
{
    svc_place_choice_clear(&c);
    if (svc_places_choose(p, &w, &c, &err) < 0)
        return "none";
    return c.host ?: "any";
}

static void test_without_needs(void **state)
{
    (void)state;
    report("a", "", 0xf, 0, 8);
    resource.gpus = 0;
    assert_string_equal(chosen(), "any");
    ports[0] = (struct svc_fw_ports){ "http", 40, 2 };
    ports[1] = (struct svc_fw_ports){ "ssh", 9000, 4 };
    resource.n_ports = 2;
    assert_string_equal(chosen(), "any"); /* fixed ports alone are tried where it is allocated */
    assert_int_equal(c.n_ports, 2);
    assert_true(c.ports[1].first == 9000 && c.ports[1].last == 9003);
}

/* Fewest free GPUs, then fewest GPUs, then cpus. */
static void test_packing(void **state)
{
    (void)state;
    report("a", "", 0xff, 0x0f, 8); /* 4 of 8 free */
    report("b", "", 0xff, 0x3f, 8); /* 2 of 8 */
    report("c", "", 0x03, 0, 8);    /* 2 of 2 */
    report("d", "", 0x03, 0, 4);    /* and fewer cpus */
    report("e", "", 0x01, 0, 4);    /* too few */
    assert_string_equal(chosen(), "d");
    assert_true(c.gpu_mask == 0x3);
    w.factor = 2;
    w.random[0] = 1;
    assert_string_equal(chosen(), "c");
    w.tasks = 2;
    w.random[0] = 2;
    assert_string_equal(chosen(), "b");
    assert_true(c.gpu_mask == 0xc0);
    w.random[0] = 3;
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0x30); /* the lowest two of 0xf0 */
    w.random[0] = 4;                 /* of four */
    assert_string_equal(chosen(), "d");
}

static void test_masks(void **state)
{
    (void)state;
    report("a", "", 0xff, 0x01, 8);
    report("b", "", 0xff, 0x0e, 8);
    resource.gpu_mask = 0x11;
    assert_string_equal(chosen(), "b");
    assert_true(c.gpu_mask == 0x11);
    resource.gpu_mask = 0x09;
    assert_string_equal(chosen(), "b"); /* no node has it now: one that will */
    w.random[0] = 1;
    assert_string_equal(chosen(), "a");
    assert_non_null(strstr(err.text, "a has not the GPUs of mask 0x9 free; b has not"));
    resource.gpu_mask = 0x101;
    assert_string_equal(chosen(), "none");
}

static void test_labels(void **state)
{
    (void)state;
    report("a", "fast", 0xf, 0, 8);
    report("b", NULL, 0xff, 0, 8);
    assert_string_equal(chosen(), "b"); /* none is a label too */
    w.label = "fast";
    assert_string_equal(chosen(), "a");
    w.label = "slow";
    assert_string_equal(chosen(), "any");
    assert_non_null(strstr(err.text, "a has the label \"fast\"; b has the label \"\""));
}

static const char *type_of(void *userdata, const char *host)
{
    (void)userdata;
    return *host == 'a' ? "K80" : *host == 'b' ? "M60" : NULL;
}

static void test_types(void **state)
{
    (void)state;
    report("a", "", 0xf, 0, 8);
    report("b", "", 0xff, 0, 8);
    report("c", "", 0x3, 0, 8);
    w.gpu_types = "M60";
    assert_string_equal(chosen(), "c"); /* without a configuration types are not looked at */
    w.type_of = type_of;
    assert_string_equal(chosen(), "b");
    w.gpu_types = "V100,K80,M60";
    assert_string_equal(chosen(), "a");
    w.gpu_types = "K8,K80x";
    assert_string_equal(chosen(), "none"); /* later: asked for anywhere, it could be another type */
    assert_non_null(strstr(err.text, "a has no GPUs of type K8,K80x"));
    w.gpu_types = NULL;
    assert_string_equal(chosen(), "c");
}

static void test_spared_nodes(void **state)
{
    (void)state;
    report("a", "", 0xf, 0, 8);
    report("b", "", 0, 0, 8);
    resource.gpus = 0;
    ports[0] = (struct svc_fw_ports){ "http", 0, 1 };
    resource.n_ports = 1;
    assert_string_equal(chosen(), "b");
    report("b", "", 0, 0, 0); /* no cpu left */
    assert_string_equal(chosen(), "a");
    w.spare_gpu_nodes = true;
    assert_string_equal(chosen(), "none");
}

static void test_ports(void **state)
{
    struct svc_place_report r = { .host = "b", .ports_known = true };
    static const struct svc_range others[] = { { 80, 82 }, { 3008, 3020 } };

    (void)state;
    report("a", "", 0, 0, 8);
    resource.gpus = 0;
    ports[0] = (struct svc_fw_ports){ "fixed", 81, 2 };
    ports[1] = (struct svc_fw_ports){ "any", 0, 2 };
    resource.n_ports = 2;
    w.random[1] = 5;
    assert_string_equal(chosen(), "a");
    assert_int_equal(c.n_ports, 2);
    assert_true(c.ports[0].first == 81 && c.ports[0].last == 82);
    assert_true(c.ports[1].first >= 3000 && c.ports[1].last == c.ports[1].first + 1);
    r.total =
        (struct svc_place_amount){ .memory_mb = 8000, .cpus = 9, .ports = others, .n_ports = 2 };
    svc_places_report(p, &r);
    for (w.random[1] = 0; w.random[1] < 30; w.random[1]++) { /* those that both have */
        assert_string_equal(chosen(), "a");
        assert_true(c.ports[1].first == 3008 && c.ports[1].last == 3009);
    }
    ports[1].count = 3; /* both have too few: the chosen one's */
    assert_string_equal(chosen(), "a");
    assert_int_equal(svc_ranges_count(c.ports, c.n_ports), 5);
    ports[1].count = 11;
    assert_string_equal(chosen(), "b");
    ports[1].count = 14;
    assert_string_equal(chosen(), "none");
    assert_non_null(strstr(err.text, "has not the ports free, of which 14 are any from 2000 on"));
    ports[1].count = 1;
    ports[0].start = 83; /* b has not */
    ports[0].count = 8;
    assert_string_equal(chosen(), "a");
    ports[0].count = 9;
    assert_string_equal(chosen(), "none");
}

/* An outstanding request's are not chosen again; those that were tried are not until a report. */
static void test_claims(void **state)
{
    (void)state;
    report("a", "", 0xf, 0, 8);
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0x3);
    svc_places_claim(p, 1, &resource, &c);
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0xc);
    svc_places_claim(p, 2, &resource, &c);
    assert_string_equal(chosen(), "any");
    svc_places_settle(p, 1, false);
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0x3);
    svc_places_claim(p, 3, &resource, &c);
    svc_places_settle(p, 3, true);
    svc_places_settle(p, 2, false);
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0xc); /* 0x3 was tried */
    w.skip_tried = false;
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0x3);
    w.skip_tried = true;
    report("a", "", 0xf, 0, 8);
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0x3);
    svc_places_claim(p, 4, &resource, &c);
    report("a", "", 0xf, 0, 8); /* a report keeps claims */
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0xc);
    svc_places_remove(p, "a");
    svc_places_settle(p, 4, true);
    svc_places_settle(p, 77, true);
    assert_string_equal(chosen(), "any");
}

/* Nodes that do not number their GPUs. */
static void test_numbers(void **state)
{
    struct svc_place_report r = { .host = "a" };

    (void)state;
    r.total = (struct svc_place_amount){ .memory_mb = 8000, .cpus = 8, .gpus = { .n = 4 } };
    r.used.gpus.n = 1;
    svc_places_report(p, &r);
    resource.gpu_mask = 0x5;
    assert_string_equal(chosen(), "a");
    assert_true(c.gpu_mask == 0);
    resource.gpu_mask = 0x11; /* it has no fifth */
    assert_string_equal(chosen(), "none");
    resource.gpu_mask = 0x5;
    assert_string_equal(chosen(), "a");
    svc_places_claim(p, 1, &resource, &c);
    assert_string_equal(chosen(), "a"); /* a card of it may become free */
    resource.gpu_mask = 0;
    assert_string_equal(chosen(), "any");
    resource.gpus = 1;
    assert_string_equal(chosen(), "a");
    resource.memory_mb = 7001;
    assert_string_equal(chosen(), "any");
    assert_non_null(strstr(
        err.text,
        "no node of 1 has room for it now: a has 7000 MiB and 7 cpus free, 7001 and 1 wanted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_needs, make, drop),
        cmocka_unit_test_setup_teardown(test_packing, make, drop),
        cmocka_unit_test_setup_teardown(test_masks, make, drop),
        cmocka_unit_test_setup_teardown(test_labels, make, drop),
        cmocka_unit_test_setup_teardown(test_types, make, drop),
        cmocka_unit_test_setup_teardown(test_spared_nodes, make, drop),
        cmocka_unit_test_setup_teardown(test_ports, make, drop),
        cmocka_unit_test_setup_teardown(test_claims, make, drop),
        cmocka_unit_test_setup_teardown(test_numbers, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
