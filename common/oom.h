/* Ends a process that is out of memory: one log line, then abort().
 *
 * The ResourceManager's rule for a failed allocation:
 *
 * 1. Its own state ends the process: objects and their texts, tables, events, what it owes to a
 *    node, a master or the store, the scheduler. Half a change would leave an application in a
 *    state for ever, while a restart recovers from the state store. Functions of this kind return
 *    no error for want of memory, so no caller has to think of one.
 * 2. A request's own memory (arena, answer, parsed body, its place in a list of waiting calls, an
 *    object that no table has yet) refuses the request with -ENOMEM; nothing has changed. So do
 *    the start and a refresh of the configuration, which are all or nothing.
 * 3. What comes again by itself (the list in a heartbeat's answer, a cached look-up, a round of
 *    preemption) is left to the next time, with a comment.
 *
 * Arenas always belong to 2 or 3: a request may exhaust the maximum of its arena, and must not end
 * the process. */
#ifndef SELVEDGE_COMMON_OOM_H
#define SELVEDGE_COMMON_OOM_H

void sv_out_of_memory(void) __attribute__((noreturn));

#endif
