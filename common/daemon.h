/* The frame of a daemon's program: its command line, its loop with the signals that end it, and
 * what it tells the service manager. The command line is the operator's. */
#ifndef SELVEDGE_COMMON_DAEMON_H
#define SELVEDGE_COMMON_DAEMON_H

#include <getopt.h>
#include <systemd/sd-event.h>

#include "common/conf.h"

/* Exit status of errors that another start would not cure: RestartPreventExitStatus= of units. */
#define SV_EXIT_CONFIGURATION 4

#define SV_DAEMON_OPTIONS_MAX 16 /* of a program, beside the common ones */
#define SV_DAEMON_OPTION 256     /* their least value */

struct sv_daemon_options {
    const char *usage;
    const struct option *own; /* beside --conf DIR, -D KEY=VALUE and --help; ended by { 0 } */
    /* An own option. 0: go on; else the exit status plus one. */
    int (*take)(int option, const char *argument, void *userdata);
    void *userdata;
};

/* Keys of -D take precedence over the files, also over those loaded later. `ret_dir` is left where
 * there is no --conf. 0: go on; else the exit status plus one. */
int sv_daemon_arguments(const struct sv_daemon_options *o, int argc, char **argv,
                        struct sv_conf *conf, const char **ret_dir) _must_use_;

/* Writes why the daemon does not start, and returns the exit status. `why`: NULL or "" for the text
 * of the error. */
int sv_daemon_not_started(int error, const char *why) _must_use_;
/* SV_EXIT_CONFIGURATION, or EXIT_FAILURE. */
int sv_daemon_exit_status(int error) _must_use_;

/* The loop, which SIGTERM and SIGINT end. */
int sv_daemon_event(sd_event **ret) _must_use_;
/* Runs the loop of a daemon that is ready, until it ends: its code, or -errno. */
int sv_daemon_run(sd_event *event) _must_use_;

#endif
