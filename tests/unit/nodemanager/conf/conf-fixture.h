/* Configurations of tests: Hadoop's defaults with a few overrides, taken or refused. Include
 * it after cmocka.h. */
#ifndef SELVEDGE_TESTS_UNIT_NODEMANAGER_CONF_CONF_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_NODEMANAGER_CONF_CONF_FIXTURE_H

#include <string.h>

#include "nodemanager/conf/conf.h"

static char dir[] = "/tmp/selvedge-nmconf-XXXXXX"; /* of the files, made by main() */

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

#endif
