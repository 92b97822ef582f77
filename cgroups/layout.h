/* Names below the containers' group (selvedge.cgroup.root), the same for the daemon that makes the
 * groups and for the helper that puts processes into them. No includes: the helper takes it too.
 *
 *   <root>               the daemon's account owns it; no process is in it. Its cpu.max and
 *                        memory.max bound all that runs for jobs on this node (node-level cap).
 *   <root>/container_…   one container: its init is cloned into it, no process is ever moved there
 *   <root>/monitors      monitors of containers and localizers
 *   <root>/localizers    localizers, all of them: cloned into it; memory.max, pids.max, cpu.weight
 *
 * The daemon makes monitors and localizers when it opens the root; a helper that finds one missing
 * refuses (the daemon is of another release): a process MUST NOT stay in the daemon's own unit.
 *
 * A monitor moves itself by writing "0" to monitors/cgroup.procs. Measured: 7 ms where no other
 * migration was just made (the kernel waits for an RCU grace period), 0.02 ms in a series. So the
 * descriptor is opened as root, whose rights count for the write also after the drop (Linux 5.16),
 * and written to after the answer is sent, off the critical path. */
#ifndef SELVEDGE_CGROUPS_LAYOUT_H
#define SELVEDGE_CGROUPS_LAYOUT_H

#define CG_MONITORS "monitors"
#define CG_LOCALIZERS "localizers"

#endif
