/* The end of a process without memory.
 *
 * Policy of the ResourceManager: where its own state needs memory (objects, events, texts of
 * objects, the copy of the last answer), the process ends with one log line, because a lost event
 * or half an object would leave an application in a state for ever, while a restart recovers from
 * the state store. Where the request of a peer needs memory (an answer, an arena), the request
 * fails and the process continues. */
#ifndef SELVEDGE_COMMON_OOM_H
#define SELVEDGE_COMMON_OOM_H

void sv_out_of_memory(void) __attribute__((noreturn));

#endif
