/* Configurations of tests: Hadoop's defaults with a few overrides, taken or refused. Include
 * it after cmocka.h. */
#ifndef SELVEDGE_TESTS_UNIT_NODEMANAGER_CONF_CONF_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_NODEMANAGER_CONF_CONF_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/conf/conf.h"

static char dir[] = "/tmp/selvedge-nmconf-XXXXXX"; /* of the files */

#define SET(...)                                                                                   \
    ((char *const[]){ (char *)(uintptr_t) "yarn.nodemanager.hostname=127.0.0.1", __VA_ARGS__,      \
                      NULL })

static inline void expect_ok(char *const *overrides, struct nm_conf *c)
{
    struct sv_error err = { 0 };

    if (nm_conf_load(c, dir, overrides, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void expect_refused(char *const *overrides, const char *words)
{
    struct sv_error err = { 0 };
    struct nm_conf c;

    assert_true(nm_conf_load(&c, dir, overrides, &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    nm_conf_free(&c);
}

/* Set-up and tear-down of a group of tests. */
static inline int conf_set_up(void **state)
{
    (void)state;
    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return mkdtemp(dir) ? 0 : -1;
}

static inline int conf_tear_down(void **state)
{
    int tmp = open("/tmp", O_PATH | O_CLOEXEC);
    int r = sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);

    (void)state;
    sv_close(tmp);
    return r;
}

#endif
