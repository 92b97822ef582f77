/* The link between a framework's master and selvedge-services: what each tells the other. The
 * master asks over HTTP and is answered; nothing connects to a user's process. Both ways are JSON,
 * both sides are hostile to each other: the master runs as a user.
 *
 *     POST /v1/Masters/FRAMEWORK      Selvedge-Master: TOKEN
 *
 *     { "version": 3, "applicationId": "application_…", "attempt": 1, "sequence": 17,
 *       "full": false, "seen": 5, "wait": true, "ending": false, "progress": 0.25,
 *       "trackingUrl": "http://…",                       absent: none
 *       "taskRoles": { "W": [ TaskStatus… ] } }          those that changed; full: all there are
 *
 * A task is told whole (TaskStatus of the REST API); a removed one as {"taskIndex": 7, "removed":
 * true}. `sequence` grows by one a request, and an equal one is answered again without an effect.
 * A request's tasks are on the disk of selvedge-services before its answer. With `wait` that comes
 * when there is a revision after `seen`, at most SVC_FW_LINK_WAIT_S later. `ending`: the master
 * unregisters, and the ResourceManager is asked for the end.
 *
 *     200 { "revision": 6, "sequence": 17,
 *           "descriptor": FrameworkDescriptor,             only in a revision after `seen`
 *           "migrate": ["container_…"], "progress": null,  the override
 *           "clusterConfiguration": null,
 *           "exitSpec": null,                              a list of exit codes (exit-table.h)
 *           "pauseMs": 5000,                               where too many wait: before the next
 *           "statuses": { "W": [ TaskStatus… ] } }         only for "attempt" > 1, "sequence": 0:
 *                                                          what the attempt before told
 *     400 not such a request    401 the token is not this framework's    503 later
 *     410 the framework has another version or is gone: the master ends itself (non-transient)
 *
 * The token is an HMAC of framework and application, in hex, under a secret of the launcher's
 * store: the same for all attempts. The master has it from the environment of its launch context,
 * where only the user's own processes read it. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_LINK_H
#define SELVEDGE_SERVICE_FRAMEWORK_LINK_H

#include <stddef.h>

#define SVC_FW_LINK_PATH "/v1/Masters/"
#define SVC_FW_LINK_HEADER "Selvedge-Master"
#define SVC_FW_LINK_WAIT_S 60
/* Bounds of one request, which the loop of selvedge-services reads in some milliseconds; more
 * tasks: several, in turn. */
#define SVC_FW_LINK_MAX ((size_t)256 << 10) /* bytes */
#define SVC_FW_LINK_TASKS 128
/* Environment of the master. */
#define SVC_FW_ENV_LINK "SELVEDGE_LAUNCHER" /* URLs of selvedge-services, separated by commas */
#define SVC_FW_ENV_TOKEN "SELVEDGE_LAUNCHER_TOKEN"

/* AMDiagnostics: in the diagnostics with which a master unregisters, between these marks. */
#define SVC_FW_DIAGNOSTICS_START "<LAUNCHER_AM_DIAGNOSTICS_START>"
#define SVC_FW_DIAGNOSTICS_END "<LAUNCHER_AM_DIAGNOSTICS_END>"
#define SVC_FW_DIAGNOSTICS_MAX 49152 /* bytes, with the marks */

#endif
