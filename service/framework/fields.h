/* Names of the FrameworkLauncher's enumerations, for what reads and what prints them. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_FIELDS_H
#define SELVEDGE_SERVICE_FRAMEWORK_FIELDS_H

#define SVC_FW_EXECUTION_NAMES                                                                     \
    {                                                                                              \
        "START", "STOP"                                                                            \
    }
#define SVC_FW_DISK_NAMES                                                                          \
    {                                                                                              \
        "HDD", "SSD"                                                                               \
    }
#define SVC_FW_AM_NAMES                                                                            \
    {                                                                                              \
        "DEFAULT", "AGENT"                                                                         \
    }
#define SVC_FW_CHECK_NAMES                                                                         \
    {                                                                                              \
        "COMMAND", "WEB"                                                                           \
    }
#define SVC_FW_CHECK_FAILURE_NAMES                                                                 \
    {                                                                                              \
        "TRANSIENT_ERROR", "NON_TRANSIENT_ERROR"                                                   \
    }

#endif
