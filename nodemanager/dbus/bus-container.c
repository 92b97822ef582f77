/* The interface Container. Its figures are those of the object's `usage`, which the table's caller
 * has read. */
#include <stdio.h>

#include "executor/exe.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-methods.h"
#include "nodemanager/dbus/bus-object.h"
#include "nodemanager/dbus/bus-values.h"
#include "nodemanager/resources/resource-limits.h"

#define CONTAINER(name) static int name(sd_bus_message *m, const struct nm_bus_object *o)

CONTAINER(id)
{
    return sd_bus_message_append(m, "s", o->c->text);
}

CONTAINER(application)
{
    char path[NM_BUS_PATH_MAX], id[YARN_ID_TEXT_MAX];

    return sd_bus_message_append(
        m, "o", nm_bus_path(NM_BUS_APPLICATIONS, yarn_app_id_text(o->c->id.attempt.app, id), path));
}

CONTAINER(user)
{
    return nm_bus_append_text(m, o->c->app ? o->c->app->user : "");
}

CONTAINER(state)
{
    return sd_bus_message_append(m, "s", nm_container_state_name(o->c->state));
}

CONTAINER(command)
{
    return nm_bus_append_text(m, o->c->command);
}

CONTAINER(execution_type)
{
    return sd_bus_message_append(m, "s",
                                 o->c->execution_type == 2 ? "OPPORTUNISTIC" : "GUARANTEED");
}

CONTAINER(memory)
{
    return sd_bus_message_append(m, "t", (uint64_t)o->c->resource.memory_mb << 20);
}

/* Limits that the kernel enforces. */
static void demanded(const struct nm_container *c, uint64_t *ret_memory, uint32_t *ret_pids)
{
    struct cg_resource limits;

    nm_limits_of(c, &limits);
    cg_demanded(c->ctx->cgroups, &limits, ret_memory, ret_pids);
}

CONTAINER(memory_max)
{
    uint64_t memory;
    uint32_t pids;

    demanded(o->c, &memory, &pids);
    return sd_bus_message_append(m, "t", memory);
}

CONTAINER(pids_max)
{
    uint64_t memory;
    uint32_t pids;

    demanded(o->c, &memory, &pids);
    return sd_bus_message_append(m, "t", (uint64_t)pids);
}

/* Set by an operator; 0 = not set. */
CONTAINER(limits_set)
{
    const struct cg_override *set = &o->c->share.set;

    return sd_bus_message_append(m, "(tttt)", set->memory_max, set->cpu_weight,
                                 set->cpu_millis == CG_CPU_UNLIMITED ? 0 : set->cpu_millis,
                                 set->pids_max);
}

CONTAINER(vcores)
{
    return sd_bus_message_append(m, "i", o->c->resource.vcores);
}

CONTAINER(pid)
{
    return sd_bus_message_append(m, "u", o->c->launch.exe ? (uint32_t)o->c->launch.pid : 0);
}

CONTAINER(frozen)
{
    return sd_bus_message_append(m, "b", o->c->launch.frozen);
}

/* The base name of its cgroup below the node's; "" before the launch and after the exit. */
CONTAINER(cgroup)
{
    struct cg_leaf *leaf = o->c->launch.exe ? exe_container_cgroup(o->c->launch.exe) : NULL;
    char path[4096] = "";

    if (leaf)
        snprintf(path, sizeof(path), "%s/%s", cg_root_path(o->c->ctx->cgroups), cg_leaf_name(leaf));
    return nm_bus_append_text(m, path);
}

CONTAINER(devices)
{
    const struct nm_assigned *a = &o->c->share.assigned;
    char text[32];
    int r = sd_bus_message_open_container(m, 'a', "s");

    for (size_t i = 0; i < a->n_gpus && r >= 0; i++) {
        snprintf(text, sizeof(text), "c %u:%u", a->gpus[i].major, a->gpus[i].minor);
        r = sd_bus_message_append(m, "s", text);
    }
    return r < 0 ? r : sd_bus_message_close_container(m);
}

CONTAINER(start_time)
{
    return sd_bus_message_append(m, "x", o->c->start_ms);
}

CONTAINER(launch_time)
{
    return sd_bus_message_append(m, "x", o->c->launch_ms);
}

CONTAINER(finish_time)
{
    return sd_bus_message_append(m, "x", o->c->finish_ms);
}

CONTAINER(start_usec)
{
    return nm_bus_append_usec(m, o->c->start_ms);
}

CONTAINER(launch_usec)
{
    return nm_bus_append_usec(m, o->c->launch_ms);
}

CONTAINER(finish_usec)
{
    return nm_bus_append_usec(m, o->c->finish_ms);
}

CONTAINER(exit_code)
{
    return sd_bus_message_append(m, "i", o->c->exit_code);
}

CONTAINER(diagnostics)
{
    return nm_bus_append_text(m, o->c->diagnostics);
}

CONTAINER(memory_peak)
{
    return sd_bus_message_append(m, "t", SV_MAX(o->c->usage.peak_bytes, o->usage->memory_peak));
}

#define FIGURE(name, field)                                                                        \
    CONTAINER(name)                                                                                \
    {                                                                                              \
        return sd_bus_message_append(m, "t", o->usage->field);                                     \
    }
FIGURE(memory_current, memory_current)
FIGURE(cpu_usage, cpu_usec)
FIGURE(cpu_throttled, throttled_usec)
FIGURE(pids_current, pids_current)
FIGURE(oom_kills, oom_kills)
FIGURE(io_read, io_read_bytes)
FIGURE(io_write, io_write_bytes)

#define PRESSURE(name, field)                                                                      \
    CONTAINER(name)                                                                                \
    {                                                                                              \
        const struct cg_stall *s = &o->usage->field;                                               \
                                                                                                   \
        return sd_bus_message_append(m, "(ddtt)", s->some_avg10 / 100.0, s->full_avg10 / 100.0,    \
                                     s->some_usec, s->full_usec);                                  \
    }
PRESSURE(cpu_pressure, cpu_stall)
PRESSURE(memory_pressure, memory_stall)
PRESSURE(io_pressure, io_stall)

static const struct nm_bus_property properties[] = {
    { "Id", "s", NM_BUS_CONST, id },
    { "Application", "o", NM_BUS_CONST, application },
    { "User", "s", NM_BUS_CONST, user },
    { "State", "s", NM_BUS_CHANGES, state },
    { "Command", "s", NM_BUS_PRIVATE, command },
    { "ExecutionType", "s", NM_BUS_CHANGES, execution_type },
    { "Memory", "t", NM_BUS_CHANGES, memory },
    { "MemoryMax", "t", NM_BUS_CHANGES, memory_max },
    { "PidsMax", "t", NM_BUS_CHANGES, pids_max },
    { "LimitsSet", "(tttt)", NM_BUS_CHANGES, limits_set },
    { "VirtualCores", "i", NM_BUS_CHANGES, vcores },
    { "Pid", "u", NM_BUS_CHANGES, pid },
    { "Frozen", "b", NM_BUS_CHANGES, frozen },
    { "ControlGroup", "s", 0, cgroup },
    { "Devices", "as", 0, devices },
    { "StartTime", "x", NM_BUS_CONST, start_time },
    { "LaunchTime", "x", NM_BUS_CHANGES, launch_time },
    { "FinishTime", "x", NM_BUS_CHANGES, finish_time },
    { "StartTimeUSec", "t", NM_BUS_CONST, start_usec },
    { "LaunchTimeUSec", "t", NM_BUS_CHANGES, launch_usec },
    { "FinishTimeUSec", "t", NM_BUS_CHANGES, finish_usec },
    { "ExitCode", "i", NM_BUS_CHANGES, exit_code },
    { "Diagnostics", "s", NM_BUS_PRIVATE, diagnostics },
    { "MemoryCurrent", "t", 0, memory_current },
    { "MemoryPeak", "t", 0, memory_peak },
    { "CPUUsage", "t", 0, cpu_usage },
    { "CPUThrottled", "t", 0, cpu_throttled },
    { "PidsCurrent", "t", 0, pids_current },
    { "OOMKills", "t", 0, oom_kills },
    { "IOReadBytes", "t", 0, io_read },
    { "IOWriteBytes", "t", 0, io_write },
    { "CPUPressure", "(ddtt)", 0, cpu_pressure },
    { "MemoryPressure", "(ddtt)", 0, memory_pressure },
    { "IOPressure", "(ddtt)", 0, io_pressure },
};

const struct nm_bus_interface nm_bus_container = { .name = NM_BUS_NAME ".Container",
                                                   .properties = properties,
                                                   .n_properties = SV_ARRAY_LEN(properties),
                                                   .methods = nm_bus_container_methods,
                                                   .n_methods = NM_BUS_CONTAINER_METHODS };
