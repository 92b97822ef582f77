/* `selvedge doctor`: kernel features: system calls that the helper needs, optional protections, and
 * cgroup v2 with its controllers. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroups/hierarchy.h"
#include "client/doctor/doctor.h"
#include "common/caps.h"
#include "common/fd.h"
#include "common/str.h"

#define KERNEL "kernel"
#define CGROUPS "cgroups"

/* Called with arguments that cannot succeed: only ENOSYS means that the call is missing. */
static const struct {
    const char *name, *since;
    long number;
} calls[] = {
    { "clone3", "5.3", SYS_clone3 },
    { "openat2", "5.6", SYS_openat2 },
    { "pidfd_open", "5.3", SYS_pidfd_open },
    { "close_range", "5.9", SYS_close_range },
    { "open_tree", "5.2", SYS_open_tree },
    { "move_mount", "5.2", SYS_move_mount },
    { "fsopen", "5.2", SYS_fsopen },
    { "mount_setattr", "5.12", SYS_mount_setattr },
    { "bpf", "4.15 for device filters", SYS_bpf },
    { "seccomp", "3.17", SYS_seccomp },
};

static void protections(struct doctor *d)
{
    static const struct {
        const char *path, *at_least, *meaning;
    } sysctls[] = {
        { "/proc/sys/fs/protected_symlinks", "1", "links in sticky directories are followed" },
        { "/proc/sys/fs/protected_hardlinks", "1", "anybody may link to others' files" },
        { "/proc/sys/fs/protected_regular", "1", "files in sticky directories can be planted" },
        { "/proc/sys/fs/protected_fifos", "1", "FIFOs in sticky directories can be planted" },
        { "/proc/sys/kernel/unprivileged_bpf_disabled", "1", "any user may load BPF programs" },
        { "/proc/sys/kernel/kptr_restrict", "1", "kernel addresses are shown to any user" },
        { "/proc/sys/kernel/yama/ptrace_scope", "1", "a user's processes may trace each other" },
    };
    char value[64];

    for (size_t i = 0; i < SV_ARRAY_LEN(sysctls); i++) {
        if (!*cli_doctor_read_line(sysctls[i].path, value, sizeof(value)))
            continue; /* missing in this kernel, or not readable */
        if (strcmp(value, sysctls[i].at_least) < 0)
            cli_doctor_report(d, DOCTOR_NOTE, KERNEL,
                              "set it to 1 with sysctl; Selvedge does not rely on it",
                              "%s is %s: %s on the host", sysctls[i].path + strlen("/proc/sys/"),
                              value, sysctls[i].meaning);
    }
}

/* Landlock scopes keep a container in the host's network away from the host's abstract sockets. */
static void landlock(struct doctor *d)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */);

    if (abi < 6)
        cli_doctor_report(
            d, DOCTOR_NOTE, KERNEL, "Linux 6.12 with CONFIG_SECURITY_LANDLOCK",
            "no Landlock scopes: a container with the host's network can reach the host's abstract "
            "unix sockets; servers there must check their peers");
    else
        cli_doctor_report(d, DOCTOR_OK, KERNEL, NULL, "Landlock %ld, with scopes", abi);
}

/* The bounding set also limits a setuid program. */
static void bounding(struct doctor *d)
{
    static const cap_value_t needed[] = { CAP_SETUID,    CAP_SETGID,    CAP_SETPCAP,
                                          CAP_SYS_ADMIN, CAP_CHOWN,     CAP_DAC_OVERRIDE,
                                          CAP_NET_ADMIN, CAP_SYS_CHROOT };
    static const cap_value_t wished[] = { CAP_SYS_RESOURCE };
    char missing[SV_CAPS_TEXT_MAX];

    if (sv_caps_unbounded(wished, SV_ARRAY_LEN(wished), missing) > 0)
        cli_doctor_report(
            d, DOCTOR_NOTE, KERNEL,
            "add it to CapabilityBoundingSet= of the NodeManager's unit, or of the container "
            "around this machine",
            "the bounding set here lacks %s: a job can set its oom_score_adj back to 0, and "
            "where the "
            "NodeManager has one below 0 none is started",
            missing);
    if (sv_caps_unbounded(needed, SV_ARRAY_LEN(needed), missing) > 0)
        cli_doctor_report(
            d, DOCTOR_BAD, KERNEL,
            "add them to CapabilityBoundingSet= of the NodeManager's unit, or start it "
            "without dropping them",
            "the bounding set here lacks %s: container-executor would not get them", missing);
}

void cli_doctor_kernel(struct doctor *d)
{
    struct utsname u;
    unsigned missing = 0;
    char value[256];

    if (uname(&u) < 0)
        return;
    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++)
        if (syscall(calls[i].number, -1L, -1L, -1L, -1L, -1L, -1L) < 0 && errno == ENOSYS) {
            missing++;
            cli_doctor_report(d, DOCTOR_BAD, KERNEL, "a newer kernel, 5.14 at least",
                              "%s: no %s (since %s)", u.release, calls[i].name, calls[i].since);
        }
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL) {
        missing++;
        cli_doctor_report(d, DOCTOR_BAD, KERNEL, "a kernel with CONFIG_SECCOMP_FILTER",
                          "%s: no seccomp", u.release);
    } else if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0) {
        missing++;
        cli_doctor_report(
            d, DOCTOR_BAD, KERNEL, "run it outside of that container or unit option",
            "a system call filter applies to this process: container-executor refuses to run "
            "under one");
    }
    if (!missing)
        cli_doctor_report(d, DOCTOR_OK, KERNEL, NULL,
                          "%s: clone3, openat2, pidfds, the mount calls, BPF, seccomp", u.release);
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0)
        cli_doctor_report(d, DOCTOR_BAD, KERNEL,
                          "NoNewPrivileges= must be off where the NodeManager runs",
                          "no_new_privs is set here: setuid has no effect");
    if (!*cli_doctor_read_line("/proc/pressure/memory", value, sizeof(value)))
        cli_doctor_report(d, DOCTOR_NOTE, KERNEL, "boot with psi=1", "no pressure figures (PSI)");
    bounding(d);
    landlock(d);
    protections(d);
}

/* Returns "unified", "hybrid" or "v1"; `mount` gets the mount point of cgroup2. */
static const char *cgroup_mode(char *mount, size_t size)
{
    char line[4096];
    struct mntent entry;
    struct statfs fs;
    FILE *f = setmntent("/proc/self/mounts", "re");

    mount[0] = '\0';
    while (f && getmntent_r(f, &entry, line, sizeof(line)))
        if (strcmp(entry.mnt_type, "cgroup2") == 0 && !*mount)
            (void)snprintf(mount, size, "%s", entry.mnt_dir);
    if (f)
        (void)endmntent(f);
    if (statfs("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
        return "unified";
    return *mount ? "hybrid" : "v1";
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* Finds the nearest existing cgroup at or above `root`, in `buf`. */
static void nearest_cgroup(const char *root, const char *mount, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s", root);
    while (access(buf, F_OK) < 0) {
        char *slash = strrchr(buf, '/');
        if (!slash || slash == buf || strlen(buf) <= strlen(mount)) {
            (void)snprintf(buf, size, "%s", mount);
            return;
        }
        *slash = '\0';
    }
}

static void controllers(struct doctor *d, const char *root, const char *group)
{
    static const struct {
        const char *name, *what;
        bool needed;
    } wanted[] = {
        { "memory", "memory limits", true },
        { "pids", "limits of processes", true },
        { "cpu", "shares of CPU", true },
        { "io", "shares of I/O", false },
        { "cpuset", "CPUs and NUMA nodes of its own", false },
    };
    char file[4096 + 32], have[1024], why[1024], good[256] = "";
    bool allowed = d->have_conf && d->conf.unenforced_allowed &&
                   (!d->policy.known || d->policy.unenforced_allowed);

    (void)snprintf(file, sizeof(file), "%s/cgroup.controllers", group);
    (void)cli_doctor_read_line(file, have, sizeof(have));
    for (size_t i = 0; i < SV_ARRAY_LEN(wanted); i++) {
        if (has_word(have, wanted[i].name)) {
            size_t n = strlen(good);
            (void)snprintf(good + n, sizeof(good) - n, "%s%s", n ? ", " : "", wanted[i].name);
            continue;
        }
        cg_why_missing(wanted[i].name, root, why, sizeof(why));
        if (!wanted[i].needed)
            cli_doctor_report(d, DOCTOR_NOTE, CGROUPS, NULL, "%s cannot be given: %s",
                              wanted[i].what, why);
        else if (allowed)
            cli_doctor_report(d, DOCTOR_WEAK, CGROUPS,
                              "allowed here by both configurations; for development alone",
                              "%s are not enforced: %s", wanted[i].what, why);
        else
            cli_doctor_report(
                d, DOCTOR_BAD, CGROUPS,
                "no container starts without them, unless unenforced-limits.allowed is true "
                "in both "
                "configurations",
                "%s cannot be enforced: %s", wanted[i].what, why);
    }
    if (*good)
        cli_doctor_report(d, DOCTOR_OK, CGROUPS, NULL, "%s: %s", group, good);
}

/* Checks the cgroup of the containers, and that the daemon owns it. */
static void check_containers_cgroup(struct doctor *d, const char *root, const char *group)
{
    struct stat st;
    char file[4352];

    if (strcmp(root, group) != 0) {
        cli_doctor_report(
            d, DOCTOR_NOTE, CGROUPS,
            "the unit that owns it makes it (systemctl start selvedge-containers, Delegate=yes)",
            "%s: not there", root);
        return;
    }
    if (stat(root, &st) == 0 && d->have_daemon && st.st_uid != d->daemon_uid)
        cli_doctor_report(d, DOCTOR_BAD, CGROUPS,
                          "Delegate=yes and User= in the unit, or chown the group",
                          "%s: uid %u's, not the NodeManager's", root, st.st_uid);
    (void)snprintf(file, sizeof(file), "%s/cgroup.kill", root);
    if (access(file, F_OK) < 0)
        cli_doctor_report(d, DOCTOR_BAD, CGROUPS, "Linux 5.14 or newer", "%s: %s", file,
                          strerror(errno));
}

void cli_doctor_cgroups(struct doctor *d)
{
    char mount[1024], group[4096];
    const char *mode = cgroup_mode(mount, sizeof(mount));
    const char *root = d->policy.cgroup_root ? d->policy.cgroup_root
                       : d->have_conf        ? d->conf.cgroup_root
                                             : NULL;

    if (!*mount) {
        cli_doctor_report(d, DOCTOR_BAD, CGROUPS, "boot with systemd.unified_cgroup_hierarchy=1",
                          "no cgroup2 file system is mounted");
        return;
    }
    cli_doctor_report(d, strcmp(mode, "unified") == 0 ? DOCTOR_OK : DOCTOR_WEAK, CGROUPS,
                      strcmp(mode, "unified") == 0 ? NULL
                                                   : "boot with systemd.unified_cgroup_hierarchy=1",
                      "%s hierarchy, cgroup v2 at %s", mode, mount);
    if (!root || !*root) {
        cli_doctor_report(
            d, DOCTOR_NOTE, CGROUPS, NULL,
            "containers' group not known here: it is below the NodeManager's own, or root may ask");
        root = mount;
    }
    nearest_cgroup(root, mount, group, sizeof(group));
    controllers(d, root, group);
    if (root != mount)
        check_containers_cgroup(d, root, group);
}
