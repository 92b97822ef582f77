/* See numa.h. Reads /sys once, at start. */
#include "nodemanager/resources/numa.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/container.h"

#define SYS "/sys/devices/system/node"
#define KEY "yarn.nodemanager.numa-awareness."
/* st_size of a list of processors is its maximum for all processors that the kernel supports: 28
 * KiB for 8192, as distributions configure it. */
#define SYS_FILE_MAX 65536

struct nm_numa {
    struct nm_numa_node nodes[NM_NUMA_MAX];
    char *cpus[NM_NUMA_MAX]; /* "0-3,8-11" */
    size_t n;
};

static bool take_all(struct nm_numa_node *nodes, size_t n, int64_t memory_mb, int32_t cpus,
                     struct nm_numa_taken *t)
{
    for (size_t i = 0; i < n && memory_mb > 0; i++) {
        t->memory_mb[i] = SV_MIN(nodes[i].memory_mb, memory_mb);
        memory_mb -= t->memory_mb[i];
    }
    for (size_t i = 0; i < n && cpus > 0; i++) {
        t->cpus[i] = SV_MIN(nodes[i].cpus, cpus);
        cpus -= t->cpus[i];
    }
    return memory_mb <= 0 && cpus <= 0;
}

bool nm_numa_take(struct nm_numa_node *nodes, size_t n, int64_t memory_mb, int32_t cpus,
                  struct nm_numa_taken *ret)
{
    struct nm_numa_taken t = { 0 };
    size_t i = 0;

    while (i < n && (nodes[i].memory_mb < memory_mb || nodes[i].cpus < cpus))
        i++;
    if (i < n) {
        t.memory_mb[i] = memory_mb;
        t.cpus[i] = cpus;
    } else if (!take_all(nodes, n, memory_mb, cpus, &t)) {
        return false;
    }
    for (i = 0; i < n; i++) {
        nodes[i].memory_mb -= t.memory_mb[i];
        nodes[i].cpus -= t.cpus[i];
    }
    *ret = t;
    return true;
}

/* ---- discovery ------------------------------------------------------------------------------*/

/* Numbers in "0-3,8". */
static int count_list(const char *s)
{
    int n = 0;

    while (*s >= '0' && *s <= '9') {
        char *end;
        unsigned long a = strtoul(s, &end, 10), b = a;

        if (*end == '-')
            b = strtoul(end + 1, &end, 10);
        n += b >= a ? (int)(b - a + 1) : 0;
        s = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* Reads one node of the machine: its list of processors, its memory and the number of
 * processors. */
static int read_node(unsigned id, char **ret_cpus, int64_t *ret_mb, int32_t *ret_n)
{
    _cleanup_free_ char *cpus = NULL, *mem = NULL;
    char path[128];
    unsigned long long kib = 0;
    int r;

    (void)snprintf(path, sizeof(path), SYS "/node%u/cpulist", id);
    r = sv_read_file_at(AT_FDCWD, path, SYS_FILE_MAX, &cpus, NULL);
    if (r < 0)
        return r;
    (void)snprintf(path, sizeof(path), SYS "/node%u/meminfo", id);
    r = sv_read_file_at(AT_FDCWD, path, SYS_FILE_MAX, &mem, NULL);
    if (r < 0)
        return r;
    const char *total = strstr(mem, "MemTotal:");
    if (!total || sscanf(total, "MemTotal: %llu", &kib) != 1)
        return -EBADMSG;
    cpus[strcspn(cpus, "\n")] = '\0';
    *ret_mb = (int64_t)(kib >> 10);
    *ret_n = count_list(cpus);
    *ret_cpus = SV_TAKE(cpus);
    return 0;
}

static int add(struct nm_numa *m, unsigned id, int64_t mb, int64_t cpus, struct sv_error *err)
{
    struct nm_numa_node *node = &m->nodes[m->n];
    int64_t machine_mb;
    int32_t machine_cpus;
    int r;

    if (m->n == NM_NUMA_MAX)
        return sv_error_set(err, -E2BIG, "more than %d NUMA nodes", NM_NUMA_MAX);
    r = read_node(id, &m->cpus[m->n], &machine_mb, &machine_cpus);
    if (r < 0)
        return sv_error_errno(err, r, KEY "node-ids: " SYS "/node%u: this machine has no such node",
                              id);
    *node = (struct nm_numa_node){ id, mb < 0 ? machine_mb : mb,
                                   cpus < 0 ? machine_cpus : (int32_t)cpus };
    m->n++;
    return 0;
}

/* Reads the nodes of Hadoop's keys; memory in MB, cpus a number. */
static int configured(struct nm_numa *m, const struct nm_conf *conf, struct sv_error *err)
{
    for (char **id = conf->numa_nodes; id && *id; id++) {
        char name[2][96];
        const struct sv_conf_key mem = { name[0], SV_CONF_INT, NULL, 1, (int64_t)1 << 40 },
                                 cpu = { name[1], SV_CONF_INT, NULL, 1, 65536 };
        uint64_t number;
        int64_t mb, cpus;
        int r;

        if (sv_parse_u64(*id, 0, 4095, &number) < 0)
            return sv_error_set(err, -EINVAL, KEY "node-ids: \"%s\" is not a number", *id);
        (void)snprintf(name[0], sizeof(name[0]), KEY "%u.memory", (unsigned)number);
        (void)snprintf(name[1], sizeof(name[1]), KEY "%u.cpus", (unsigned)number);
        if (!sv_conf_raw(conf->conf, name[0]) || !sv_conf_raw(conf->conf, name[1]))
            return sv_error_set(err, -EINVAL, "%s and %s must both be set", name[0], name[1]);
        r = sv_conf_int(conf->conf, &mem, &mb, err);
        if (r >= 0)
            r = sv_conf_int(conf->conf, &cpu, &cpus, err);
        if (r >= 0)
            r = add(m, (unsigned)number, mb, cpus, err);
        if (r < 0)
            return r;
    }
    return m->n ? 0
                : sv_error_set(err, -EINVAL,
                               KEY "enabled=true needs " KEY "node-ids, or " KEY
                                   "read-topology=true");
}

static int of_machine(struct nm_numa *m, struct sv_error *err)
{
    for (unsigned id = 0; id < 4096; id++) {
        char path[64];

        (void)snprintf(path, sizeof(path), SYS "/node%u", id);
        if (access(path, F_OK) < 0)
            continue;
        int r = add(m, id, -1, -1, err);
        if (r < 0)
            return r;
    }
    return m->n ? 0 : sv_error_set(err, -ENOENT, SYS ": the kernel reports no NUMA nodes");
}

int nm_numa_new(const struct nm_conf *conf, struct nm_numa **ret, struct sv_error *err)
{
    struct nm_numa *m;
    int r;

    *ret = NULL;
    if (!conf->numa)
        return 0;
    m = calloc(1, sizeof(*m));
    if (!m)
        return sv_error_errno(err, -ENOMEM, "NUMA");
    r = conf->numa_read_topology ? of_machine(m, err) : configured(m, conf, err);
    if (r < 0) {
        nm_numa_free(m);
        return r;
    }
    for (size_t i = 0; i < m->n; i++)
        sv_log_info("NUMA node %u: %lld MB, %d processors (%s)", m->nodes[i].id,
                    (long long)m->nodes[i].memory_mb, m->nodes[i].cpus, m->cpus[i]);
    *ret = m;
    return 0;
}

struct nm_numa *nm_numa_free(struct nm_numa *m)
{
    if (!m)
        return NULL;
    for (size_t i = 0; i < m->n; i++)
        free(m->cpus[i]);
    free(m);
    return NULL;
}

/* ---- containers -----------------------------------------------------------------------------*/

static int append(char **list, const char *word)
{
    char *before = *list;
    int r = sv_asprintf(list, "%s%s%s", before ? before : "", before ? "," : "", word);

    if (r < 0) {
        *list = before;
        return r;
    }
    free(before);
    return 0;
}

void nm_numa_assign(struct nm_numa *m, struct nm_container *c)
{
    _cleanup_free_ char *cpus = NULL, *mems = NULL;
    char id[16];
    int r = 0;

    if (!m)
        return;
    c->share.numa = calloc(1, sizeof(*c->share.numa));
    if (!c->share.numa || !nm_numa_take(m->nodes, m->n, c->resource.memory_mb,
                                        SV_MAX(c->resource.vcores, 1), c->share.numa)) {
        free(c->share.numa);
        c->share.numa = NULL;
        sv_log(SV_LOG_WARNING, c->text,
               "%s: no NUMA nodes have <memory:%lld, vCores:%d> free: "
               "it runs unbound",
               c->text, (long long)c->resource.memory_mb, c->resource.vcores);
        return;
    }
    for (size_t i = 0; i < m->n && r >= 0; i++) {
        (void)snprintf(id, sizeof(id), "%u", m->nodes[i].id);
        if (c->share.numa->memory_mb[i])
            r = append(&mems, id);
        if (r >= 0 && c->share.numa->cpus[i])
            r = append(&cpus, m->cpus[i]);
    }
    if (r < 0 || !cpus || !mems) {
        nm_numa_release(m, c);
        return;
    }
    c->share.cpus = SV_TAKE(cpus);
    c->share.mems = SV_TAKE(mems);
}

static bool listed(const char *list, unsigned id)
{
    for (const char *s = list; *s >= '0' && *s <= '9';) {
        char *end;
        unsigned long a = strtoul(s, &end, 10), b = a;

        if (*end == '-')
            b = strtoul(end + 1, &end, 10);
        if (id >= a && id <= b)
            return true;
        s = *end == ',' ? end + 1 : end;
    }
    return false;
}

void nm_numa_adopt(struct nm_numa *m, struct nm_container *c)
{
    struct cg_leaf *leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    int64_t mb = c->resource.memory_mb;
    int32_t cpus = SV_MAX(c->resource.vcores, 1);

    if (!m || !leaf || c->share.cpus || cg_leaf_cpuset(leaf, &c->share.cpus, &c->share.mems) < 0)
        return;
    if (!*c->share.mems ||
        !(c->share.numa = calloc(1, sizeof(*c->share.numa)))) /* it runs unbound */
        return;
    for (size_t i = 0; i < m->n; i++) {
        if (!listed(c->share.mems, m->nodes[i].id))
            continue;
        c->share.numa->memory_mb[i] = SV_MIN(m->nodes[i].memory_mb, mb);
        c->share.numa->cpus[i] = SV_MIN(m->nodes[i].cpus, cpus);
        m->nodes[i].memory_mb -= c->share.numa->memory_mb[i];
        m->nodes[i].cpus -= c->share.numa->cpus[i];
        mb -= c->share.numa->memory_mb[i];
        cpus -= c->share.numa->cpus[i];
    }
}

void nm_numa_release(struct nm_numa *m, struct nm_container *c)
{
    for (size_t i = 0; m && c->share.numa && i < m->n; i++) {
        m->nodes[i].memory_mb += c->share.numa->memory_mb[i];
        m->nodes[i].cpus += c->share.numa->cpus[i];
    }
    free(c->share.numa);
    c->share.numa = NULL;
}
