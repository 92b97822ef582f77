/* Takes the place of container-localizer in test-connect-filter: tries to reach the ports of the
 * test on loopback and at a metadata address, and sends "PORT=errno …" through its channel. Static.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
    const char *name, *host;
    unsigned short port;
    int kind;
} attempts[] = {
    { "tracker", "127.0.0.1", 8031, SOCK_STREAM },
    { "admin", "127.0.0.1", 8033, SOCK_STREAM },
    { "tracker-udp", "127.0.0.1", 8031, SOCK_DGRAM },
    { "metadata", "169.254.169.254", 80, SOCK_STREAM },
    { "client", "127.0.0.1", 8032, SOCK_STREAM },
};

int main(void)
{
    char text[512];
    size_t n = 0;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(attempts[i].port) };
        (void)inet_pton(AF_INET, attempts[i].host, &to.sin_addr);
        int s = socket(AF_INET, attempts[i].kind, 0);
        int r = attempts[i].kind == SOCK_STREAM
                    ? connect(s, (struct sockaddr *)&to, sizeof(to))
                    : (int)sendto(s, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%d ", attempts[i].name,
                              r < 0 ? errno : 0);
        (void)close(s);
    }
    return send(3, text, n, 0) == (ssize_t)n ? 0 : 1;
}
