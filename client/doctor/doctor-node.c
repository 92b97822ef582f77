/* `selvedge doctor`: Hadoop's configuration, accounts, the installed files and the node's
 * directories. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "common/str.h"
#include "nodemanager/aux-services/aux-class.h"
#include "nodemanager/conf/conf-address.h"
#include "nodemanager/conf/conf-check.h"
#include "nodemanager/conf/conf-sandbox.h"
#include "nodemanager/conf/conf-unread.h"

#define CONFIGURATION "configuration"
#define SANDBOX "sandbox"
#define ACCOUNTS "accounts"
#define FILES "files"
#define DIRECTORIES "directories"

/* Collects keys that are not read, into one finding per reason. */
struct unread {
    struct doctor *d;
    const struct nm_key_group *group; /* group being collected; NULL: the unknown ones */
    unsigned n;
    char names[1024];
};

static int on_unread(const char *name, const char *value, const struct nm_key_group *group,
                     const char *nearest, void *userdata)
{
    struct unread *u = userdata;
    size_t len = strlen(u->names);

    (void)value;
    if (group != u->group)
        return 0;
    if (!group) /* Selvedge's own keys have no other readers */
        cli_doctor_report(u->d,
                          sv_has_prefix(name, "selvedge.nodemanager.") ? DOCTOR_BAD : DOCTOR_NOTE,
                          CONFIGURATION, "selvedge-nodemanager --print-config lists the keys",
                          "%s: no such key%s%s%s", name, nearest ? "; is " : "", nearest ?: "",
                          nearest ? " meant?" : "");
    else
        snprintf(u->names + len, sizeof(u->names) - len, "%s%s", len ? ", " : "", name);
    u->n++;
    return 0;
}

static void report_unread(struct doctor *d)
{
    struct unread u = { .d = d };
    int r = nm_conf_unread(d->conf.conf, on_unread, &u);

    for (const struct nm_key_group *g = nm_key_groups; g->text && r >= 0; g++) {
        u = (struct unread){ .d = d, .group = g };
        r = nm_conf_unread(d->conf.conf, on_unread, &u);
        if (u.n)
            cli_doctor_report(d, DOCTOR_NOTE, CONFIGURATION, NULL, "%s: %s: %s",
                              g->meaning == NM_KEY_NOT_DONE ? "not done by this version"
                                                            : "without meaning here",
                              g->text, u.names);
    }
    if (r < 0)
        cli_doctor_report(d, DOCTOR_NOTE, CONFIGURATION, NULL, "keys that are not read: %s",
                          strerror(-r));
}

static void report_refusal(const char *text, void *userdata)
{
    cli_doctor_report(userdata, DOCTOR_BAD, CONFIGURATION,
                      "the NodeManager does not start with this: correct it", "%s", text);
}

static void report_missing(const char *text, void *userdata)
{
    cli_doctor_report(userdata, DOCTOR_WEAK, CONFIGURATION,
                      "jobs that bring data for it are refused until it runs", "%s", text);
}

static void report_unseen(const char *text, const char *line, void *userdata)
{
    _cleanup_free_ char *remedy = NULL;

    if (line && sv_asprintf(&remedy, "container-executor.cfg: %s", line) < 0)
        remedy = NULL;
    cli_doctor_report(userdata, DOCTOR_NOTE, SANDBOX, remedy, "%s", text);
}

void cli_doctor_configuration(struct doctor *d, const char *dir, char *const *overrides)
{
    struct sv_error err = { 0 };
    const char *other;
    char rm[360];

    d->helper = SELVEDGE_LIBEXECDIR "/container-executor";
    if (nm_conf_load(&d->conf, dir, overrides, &err) < 0) {
        report_refusal(err.text, d);
        if (d->conf.conf)
            nm_conf_each_refusal(d->conf.conf, err.text, report_refusal, d);
        return;
    }
    d->have_conf = true;
    if (d->conf.executor_path && *d->conf.executor_path)
        d->helper = d->conf.executor_path;
    d->socket = d->conf.executor_socket;
    cli_doctor_report(d, DOCTOR_OK, CONFIGURATION, NULL,
                      "%s: read; node %s:%u, ResourceManager %s%s", sv_conf_dir(d->conf.conf),
                      d->conf.hostname, d->conf.port,
                      ipc_proxy_server_text(&d->conf.rm.servers[0], rm, sizeof(rm)),
                      d->conf.rm.n_servers > 1 ? " and others" : "");
    if (nm_host_is_local_name(d->conf.hostname, &d->conf.rm, &other))
        cli_doctor_report(
            d, DOCTOR_BAD, CONFIGURATION, "correct /etc/hosts, or set yarn.nodemanager.hostname",
            "%s, this node's name, resolves to loopback addresses only, and the "
            "ResourceManager is on %s: neither it nor jobs on other nodes can connect",
            d->conf.hostname, other);
    nm_aux_each_missing(&d->conf, report_missing, d);
    report_unread(d);
    if (nm_conf_each_unseen(&d->conf, NULL, NULL, report_unseen, d) < 0)
        cli_doctor_report(d, DOCTOR_NOTE, SANDBOX, NULL, "not checked: out of memory");
}

void cli_doctor_accounts(struct doctor *d)
{
    static char own[256];
    const struct passwd *pw = getpwuid(geteuid());

    /* Accounts other than root and the NodeManager's that may start the helper. */
    if (!d->daemon) {
        bool ours = pw && geteuid() != 0 && access(d->helper, X_OK) == 0;
        (void)snprintf(own, sizeof(own), "%s", ours ? pw->pw_name : "yarn");
        d->daemon = own;
    }
    pw = getpwnam(d->daemon);
    if (!pw && d->absent) {
        return;
    } else if (!pw) {
        cli_doctor_report(d, DOCTOR_BAD, ACCOUNTS,
                          "systemd-sysusers packaging/sysusers.conf, or --user NAME",
                          "%s: the NodeManager's account does not exist", d->daemon);
    } else if (pw->pw_uid == 0) {
        cli_doctor_report(d, DOCTOR_BAD, ACCOUNTS, "give the NodeManager an account of its own",
                          "%s: is root", d->daemon);
    } else {
        d->have_daemon = true;
        d->daemon_uid = pw->pw_uid;
        d->daemon_gid = pw->pw_gid;
        const struct group *g = getgrgid(pw->pw_gid);
        for (char **m = g ? g->gr_mem : NULL; m && *m; m++)
            if (strcmp(*m, d->daemon) != 0)
                cli_doctor_report(
                    d, DOCTOR_WEAK, ACCOUNTS, "gpasswd -d that account from the group",
                    "%s is in the NodeManager's group %s and may start container-executor", *m,
                    g->gr_name);
        cli_doctor_report(d, DOCTOR_OK, ACCOUNTS, NULL, "%s: uid %u, group %s", d->daemon,
                          d->daemon_uid, g ? g->gr_name : "?");
    }
    if (!d->have_conf || !d->conf.limit_users || d->conf.kerberos.own.on)
        return;
    pw = getpwnam(d->conf.local_user);
    if (!pw)
        cli_doctor_report(
            d, DOCTOR_BAD, ACCOUNTS,
            "create it, or set yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user",
            "%s: the account of all containers in insecure mode does not exist",
            d->conf.local_user);
    else
        cli_doctor_report(
            d, DOCTOR_NOTE, ACCOUNTS,
            "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users=false gives each "
            "its user's account",
            "all containers run as %s: they are one user's, and with profile host can read each "
            "other's files",
            d->conf.local_user);
}

/* Files installed beside the helper that root executes or loads. */
static const struct {
    const char *name;
    mode_t not ; /* bits that must not be set */
    mode_t bits; /* bits that must be set */
} files[] = {
    { "container-localizer", 022, 0111 }, { "container-holder", 022, 0111 },
    { "container-prepare", 022, 0100 },   { "container-signal", 022, 0111 },
    { "container-network", 022, 0111 },   { "container-delete", 022, 0111 },
    { "container-monitor", 066, 0111 },   { "container-init", 066, 0111 },
    { "user-lookup", 066, 0111 },         { "selvedge-am", 022, 0111 },
    { "container-link", 022, 0111 },      { "container-start", 022, 0111 },
    { "seccomp/strict.bpf", 022, 0 },     { "seccomp/hadoop.bpf", 022, 0 },
    { "seccomp/localizer.bpf", 022, 0 },  { "seccomp/monitor.bpf", 022, 0 },
};

static bool helper_directory(const struct doctor *d, char dir[4096])
{
    char *slash;

    (void)snprintf(dir, 4096, "%s", d->helper);
    slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Lists missing files as "a, b, c"; returns their number. */
static size_t missing_files(const char *dir, char *list, size_t size)
{
    char path[4352];
    size_t n = 0, used = 0;

    *list = '\0';
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
        if (access(path, F_OK) == 0 || errno != ENOENT)
            continue;
        if (used < size)
            used +=
                (size_t)snprintf(list + used, size - used, "%s%s", n ? ", " : "", files[i].name);
        n++;
    }
    return n;
}

void cli_doctor_installed(struct doctor *d)
{
    char dir[4096], list[512];

    if (!helper_directory(d, dir) || access(d->helper, F_OK) == 0 || errno != ENOENT ||
        missing_files(dir, list, sizeof(list)) < SV_ARRAY_LEN(files))
        return;
    d->absent = true;
    cli_doctor_report(
        d, DOCTOR_BAD, FILES,
        "install the packages selvedge-container-executor and selvedge-nodemanager, or "
        "make install; then run this again",
        "%s: not installed: neither container-executor nor the %zu files beside it", dir,
        SV_ARRAY_LEN(files));
}

void cli_doctor_files(struct doctor *d)
{
    char dir[4096], path[4352], list[512];
    struct stat st;
    size_t good = 0, missing;

    if (d->absent || !helper_directory(d, dir))
        return;
    missing = missing_files(dir, list, sizeof(list));
    if (missing)
        cli_doctor_report(d, DOCTOR_BAD, FILES, "install them again (make install, or the package)",
                          "%s: %zu missing: %s", dir, missing, list);
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
        if (stat(path, &st) < 0 && errno == ENOENT)
            continue;
        if (stat(path, &st) < 0)
            cli_doctor_report(d, DOCTOR_BAD, FILES,
                              "let root and the NodeManager's account search it", "%s: %s", path,
                              strerror(errno));
        else if (st.st_uid != 0 || st.st_mode & files[i].not ||
                 (st.st_mode & files[i].bits) != files[i].bits)
            cli_doctor_report(d, DOCTOR_BAD, FILES, "chown root, chmod as packaging/modes says",
                              "%s: uid %u, mode %04o", path, st.st_uid,
                              (unsigned)(st.st_mode & 07777));
        else
            good++;
    }
    if (good == SV_ARRAY_LEN(files))
        cli_doctor_report(d, DOCTOR_OK, FILES, NULL,
                          "%s: localizer, account look-up, ApplicationMaster, system call filters",
                          dir);
}

/* Checks a directory of the daemon. `runs`: it holds programs of jobs. */
static void check_directory(struct doctor *d, const char *path, bool runs)
{
    struct stat st;
    struct statvfs fs;
    char buf[4096];
    enum doctor_state worst = DOCTOR_OK;
    const char *unsafe;

    if (stat(path, &st) < 0 && errno == ENOENT && d->absent)
        return;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        cli_doctor_report(d, DOCTOR_BAD, DIRECTORIES,
                          "create it: install -d -o <NodeManager's account> -m 755", "%s: %s", path,
                          errno ? strerror(errno) : "not a directory");
        return;
    }
    if (d->have_daemon && (st.st_uid != d->daemon_uid || st.st_mode & 022)) {
        cli_doctor_report(
            d, worst = DOCTOR_BAD, DIRECTORIES, "chown <NodeManager's account>, chmod 755",
            "%s: uid %u, mode %04o; it must be the NodeManager's and writable by it alone", path,
            st.st_uid, (unsigned)(st.st_mode & 07777));
    }
    unsafe = cli_doctor_find_unsafe(path, st.st_uid, buf, sizeof(buf));
    if (unsafe && strcmp(unsafe, path) != 0)
        cli_doctor_report(d, worst = DOCTOR_BAD, DIRECTORIES, "chown root, chmod go-w",
                          "%s: parent of %s that others than root can write", unsafe, path);
    if (statvfs(path, &fs) < 0)
        return;
    if (fs.f_flag & ST_RDONLY)
        cli_doctor_report(d, worst = DOCTOR_BAD, DIRECTORIES, "mount it read-write",
                          "%s: mounted read-only", path);
    if (runs && fs.f_flag & ST_NOEXEC)
        cli_doctor_report(d, worst = DOCTOR_BAD, DIRECTORIES, "mount it without noexec",
                          "%s: mounted noexec; it holds launch scripts and programs of jobs", path);
    if (runs && (fs.f_flag & (ST_NOSUID | ST_NODEV)) != (ST_NOSUID | ST_NODEV))
        cli_doctor_report(
            d, DOCTOR_NOTE, DIRECTORIES,
            "a file system of its own with nosuid,nodev keeps a full disk and users' files apart",
            "%s: mounted without nosuid and nodev; containers get both", path);
    double used =
        fs.f_blocks ? 100.0 * (double)(fs.f_blocks - fs.f_bavail) / (double)fs.f_blocks : 0;
    uint64_t free_mb = (uint64_t)fs.f_bavail * fs.f_frsize >> 20;
    if (d->have_conf && d->conf.disk_check_enabled &&
        (used > d->conf.max_disk_utilization || (int64_t)free_mb < d->conf.min_free_mb))
        cli_doctor_report(d, worst = DOCTOR_BAD, DIRECTORIES, "free space there",
                          "%s: %.0f %% used, %llu MiB free: the disk checker takes it out of use",
                          path, used, (unsigned long long)free_mb);
    if (worst == DOCTOR_OK)
        cli_doctor_report(d, DOCTOR_OK, DIRECTORIES, NULL, "%s: %llu MiB free", path,
                          (unsigned long long)free_mb);
}

void cli_doctor_directories(struct doctor *d)
{
    if (!d->have_conf)
        return;
    for (char **dir = d->conf.local_dirs; dir && *dir; dir++)
        check_directory(d, *dir, true);
    for (char **dir = d->conf.log_dirs; dir && *dir; dir++)
        check_directory(d, *dir, false);
    if (d->conf.recovery && d->conf.recovery_dir)
        check_directory(d, d->conf.recovery_dir, false);
}
