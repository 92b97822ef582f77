/* See health-scripts.h. */
#include "nodemanager/health/health-scripts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroups/child-group.h"
#include "common/log.h"
#include "nodemanager/health/health-script.h"

#define GROUP "health-%zu" /* cgroup of the script of that number */

struct nm_scripts {
    bool before_startup;
    size_t n;
    struct nm_script *scripts[NM_HEALTH_SCRIPTS_MAX];
};

static bool can_run(const struct nm_conf_script *s)
{
    struct stat st;
    int error = stat(s->argv[0], &st) < 0      ? errno
                : S_ISDIR(st.st_mode)          ? EISDIR
                : access(s->argv[0], X_OK) < 0 ? errno
                                               : 0;

    if (error)
        sv_log_warning("health script %s is not run: %s: %s; correct "
                       "yarn.nodemanager.health-checker.%s.path or its mode, and restart",
                       s->name, s->argv[0], strerror(error), s->name);
    return error == 0;
}

static void log_missing_paths(const struct nm_conf_health *conf)
{
    static const char usual[] = "script"; /* Hadoop's default name, mostly without a path */
    size_t at = 0;

    for (char **n = conf->names; n && *n; n++)
        if (at < conf->n && conf->scripts[at].name == *n)
            at++;
        else if (strcmp(*n, usual) != 0)
            sv_log_warning("health script %s is not run: "
                           "yarn.nodemanager.health-checker.%s.path is not set",
                           *n, *n);
}

static int add(struct nm_scripts *l, sd_event *event, const struct nm_conf_health *conf, size_t i,
               struct sv_error *err)
{
    char group[32];
    int r;

    (void)snprintf(group, sizeof(group), GROUP, l->n);
    r = nm_script_new(event, conf, &conf->scripts[i], group, &l->scripts[l->n], err);
    if (r >= 0)
        l->n++;
    return r;
}

int nm_scripts_new(sd_event *event, const struct nm_conf_health *conf, struct nm_scripts **ret,
                   struct sv_error *err)
{
    struct nm_scripts *l = calloc(1, sizeof(*l));
    char name[32];
    int r = 0;

    if (!l)
        return sv_error_errno(err, -ENOMEM, "health scripts");
    l->before_startup = conf->before_startup;
    log_missing_paths(conf);
    for (size_t i = 0; r >= 0 && i < conf->n; i++)
        if (can_run(&conf->scripts[i]))
            r = add(l, event, conf, i, err);
    for (size_t i = l->n; i < NM_HEALTH_SCRIPTS_MAX; i++) {
        (void)snprintf(name, sizeof(name), GROUP, i);
        cg_child_group_discard(name);
    }
    if (r < 0) {
        nm_scripts_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct nm_scripts *nm_scripts_free(struct nm_scripts *l)
{
    if (!l)
        return NULL;
    for (size_t i = 0; i < l->n; i++)
        nm_script_free(l->scripts[i]);
    free(l);
    return NULL;
}

const char *nm_scripts_report(const struct nm_scripts *l, size_t i)
{
    return i < l->n ? nm_script_report(l->scripts[i]) : NULL;
}

int64_t nm_scripts_checked_ms(const struct nm_scripts *l)
{
    int64_t last = 0;

    for (size_t i = 0; i < l->n; i++)
        last = SV_MAX(last, nm_script_checked_ms(l->scripts[i]));
    return last;
}

bool nm_scripts_starting(const struct nm_scripts *l)
{
    for (size_t i = 0; l->before_startup && i < l->n; i++)
        if (nm_script_checked_ms(l->scripts[i]) == 0)
            return true;
    return false;
}
