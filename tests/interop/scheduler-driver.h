/* Shared by the files of scheduler-driver: its nodes, and its applications with their containers.
 * A command gets the words of its line and writes its answer with answer(). */
#ifndef SELVEDGE_TESTS_INTEROP_SCHEDULER_DRIVER_H
#define SELVEDGE_TESTS_INTEROP_SCHEDULER_DRIVER_H

#include "tests/lib/rm-peer.h"

#define NODES 10
#define APPS 64
#define HELD 1000
#define WORDS 20

#define OTHERS 2 /* types of resources beside memory and vcores, where the scenario has them */

struct size {
    struct yarn_resource base;
    int64_t other[OTHERS];
    bool has[OTHERS];
};

struct held { /* a container; 0 of an application is its master's */
    struct yarn_container_id id;
    int node; /* 0 = none */
    struct size size;
    int32_t priority, version;
    int32_t said;     /* the exit status of the master's answer */
    bool told, fresh; /* its master knows of its end; by the last answer */
};

struct app {
    char name[32];
    struct peer_master master; /* rm NULL: it has not registered */
    struct size room;
    struct held held[HELD];
    size_t n; /* 0: its master has not started */
};

extern struct driver {
    struct peer_node nodes[NODES];
    bool sick[NODES];
    struct app apps[APPS];
    int n_apps;
    char answer[65536];
    size_t len;
} g;

void answer(const char *fmt, ...) _printf_(1, 2);
void answer_size(struct size s);
int64_t number(const char *text);
int node_number(const char *name);
struct app *app_named(const char *name);

Hadoop__Yarn__ResourceProto *size_of(struct sv_arena *a, const char *text);
/* As it is on the wire: Apache's are negative where there is less than none. */
struct size raw_size(const Hadoop__Yarn__ResourceProto *m);

/* The last call's, on standard error; if it failed otherwise, the program ends. */
void tell_refusal(void);
const ApplicationReport *report(struct sv_arena *a, const struct app *app);

/* scheduler-driver-masters.c */
void cmd_master(char **w);
void cmd_ask(char **w);
void cmd_apart(char **w);
void cmd_take(char **w);
void cmd_release(char **w);
void cmd_update(char **w);
void cmd_end(char **w);
void cmd_black(char **w);
void cmd_room(char **w);
void cmd_preempted(char **w);
void cmd_finish(char **w);

#endif
