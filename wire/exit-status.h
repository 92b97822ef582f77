/* Exit statuses of containers in YARN's reports:
 * org.apache.hadoop.yarn.api.records.ContainerExitStatus and, from 0 up, the exit status of a
 * process. */
#ifndef SELVEDGE_WIRE_EXIT_STATUS_H
#define SELVEDGE_WIRE_EXIT_STATUS_H

enum yarn_exit_status {
    YARN_EXIT_SUCCESS = 0,
    YARN_EXIT_INVALID = -1000,   /* not ended yet; or its resources could not be localized */
    YARN_EXIT_NOT_LAUNCHED = -1, /* ContainerLaunch.call: refused before the executor was called */
    YARN_EXIT_ABORTED = -100,    /* by the framework: released, or lost with its node */
    YARN_EXIT_DISKS_FAILED = -101,
    YARN_EXIT_PREEMPTED = -102,
    YARN_EXIT_KILLED_EXCEEDED_VMEM = -103,
    YARN_EXIT_KILLED_EXCEEDED_PMEM = -104,
    YARN_EXIT_KILLED_BY_APPMASTER = -105,
    YARN_EXIT_KILLED_BY_RESOURCEMANAGER = -106,
    YARN_EXIT_KILLED_AFTER_APP_COMPLETION = -107,
    YARN_EXIT_KILLED_BY_CONTAINER_SCHEDULER = -108, /* for another, or by its queue's bound */
    YARN_EXIT_KILLED_FOR_EXCESS_LOGS = -109,
    YARN_EXIT_PORT_CONFLICT = -210, /* not Hadoop's: a port of its own was taken (wanted-ports.h) */
    YARN_EXIT_FORCE_KILLED = 137,   /* 128 + SIGKILL */
    YARN_EXIT_TERMINATED = 143,     /* 128 + SIGTERM */
    YARN_EXIT_LOST = 154,           /* ContainerExecutor.ExitCode.LOST */
};

#endif
