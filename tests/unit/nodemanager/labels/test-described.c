/* labels/described.c: when a label is told, what a refusal leaves, and scripts that go wrong. */
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

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/labels/described.h"

#define CONFIGURED "yarn.nodemanager.node-labels.provider.configured-node-partition"

static sd_event *event;
static struct nm_conf conf;
static struct nm_describer *list[NM_DESCRIBED];
#define describer list[NM_LABELS]
static char script[] = "/tmp/selvedge-label-XXXXXX";
static char *argv[] = { script, NULL };

static int set_up(void **state)
{
    (void)state;
    sv_clock_set_test(1000000, 1700000000000);
    conf = (struct nm_conf){ .conf = sv_conf_new() };
    conf.labels[NM_LABELS] = (struct nm_conf_labels){ .provider = NM_PROVIDER_CONFIG,
                                                      .fetch_interval_ms = 600000,
                                                      .fetch_timeout_ms = 60000,
                                                      .resync_ms = 120000 };
    return sd_event_new(&event);
}

static int tear_down(void **state)
{
    (void)state;
    nm_describers_free(list);
    conf.conf = sv_conf_free(conf.conf);
    event = sd_event_unref(event);
    sv_clock_reset();
    return 0;
}

static void make(void)
{
    struct sv_error err = { 0 };

    if (nm_describers_new(event, &conf, list, &err) < 0)
        fail_msg("%s", err.text);
}

static void configure(const char *label)
{
    assert_int_equal(sv_conf_set(conf.conf, CONFIGURED, label), 0);
}

static struct nm_described_view view(void)
{
    struct nm_described_view v;

    assert_true(nm_describer_view(describer, &v));
    return v;
}

static void no_provider(void **state)
{
    struct nm_described_view v;

    (void)state;
    conf.labels[NM_LABELS].provider = NM_PROVIDER_NONE;
    make();
    assert_null(describer);
    assert_null(nm_describer_tell(describer, true));
    nm_describer_answered(describer, false, "x");
    nm_describer_unanswered(describer);
    nm_describers_reload(list);
    assert_false(nm_describers_starting(list));
    assert_false(nm_describer_view(describer, &v));
}

/* At registrations; in heartbeats only a change, or all of it when the interval is over. */
static void told_when_due(void **state)
{
    const struct nm_labels *l;

    (void)state;
    configure("gpu");
    make();
    l = nm_describer_tell(describer, true);
    assert_non_null(l);
    assert_string_equal(l->list[0].name, "gpu");
    nm_describer_unanswered(describer);
    assert_non_null(nm_describer_tell(describer, true)); /* the registration is repeated */
    nm_describer_answered(describer, true, NULL);
    assert_null(nm_describer_tell(describer, false));
    nm_describer_answered(describer, false, "not about labels"); /* none was told */
    assert_int_equal(view().answer, NM_DESCRIBED_ACCEPTED);
    sv_clock_set_test(1000000 + 120000, 0);
    assert_null(nm_describer_tell(describer, false));
    sv_clock_set_test(1000000 + 120001, 0);
    assert_non_null(nm_describer_tell(describer, false)); /* resync */
    nm_describer_unanswered(describer);
    assert_non_null(nm_describer_tell(describer, false)); /* its answer was lost */
    nm_describer_answered(describer, true, NULL);
    assert_null(nm_describer_tell(describer, false));
    configure("ssd");
    nm_describers_reload(list);
    l = nm_describer_tell(describer, false);
    assert_string_equal(l->list[0].name, "ssd");
    configure("");
    nm_describers_reload(list); /* while the message is on its way */
    nm_describer_answered(describer, true, NULL);
    l = nm_describer_tell(describer, false);
    assert_non_null(l);
    assert_int_equal(l->n, 0); /* none: the ResourceManager takes the label away */
    nm_describer_answered(describer, true, NULL);
    nm_describers_reload(list); /* nothing new */
    assert_null(nm_describer_tell(describer, false));
    assert_non_null(nm_describer_tell(describer, true)); /* RESYNC */
}

static void refused(void **state)
{
    (void)state;
    configure("gpu");
    make();
    assert_int_equal(view().answer, NM_DESCRIBED_UNTOLD);
    (void)nm_describer_tell(describer, true);
    nm_describer_answered(describer, false, "unknown\nlabel");
    assert_int_equal(view().answer, NM_DESCRIBED_REFUSED);
    assert_string_equal(view().refused, "unknown\\x0alabel");
    assert_null(nm_describer_tell(describer, false)); /* not before the interval */
    (void)nm_describer_tell(describer, true);
    nm_describer_answered(describer, false, NULL);
    assert_string_equal(view().refused,
                        "it gave no reason; its labels may be configured centrally");
    (void)nm_describer_tell(describer, true);
    nm_describer_answered(describer, true, "words");
    assert_int_equal(view().answer, NM_DESCRIBED_ACCEPTED);
    assert_string_equal(view().refused, "");
}

/* ---- scripts ---- */

static void write_script(const char *text)
{
    int fd = open(script, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "#!/bin/sh\n%s\n", text), (int)strlen(text) + 11);
    close(fd);
}

static void with_script(const char *text, int64_t interval_ms)
{
    conf.labels[NM_LABELS].provider = NM_PROVIDER_SCRIPT;
    conf.labels[NM_LABELS].argv = argv;
    conf.labels[NM_LABELS].fetch_interval_ms = interval_ms;
    write_script(text);
    sv_clock_reset(); /* the runner's times */
    make();
    assert_true(nm_describers_starting(list));
    assert_null(nm_describer_tell(describer, true)); /* not known yet */
    while (nm_describers_starting(list))
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
}

static void of_script(void **state)
{
    (void)state;
    with_script("echo NODE_PARTITION:gpu", -1);
    assert_string_equal(view().labels->list[0].name, "gpu");
    assert_string_equal(view().provider, "script");
    assert_string_equal(view().failed, "");
}

/* A run without a result changes nothing. */
static void script_fails_later(void **state)
{
    (void)state;
    with_script("echo NODE_PARTITION:gpu", 100);
    write_script("echo NODE_PARTITION:other; exit 1");
    while (!*view().failed)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_string_equal(view().failed, "exited with status 1");
    assert_string_equal(view().labels->list[0].name, "gpu");
    write_script("echo NODE_PARTITION:-wrong");
    while (!strstr(view().failed, "-wrong"))
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_string_equal(view().labels->list[0].name, "gpu");
    write_script("echo nothing");
    while (*view().failed)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_int_equal(view().labels->n, 0);
}

/* The first run has none: the ResourceManager is told nothing, and keeps what it has. */
static void script_fails_first(void **state)
{
    (void)state;
    with_script("exit 7", -1);
    assert_null(view().labels);
    assert_null(nm_describer_tell(describer, true));
    nm_describer_answered(describer, false, NULL);
    assert_int_equal(view().answer, NM_DESCRIBED_UNTOLD);
}

static void refuse_script(const char *words)
{
    struct sv_error err = { 0 };

    conf.labels[NM_LABELS].provider = NM_PROVIDER_SCRIPT;
    conf.labels[NM_LABELS].argv = argv;
    assert_int_equal(nm_describers_new(event, &conf, list, &err), -EINVAL);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    nm_describers_free(list);
}

static void bad_programs(void **state)
{
    (void)state;
    write_script("true");
    assert_int_equal(chmod(script, 0722), 0);
    refuse_script("can be changed by every account");
    assert_int_equal(chmod(script, 0600), 0);
    refuse_script("not a program");
    assert_int_equal(chmod(script, 0700), 0);
    argv[0] = (char *)(uintptr_t) "/tmp";
    refuse_script("not a program");
    argv[0] = (char *)(uintptr_t) "/nonexistent/label";
    refuse_script("/nonexistent/label: No such file");
    argv[0] = script;
}

static void text(void **state)
{
    static struct nm_labels l;
    char shown[16];

    (void)state;
    assert_int_equal(nm_labels_of_text(NM_ATTRIBUTES, "b,STRING,2:a,STRING,1", &l, NULL), 0);
    assert_string_equal(nm_describer_text(&l, shown, sizeof(shown)), "a=1, b=2");
    assert_string_equal(nm_describer_text(&l, shown, 6), "a=1, ");
    l.n = 0;
    assert_string_equal(nm_describer_text(&l, shown, sizeof(shown)), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_provider, set_up, tear_down),
        cmocka_unit_test_setup_teardown(told_when_due, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_script, set_up, tear_down),
        cmocka_unit_test_setup_teardown(script_fails_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(script_fails_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_programs, set_up, tear_down),
        cmocka_unit_test(text),
    };
    int fd = mkstemp(script), r;

    if (fd < 0 || fchmod(fd, 0700) < 0)
        return 1;
    close(fd);
    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(script);
    return r;
}
