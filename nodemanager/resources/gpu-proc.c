/* See gpu-proc.h. */
#include "nodemanager/resources/gpu-proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

#define CARDS "/proc/driver/nvidia/gpus"
#define FILE_MAX 16384
#define VALUE_MAX 256
#define DIR_SIZE (PATH_MAX + 64)
#define MIG_MAX 15 /* GPU instances of a card, compute instances of one of them */

/* ---- "Key:  value" lines ---- */

struct field {
    char key[64], value[VALUE_MAX];
};

static bool copy(char *to, size_t size, const char *from, size_t n)
{
    while (n && (from[n - 1] == ' ' || from[n - 1] == '\t'))
        n--;
    if (n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)from[i] < ' ' || (unsigned char)from[i] >= 127)
            return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* The next line that is not empty: 1, 0 at the end, -EBADMSG. */
static int next_field(const char **text, const char *end, struct field *ret)
{
    while (*text < end) {
        const char *line = *text, *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end, *colon;

        *text = newline ? newline + 1 : end;
        if (line == stop)
            continue;
        colon = memchr(line, ':', (size_t)(stop - line));
        if (!colon || !copy(ret->key, sizeof(ret->key), line, (size_t)(colon - line)))
            return -EBADMSG;
        for (colon++; colon < stop && (*colon == ' ' || *colon == '\t'); colon++)
            continue;
        return copy(ret->value, sizeof(ret->value), colon, (size_t)(stop - colon)) ? 1 : -EBADMSG;
    }
    return 0;
}

/* It becomes a value of the environment, and parts of it become names. A driver that has not yet
 * read the card tells GPU-????????-… */
static void take_uuid(const char *value, char *ret)
{
    if (!sv_has_prefix(value, "GPU-") || strlen(value) >= NM_GPU_TEXT_MAX)
        return;
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-')
            return;
    (void)snprintf(ret, NM_GPU_TEXT_MAX, "%.95s", value);
}

/* "0000:3b:00.0": it becomes a name of a directory. */
static bool bus_ok(const char *s)
{
    return strlen(s) < sizeof(((struct nm_gpu *)0)->bus) &&
           s[strspn(s, "0123456789abcdefABCDEF:.")] == '\0' && *s != '.';
}

int nm_gpu_parse_information(const char *text, size_t len, struct nm_gpu_card *ret,
                             struct sv_error *err)
{
    const char *end = text + len;
    struct field f;
    uint64_t minor;
    int r;

    *ret = (struct nm_gpu_card){ .minor = NM_GPU_NO_MINOR };
    if (len > FILE_MAX)
        return sv_error_set(err, -EBADMSG, "information: more than %d bytes", FILE_MAX);
    while ((r = next_field(&text, end, &f)) > 0) {
        if (sv_streq(f.key, "Model")) {
            (void)snprintf(ret->model, sizeof(ret->model), "%.95s", f.value);
        } else if (sv_streq(f.key, "GPU UUID")) {
            take_uuid(f.value, ret->uuid);
        } else if (sv_streq(f.key, "Bus Location")) {
            if (!bus_ok(f.value))
                return sv_error_set(err, -EBADMSG, "information: Bus Location \"%.40s\"", f.value);
            (void)snprintf(ret->bus, sizeof(ret->bus), "%.23s", f.value);
        } else if (sv_streq(f.key, "Device Minor")) {
            if (sv_parse_u64(f.value, 0, NM_GPU_MINOR_MAX, &minor) < 0 ||
                ret->minor != NM_GPU_NO_MINOR)
                return sv_error_set(err, -EBADMSG, "information: Device Minor \"%.40s\"", f.value);
            ret->minor = (uint32_t)minor;
        } else if (sv_streq(f.key, "GPU Excluded") || sv_streq(f.key, "Blacklisted")) {
            ret->excluded = sv_streq(f.value, "Yes");
        }
    }
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "information: a line is not \"key: value\"");
    if (ret->minor == NM_GPU_NO_MINOR)
        return sv_error_set(err, -EBADMSG, "information: there is no Device Minor");
    return 0;
}

int nm_gpu_parse_access(const char *text, size_t len, uint32_t *ret, struct sv_error *err)
{
    const char *end = text + len;
    bool seen = false;
    uint64_t minor;
    struct field f;
    int r;

    if (len > FILE_MAX)
        return sv_error_set(err, -EBADMSG, "access: more than %d bytes", FILE_MAX);
    while ((r = next_field(&text, end, &f)) > 0) {
        if (!sv_streq(f.key, "DeviceFileMinor"))
            continue;
        if (seen || sv_parse_u64(f.value, 0, (1U << 20) - 1, &minor) < 0)
            return sv_error_set(err, -EBADMSG, "access: DeviceFileMinor \"%.40s\"", f.value);
        *ret = (uint32_t)minor;
        seen = true;
    }
    return r < 0 || !seen ? sv_error_set(err, -EBADMSG, "access: there is no DeviceFileMinor") : 0;
}

/* ---- files ---- */

static int read_kernel(char **ret, size_t *ret_len, const char *fmt, ...) _printf_(3, 4);

/* A file of the kernel, whose size is not known before. */
static int read_kernel(char **ret, size_t *ret_len, const char *fmt, ...)
{
    _cleanup_free_ char *text = malloc(FILE_MAX + 1);
    _cleanup_close_ int fd = -1;
    char path[PATH_MAX];
    size_t got = 0;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(path, sizeof(path), fmt, ap);
    va_end(ap);
    if (!text)
        return -ENOMEM;
    if (n < 0 || (size_t)n >= sizeof(path))
        return -ENAMETOOLONG;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    while (got <= FILE_MAX) {
        ssize_t r = read(fd, text + got, FILE_MAX + 1 - got);

        if (r < 0 && errno != EINTR)
            return -errno;
        if (r == 0)
            break;
        got += r > 0 ? (size_t)r : 0;
    }
    if (got > FILE_MAX)
        return -EFBIG;
    *ret = SV_TAKE(text);
    *ret_len = got;
    return 0;
}

static bool node_of(const char *root, const char *name, uint32_t number, struct exe_device *ret)
{
    char path[PATH_MAX];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/dev/%s%u", root, name, number);
    if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode))
        return false;
    *ret = (struct exe_device){ major(st.st_rdev), minor(st.st_rdev) };
    return true;
}

void nm_gpu_check_node(const char *root, uint32_t major, uint32_t minor, char why[NM_GPU_WHY_MAX])
{
    struct exe_device d;

    why[0] = '\0';
    if (!node_of(root, "nvidia", minor, &d))
        (void)snprintf(why, NM_GPU_WHY_MAX,
                       "there is no device node /dev/nvidia%u: nvidia-persistenced, or "
                       "nvidia-modprobe -c %u, makes it",
                       minor, minor);
    else if (d.major != major || d.minor != minor)
        (void)snprintf(why, NM_GPU_WHY_MAX,
                       "/dev/nvidia%u is device %u:%u, not %u:%u "
                       "(selvedge.nodemanager.gpu.major-device-number)",
                       minor, d.major, d.minor, major, minor);
}

/* ---- MIG ---- */

/* "gi12" → 12 */
static bool numbered(const char *name, const char *prefix, uint32_t *ret)
{
    uint64_t n;

    if (!sv_has_prefix(name, prefix) || sv_parse_u64(name + strlen(prefix), 0, MIG_MAX, &n) < 0)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static void read_access(const char *root, const char *dir, struct nm_gpu *g, size_t i)
{
    _cleanup_free_ char *text = NULL;
    struct sv_error err = { 0 };
    uint32_t minor;
    size_t len;
    int r = read_kernel(&text, &len, "%s/access", dir);

    if (r < 0)
        (void)sv_error_errno(&err, r, "access");
    else
        r = nm_gpu_parse_access(text, len, &minor, &err);
    if (r < 0)
        (void)snprintf(g->gone, sizeof(g->gone), "%.180s", err.text);
    else if (!node_of(root, "nvidia-caps/nvidia-cap", minor, &g->access[i]) ||
             g->access[i].minor != minor)
        (void)snprintf(g->gone, sizeof(g->gone),
                       "there is no device node /dev/nvidia-caps/nvidia-cap%u: nvidia-modprobe "
                       "-f /proc/driver/nvidia/capabilities/… makes it",
                       minor);
}

static void add_gpu(struct nm_gpus *all, const struct nm_gpu *g)
{
    if (all->n < NM_GPUS_MAX) /* docs/operate/limits.md */
        all->v[all->n++] = *g;
}

static void add_instance(const char *root, const char *dir, const struct nm_gpu *card, uint32_t gi,
                         uint32_t ci, struct nm_gpus *all)
{
    struct nm_gpu g = *card;
    char path[DIR_SIZE];

    g.instance = true;
    g.gi = gi;
    g.ci = ci;
    (void)snprintf(path, sizeof(path), "%s/gi%u", dir, gi);
    if (!*g.gone)
        read_access(root, path, &g, 0);
    (void)snprintf(path, sizeof(path), "%s/gi%u/ci%u", dir, gi, ci);
    if (!*g.gone)
        read_access(root, path, &g, 1);
    /* CUDA's name of it without the instance's own UUID, which only nvidia-smi tells. */
    if (*card->uuid)
        (void)snprintf(g.uuid, sizeof(g.uuid), "MIG-%.60s/%u/%u", card->uuid, gi, ci);
    add_gpu(all, &g);
}

/* True if the card is partitioned. */
static bool add_instances(const char *root, const struct nm_gpu *card, struct nm_gpus *all)
{
    const size_t before = all->n;
    char dir[PATH_MAX], path[DIR_SIZE];

    (void)snprintf(dir, sizeof(dir), "%s/proc/driver/nvidia/capabilities/gpu%u/mig", root,
                   card->minor);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        uint32_t gi, ci;

        if (!numbered(e->d_name, "gi", &gi))
            continue;
        (void)snprintf(path, sizeof(path), "%s/gi%u", dir, gi);
        DIR *sub = opendir(path);
        for (struct dirent *f; sub && (f = readdir(sub));)
            if (numbered(f->d_name, "ci", &ci))
                add_instance(root, dir, card, gi, ci, all);
        if (sub)
            (void)closedir(sub);
    }
    if (d)
        (void)closedir(d);
    return all->n > before;
}

/* ---- cards ---- */

/* A card that no longer answers on its bus reads as all ones. */
static void check_bus(const char *root, struct nm_gpu *g)
{
    _cleanup_free_ char *bytes = NULL;
    char bus[sizeof(g->bus)];
    size_t len;

    for (size_t i = 0; i < sizeof(bus); i++)
        bus[i] = (char)tolower((unsigned char)g->bus[i]);
    if (*bus && read_kernel(&bytes, &len, "%s/sys/bus/pci/devices/%s/config", root, bus) >= 0 &&
        len >= 2 && memcmp(bytes, "\xff\xff", 2) == 0)
        (void)snprintf(g->gone, sizeof(g->gone),
                       "it does not answer on the PCI bus: see the kernel's log for \"Xid\", then "
                       "reset the card or restart the machine");
}

static void read_card(const char *root, uint32_t major, const char *name, struct nm_gpus *all)
{
    struct nm_gpu g = { .minor = NM_GPU_NO_MINOR, .mig_index = -1 };
    _cleanup_free_ char *text = NULL;
    struct nm_gpu_card card;
    struct sv_error err = { 0 };
    size_t len;
    int r = read_kernel(&text, &len, "%s" CARDS "/%s/information", root, name);

    (void)snprintf(g.bus, sizeof(g.bus), "%.23s", name);
    if (r < 0)
        (void)sv_error_errno(&err, r, CARDS "/%s/information", name);
    else
        r = nm_gpu_parse_information(text, len, &card, &err);
    if (r == -EBADMSG)
        (void)sv_error_wrap(&err, CARDS "/%s", name);
    if (r < 0) {
        (void)snprintf(g.gone, sizeof(g.gone), "%.250s", err.text);
        add_gpu(all, &g);
        return;
    }
    if (card.excluded)
        return;
    g.minor = card.minor;
    (void)snprintf(g.uuid, sizeof(g.uuid), "%s", card.uuid);
    (void)snprintf(g.model, sizeof(g.model), "%s", card.model);
    nm_gpu_check_node(root, major, g.minor, g.gone);
    if (!*g.gone)
        check_bus(root, &g);
    if (!add_instances(root, &g, all))
        add_gpu(all, &g);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 …": the first word of
 * digits and dots. */
static void read_version(const char *root, char *ret, size_t size)
{
    _cleanup_free_ char *text = NULL;
    size_t len;

    ret[0] = '\0';
    if (read_kernel(&text, &len, "%s/proc/driver/nvidia/version", root) < 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    for (char *rest = text, *word; (word = strsep(&rest, " \t"));)
        if (isdigit((unsigned char)*word) && strchr(word, '.') &&
            word[strspn(word, "0123456789.")] == '\0' && strlen(word) < size) {
            (void)snprintf(ret, size, "%s", word);
            return;
        }
}

static int compare(const void *a, const void *b)
{
    const struct nm_gpu *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    if (x->gi != y->gi)
        return x->gi < y->gi ? -1 : 1;
    return x->ci < y->ci ? -1 : x->ci > y->ci;
}

void nm_gpu_sort(struct nm_gpus *g)
{
    qsort(g->v, g->n, sizeof(g->v[0]), compare);
}

static int by_bus(const void *a, const void *b)
{
    return strcasecmp(((const struct nm_gpu *)a)->bus, ((const struct nm_gpu *)b)->bus);
}

/* Counts cards by their address, as nvidia-smi does. */
static void count_cards(struct nm_gpus *g)
{
    uint32_t index = 0;

    qsort(g->v, g->n, sizeof(g->v[0]), by_bus);
    for (size_t i = 0; i < g->n; i++) {
        if (i && strcasecmp(g->v[i].bus, g->v[i - 1].bus) != 0)
            index++;
        g->v[i].index = index;
    }
    nm_gpu_sort(g);
}

void nm_gpu_scan(const char *root, uint32_t major, struct nm_gpus *ret)
{
    char path[PATH_MAX];

    memset(ret, 0, sizeof(*ret));
    (void)snprintf(path, sizeof(path), "%s" CARDS, root);
    DIR *d = opendir(path);
    if (!d) {
        (void)snprintf(ret->why, sizeof(ret->why), CARDS ": %s%s", strerror(errno),
                       errno == ENOENT ? ": NVIDIA's driver is not loaded (modprobe nvidia)" : "");
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && bus_ok(e->d_name))
            read_card(root, major, e->d_name, ret);
    (void)closedir(d);
    read_version(root, ret->driver, sizeof(ret->driver));
    count_cards(ret);
}

void nm_gpu_text(const struct nm_gpu *g, char *text, size_t size)
{
    char of[48] = "", which[48];

    if (g->instance)
        (void)snprintf(of, sizeof(of), "MIG instance %u/%u of ", g->gi, g->ci);
    if (g->minor == NM_GPU_NO_MINOR)
        (void)snprintf(which, sizeof(which), "card");
    else
        (void)snprintf(which, sizeof(which), "/dev/nvidia%u", g->minor);
    (void)snprintf(text, size, "GPU %s%s%s%s%s%s", of, which, *g->bus ? " at " : "", g->bus,
                   *g->model ? ", " : "", g->model);
}
