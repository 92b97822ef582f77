/* `selvedge doctor`: the containers' connect filter, and whether it refuses the ResourceManager's
 * ports for nodes and administrators if yarn-site.xml changes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/doctor.h"
#include "common/str.h"

#define AREA "connections"

struct scan {
    struct doctor *d;
    const char *key;  /* also with the suffix ".ID" of a ResourceManager */
    const char *port; /* default port */
    bool found;
};

static bool refused(const struct doctor *d, const char *port)
{
    const size_t n = strlen(port);

    for (const char *s = d->policy.refused_ports; s; s = strchr(s, ',')) {
        s += *s == ',';
        if (strncmp(s, port, n) == 0 && (s[n] == ',' || s[n] == '\0'))
            return true;
    }
    return false;
}

static void check_port(struct doctor *d, const char *key, const char *port)
{
    char remedy[128];

    if (refused(d, port))
        return;
    (void)snprintf(remedy, sizeof(remedy),
                   "add %.16s to selvedge.connect-filter.refused-ports in container-executor.cfg",
                   port);
    cli_doctor_report(
        d, DOCTOR_WEAK, AREA, remedy,
        "%s: port %.16s can be reached from containers, which may register as nodes or "
        "administer the ResourceManager there",
        key, port);
}

static int on_key(const char *name, const char *value, void *userdata)
{
    struct scan *s = userdata;
    const size_t n = strlen(s->key);

    if (strncmp(name, s->key, n) != 0 || (name[n] != '\0' && name[n] != '.'))
        return 0;
    value = sv_conf_raw(s->d->conf.conf, name); /* unexpanded */
    const char *colon = value ? strrchr(value, ':') : NULL;
    s->found = true;
    check_port(s->d, name, colon ? colon + 1 : s->port);
    return 0;
}

static void check_key(struct doctor *d, const char *key, const char *port)
{
    struct scan s = { .d = d, .key = key, .port = port };

    if (sv_conf_each(d->conf.conf, on_key, &s) == 0 && !s.found)
        check_port(d, key, port);
}

void cli_doctor_connections(struct doctor *d)
{
    const struct doctor_policy *p = &d->policy;

    if (!p->known)
        return;
    if (!p->refused_ports) {
        cli_doctor_report(
            d, DOCTOR_WEAK, AREA,
            "remove selvedge.connect-filter.enabled=false from container-executor.cfg",
            "the connect filter is off: containers and localizers reach the "
            "ResourceManager's ports for nodes and administrators, and a cloud's "
            "metadata service");
        return;
    }
    cli_doctor_report(d, DOCTOR_OK, AREA, NULL,
                      "containers and localizers cannot connect to port %s of any machine",
                      p->refused_ports[0] ? p->refused_ports : "(none is listed)");
    if (!d->have_conf)
        return;
    check_key(d, "yarn.resourcemanager.resource-tracker.address", "8031");
    check_key(d, "yarn.resourcemanager.admin.address", "8033");
}
