/* See doctor-gss-unit.h. */
#include "client/doctor/doctor-gss-unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/doctor/doctor-unit.h"
#include "common/str.h"

#define AREA "Kerberos"
#define SOCKET_KEY "selvedge.nodemanager.kerberos.socket"

static void check_socket(struct doctor *d, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "systemctl enable --now selvedge-gss.socket",
                          "%s: %s: the NodeManager has no tickets without it", path,
                          strerror(errno));
    else if (!S_ISSOCK(st.st_mode) || st.st_mode & 0077 ||
             (d->have_daemon && st.st_uid != d->daemon_uid))
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "SocketUser= of selvedge-gss.socket is the NodeManager's account, "
                          "SocketMode=0600",
                          "%s: uid %u, mode %04o: the NodeManager's account alone must be able to "
                          "connect: tickets of this node are to be had there",
                          path, st.st_uid, (unsigned)(st.st_mode & 07777));
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "%s: %s may connect, nobody else", path,
                          d->daemon);
}

/* With the socket the key has no effect: a file that it names and the unit has not got is a
 * slip. */
static void check_credential(struct doctor *d, char *const *files, const char *key,
                             const char *keytab)
{
    char remedy[512];

    if (!keytab || !sv_conf_raw(d->conf.conf, key))
        return;
    for (char *const *f = files; f && *f; f++)
        if (sv_streq(*f, keytab))
            return;
    (void)snprintf(remedy, sizeof(remedy),
                   "systemctl edit selvedge-gss@.service: LoadCredential=NAME:%.300s, and --keytab "
                   "NAME in ExecStart=",
                   keytab);
    cli_doctor_report(d, DOCTOR_WEAK, AREA, remedy,
                      "%s is %s, which LoadCredential= of selvedge-gss@.service has not got: the "
                      "unit's files count",
                      key, keytab);
}

static void check_account(struct doctor *d, const char *user)
{
    if (!*user || sv_streq(user, "root") || sv_streq(user, d->daemon))
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "User=selvedge-gss",
                          "selvedge-gss@.service: runs as %s: an account of its own keeps the "
                          "keytab from others",
                          *user ? user : "root");
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "selvedge-gss@.service: runs as %s", user);
}

static char **check_service(struct doctor *d, sd_bus *bus)
{
    const struct nm_conf_kerberos *k = &d->conf.kerberos;
    struct doctor_unit unit;
    char **files;

    if (!cli_doctor_unit_load(bus, "selvedge-gss@doctor.service", &unit)) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "install the package selvedge-nodemanager",
                          "selvedge-gss@.service: not installed");
        return NULL;
    }
    files = cli_doctor_unit_credentials(bus, &unit);
    if (!files)
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "LoadCredential=keytab:/etc/security/keytabs/nm.service.keytab",
                          "selvedge-gss@.service: no LoadCredential=: it has no keytab");
    check_credential(d, files, "yarn.nodemanager.keytab", k->own.keytab);
    check_credential(d, files, "yarn.nodemanager.webapp.spnego-keytab-file", k->own.web_keytab);
    check_account(d, unit.user);
    return files;
}

/* The daemon's unit starts the socket: it may be away while the daemon is. */
static void check_listener(struct doctor *d, sd_bus *bus)
{
    struct doctor_unit listener, nm;
    bool there = cli_doctor_unit_load(bus, "selvedge-gss.socket", &listener);
    bool runs = cli_doctor_unit_load(bus, "selvedge-nodemanager.service", &nm) &&
                sv_streq(nm.active, "active");

    if (there && sv_streq(listener.active, "active")) {
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "selvedge-gss.socket: active");
        check_socket(d, d->gss_socket);
    } else if (there) {
        cli_doctor_report(d, runs ? DOCTOR_BAD : DOCTOR_NOTE, AREA,
                          "systemctl start selvedge-gss.socket, or the NodeManager, which does it",
                          "selvedge-gss.socket: %s", listener.active);
    } else {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "install the package selvedge-nodemanager",
                          "selvedge-gss.socket: not installed");
    }
}

/* The keytabs of the unit. */
static char **check_units(struct doctor *d, sd_bus *bus)
{
    check_listener(d, bus);
    return check_service(d, bus);
}

/* The unit's command line counts for a daemon that it starts. */
static void find_socket(struct doctor *d, sd_bus *bus)
{
    const char *configured = d->conf.kerberos.own.socket;
    struct doctor_unit unit;

    if (bus && d->of_unit && cli_doctor_unit_load(bus, "selvedge-nodemanager.service", &unit))
        d->gss_socket = cli_doctor_unit_setting(bus, &unit, SOCKET_KEY);
    if (!d->gss_socket && configured)
        d->gss_socket = strdup(configured);
    if (d->gss_socket && !*d->gss_socket) /* there for a helper of the daemon's own */
        free(SV_TAKE(d->gss_socket));
}

static char **of_keys(const struct nm_conf_kerberos *k)
{
    char **files = calloc(3, sizeof(char *));
    size_t n = 0;

    if (files && k->own.keytab && (files[n] = strdup(k->own.keytab)))
        n++;
    if (files && k->own.web_keytab && !sv_streq(k->own.web_keytab, k->own.keytab))
        files[n] = strdup(k->own.web_keytab);
    return files;
}

void cli_doctor_gss_units(struct doctor *d, char ***ret)
{
    const struct nm_conf_kerberos *k = &d->conf.kerberos;
    sd_bus *bus = NULL;

    *ret = NULL;
    if (cli_doctor_systemd_runs() && sd_bus_open_system(&bus) < 0)
        bus = NULL; /* the area systemd says so */
    find_socket(d, bus);
    if (d->gss_socket && bus)
        *ret = check_units(d, bus);
    else if (d->gss_socket)
        check_socket(d, d->gss_socket);
    else
        cli_doctor_report(d, DOCTOR_WEAK, AREA,
                          "selvedge.nodemanager.kerberos.socket=/run/selvedge-gss/socket, and "
                          "selvedge-gss.socket: an account of its own then reads the keytab",
                          "the NodeManager starts selvedge-gss with its own account: whoever takes "
                          "the daemon over can read %s",
                          k->own.keytab);
    sd_bus_unref(bus);
    if (!*ret)
        *ret = of_keys(k);
}
