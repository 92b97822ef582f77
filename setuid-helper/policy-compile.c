/* Compiles root's configuration and the state of the machine into the policy: ids of the service
 * accounts and of banned users, assignable device nodes. Part of container-prepare; input MUST be
 * root's alone. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/prepare.h"

#define ACCOUNTS_MAX (4 * 1024 * 1024)
#define SECOND INT64_C(1000000000)
#define TICK 12000000 /* ns: a change within less than this may not change the times of a file */

static char accounts[ACCOUNTS_MAX];

void hlp_add_source(struct hlp_policy *p, const char *path, bool content)
{
    struct hlp_source *s = &p->sources[p->n_sources];
    if (!path || p->n_sources++ == HLP_SOURCES_MAX)
        hlp_fail(EXE_STATUS_STATE, path ? E2BIG : ENOMEM, path ? path : "a source of the policy");
    s->path = path;
    s->content = content;
    hlp_source_probe(s);
    /* A file that has just changed is read when its times can distinguish the next change from this
     * one: by the kernel's tick, or by whole seconds if the file system has no finer ones. */
    for (int tries = 0; content && tries < 3; tries++) {
        const int64_t tick = s->ctime.tv_nsec ? TICK : SECOND + TICK;
        struct timespec now, pause = { tick / SECOND, tick % SECOND };
        (void)clock_gettime(CLOCK_REALTIME, &now);
        int64_t age = (now.tv_sec - s->ctime.tv_sec) * SECOND + now.tv_nsec - s->ctime.tv_nsec;
        if (age < 0 || age > tick)
            break;
        (void)nanosleep(&pause, NULL);
        hlp_source_probe(s);
    }
}

static size_t read_trusted(const char *path, void *buf, size_t max, enum exe_status on_open,
                           enum exe_status on_owner)
{
    int fd = hlp_open_trusted(path, O_RDONLY, on_open, on_owner);
    size_t got = 0;
    for (;;) {
        ssize_t n = read(fd, (char *)buf + got, max - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || got + (size_t)n >= max)
            hlp_fail(on_open, n < 0 ? errno : EFBIG, path);
        if (n == 0)
            break;
        got += (size_t)n;
    }
    (void)close(fd);
    return got;
}

static size_t load(struct hlp_policy *p, const char *path)
{
    hlp_add_source(p, path, true);
    return read_trusted(path, accounts, sizeof(accounts), EXE_STATUS_USER_LOOKUP,
                        EXE_STATUS_USER_LOOKUP);
}

/* A service account, whose id no job may have. */
static struct hlp_user service(const struct hlp_users *users, const char *name,
                               struct hlp_policy *p)
{
    const struct hlp_user *u = hlp_users_find(users, name);
    if (!u || u->uid == 0 || u->gid == 0)
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, 0, name);
    if (hlp_id_refused(&p->refused_uids, u->uid) || !hlp_id_refuse(&p->refused_uids, u->uid))
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, EINVAL, "two service accounts have one user id");
    return *u;
}

static void find_accounts(const struct hlp_config *cfg, struct hlp_policy *p,
                          struct hlp_users *users)
{
    size_t len = load(p, "/etc/passwd");
    if (hlp_users_parse(accounts, len, users) < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, ENOMEM, "/etc/passwd");
    p->nm = service(users, cfg->nm_user, p);
    p->monitor = service(users, cfg->monitor_user, p);
    p->public = service(users, cfg->public_user, p);
    p->lookup = service(users, cfg->lookup_user, p);
    bool room = true;
    for (uint32_t i = 0; i < cfg->banned.n; i++) {
        const struct hlp_user *u = hlp_users_find(users, cfg->banned.v[i]);
        room = room && (!u || hlp_id_refuse(&p->refused_uids, u->uid));
    }
    if (!room)
        hlp_fail(EXE_STATUS_USER_LOOKUP, E2BIG, "banned.users");
    hlp_users_ban(users, &cfg->banned);
    len = load(p, "/etc/group");
    if (!hlp_group_find(accounts, len, cfg->group, &p->nm_gid) || p->nm_gid == 0)
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, 0, cfg->group);
    if (hlp_groups_refuse(p, &cfg->banned_groups, accounts, len) < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, E2BIG, "/etc/group");
    hlp_users_join(p, users, accounts, len);
    p->n_users = (uint32_t)users->n;
}

/* Call it before the first text: the filters are at the front of the texts. */
static void load_filters(struct hlp_policy *p)
{
    static const char *const names[HLP_FILTERS] = {
        [HLP_FILTER_STRICT] = LIBEXECDIR "/seccomp/strict.bpf",
        [HLP_FILTER_HADOOP] = LIBEXECDIR "/seccomp/hadoop.bpf",
        [HLP_FILTER_LOCALIZER] = LIBEXECDIR "/seccomp/localizer.bpf",
        [HLP_FILTER_MONITOR] = LIBEXECDIR "/seccomp/monitor.bpf",
    };
    size_t at = 0;
    for (size_t i = 0; i < HLP_FILTERS; i++) {
        hlp_add_source(p, names[i], true);
        size_t n = read_trusted(names[i], p->text + at, sizeof(p->text) - at, EXE_STATUS_FILTER,
                                EXE_STATUS_FILTER);
        if (n == 0 || n % sizeof(struct sock_filter) ||
            n / sizeof(struct sock_filter) > HLP_BPF_MAX)
            hlp_fail(EXE_STATUS_FILTER, EBADMSG, names[i]);
        p->filters[i].len = (unsigned short)(n / sizeof(struct sock_filter));
        at += n;
    }
}

static size_t line(char *text, size_t at, const char *key, const char *value)
{
    if (at + strlen(key) + strlen(value) + 3 > EXE_REPLY_TEXT_MAX)
        hlp_fail(EXE_STATUS_STATE, E2BIG, key);
    return at + hlp_format(text + at, EXE_REPLY_TEXT_MAX - at, "%s=%s\n", key, value);
}

static size_t number(char *text, size_t at, const char *key, uint32_t value)
{
    char digits[16];
    (void)hlp_format(digits, sizeof(digits), "%u", value);
    return line(text, at, key, digits);
}

/* The answer to CHECK, which the daemon compares with its own settings. */
void hlp_write_answer(struct hlp_config *cfg)
{
    static char text[EXE_REPLY_TEXT_MAX];
    struct hlp_policy *p = &cfg->policy;
    size_t n = 0;
    for (uint32_t i = 0; i < p->local_dirs.n; i++)
        n = line(text, n, "local-dir", p->local_dirs.v[i]);
    for (uint32_t i = 0; i < p->log_dirs.n; i++)
        n = line(text, n, "log-dir", p->log_dirs.v[i]);
    n = line(text, n, "cgroup-root", p->cgroup_root);
    n = line(text, n, "user", p->nm.name);
    n = number(text, n, "uid", p->nm.uid);
    n = number(text, n, "monitor-uid", p->monitor.uid);
    n = number(text, n, "public-uid", p->public.uid);
    n = number(text, n, "min-user-id", p->min_uid);
    n = line(text, n, "unenforced-limits-allowed", p->unenforced_allowed ? "true" : "false");
    n = line(text, n, "selinux",
             !p->selinux                               ? "off"
             : p->selinux >> HLP_SELINUX_ENFORCING & 1 ? "enforcing"
                                                       : "labels");
    for (const char *const *w = hlp_profile_names; *w; w++)
        if (p->profiles >> (w - hlp_profile_names) & 1)
            n = line(text, n, "profile", *w);
    for (const char *const *w = hlp_network_names; *w; w++)
        if (p->networks >> (w - hlp_network_names) & 1)
            n = line(text, n, "network", *w);
    if (p->networks >> EXE_NETWORK_PRIVATE & 1) {
        n = line(text, n, "network-mode", p->net.mode);
        n = line(text, n, "network-link", p->net.link);
        n = line(text, n, "network-range", p->net.range);
        n = line(text, n, "network-gateway", p->net.gateway);
        n = number(text, n, "network-mtu", p->net.mtu);
        n = number(text, n, "network-outbound-mbit", p->net.total_kbit / 1000);
    }
    n = line(text, n, "connect-filter", p->connect_filter ? "on" : "off");
    if (p->connect_filter) {
        n = line(text, n, "refused-ports", cfg->connect.ports.text);
        n = line(text, n, "refused-networks", cfg->connect.refused.text);
        n = line(text, n, "allowed-networks", cfg->connect.allowed.text);
    }
    if (p->unfiltered[0])
        n = line(text, n, "no-filter", p->unfiltered);
    for (uint32_t i = 0; i < p->n_nodes && n < EXE_REPLY_TEXT_MAX - 64; i++) {
        char id[32];
        (void)hlp_format(id, sizeof(id), "%u:%u", p->nodes[i].id.major, p->nodes[i].id.minor);
        n = line(text, n, "device", id);
    }
    p->answer = text;
}

/* Nodes that every user of a GPU needs, added with the first one of its major. */
static const struct {
    uint32_t major;
    const char *path;
} controls[HLP_CONTROLS_MAX] = {
    { 195, "nvidiactl" },  { 195, "nvidia-modeset" },
    { 195, "nvidia-uvm" }, { 195, "nvidia-uvm-tools" },
    { 226, "kfd" },
};

static bool is_node(int dev, const char *path, struct exe_device *ret)
{
    struct stat st;
    if (fstatat(dev, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(st.st_mode))
        return false;
    ret->major = major(st.st_rdev);
    ret->minor = minor(st.st_rdev);
    return true;
}

static bool known(const struct hlp_policy *p, const struct exe_device *d)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].id.major == d->major && p->nodes[i].id.minor == d->minor)
            return true;
    return false;
}

static void add_node(struct hlp_policy *p, const struct exe_device *id, const char *path)
{
    const uint32_t n = p->n_nodes + p->n_controls;
    struct hlp_node node = { .id = *id, .path = strdup(path) }; /* lives as long as the program */
    if (n == HLP_ASSIGNABLE_MAX || !node.path)
        hlp_fail(EXE_STATUS_DEVICE, E2BIG, "more device nodes than may be allowed");
    p->nodes[n] = node;
}

/* Finds the assignable nodes of one directory below /dev ("" or "name/"); the first of each
 * number. */
static void search(const struct hlp_config *cfg, struct hlp_policy *p, int dev, const char *below)
{
    struct exe_device id;
    char path[sizeof("nvidia-caps/") + 255];
    int fd = hlp_open_at(dev, below[0] ? below : ".", O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        (void)hlp_format(path, sizeof(path), "%s%s", below, e->d_name);
        if (is_node(dev, path, &id) && !known(p, &id) &&
            (hlp_device_allowed(cfg, &id) ||
             (strcmp(below, "nvidia-caps/") == 0 && hlp_instance_allowed(cfg, &id)))) {
            add_node(p, &id, path);
            p->n_nodes++;
        }
    }
    if (dir)
        (void)closedir(dir);
}

static void find_nodes(const struct hlp_config *cfg, struct hlp_policy *p)
{
    static const char *const dirs[] = { "", "dri/", "nvidia-caps/", "accel/" };
    static const char *const watched[] = { "/dev", "/dev/dri", "/dev/nvidia-caps", "/dev/accel" };
    struct exe_device id;
    p->assignable = cfg->gpu.enabled || cfg->fpga.enabled || cfg->devices.enabled;
    if (!p->assignable)
        return;
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        hlp_add_source(p, watched[i], true);
    int dev = hlp_openat2(AT_FDCWD, "/dev", O_PATH | O_DIRECTORY, 0);
    for (size_t i = 0; dev >= 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
        search(cfg, p, dev, dirs[i]);
    p->control_major = cfg->gpu.major;
    for (size_t i = 0; i < HLP_CONTROLS_MAX && controls[i].path; i++)
        if (controls[i].major == cfg->gpu.major && is_node(dev, controls[i].path, &id)) {
            add_node(p, &id, controls[i].path);
            p->n_controls++;
        }
    (void)close(dev);
}

/* Reads the file; it and the directories above it must be root's. */
static void read_config(struct hlp_config *cfg)
{
    const char *why = NULL;
    char text[HLP_PATH_MAX];
    static char above[] = EXECUTOR_CONF;
    for (char *slash; (slash = strrchr(above, '/')) > above;) {
        *slash = '\0';
        hlp_add_source(&cfg->policy, strdup(above), false); /* lives as long as the program */
    }
    hlp_add_source(&cfg->policy, EXECUTOR_CONF, true);
    size_t len = read_trusted(EXECUTOR_CONF, cfg->text, HLP_CONFIG_MAX + 1, EXE_STATUS_CONFIG_OPEN,
                              EXE_STATUS_CONFIG_OWNER);
    int line = hlp_config_parse(cfg, len, &why);
    if (line == 0)
        return;
    (void)hlp_format(text, sizeof(text), "%s:%d: %s", EXECUTOR_CONF, line, why);
    hlp_fail(EXE_STATUS_CONFIG_SYNTAX, EINVAL, text);
}

void hlp_compile(struct hlp_config *cfg, struct hlp_users *ret_users)
{
    struct hlp_policy *p = &cfg->policy;
    hlp_add_source(p, LIBEXECDIR "/container-prepare", true);
    hlp_add_source(p, "/proc/self/ns/mnt", false); /* another mount namespace has its own state */
    read_config(cfg);
    p->net.magic = NET_MAGIC;
    p->net.version = NET_VERSION;
    p->net.flags = cfg->net_isolated ? NET_ISOLATED : 0;
    find_accounts(cfg, p, ret_users);
    find_nodes(cfg, p);
    hlp_device_code(p);
    load_filters(p);
}

struct texts {
    char *to;
    size_t n, size;
};

static bool append(const char **text, void *argument)
{
    struct texts *t = argument;
    size_t n = strlen(*text) + 1;
    if (n > t->size - t->n)
        return false;
    memcpy(t->to + t->n, *text, n);
    t->n += n;
    *text = NULL;
    return true;
}

size_t hlp_policy_pack(struct hlp_policy *p)
{
    struct texts t = { p->text, 0, sizeof(p->text) };
    for (int i = 0; i < HLP_FILTERS; i++)
        t.n += p->filters[i].len * sizeof(struct sock_filter);
    if (!hlp_policy_texts(p, append, &t))
        hlp_fail(EXE_STATUS_STATE, E2BIG, "policy");
    p->magic = HLP_POLICY_MAGIC;
    p->id = HLP_POLICY_ID;
    p->length = offsetof(struct hlp_policy, text) + t.n;
    return p->length;
}
