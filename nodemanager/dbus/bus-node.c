/* The interface Node of the object NM_BUS_ROOT: the daemon and its node as a whole. */
#include "cgroups/cg.h"
#include "common/version.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-methods.h"
#include "nodemanager/dbus/bus-object.h"
#include "nodemanager/dbus/bus-values.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/rm/node-status-updater.h"

#define NODE(name) static int name(sd_bus_message *m, const struct nm_bus_object *o)

NODE(version)
{
    (void)o;
    return sd_bus_message_append(m, "s", SV_VERSION);
}

NODE(id)
{
    return sd_bus_message_append(m, "s", o->view->ctx->node_id_text);
}

NODE(state)
{
    const struct nm_context *ctx = o->view->ctx;

    return sd_bus_message_append(m, "s",
                                 ctx->stopping                             ? "stopping"
                                 : nm_updater_registered(o->view->updater) ? "registered"
                                                                           : "unregistered");
}

NODE(resource_manager)
{
    char text[512];

    return nm_bus_append_text(m, nm_updater_rm_address(o->view->updater, text, sizeof(text)));
}

NODE(last_heartbeat)
{
    return sd_bus_message_append(m, "x", nm_updater_last_heartbeat_ms(o->view->updater));
}

NODE(start_time)
{
    return sd_bus_message_append(m, "x", o->view->ctx->start_ms);
}

NODE(last_heartbeat_usec)
{
    return nm_bus_append_usec(m, nm_updater_last_heartbeat_ms(o->view->updater));
}

NODE(start_usec)
{
    return nm_bus_append_usec(m, o->view->ctx->start_ms);
}

NODE(healthy)
{
    char report[NM_HEALTH_REPORT_MAX];

    return sd_bus_message_append(m, "b", nm_health_report(o->view->ctx->health, report));
}

NODE(health_report)
{
    char report[NM_HEALTH_REPORT_MAX];

    (void)nm_health_report(o->view->ctx->health, report); /* only its text is used, ignoring */
    return nm_bus_append_text(m, report);
}

NODE(draining)
{
    return sd_bus_message_append(m, "b", nm_health_drain_reason(o->view->ctx->health) != NULL);
}

NODE(drain_reason)
{
    return nm_bus_append_text(m, nm_health_drain_reason(o->view->ctx->health));
}

NODE(memory)
{
    return sd_bus_message_append(m, "t", (uint64_t)o->view->ctx->total.memory_mb << 20);
}

NODE(vcores)
{
    return sd_bus_message_append(m, "i", o->view->ctx->total.vcores);
}

NODE(gpus)
{
    return sd_bus_message_append(m, "u", (uint32_t)o->view->ctx->total.gpus);
}

NODE(n_applications)
{
    return sd_bus_message_append(m, "u", (uint32_t)HASH_COUNT(o->view->ctx->apps));
}

NODE(n_containers)
{
    return sd_bus_message_append(m, "u", (uint32_t)HASH_COUNT(o->view->ctx->containers));
}

NODE(limits_missing)
{
    return nm_bus_append_text(m, cg_root_missing(o->view->ctx->cgroups));
}

/* Zeros if the kernel counts nothing. */
static struct cg_usage usage_of_all(const struct nm_bus_object *o)
{
    struct cg_usage u = { 0 };

    return cg_root_usage(o->view->ctx->cgroups, &u) < 0 ? (struct cg_usage){ 0 } : u;
}

NODE(memory_current)
{
    return sd_bus_message_append(m, "t", usage_of_all(o).memory_current);
}

NODE(cpu_usage)
{
    return sd_bus_message_append(m, "t", usage_of_all(o).cpu_usec);
}

static const struct nm_bus_property properties[] = {
    { "Version", "s", NM_BUS_CONST, version },
    { "Id", "s", NM_BUS_CONST, id },
    { "State", "s", NM_BUS_CHANGES, state },
    { "ResourceManager", "s", 0, resource_manager },
    { "StartTime", "x", NM_BUS_CONST, start_time },
    { "LastHeartbeat", "x", 0, last_heartbeat },
    { "StartTimeUSec", "t", NM_BUS_CONST, start_usec },
    { "LastHeartbeatUSec", "t", 0, last_heartbeat_usec },
    { "Healthy", "b", NM_BUS_CHANGES, healthy },
    { "HealthReport", "s", NM_BUS_CHANGES, health_report },
    { "Draining", "b", NM_BUS_CHANGES, draining },
    { "DrainReason", "s", NM_BUS_CHANGES, drain_reason },
    { "Memory", "t", NM_BUS_CHANGES, memory },
    { "VirtualCores", "i", NM_BUS_CHANGES, vcores },
    { "GPUs", "u", 0, gpus },
    { "Applications", "u", NM_BUS_CHANGES, n_applications },
    { "Containers", "u", NM_BUS_CHANGES, n_containers },
    { "LimitsNotEnforced", "s", 0, limits_missing },
    { "MemoryCurrent", "t", 0, memory_current },
    { "CPUUsage", "t", 0, cpu_usage },
};

static const char signals[] =
    "  <signal name=\"ContainerEnded\"><arg name=\"container\" type=\"o\"/>"
    "<arg name=\"id\" type=\"s\"/><arg name=\"user\" type=\"s\"/>"
    "<arg name=\"exit_code\" type=\"i\"/><arg name=\"start_usec\" type=\"t\"/>"
    "<arg name=\"finish_usec\" type=\"t\"/><arg name=\"cpu_usec\" type=\"t\"/>"
    "<arg name=\"memory_peak\" type=\"t\"/></signal>\n";

const struct nm_bus_interface nm_bus_node = { .name = NM_BUS_NAME ".Node",
                                              .signals = signals,
                                              .properties = properties,
                                              .n_properties = SV_ARRAY_LEN(properties),
                                              .methods = nm_bus_node_methods,
                                              .n_methods = NM_BUS_NODE_METHODS };
