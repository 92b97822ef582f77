/* Messages between the NodeManager and container-init: a session is one further program in a
 * running container, with a terminal of its own or with three pipes. Nothing privileged takes part:
 * container-init starts the program as its child, so that the program has what the container has
 * (ids, namespaces, cgroup, filter, Landlock, no_new_privs, limits) and nothing enters from
 * outside.
 *
 * The door is a listening SOCK_SEQPACKET of the daemon's, bound below nmPrivate, where only the
 * daemon reaches it; container-init accepts. One connection is one session:
 *
 *    daemon   a struct exe_session_start and its texts; for pipes their three ends with it
 *    init     STARTED, with the terminal's master; or FAILED
 *    init     ENDED with the exit code, or 128 + signal, as a shell reports it
 *
 * The end of the connection kills the program's process group.
 *
 * Hostile: in the daemon the answers, since container-init has the job's user id. In container-init
 * only a wrong version is expected: whoever reaches the door has the daemon's account. Both MUST
 * check lengths. Included by setuid-helper/, so libc alone. */
#ifndef SELVEDGE_EXECUTOR_SESSION_H
#define SELVEDGE_EXECUTOR_SESSION_H

#include <stddef.h>
#include <stdint.h>

#define EXE_SESSION_MAGIC 0x73457653u /* "SvEs" */
#define EXE_SESSION_VERSION 1         /* containers outlive an upgrade */
#define EXE_DOOR_NAME "door"          /* beside the exit record */

#define EXE_SESSIONS_MAX 8         /* of a container at a time */
#define EXE_SESSION_TEXT_MAX 32768 /* bytes of arguments and variables, with their NULs */
#define EXE_SESSION_WORDS_MAX 512  /* arguments and variables together */

/* Followed by the arguments, at least one, and the variables ("NAME=VALUE"), each with its NUL. */
struct exe_session_start {
    uint32_t magic;
    uint16_t version;
    uint16_t terminal; /* 1: a terminal of this size; 0: pipes */
    uint16_t rows, columns;
    uint16_t n_arguments, n_variables;
};
_Static_assert(sizeof(struct exe_session_start) == 16, "no padding");

enum exe_session_word { EXE_SESSION_STARTED = 1, EXE_SESSION_FAILED = 2, EXE_SESSION_ENDED = 3 };
struct exe_session_answer {
    uint32_t magic;
    uint32_t word; /* enum exe_session_word */
    int32_t value; /* FAILED: errno; ENDED: exit code */
};
_Static_assert(sizeof(struct exe_session_answer) == 12, "no padding");

#endif
