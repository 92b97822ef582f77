/* A loopback port that a test can close and bind again: outside the range of ephemeral ports, which
 * any outgoing connection could take meanwhile, including a client's own search for its server. As
 * in tests/cluster/host.py, the UDP port of the same number is held until the program ends, so that
 * no other test takes it. */
#ifndef SELVEDGE_TESTS_LIB_FREE_PORT_H
#define SELVEDGE_TESTS_LIB_FREE_PORT_H

#include <arpa/inet.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "common/fd.h"

static inline int free_port_bind(int type, uint16_t port)
{
    const struct sockaddr_in sa = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    return fd >= 0 && bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 ? sv_close(fd) : fd;
}

static inline uint16_t free_port(void)
{
    for (int i = 0; i < 2000; i++) {
        uint16_t random;
        assert_int_equal(getrandom(&random, sizeof(random), 0), sizeof(random));
        const uint16_t port = (uint16_t)(20000 + random % 12000);
        int claim = free_port_bind(SOCK_DGRAM, port); /* never closed */
        int probe = claim < 0 ? -1 : free_port_bind(SOCK_STREAM, port);
        if (probe >= 0) {
            (void)sv_close(probe);
            return port;
        }
        (void)sv_close(claim);
    }
    fail_msg("no free loopback port between 20000 and 32000");
    return 0;
}

#endif
