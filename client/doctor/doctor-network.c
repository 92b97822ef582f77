/* `selvedge doctor`: private networks, if configured: root's settings and the NodeManager's, merged
 * by the function used for each container; the host's devices; the kernel features. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "common/str.h"
#include "executor/network-plan.h"

#define AREA "network"

static const struct {
    const char *module, *symbol;
} parts[] = {
    { "bridge", "CONFIG_BRIDGE" },
    { "veth", "CONFIG_VETH" },
    { "ipvlan", "CONFIG_IPVLAN" },
    { "macvlan", "CONFIG_MACVLAN" },
    { "sch_htb", "CONFIG_NET_SCH_HTB" },
    { "ifb", "CONFIG_IFB" },
    { "sch_ingress", "CONFIG_NET_SCH_INGRESS" },
    { "cls_bpf", "CONFIG_NET_CLS_BPF" },
    { "act_mirred", "CONFIG_NET_ACT_MIRRED" },
};
enum { BRIDGE, VETH, IPVLAN, MACVLAN, HTB, SHARING };

static bool is_needed(size_t part, const struct net_request *q, enum net_mode mode)
{
    switch (part) {
    case BRIDGE:
    case VETH:
        return mode == NET_BRIDGE;
    case IPVLAN:
        return mode == NET_IPVLAN;
    case MACVLAN:
        return mode == NET_MACVLAN;
    case HTB:
        return q->ceil_kbit || q->total_kbit;
    default:
        return q->total_kbit;
    }
}

static void kernel(struct doctor *d, const struct net_request *q, enum net_mode mode)
{
    char good[256] = "", unknown[256] = "";
    bool missing = false;

    for (size_t i = 0; i < SV_ARRAY_LEN(parts); i++) {
        if (!is_needed(i, q, mode))
            continue;
        enum doctor_part is = cli_doctor_kernel_part(parts[i].module, parts[i].symbol);
        char *list = is == DOCTOR_PART_UNKNOWN ? unknown : good;
        size_t n = strlen(list);
        if (is == DOCTOR_PART_MISSING) {
            missing = true;
            cli_doctor_report(
                d, DOCTOR_BAD, AREA,
                "install the package with this kernel's other modules, or boot a kernel "
                "that has it; "
                "where modules are locked: share/selvedge/modules-load.conf",
                "the kernel has no %s (%s): every launch would be refused", parts[i].module,
                parts[i].symbol);
        } else {
            (void)snprintf(list + n, sizeof(good) - n, "%s%s%s", n ? ", " : "", parts[i].module,
                           is == DOCTOR_PART_LOADED_LATER ? " (when it is needed)" : "");
        }
    }
    if (*unknown)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL, "cannot determine whether the kernel has %s",
                          unknown);
    if (*good && !missing)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "the kernel has %s", good);
}

static void link_of(struct doctor *d, const struct net_request *q, enum net_mode mode)
{
    char path[128], value[8];
    bool there;

    (void)snprintf(path, sizeof(path), "/sys/class/net/%s", q->link);
    there = access(path, F_OK) == 0;
    if (!there && mode != NET_BRIDGE)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "name an existing device (`ip link` lists them)",
                          "selvedge.network.link=%s: no such device: every launch would be refused",
                          q->link);
    (void)snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", q->link);
    if (there && mode == NET_BRIDGE && access(path, F_OK) < 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "name a bridge, or a device that does not exist yet",
                          "selvedge.network.link=%s: not a bridge: every launch would be refused",
                          q->link);
    if (mode == NET_BRIDGE &&
        strcmp(cli_doctor_read_line("/proc/sys/net/ipv4/ip_forward", value, sizeof(value)), "0") ==
            0)
        cli_doctor_report(
            d, DOCTOR_NOTE, AREA,
            "put an interface of the host into the bridge, or sysctl net.ipv4.ip_forward=1 "
            "and masquerade the range",
            "net.ipv4.ip_forward is 0: containers reach this node, and what is at the "
            "bridge, only");
}

/* Checks the guaranteed rates of the NodeManager's number of containers against the total rate. */
static void bandwidth(struct doctor *d, const struct net_request *q)
{
    const int64_t shares = d->conf.bandwidth_shares;

    if (q->rate_kbit && q->total_kbit && q->total_kbit / q->rate_kbit < shares)
        cli_doctor_report(
            d, DOCTOR_WEAK, AREA,
            "raise selvedge.network.outbound-mbit (container-executor.cfg), or "
            "selvedge.nodemanager.network.shares (yarn-site.xml)",
            "of %u Mbit/s %u containers can be guaranteed %u kbit/s each; the NodeManager "
            "counts with %lld: "
            "further ones would be refused",
            q->total_kbit / 1000, q->total_kbit / q->rate_kbit, q->rate_kbit, (long long)shares);
    else if (q->rate_kbit)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL,
                          "%u kbit/s outbound guaranteed to each of %lld containers, %u at most",
                          q->rate_kbit, (long long)shares, q->ceil_kbit);
    else if (q->total_kbit)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL,
                          "%u Mbit/s outbound for all containers, nothing guaranteed to one",
                          q->total_kbit / 1000);
}

void cli_doctor_network(struct doctor *d)
{
    struct net_request q = d->policy.net;
    struct net_plan plan;
    char why[NET_TEXT_MAX];

    if (!d->have_conf || d->conf.network != EXE_NETWORK_PRIVATE || !d->policy.known || !q.magic)
        return; /* none configured, or root's settings are unknown or have none */
    q.rate_kbit = d->conf.net_rate_kbit;
    q.ceil_kbit = d->conf.net_ceil_kbit;
    if (exe_net_plan_make(&q, &plan, why, sizeof(why)) < 0) {
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "correct it in container-executor.cfg: every launch would be refused",
                          "%s", why);
        return;
    }
    cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "private: %s %s, %s with %u addresses", q.mode,
                      q.link, q.range, exe_net_plan_addresses(&plan));
    link_of(d, &q, plan.mode);
    bandwidth(d, &q);
    kernel(d, &q, plan.mode);
}
