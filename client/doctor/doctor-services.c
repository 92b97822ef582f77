/* `selvedge doctor`: the environment of the daemons: ports, systemd units, SELinux, swap. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "client/doctor/doctor-unit.h"
#include "client/doctor/doctor.h"
#include "common/fd.h"
#include "common/str.h"

#define PORTS "ports"
#define UNITS "systemd"

/* Returns the uid of the listener on `port` in /proc/net/tcp or tcp6, or -1. */
static int64_t find_listener(const char *file, uint16_t port)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_strv_ char **lines = NULL;
    size_t len = 0;

    /* slot local remote state queues timer retransmits uid … */
    if (sv_read_file_at(AT_FDCWD, file, 64 << 20, &text, &len) < 0 ||
        sv_strv_split(text, '\n', &lines) < 0)
        return -1;
    for (char **line = lines; *line; line++) {
        unsigned local = 0, state = 0, uid = 0;
        const char *colon = strchr(*line, ':');
        if (colon &&
            sscanf(colon + 1, " %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %u", &local, &state, &uid) ==
                3 &&
            state == 0x0a && local == port)
            return uid;
    }
    return -1;
}

static bool is_active(const char *name)
{
    sd_bus *bus = NULL;
    struct doctor_unit u;
    bool active = cli_doctor_systemd_runs() && sd_bus_open_system(&bus) >= 0 &&
                  cli_doctor_unit_load(bus, name, &u) && strcmp(u.active, "active") == 0;

    sd_bus_unref(bus);
    return active;
}

static void check_port(struct doctor *d, const char *what, uint16_t number, const char *unit)
{
    int64_t uid;
    const struct passwd *pw;

    if (number == 0)
        return;
    uid = find_listener("/proc/net/tcp", number);
    if (uid < 0)
        uid = find_listener("/proc/net/tcp6", number);
    if (uid < 0) {
        cli_doctor_report(d, DOCTOR_OK, PORTS, NULL, "%u (%s): free", number, what);
        return;
    }
    if (d->have_daemon && (uid_t)uid == d->daemon_uid) {
        cli_doctor_report(d, DOCTOR_OK, PORTS, NULL, "%u (%s): %s listens", number, what,
                          d->daemon);
        return;
    }
    if (uid == 0 && is_active(unit)) {
        cli_doctor_report(d, DOCTOR_OK, PORTS, NULL, "%u (%s): held by %s", number, what, unit);
        return;
    }
    pw = getpwuid((uid_t)uid);
    cli_doctor_report(d, DOCTOR_BAD, PORTS,
                      "ss -ltnp shows the process; stop it, or give the NodeManager another port",
                      "%u (%s): %s listens there, uid %" PRId64, number, what,
                      pw ? pw->pw_name : "somebody", uid);
}

static void check_units(struct doctor *d)
{
    sd_bus *bus = NULL;
    struct doctor_unit nm, containers;

    if (!cli_doctor_systemd_runs()) {
        cli_doctor_report(d, DOCTOR_WEAK, UNITS,
                          "start the daemon by a supervisor, in a cgroup of its own",
                          "systemd is not running: nothing delegates a cgroup or restarts the "
                          "NodeManager");
        return;
    }
    int r = sd_bus_open_system(&bus);
    if (r < 0) {
        cli_doctor_report(d, DOCTOR_NOTE, UNITS, NULL, "the system bus does not answer: %s",
                          strerror(-r));
        return;
    }
    bool have_nm = cli_doctor_unit_load(bus, "selvedge-nodemanager.service", &nm);
    if (!have_nm)
        cli_doctor_report(d, DOCTOR_NOTE, UNITS, "install the unit",
                          "selvedge-nodemanager.service: not installed");
    else
        cli_doctor_report(d, strcmp(nm.active, "failed") == 0 ? DOCTOR_BAD : DOCTOR_OK, UNITS,
                          strcmp(nm.active, "failed") == 0
                              ? "journalctl -u selvedge-nodemanager shows why"
                              : NULL,
                          "selvedge-nodemanager.service: %s", nm.active);
    if (d->socket) {
        struct doctor_unit listener;
        bool have = cli_doctor_unit_load(bus, "selvedge-executor.socket", &listener);
        cli_doctor_report(
            d, have && strcmp(listener.active, "active") == 0 ? DOCTOR_OK : DOCTOR_BAD, UNITS,
            have && strcmp(listener.active, "active") == 0
                ? NULL
                : "systemctl enable --now selvedge-executor.socket",
            "selvedge-executor.socket: %s", have ? listener.active : "not installed");
        if (have_nm)
            cli_doctor_report(d, nm.no_new_privs ? DOCTOR_OK : DOCTOR_WEAK, UNITS,
                              nm.no_new_privs
                                  ? NULL
                                  : "put share/selvedge/nodemanager-socket.conf into "
                                    "/etc/systemd/system/selvedge-nodemanager.service.d/",
                              "selvedge-nodemanager.service: NoNewPrivileges is %s",
                              nm.no_new_privs ? "on" : "off, and nothing needs that any more");
    } else if (have_nm && nm.no_new_privs)
        cli_doctor_report(
            d, DOCTOR_BAD, UNITS,
            "set selvedge.nodemanager.executor.socket, or remove NoNewPrivileges= and the options "
            "that imply it (SystemCallFilter= and others)",
            "selvedge-nodemanager.service: NoNewPrivileges is on: the setuid helper gets no "
            "rights");
    bool have_containers = cli_doctor_unit_load(bus, "selvedge-containers.service", &containers);
    const struct doctor_unit *owner = have_containers ? &containers : &nm;
    const char *name =
        have_containers ? "selvedge-containers.service" : "selvedge-nodemanager.service";
    if (have_containers)
        cli_doctor_report(
            d, strcmp(containers.active, "active") == 0 ? DOCTOR_OK : DOCTOR_WEAK, UNITS,
            strcmp(containers.active, "active") == 0 ? NULL
                                                     : "systemctl enable --now selvedge-containers",
            "selvedge-containers.service: %s", containers.active);
    if ((have_nm || have_containers) && owner->delegate == 0)
        cli_doctor_report(d, DOCTOR_BAD, UNITS, "Delegate=yes in the unit",
                          "%s: without Delegate=: no cgroup of its own", name);
    sd_bus_unref(bus);
}

/* True if the loaded policy defines the module's types. */
static bool module_loaded(void)
{
    static const char label[] = "system_u:system_r:selvedge_container_t:s0:c0,c1,c512,c513";
    _cleanup_close_ int fd = open("/sys/fs/selinux/context", O_RDWR | O_CLOEXEC);

    return fd >= 0 && write(fd, label, sizeof(label)) == (ssize_t)sizeof(label);
}

static void check_selinux(struct doctor *d)
{
    static const char area[] = "SELinux";
    const bool here = d->have_conf && d->conf.selinux_labels, there = d->policy.labels;
    char value[64];

    if (d->have_conf && d->policy.known && here != there)
        cli_doctor_report(d, DOCTOR_BAD, area,
                          "set both selvedge.nodemanager.selinux.labels in yarn-site.xml and "
                          "selvedge.sandbox.selinux in container-executor.cfg, or neither",
                          "labels are enabled on one side only: the NodeManager does not start");
    if (access("/sys/fs/selinux/enforce", F_OK) < 0) {
        if (here || there)
            cli_doctor_report(d, DOCTOR_BAD, area, "boot with SELinux, or disable labels",
                              "off, but labels are enabled: no container starts");
        else
            cli_doctor_report(d, DOCTOR_NOTE, area, NULL, "off; containers have no label");
        return;
    }
    (void)cli_doctor_read_line("/sys/fs/selinux/enforce", value, sizeof(value));
    const bool enforcing = strcmp(value, "1") == 0;
    const char *mode = enforcing ? "enforcing" : "permissive";
    if (!here && !there)
        cli_doctor_report(d, DOCTOR_NOTE, area, NULL,
                          "%s; containers have no label: selvedge.sandbox.selinux is not set",
                          mode);
    else if (!module_loaded())
        cli_doctor_report(
            d, DOCTOR_BAD, area, "semodule -i /usr/share/selinux/packages/selvedge.pp, restorecon",
            "%s; the policy module selvedge is not loaded: no container starts", mode);
    else if (!enforcing)
        cli_doctor_report(d, d->policy.enforcing ? DOCTOR_BAD : DOCTOR_WEAK, area, "setenforce 1",
                          d->policy.enforcing
                              ? "permissive, and enforcing is required: no container starts"
                              : "permissive: denials are only logged");
    else
        cli_doctor_report(
            d, DOCTOR_OK, area, NULL,
            "enforcing; containers run as selvedge_container_t with categories of their own");
}

static void check_swap(struct doctor *d)
{
    _cleanup_free_ char *text = NULL;
    size_t len = 0;

    if (sv_read_file_at(AT_FDCWD, "/proc/swaps", 65536, &text, &len) < 0)
        return;
    const char *second = strchr(text, '\n');
    if (second && second[1])
        cli_doctor_report(
            d, DOCTOR_NOTE, "swap", NULL,
            "in use; a container's own share of it is 0 where the memory controller is");
    else
        cli_doctor_report(d, DOCTOR_OK, "swap", NULL, "none");
}

void cli_doctor_services(struct doctor *d)
{
    if (d->have_conf) {
        check_port(d, "containers' managers", d->conf.port, "selvedge-nodemanager.socket");
        check_port(d, "web", d->conf.web_port, "selvedge-nodemanager-web.socket");
    }
    check_units(d);
    check_selinux(d);
    check_swap(d);
}
