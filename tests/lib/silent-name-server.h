/* A name server that does not answer until the test says so: getaddrinfo() in the place of libc's,
 * for libcurl's threads. For one .c file of a program. */
#ifndef SELVEDGE_TESTS_LIB_SILENT_NAME_SERVER_H
#define SELVEDGE_TESTS_LIB_SILENT_NAME_SERVER_H

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define SILENT_HOST "silent.invalid"
#define SILENT_MS 60000 /* a thread gives up then: the test has waited for it */

static struct {
    int gate[2]; /* closed: it answers */
    atomic_int asked, answered, gave_up;
} silent_names;

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **res)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct pollfd closed = { .fd = silent_names.gate[0], .events = POLLIN };

    if (!node || strcmp(node, SILENT_HOST) != 0) {
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
        return real(node, service, hints, res);
    }
    atomic_fetch_add(&silent_names.asked, 1);
    if (poll(&closed, 1, SILENT_MS) == 0)
        atomic_fetch_add(&silent_names.gave_up, 1);
    atomic_fetch_add(&silent_names.answered, 1);
    return EAI_NONAME;
}

static inline void silent_names_begin(void)
{
    assert_int_equal(pipe2(silent_names.gate, O_CLOEXEC), 0);
}

/* It answers from now on: there is no such name. */
static inline void silent_names_answer(void)
{
    close(silent_names.gate[1]);
}

/* Waits for the threads, which have the gate's descriptor. */
static inline void silent_names_end(void)
{
    while (atomic_load(&silent_names.answered) < atomic_load(&silent_names.asked))
        (void)sched_yield();
    assert_int_equal(atomic_load(&silent_names.gave_up), 0);
    close(silent_names.gate[0]);
}

#endif
