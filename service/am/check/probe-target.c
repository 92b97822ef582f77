/* See probe-target.h. */
#include "service/am/check/probe-target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define THIS_HOST "${THIS_HOST}"

static bool clean(const char *url)
{
    for (; *url; url++)
        if ((unsigned char)*url <= ' ' || (unsigned char)*url == 0x7f || *url == '\\')
            return false;
    return true;
}

/* The authority begins behind "http://" or "https://"; NULL: another scheme. */
static const char *authority(const char *url, bool *ret_tls)
{
    *ret_tls = strncasecmp(url, "https://", 8) == 0;
    if (*ret_tls)
        return url + 8;
    return strncasecmp(url, "http://", 7) == 0 ? url + 7 : NULL;
}

static bool known(const char *text)
{
    return text && *text;
}

/* Replaces each ${THIS_HOST}; an IPv6 address gets its brackets. */
static int replace_host(const char *url, const char *address, char *dst, size_t size)
{
    bool six = strchr(address, ':') != NULL;
    size_t len = 0;

    while (*url) {
        bool token = strncmp(url, THIS_HOST, strlen(THIS_HOST)) == 0;
        int n = token ? snprintf(dst + len, size - len, six ? "[%s]" : "%s", address)
                      : snprintf(dst + len, size - len, "%c", *url);

        if (n < 0 || (size_t)n >= size - len)
            return -ENAMETOOLONG;
        len += (size_t)n;
        url += token ? strlen(THIS_HOST) : 1;
    }
    dst[len] = '\0';
    return 0;
}

/* Host and port of a URL without a user; the brackets of IPv6 are left out. */
static int split_host(const char *url, char *host, size_t size, uint16_t *ret_port)
{
    bool tls;
    const char *start = authority(url, &tls), *end, *colon;
    uint64_t port = tls ? 443 : 80;
    char number[8];

    if (!start)
        return -EINVAL;
    end = start + strcspn(start, "/?#");
    if (memchr(start, '@', (size_t)(end - start)))
        return -EINVAL;
    if (*start == '[') {
        colon = memchr(start, ']', (size_t)(end - start));
        if (!colon)
            return -EINVAL;
        (void)snprintf(host, size, "%.*s", (int)(colon - start - 1), start + 1);
        colon++;
    } else {
        colon = memchr(start, ':', (size_t)(end - start));
        colon = colon ? colon : end;
        (void)snprintf(host, size, "%.*s", (int)(colon - start), start);
    }
    if (colon != end) {
        (void)snprintf(number, sizeof(number), "%.*s", (int)(end - colon - 1), colon + 1);
        if (*colon != ':' || end - colon > 6 || sv_parse_u64(number, 1, 65535, &port) < 0)
            return -EINVAL;
    }
    *ret_port = (uint16_t)port;
    return 0;
}

static bool same_host(const char *host, const char *name)
{
    return known(name) && strcasecmp(host, name) == 0;
}

static int aim_http(const struct svc_probe *p, const struct svc_probe_addresses *a,
                    struct svc_probe_target *t, struct sv_error *err)
{
    char host[SVC_PROBE_HOST_MAX];

    if (!clean(p->url) || replace_host(p->url, t->address, t->url, sizeof(t->url)) < 0 ||
        split_host(t->url, host, sizeof(host), &t->port) < 0)
        return sv_error_set(err, -EPERM, "readiness check \"%.128s\": not a URL of a container",
                            p->url);
    if (!same_host(host, t->address) && !same_host(host, a->ip) && !same_host(host, a->host) &&
        !same_host(host, a->node))
        return sv_error_set(
            err, -EPERM,
            "readiness check \"%.128s\": %.64s is not the container's host; write " THIS_HOST,
            p->url, host);
    return 0;
}

int svc_probe_aim(const struct svc_probe *p, const struct svc_probe_addresses *a,
                  struct svc_probe_target *ret, struct sv_error *err)
{
    struct svc_probe_target t = { .port = (uint16_t)p->port };
    const char *address = known(a->ip) ? a->ip : a->node;
    int r = 0;

    if (!known(address))
        return sv_error_set(err, -EADDRNOTAVAIL, "readiness check: no address is known yet");
    if (snprintf(t.address, sizeof(t.address), "%s", address) >= (int)sizeof(t.address) ||
        !clean(address) || strpbrk(address, "/@[]?#"))
        return sv_error_set(err, -EPERM, "readiness check: \"%.64s\" is not an address", address);
    if (p->type == SVC_READY_HTTP)
        r = aim_http(p, a, &t, err);
    if (r == 0)
        *ret = t;
    return r;
}
