/* See probe.h. */
#include "service/definition/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/refuse.h"

enum { URL, PORT, TIMEOUT, MIN, MAX, DNS_CHECK, DNS_ADDRESS };
static const struct svc_probe_row rows[] = {
    [URL] = { "url", "HTTP", 0, 0, NULL,
              "What is requested: `http://${THIS_HOST}:8080/ready`. `${THIS_HOST}` is the "
              "address of the instance." },
    [PORT] = { "port", "PORT", 1, 65535, NULL, "Port that must accept a connection." },
    [TIMEOUT] = { "timeout", "HTTP, PORT", 1, 600000, "1000", "Milliseconds for one check." },
    [MIN] = { "min.success", "HTTP", 100, 599, "200", "Least status that is ready." },
    [MAX] = { "max.success", "HTTP", 100, 599, "299", "Greatest status that is ready." },
    [DNS_CHECK] = { "dns.check.enabled", "all", 0, 0, "false",
                    "The instance's name must resolve, too." },
    [DNS_ADDRESS] = { "dns.address", "all", 0, 0, "",
                      "Address and port of the name server asked." },
};

const struct svc_probe_row *svc_probe_rows(size_t *ret_n)
{
    *ret_n = sizeof rows / sizeof *rows;
    return rows;
}

static const char *value_of(const struct svc_readiness *r, int row)
{
    const char *v = svc_map_get(&r->properties, rows[row].name);

    return v && *v ? v : rows[row].def;
}

static int refuse(struct sv_error *err, const char *path, int row, const char *v, const char *rule)
{
    struct svc_path at;

    at = svc_path("%s.properties[\"%s\"]", path, rows[row].name);
    return svc_refuse(err, at.text, v, "%s", rule);
}

static int number(const struct svc_readiness *r, const char *path, int row, int64_t *ret,
                  struct sv_error *err)
{
    const char *v = value_of(r, row);
    char rule[64];

    if (!v)
        return refuse(err, path, row, NULL, "missing: a check of type PORT needs it");
    if (sv_parse_i64(v, rows[row].min, rows[row].max, ret) == 0)
        return 0;
    (void)snprintf(rule, sizeof rule, "a whole number from %" PRId64 " to %" PRId64, rows[row].min,
                   rows[row].max);
    return refuse(err, path, row, v, rule);
}

static int http(const struct svc_readiness *r, const char *path, struct svc_probe *ret,
                struct sv_error *err)
{
    int rc;

    ret->url = value_of(r, URL);
    if (!ret->url)
        return refuse(err, path, URL, NULL, "missing: a check of type HTTP needs it");
    if (!sv_has_prefix(ret->url, "http://") && !sv_has_prefix(ret->url, "https://"))
        return refuse(err, path, URL, ret->url, "an URL that begins with http:// or https://");
    rc = number(r, path, MIN, &ret->min_success, err);
    if (rc == 0)
        rc = number(r, path, MAX, &ret->max_success, err);
    if (rc == 0 && ret->min_success > ret->max_success)
        rc = refuse(err, path, MIN, value_of(r, MIN), "more than max.success");
    return rc;
}

int svc_probe_of(const struct svc_readiness *r, const char *path, struct svc_probe *ret,
                 struct sv_error *err)
{
    struct svc_probe p = { .type = r->type, .url = "", .dns_address = value_of(r, DNS_ADDRESS) };
    int rc;

    if (sv_parse_bool(value_of(r, DNS_CHECK), &p.dns_check) < 0)
        return refuse(err, path, DNS_CHECK, value_of(r, DNS_CHECK), "true or false");
    rc = number(r, path, TIMEOUT, &p.timeout_ms, err);
    if (rc == 0 && r->type == SVC_READY_PORT)
        rc = number(r, path, PORT, &p.port, err);
    if (rc == 0 && r->type == SVC_READY_HTTP)
        rc = http(r, path, &p, err);
    if (rc < 0)
        return rc;
    *ret = p;
    return 0;
}
