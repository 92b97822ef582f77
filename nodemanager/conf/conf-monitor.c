/* Keys of the monitor of containers: usage, virtual memory, sizes of logs. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>

#define NM "yarn.nodemanager."
#define FOREVER INT64_MAX

enum {
    K_MONITOR,
    K_MONITOR_ALL,
    K_PMEM,
    K_VMEM,
    K_VMEM_RATIO,
    K_LOGS,
    K_LOGS_INTERVAL,
    K_LOGS_DIR,
    K_LOGS_TOTAL,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_MONITOR] = { NM "container-monitor.interval-ms", SV_CONF_DURATION, "${yarn.nodemanager.resource-monitor.interval-ms}", 50, FOREVER, 1, "Time between two readings of container usage." },
    [K_MONITOR_ALL] = { NM "resource-monitor.interval-ms", SV_CONF_DURATION, "3000", 50, FOREVER, 1, "Default of the key above." },
    [K_PMEM] = { NM "pmem-check-enabled", SV_CONF_BOOL, "true", .help = "Shown in REST; the kernel enforces memory here." },
    [K_VMEM] = { NM "vmem-check-enabled", SV_CONF_BOOL, "false", .help = "A container is killed (-103) whose processes have more virtual memory than its limit, with resource.memory.enforced as well. Off unless set, where Hadoop's default is true: address space that is not used costs nothing, and runtimes reserve much of it." },
    [K_VMEM_RATIO] = { NM "vmem-pmem-ratio", SV_CONF_FLOAT, "2.1", .help = "Virtual to physical memory of a container: the limit of vmem-check-enabled; at least 1." },
    [K_LOGS] = { NM "container-log-monitor.enable", SV_CONF_BOOL, "false", .help = "A container is killed (-109) whose logs on this node are larger than the next keys say, or 100,000 entries and more." },
    [K_LOGS_INTERVAL] = { NM "container-log-monitor.interval-ms", SV_CONF_DURATION, "60000", 50, FOREVER, 1, "Time between two measurements of logs." },
    [K_LOGS_DIR] = { NM "container-log-monitor.dir-size-limit-bytes", SV_CONF_INT, "1000000000", 1, FOREVER, .help = "Bytes of a container's logs in one log directory." },
    [K_LOGS_TOTAL] = { NM "container-log-monitor.total-size-limit-bytes", SV_CONF_INT, "10000000000", 1, FOREVER, .help = "Bytes of a container's logs in all log directories." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_monitor_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int nm_conf_monitor_read(struct nm_conf *c, struct sv_error *err)
{
    int r;

    NM_CONF_GET(sv_conf_duration_ms, K_MONITOR, &c->monitor_ms);
    NM_CONF_GET(sv_conf_bool, K_PMEM, &c->pmem_check);
    NM_CONF_GET(sv_conf_bool, K_VMEM, &c->vmem_check);
    NM_CONF_GET(sv_conf_float, K_VMEM_RATIO, &c->vmem_ratio);
    if (!(c->vmem_ratio >= 1))
        return sv_error_set(err, -EINVAL, "%s: a number of at least 1 is needed",
                            keys[K_VMEM_RATIO].name);
    NM_CONF_GET(sv_conf_bool, K_LOGS, &c->log_check);
    NM_CONF_GET(sv_conf_duration_ms, K_LOGS_INTERVAL, &c->log_check_ms);
    NM_CONF_GET(sv_conf_int, K_LOGS_DIR, &c->log_dir_bytes);
    NM_CONF_GET(sv_conf_int, K_LOGS_TOTAL, &c->log_total_bytes);
    return 0;
}
