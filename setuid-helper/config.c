/* Parser of container-executor.cfg: Hadoop's key=value lines and [sections]. Part of
 * container-prepare. The file is root's (path.c has verified it), so this guards against mistakes,
 * not attacks: an unclear line MUST be refused and MUST NOT fall back to a default. Also run by
 * unit tests and by a fuzzer. */
#include <string.h>

#include "setuid-helper/prepare.h"

enum kind {
    NAME, /* an account */
    PATH,
    PATHS,
    NAMES,
    UID,
    FLAG,
    WORDS, /* words of the table in `more`, as bits */
    MAJOR, /* major number of every device of a class */
    MINORS,
    DEVICES, /* major:minor… */
    CHARS,   /* text for container-network, of at most `more` bytes */
    LABEL,   /* text of at most 255 bytes */
    NUMBER,
    PORTS, /* of the connect filter (connect-rules.c); this and the next may be empty */
    NETWORKS,
    OFF,    /* a feature of Hadoop's helper that this one lacks: only "off" is accepted */
    UNUSED, /* any key with this prefix, in the section of such a feature */
};

const char *const hlp_profile_names[] = { "", "strict", "hadoop", "host", NULL };
static const char *const selinux[] = { "labels", "enforcing", NULL };
const char *const hlp_network_names[] = { "host", "none", "private", NULL };

#define AT(field) offsetof(struct hlp_config, field)
#define CHARS_AT(field)                                                                            \
    CHARS, AT(field),                                                                              \
    {                                                                                              \
        .size = sizeof(((struct hlp_config *)0)->field)                                            \
    }
static const struct row {
    const char *key;
    enum kind kind;
    size_t offset;
    union {
        const char *const *words;
        size_t size;
    } more;
} rows[] = {
    { "yarn.nodemanager.linux-container-executor.group", NAME, AT(group) },
    { "yarn.nodemanager.local-dirs", PATHS, AT(policy.local_dirs) },
    { "yarn.nodemanager.log-dirs", PATHS, AT(policy.log_dirs) },
    { "banned.users", NAMES, AT(banned) },
    { "selvedge.banned.groups", NAMES, AT(banned_groups) },
    { "allowed.system.users", NAMES, AT(policy.allowed_system) },
    { "min.user.id", UID, AT(policy.min_uid) },
    { "selvedge.nodemanager.user", NAME, AT(nm_user) },
    { "selvedge.monitor.user", NAME, AT(monitor_user) },
    { "selvedge.public.user", NAME, AT(public_user) },
    { "selvedge.lookup.user", NAME, AT(lookup_user) },
    { "selvedge.cgroup.root", PATH, AT(policy.cgroup_root) },
    { "selvedge.unenforced-limits.allowed", FLAG, AT(policy.unenforced_allowed) },
    { "selvedge.sandbox.profiles", WORDS, AT(policy.profiles), { .words = hlp_profile_names } },
    { "selvedge.sandbox.networks", WORDS, AT(policy.networks), { .words = hlp_network_names } },
    { "selvedge.sandbox.read-only-paths", PATHS, AT(read_only) },
    { "selvedge.sandbox.writable-paths", PATHS, AT(writable) },
    { "selvedge.sandbox.selinux-label", LABEL, AT(policy.label) },
    { "selvedge.sandbox.selinux", WORDS, AT(policy.selinux), { .words = selinux } },
    { "selvedge.network.mode", CHARS_AT(policy.net.mode) },
    { "selvedge.network.link", CHARS_AT(policy.net.link) },
    { "selvedge.network.range", CHARS_AT(policy.net.range) },
    { "selvedge.network.gateway", CHARS_AT(policy.net.gateway) },
    { "selvedge.network.mtu", NUMBER, AT(policy.net.mtu) },
    { "selvedge.network.isolated", FLAG, AT(net_isolated) },
    { "selvedge.network.outbound-mbit", NUMBER, AT(policy.net.total_kbit) },
    { "selvedge.connect-filter.enabled", FLAG, AT(policy.connect_filter) },
    { "selvedge.connect-filter.refused-ports", PORTS, AT(connect.ports) },
    { "selvedge.connect-filter.refused-networks", NETWORKS, AT(connect.refused) },
    { "selvedge.connect-filter.allowed-networks", NETWORKS, AT(connect.allowed) },
    { "[gpu]module.enabled", FLAG, AT(gpu.enabled) },
    { "[gpu]gpu.major-device-number", MAJOR, AT(gpu) },
    { "[gpu]gpu.allowed-device-minor-numbers", MINORS, AT(gpu) },
    { "[fpga]module.enabled", FLAG, AT(fpga.enabled) },
    { "[fpga]fpga.major-device-number", MAJOR, AT(fpga) },
    { "[fpga]fpga.allowed-device-minor-numbers", MINORS, AT(fpga) },
    { "[devices]module.enabled", FLAG, AT(devices.enabled) },
    { "[devices]devices.allowed-numbers", DEVICES, AT(devices) },
    { "[devices]devices.denied-numbers", DEVICES, AT(denied) },
    { "feature.docker.enabled", OFF },
    { "feature.tc.enabled", OFF },
    { "feature.mount-cgroup.enabled", OFF },
    { "feature.terminal.enabled", OFF },
    { "feature.yarn.sysfs.enabled", OFF },
    { "feature.runc.enabled", OFF },
    { "[docker]module.enabled", OFF },
    { "[docker]docker.", UNUSED },
    { "[runc]module.enabled", OFF },
    { "[runc]runc.", UNUSED },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* "/a/b": absolute, normalized, without special bytes. */
static bool path_ok(const char *s)
{
    size_t n = strlen(s);
    if (n < 2 || n >= 256 || s[0] != '/' || s[n - 1] == '/')
        return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 127 || strchr("\\\"'`$*?,:", s[i]))
            return false;
        if (s[i] == '/' && (s[i + 1] == '/' || s[i + 1] == '.'))
            return false; /* refuses hidden directories: never a data directory */
    }
    return true;
}

static bool name_ok(const char *s)
{
    size_t n = strlen(s);
    if (n == 0 || n > EXE_USER_MAX || s[0] == '-')
        return false;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 127 || strchr("/:,\\", *s))
            return false;
    return true;
}

/* The next entry of a comma list; NULL at its end. */
static char *entry(char **rest)
{
    char *item = *rest, *comma = item ? strchr(item, ',') : NULL;
    if (comma)
        *comma++ = '\0';
    *rest = comma;
    return item;
}

static const char *list(struct hlp_list *l, char *value, bool (*ok)(const char *), unsigned max)
{
    for (char *item; (item = entry(&value));) {
        if (!ok(item))
            return "an entry of the list is empty or has a form that is not accepted";
        if (l->n == max)
            return "too many entries";
        if (hlp_list_has(l, item))
            return "an entry is there twice";
        l->v[l->n++] = item;
    }
    return NULL;
}

static const char *words(uint32_t *bits, char *value, const char *const *table)
{
    *bits = 0;
    for (char *item; (item = entry(&value));) {
        unsigned i = 0;
        while (table[i] && (strcmp(table[i], item) != 0 || !item[0]))
            i++;
        if (!table[i])
            return "a word of the list is not one of those that there are";
        if (*bits >> i & 1)
            return "an entry is there twice";
        *bits |= 1U << i;
    }
    return NULL;
}

/* A plain decimal number up to `max`: not "", "+1", "01", " 1", "0x1". */
static bool number(const char *s, uint32_t max, uint32_t *ret)
{
    uint64_t v = 0;
    size_t n = strlen(s);
    if (n == 0 || n > 10 || (s[0] == '0' && n > 1))
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    *ret = (uint32_t)v;
    return v <= max;
}

/* "0,1" as minor numbers, "195:0,242:1" as devices. */
static const char *devices(struct hlp_devices *d, char *value, bool with_major)
{
    for (char *item; (item = entry(&value));) {
        char *minor = item;
        struct exe_device *to = &d->v[d->n];
        if (d->n == HLP_LIST_MAX)
            return "too many entries";
        to->major = 0;
        if (with_major) {
            minor = strchr(item, ':');
            if (!minor)
                return "an entry is not major:minor";
            *minor++ = '\0';
            if (!number(item, (1 << 12) - 1, &to->major) || to->major == 0)
                return "not a major device number";
        }
        if (!number(minor, (1 << 20) - 1, &to->minor))
            return "not a minor device number";
        d->n++;
    }
    return NULL;
}

static const char *set(struct hlp_config *cfg, const struct row *row, char *value)
{
    void *to = (char *)cfg + row->offset;
    switch (row->kind) {
    case NAME:
        *(const char **)to = value;
        return name_ok(value) ? NULL : "not an account name";
    case PATH:
        *(const char **)to = value;
        return path_ok(value) ? NULL : "not an absolute path in normal form";
    case PATHS:
        return list(to, value, path_ok, EXE_DIRS_MAX);
    case NAMES:
        return list(to, value, name_ok, HLP_LIST_MAX);
    case UID:
        return number(value, HLP_ID_MAX, to) && *(uint32_t *)to >= 100
                   ? NULL
                   : "must be a plain decimal number, 100 or more and a valid user id";
    case FLAG:
        *(uint8_t *)to = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
        return *(uint8_t *)to || strcmp(value, "false") == 0 || strcmp(value, "0") == 0
                   ? NULL
                   : "must be true or false";
    case WORDS:
        return words(to, value, row->more.words);
    case MAJOR:
        return number(value, (1 << 12) - 1, &((struct hlp_devices *)to)->major)
                   ? NULL
                   : "not a major device number";
    case MINORS:
    case DEVICES:
        return devices(to, value, row->kind == DEVICES);
    case CHARS:
        if (strlen(value) >= row->more.size)
            return "too long";
        memcpy(to, value, strlen(value));
        return NULL;
    case LABEL:
        *(const char **)to = value;
        return strlen(value) < 256 ? NULL : "too long";
    case NUMBER:
        return number(value, 4000000, to) ? NULL : "not a plain decimal number up to 4000000";
    case PORTS:
        return hlp_connect_ports(to, value);
    case NETWORKS:
        return hlp_connect_networks(to, value);
    case OFF:
        return strcmp(value, "0") == 0 || strcmp(value, "false") == 0
                   ? NULL
                   : "this feature does not exist here; only 0 or false is accepted";
    case UNUSED:
        return NULL;
    }
    return "internal error";
}

/* The row of a key in a section ("" or "[name]"). */
static const struct row *find(const char *section, const char *key)
{
    size_t n = strlen(section);
    for (const struct row *r = rows; r < rows + N_ROWS; r++)
        if (strncmp(r->key, section, n) == 0 && (n > 0 || r->key[0] != '[')) {
            const char *name = r->key + n;
            if (r->kind == UNUSED ? strncmp(name, key, strlen(name)) == 0 : strcmp(name, key) == 0)
                return r;
        }
    return NULL;
}

static const char *line(struct hlp_config *cfg, char *s, const char **section, bool seen[N_ROWS])
{
    if (*s == '\0' || *s == '#')
        return NULL;
    if (*s == '[') {
        *section = s;
        size_t n = strlen(s);
        for (unsigned i = 0; i < N_ROWS; i++)
            if (s[n - 1] == ']' && strncmp(rows[i].key, s, n) == 0)
                return NULL;
        return "unknown section";
    }
    char *value = strchr(s, '=');
    if (!value)
        return "no '=' in the line";
    *value++ = '\0';
    const struct row *row = find(*section, s);
    if (!row)
        return "unknown key";
    if (seen[row - rows] && row->kind != UNUSED)
        return "key is there twice";
    seen[row - rows] = true;
    if (*value == '\0' && row->kind != PORTS &&
        row->kind != NETWORKS) /* lists of these kinds may be empty on purpose */
        return row->kind == NAMES || row->kind == UNUSED || row->offset == AT(read_only) ||
                       row->offset == AT(writable)
                   ? NULL
                   : "value is empty";
    return set(cfg, row, value);
}

static bool below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool below_one(const char *path, const char *const *dirs)
{
    for (; *dirs; dirs++)
        if (below(path, *dirs))
            return true;
    return false;
}

static bool overlap(const struct hlp_list *a, const struct hlp_list *b)
{
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned k = 0; k < b->n; k++)
            if (a->v[i] != b->v[k] && (below(a->v[i], b->v[k]) || below(b->v[k], a->v[i])))
                return true;
    return false;
}

/* A directory of ours must be neither at nor inside a place where the sandbox mounts something
 * else. */
static const char *places(const struct hlp_config *cfg)
{
    static const char *const taken[] = { "/tmp",  "/var/tmp", "/proc", "/sys",     "/dev", "/usr",
                                         "/etc",  "/opt",     "/bin",  "/sbin",    "/lib", "/lib64",
                                         "/boot", "/root",    "/run",  "/var/run", NULL };
    static const char *const secret[] = { "/proc", "/sys", "/dev",     "/root",
                                          "/boot", "/tmp", "/var/tmp", NULL };
    const struct hlp_list *ours[2] = { &cfg->policy.local_dirs, &cfg->policy.log_dirs };
    const struct hlp_list *more[2] = { &cfg->read_only, &cfg->writable };
    for (int k = 0; k < 2; k++) {
        for (unsigned i = 0; i < ours[k]->n; i++)
            if (below_one(ours[k]->v[i], taken))
                return "a local or log directory lies below /tmp, /proc, /sys, /dev, /run or a "
                       "system directory that containers see";
        for (unsigned i = 0; i < more[k]->n; i++) {
            const char *path = more[k]->v[i];
            if (below_one(path, secret))
                return "a path of selvedge.sandbox.… is one that no container may see";
            if (below(path, "/var/run") || (below(path, "/run") && (k > 0 || !path[4])))
                return "of /run, read-only-paths alone may name what is below it, and not as "
                       "/var/run";
        }
        if (overlap(ours[0], ours[k]) || overlap(ours[1], ours[k]))
            return "local and log directories overlap";
        if (overlap(ours[0], more[k]) || overlap(ours[1], more[k]))
            return "a local or log directory and a path of selvedge.sandbox.… overlap";
    }
    return NULL;
}

static const char *whole(const struct hlp_config *cfg)
{
    if (!cfg->group)
        return "yarn.nodemanager.linux-container-executor.group is missing";
    if (cfg->policy.local_dirs.n == 0)
        return "yarn.nodemanager.local-dirs is missing";
    if (cfg->policy.log_dirs.n == 0)
        return "yarn.nodemanager.log-dirs is missing";
    if (!cfg->policy.cgroup_root)
        return "selvedge.cgroup.root is missing";
    if (cfg->policy.selinux && cfg->policy.label[0])
        return "selvedge.sandbox.selinux and selvedge.sandbox.selinux-label exclude each other";
    return places(cfg);
}

int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why)
{
    static const char *const banned[] = { "yarn", "mapred", "hdfs", "bin" }; /* Hadoop's */
    /* Groups equivalent to root, or with rights to the host's devices, logs or keys. */
    static const char *const groups[] = { "disk",  "kmem",   "shadow",  "docker", "lxd",
                                          "incus", "podman", "libvirt", "adm",    "systemd-journal",
                                          "sudo",  "backup", "video",   "kvm",    "ssl-cert" };
    bool seen[N_ROWS] = { false };
    const char *section = "";
    int n = 0;
    cfg->policy.label = cfg->policy.held = cfg->policy.unfiltered = "";
    cfg->nm_user = "yarn";
    cfg->monitor_user = "selvedge-monitor";
    cfg->public_user = "selvedge-public";
    cfg->lookup_user = "selvedge-lookup";
    cfg->policy.min_uid = 1000;
    cfg->policy.profiles = 1U << EXE_PROFILE_STRICT;
    cfg->policy.connect_filter = true;
    cfg->policy.networks = 1U << EXE_NETWORK_HOST | 1U << EXE_NETWORK_NONE;
    cfg->gpu.major = 195; /* Hadoop's defaults: NVIDIA, and its FPGA plugin */
    cfg->fpga.major = 246;
    if (len > HLP_CONFIG_MAX || (len && cfg->text[len - 1] != '\n')) {
        *ret_why = "the file is too long or its last line has no end";
        return 1;
    }
    for (char *s = cfg->text, *end = cfg->text + len; s < end;) {
        n++;
        char *newline = memchr(s, '\n', (size_t)(end - s));
        *newline = '\0';
        const char *why = NULL;
        for (char *p = s; p < newline; p++)
            if ((unsigned char)*p < ' ' || (unsigned char)*p >= 127)
                why = "a byte that is not printable ASCII (CR LF line end?)";
        if (!why)
            why = line(cfg, s, &section, seen);
        if (why) {
            *ret_why = why;
            return n;
        }
        s = newline + 1;
    }
    *ret_why = whole(cfg);
    if (!*ret_why)
        *ret_why = hlp_connect_defaults(&cfg->connect);
    if (*ret_why)
        return n ? n : 1;
    cfg->policy.net.total_kbit *= 1000;
    for (size_t i = 0; !seen[3] && i < sizeof(banned) / sizeof(banned[0]); i++)
        cfg->banned.v[cfg->banned.n++] = banned[i];
    for (size_t i = 0; !seen[4] && i < sizeof(groups) / sizeof(groups[0]); i++)
        cfg->banned_groups.v[cfg->banned_groups.n++] = groups[i];
    return 0;
}

static bool has(const struct hlp_devices *d, uint32_t major, uint32_t minor)
{
    for (unsigned i = 0; i < d->n; i++)
        if (d->v[i].major == major && d->v[i].minor == minor)
            return true;
    return false;
}

/* True for every minor number of a GPU's or FPGA's major unless the configuration lists some. */
static bool class_has(const struct hlp_devices *d, const struct exe_device *dev)
{
    return d->enabled && dev->major == d->major && (d->n == 0 || has(d, 0, dev->minor));
}

bool hlp_device_allowed(const struct hlp_config *cfg, const struct exe_device *d)
{
    return !has(&cfg->denied, d->major, d->minor) &&
           (class_has(&cfg->gpu, d) || class_has(&cfg->fpga, d) ||
            (cfg->devices.enabled && has(&cfg->devices, d->major, d->minor)));
}

/* NVIDIA's capabilities have a major number that changes from one boot to the next, so that no
 * configuration can name it. Their minors 1 and 2 configure and watch every card; from 3 on each
 * card has 135: 15 GPU instances of 9, itself and 8 compute instances. */
bool hlp_instance_allowed(const struct hlp_config *cfg, const struct exe_device *d)
{
    const struct exe_device card = { cfg->gpu.major, (d->minor - 3) / 135 };
    return cfg->gpu.enabled && d->minor >= 3 && !has(&cfg->denied, d->major, d->minor) &&
           hlp_device_allowed(cfg, &card);
}
