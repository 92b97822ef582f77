/* See conf-check.h. */
#include "nodemanager/conf/conf-check.h"

#include <errno.h>

#include "common/identity/service-policy.h"
#include "common/str.h"
#include "nodemanager/conf/conf-parts.h"
#include "nodemanager/conf/conf-refused.h"
#include "nodemanager/conf/conf.h"

/* A key that nm_conf_load sets where no file does. */
#define DEFAULTED "yarn.nodemanager.resource.network.outbound-bandwidth-mbit"

struct check {
    struct sv_conf *c;
    const char *first;
    void (*fn)(const char *text, void *userdata);
    void *userdata;
};

static void told(const struct check *check, int r, const struct sv_error *err)
{
    if (r < 0 && !sv_streq(err->text, check->first))
        check->fn(err->text, check->userdata);
}

static int read_value(struct sv_conf *c, const struct sv_conf_key *k, struct sv_error *err)
{
    _cleanup_strv_ char **list = NULL;
    const char *text;
    uint64_t size;
    int64_t number;
    uint16_t port;
    double real;
    bool on;

    switch (k->type) {
    case SV_CONF_BOOL:
        return sv_conf_bool(c, k, &on, err);
    case SV_CONF_INT:
        return sv_conf_int(c, k, &number, err);
    case SV_CONF_FLOAT:
        return sv_conf_float(c, k, &real, err);
    case SV_CONF_DURATION:
        return sv_conf_duration_ms(c, k, &number, err);
    case SV_CONF_SIZE:
        return sv_conf_size(c, k, &size, err);
    case SV_CONF_LIST:
        return sv_conf_list(c, k, &list, err);
    case SV_CONF_ADDRESS:
        return sv_conf_address(c, k, &text, &port, err);
    case SV_CONF_STRING:
        break;
    }
    return sv_conf_string(c, k, &text, err);
}

static void check_key(const struct sv_conf_key *k, void *userdata)
{
    const struct check *check = userdata;
    struct sv_error err = { 0 };

    if (sv_conf_raw(check->c, k->name))
        told(check, read_value(check->c, k, &err), &err);
}

static void check_policy(const struct check *check)
{
    _cleanup_(sv_policy_freep) struct sv_policy *policy = NULL;
    struct sv_error err = { 0 };
    bool on;
    size_t n;

    if (sv_conf_bool(check->c, nm_conf_policy_keys(&n), &on, NULL) >= 0) /* else told above */
        told(check, nm_conf_policy_load(check->c, &policy, &err), &err);
}

static void check_kerberos(const struct check *check)
{
    const char *host = sv_conf_raw(check->c, "yarn.nodemanager.hostname");
    struct nm_conf_kerberos kerberos = { .own.on = false };
    struct sv_error err = { 0 };

    told(check, nm_conf_kerberos_read(check->c, host, &kerberos, &err), &err);
    nm_conf_kerberos_free(&kerberos);
}

static void check_amrmproxy(const struct check *check)
{
    struct nm_conf_amrmproxy amrmproxy;
    struct sv_error err = { 0 };

    told(check, nm_conf_amrmproxy_read(check->c, &amrmproxy, &err), &err);
}

void nm_conf_each_refusal(struct sv_conf *c, const char *first,
                          void (*fn)(const char *text, void *userdata), void *userdata)
{
    struct check check = { c, first, fn, userdata };
    bool more = true;

    if (!sv_conf_raw(c, DEFAULTED)) /* the files could not be read */
        return;
    nm_conf_each_key(check_key, &check);
    check_kerberos(&check);
    check_policy(&check);
    check_amrmproxy(&check);
    for (size_t i = 0; more; i++) {
        struct sv_error one = { 0 };
        int r = nm_conf_check_refused_at(c, i, &more, &one);

        if (r != -EINVAL) /* a wrong type: told above */
            told(&check, r, &one);
    }
}
