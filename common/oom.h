/* Ends a process that is out of memory.
 *
 * Policy of the ResourceManager: if an allocation for its own state fails (objects, events, texts
 * of objects, the copy of the last answer), the process ends with one log line, because a lost
 * event or half an object would leave an application stuck in a state, while a restart recovers
 * from the state store. If an allocation for a peer's request fails (an answer, an arena), the
 * request fails and the process continues. */
#ifndef SELVEDGE_COMMON_OOM_H
#define SELVEDGE_COMMON_OOM_H

void sv_out_of_memory(void) __attribute__((noreturn));

#endif
