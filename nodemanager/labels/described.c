/* See described.h. */
#include "nodemanager/labels/described.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/health/script-runner.h"

struct nm_describer {
    const struct nm_conf *conf;
    const struct nm_conf_labels *own; /* of `conf` */
    enum nm_described kind;
    struct nm_runner *runner; /* NULL: provider config */
    bool known, starting;
    struct nm_labels now;
    unsigned version; /* of `now` */

    bool in_flight, told;
    unsigned version_in_flight, version_told;
    int64_t told_ms;
    enum nm_described_answer answer;
    char refused[NM_DESCRIBED_WHY_MAX], failed[NM_DESCRIBED_WHY_MAX];
};

static const char *name(const struct nm_describer *d)
{
    return d->kind == NM_LABELS ? "node-labels" : "node-attributes";
}

char *nm_describer_text(const struct nm_labels *l, char *dst, size_t size)
{
    size_t at = 0;

    *dst = '\0';
    for (size_t i = 0; i < l->n && at < size; i++) {
        const struct nm_label *e = &l->list[i];
        int n = snprintf(dst + at, size - at, "%s%s%s%s", i ? ", " : "", e->name,
                         *e->value ? "=" : "", e->value);

        at += n > 0 ? (size_t)n : 0;
    }
    return dst;
}

/* ---- knowing ----------------------------------------------------------------------------------*/

static void set(struct nm_describer *d, const struct nm_labels *l)
{
    char text[512];

    *d->failed = '\0';
    if (d->known && nm_labels_equal(&d->now, l))
        return;
    d->now = *l;
    d->known = true;
    d->version++;
    nm_describer_text(l, text, sizeof(text));
    sv_log_info("%s: this node has %s", name(d), *text ? text : "none");
}

/* Keeps the value known before. */
static void set_failed(struct nm_describer *d, const char *why)
{
    char shown[NM_DESCRIBED_WHY_MAX];

    sv_escape(shown, sizeof(shown), why);
    if (strcmp(shown, d->failed) != 0)
        sv_log_warning("%s: %s: no result: %s; %s", name(d), d->own->argv ? d->own->argv[0] : "",
                       shown,
                       d->known ? "the last result is kept" : "the ResourceManager is told none");
    memcpy(d->failed, shown, sizeof(shown));
}

static void on_ended(enum nm_run_end end, const char *text, void *userdata)
{
    struct nm_describer *d = userdata;
    struct nm_labels *l = end == NM_RUN_GOOD ? calloc(1, sizeof(*l)) : NULL;
    struct sv_error err = { 0 };

    d->starting = false;
    if (end != NM_RUN_GOOD)
        set_failed(d, text);
    else if (!l)
        set_failed(d, "out of memory");
    else if (nm_labels_of_output(d->kind, text, l, &err) < 0)
        set_failed(d, err.text);
    else
        set(d, l);
    free(l);
}

static void read_conf(struct nm_describer *d)
{
    struct nm_labels *l = NULL;
    struct sv_error err = { 0 };

    if (!(l = calloc(1, sizeof(*l))))
        return;
    if (nm_labels_of_text(d->kind, nm_conf_labels_text(d->conf->conf, d->kind), l, &err) < 0)
        set_failed(d, err.text); /* the reload has refused it */
    else
        set(d, l);
    free(l);
}

/* ---- telling ----------------------------------------------------------------------------------*/

const struct nm_labels *nm_describer_tell(struct nm_describer *d, bool registration)
{
    if (!d)
        return NULL;
    d->in_flight = d->known && (registration || !d->told || d->version_told != d->version ||
                                sv_now_ms() - d->told_ms > d->own->resync_ms);
    d->version_in_flight = d->version;
    return d->in_flight ? &d->now : NULL;
}

void nm_describer_answered(struct nm_describer *d, bool accepted, const char *why)
{
    char shown[NM_DESCRIBED_WHY_MAX] = "";

    if (!d || !d->in_flight)
        return;
    d->in_flight = false;
    d->told = true;
    d->version_told = d->version_in_flight;
    d->told_ms = sv_now_ms();
    if (!accepted)
        sv_escape(shown, sizeof(shown),
                  why && *why ? why : "it gave no reason; its labels may be configured centrally");
    if (!accepted && (d->answer != NM_DESCRIBED_REFUSED || strcmp(shown, d->refused) != 0))
        sv_log_err("%s: refused by the ResourceManager: %s", name(d), shown);
    else if (accepted && d->answer == NM_DESCRIBED_REFUSED)
        sv_log_notice("%s: accepted by the ResourceManager", name(d));
    d->answer = accepted ? NM_DESCRIBED_ACCEPTED : NM_DESCRIBED_REFUSED;
    memcpy(d->refused, shown, sizeof(shown));
}

void nm_describer_unanswered(struct nm_describer *d)
{
    if (d)
        d->in_flight = false;
}

/* ---- life -------------------------------------------------------------------------------------*/

/* The program runs with the daemon's account: who can change it can do what the daemon can. */
static int check_script(const struct nm_describer *d, struct sv_error *err)
{
    const char *path = d->own->argv[0];
    struct stat st;

    if (stat(path, &st) < 0)
        return sv_error_set(err, -EINVAL, "yarn.nodemanager.%s.provider.script.path: %s: %s",
                            name(d), path, strerror(errno));
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return sv_error_set(err, -EINVAL,
                            "yarn.nodemanager.%s.provider.script.path: %s is not a program that "
                            "this account can run",
                            name(d), path);
    if (st.st_mode & S_IWOTH)
        return sv_error_set(err, -EINVAL,
                            "yarn.nodemanager.%s.provider.script.path: %s can be changed by every "
                            "account (chmod o-w)",
                            name(d), path);
    return 0;
}

static struct nm_describer *describer_free(struct nm_describer *d)
{
    if (!d)
        return NULL;
    nm_runner_free(d->runner);
    free(d);
    return NULL;
}

/* None where the configuration names no provider. */
static int describer_new(sd_event *event, const struct nm_conf *conf, enum nm_described kind,
                         struct nm_describer **ret, struct sv_error *err)
{
    const struct nm_conf_labels *own = &conf->labels[kind];
    struct nm_describer *d;
    int r = 0;

    *ret = NULL;
    if (own->provider == NM_PROVIDER_NONE)
        return 0;
    d = calloc(1, sizeof(*d));
    if (!d)
        return sv_error_errno(err, -ENOMEM, "labels");
    d->conf = conf;
    d->own = own;
    d->kind = kind;
    if (own->provider == NM_PROVIDER_SCRIPT) {
        const bool labels = kind == NM_LABELS;
        const struct nm_runner_conf script = { .group = name(d),
                                               .name = labels ? "node-labels script"
                                                              : "node-attributes script",
                                               .argv = own->argv,
                                               .interval_ms = &own->fetch_interval_ms,
                                               .timeout_ms = &own->fetch_timeout_ms,
                                               .ended = on_ended,
                                               .userdata = d };

        d->starting = true;
        r = check_script(d, err);
        if (r >= 0)
            r = nm_runner_new(event, &script, &d->runner, err);
    } else {
        read_conf(d);
    }
    if (r < 0) {
        describer_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

int nm_describers_new(sd_event *event, const struct nm_conf *conf,
                      struct nm_describer *ret[NM_DESCRIBED], struct sv_error *err)
{
    int r = 0;

    for (int i = 0; r >= 0 && i < NM_DESCRIBED; i++)
        r = describer_new(event, conf, (enum nm_described)i, &ret[i], err);
    return r;
}

void nm_describers_free(struct nm_describer *list[NM_DESCRIBED])
{
    for (int i = 0; i < NM_DESCRIBED; i++)
        list[i] = describer_free(list[i]);
}

void nm_describers_reload(struct nm_describer *const list[NM_DESCRIBED])
{
    for (int i = 0; i < NM_DESCRIBED; i++)
        if (list[i] && !list[i]->runner)
            read_conf(list[i]);
}

bool nm_describers_starting(struct nm_describer *const list[NM_DESCRIBED])
{
    for (int i = 0; i < NM_DESCRIBED; i++)
        if (list[i] && list[i]->starting)
            return true;
    return false;
}

bool nm_describer_view(const struct nm_describer *d, struct nm_described_view *ret)
{
    if (!d)
        return false;
    *ret = (struct nm_described_view){ .provider = d->runner ? "script" : "config",
                                       .labels = d->known ? &d->now : NULL,
                                       .answer = d->answer,
                                       .refused = d->refused,
                                       .failed = d->failed };
    return true;
}
