/* Rights that selvedge-gss gives up before it reads a request. A peer that takes it over by a
 * malformed ticket has the keytab and the network, and no file to write, no program to execute, no
 * process to look into. */
#ifndef SELVEDGE_GSS_SANDBOX_H
#define SELVEDGE_GSS_SANDBOX_H

#include "common/base.h"
#include "common/error.h"

/* First, while there is one thread: no capabilities, no new privileges, no core dumps, not
 * traceable; Landlock: files are read and none is written. */
int sgss_sandbox_files(struct sv_error *err) _must_use_;
/* Last, for all threads: the system calls of libkrb5 and of the resolver; sockets of IP, of name
 * services and of the kernel's addresses, none that listens. */
int sgss_sandbox_calls(struct sv_error *err) _must_use_;

#endif
